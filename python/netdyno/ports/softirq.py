"""How long the kernel's own work on frames waited for a core: that of its threads `ksoftirqd`.

Where much is to do, the kernel leaves frames between virtual interfaces to these. One that waits for its core
delivers frames late, and in a bunch: the tester sent them on time, and no device delayed them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

PROC = Path("/proc")


@cache
def _threads(proc: Path) -> tuple[Path, ...]:
    """Where each of them says how long it ran and waited; none where their PIDs are not seen."""
    found = []
    for name in sorted(proc.glob("[0-9]*/comm")):
        try:
            is_one = name.read_text().startswith("ksoftirqd/")
        except OSError:
            # It ended meanwhile.
            continue
        if is_one:
            found.append(name.with_name("schedstat"))
    return tuple(found)


def waited_ns(proc: Path = PROC) -> int:
    """How long they waited since the machine was started, of all cores together; 0 if unknown."""
    total = 0
    for path in _threads(proc):
        try:
            _, waited, *_ = path.read_text().split()
        except (OSError, ValueError):
            continue
        total += int(waited)
    return total


def is_waiting(proc: Path = PROC) -> bool:
    """Whether one of them may wait at this moment: it is runnable. `waited_ns` has waits that are over."""
    for path in _threads(proc):
        try:
            _, _, said = path.with_name("stat").read_text().rpartition(") ")
        except OSError:
            continue
        if said.startswith("R"):
            return True
    return False
