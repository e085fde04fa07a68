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


def test_nothing_is_waited_for_where_the_threads_are_not_seen(tmp_path: Path) -> None:
    assert softirq.waited_ns(tmp_path) == 0
