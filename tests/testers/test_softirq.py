"""How long and when the kernel's threads for frames waited, as a tree of /proc of Linux 6.1 has it."""

from __future__ import annotations

import time
from pathlib import Path

from netdyno.ports import softirq

THREADS = ((14, "ksoftirqd/0"), (22, "ksoftirqd/1"), (15, "rcu_preempt"))


def proc(folder: Path, *schedstats: str) -> Path:
    for (pid, name), text in zip(THREADS, schedstats, strict=True):
        (folder / str(pid)).mkdir(exist_ok=True)
        (folder / str(pid) / "comm").write_text(f"{name}\n")
        # At once, as a reader of /proc finds it.
        (folder / "new").write_text(text)
        (folder / "new").replace(folder / str(pid) / "schedstat")
    return folder


FIRST = ("30266544563 117438677855 316686\n", "31547557627 123461188572 378650\n", "1 1000000000000 1\n")


def test_waits_of_all_cores_are_added_up(tmp_path: Path) -> None:
    proc(tmp_path, *FIRST)
    (tmp_path / "23").mkdir()
    assert softirq.read_waited_ns(tmp_path) == 240_899_866_427
    (tmp_path / "14" / "schedstat").unlink()
    assert softirq.read_waited_ns(tmp_path) == 123_461_188_572, "it ended"


def test_waits_are_dated_between_two_readings(tmp_path: Path) -> None:
    """Of two threads one waited 5 ms. Then the other ran twice, and waited for nothing."""
    began_ns = time.monotonic_ns()
    waits = softirq.Waits(proc(tmp_path, *FIRST))
    proc(tmp_path, FIRST[0], "31547557627 123466188572 378653\n", FIRST[2])
    until = time.monotonic() + 5
    while not waits.waited_ns and time.monotonic() < until:
        time.sleep(0.001)
    seen_ns = time.monotonic_ns()
    proc(tmp_path, "30266544563 117438677855 316688\n", "31547557627 123466188572 378653\n", FIRST[2])
    waits.end()
    proc(tmp_path, FIRST[0], "31547557627 999999999999 999999\n", FIRST[2])
    waits.end()
    (only,) = waits.dated(began_ns)
    assert (only.waited_ns, waits.waited_ns) == (5_000_000, 5_000_000)
    assert 0 <= only.from_ns < only.until_ns <= seen_ns - began_ns
    assert waits.dated(None) == (), "traffic did not begin"


def test_thread_that_runs_or_waits_to_has_not_said_for_how_long(tmp_path: Path) -> None:
    proc(tmp_path, *FIRST)
    for pid, name in THREADS:
        state = "R" if pid == 15 else "S"
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) {state} 2 0 0 0 -1 69238848 0 0\n")
    assert not softirq.is_waiting(tmp_path)
    (tmp_path / "22" / "stat").write_text("22 (ksoftirqd/1) R 2 0 0 0 -1 69238848 0 0\n")
    assert softirq.is_waiting(tmp_path)


def test_nothing_is_waited_for_where_the_threads_are_not_seen(tmp_path: Path) -> None:
    waits = softirq.Waits(tmp_path)
    waits.end()
    assert (waits.waited_ns, waits.dated(0)) == (0, ())
