"""How long the kernel's threads for frames waited, as a tree of /proc of Linux 6.1 has it."""

from __future__ import annotations

from pathlib import Path

from netdyno.ports import softirq


def test_waits_of_all_cores_are_added_up(tmp_path: Path) -> None:
    for pid, name, text in (
        (14, "ksoftirqd/0", "30266544563 117438677855 316686\n"),
        (22, "ksoftirqd/1", "31547557627 123461188572 378650\n"),
        (15, "rcu_preempt", "1 1000000000000 1\n"),
    ):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "comm").write_text(f"{name}\n")
        (folder / "schedstat").write_text(text)
    (tmp_path / "23").mkdir()
    assert softirq.waited_ns(tmp_path) == 240_899_866_427
    (tmp_path / "14" / "schedstat").unlink()
    assert softirq.waited_ns(tmp_path) == 123_461_188_572, "it ended"


def test_thread_that_runs_or_waits_to_has_not_said_for_how_long(tmp_path: Path) -> None:
    for pid, name in ((14, "ksoftirqd/0"), (22, "ksoftirqd/1"), (15, "rcu_preempt")):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "comm").write_text(f"{name}\n")
        (folder / "stat").write_text(f"{pid} ({name}) {'R' if pid == 15 else 'S'} 2 0 0 0 -1 69238848 0 0\n")
    assert not softirq.is_waiting(tmp_path)
    (tmp_path / "22" / "stat").write_text("22 (ksoftirqd/1) R 2 0 0 0 -1 69238848 0 0\n")
    assert softirq.is_waiting(tmp_path)


def test_nothing_is_waited_for_where_the_threads_are_not_seen(tmp_path: Path) -> None:
    assert softirq.waited_ns(tmp_path) == 0
