"""How long and when the kernel's own work on frames waited for a core: that of its threads `ksoftirqd`.

Where much is to do, the kernel leaves frames between virtual interfaces to these. One that waits for its core
delivers frames late, and in a bunch: the tester sent them on time, and no device delayed them.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event, Thread

from netdyno.values.outcome import KernelWaits

PROC = Path("/proc")

STEP_S = 0.01
"""How closely waits are dated."""

COST = 100
"""Reading takes no more than one part in so many of a core: a machine of many cores has as many threads."""

MOST = 1000
"""Readings with waits kept of a trial. More are not dated."""


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


def read_waited_ns(proc: Path = PROC) -> int:
    """How long they waited since the machine was started, of all cores together; 0 if unknown."""
    total = 0
    for path in _threads(proc):
        try:
            _, waited, _ = path.read_text().split()
        except (OSError, ValueError):
            continue
        total += int(waited)
    return total


def is_waiting(proc: Path = PROC) -> bool:
    """Whether one of them may wait at this moment: it is runnable. A wait counts when it is over."""
    for path in _threads(proc):
        try:
            _, _, said = path.with_name("stat").read_text().rpartition(") ")
        except OSError:
            continue
        if said.startswith("R"):
            return True
    return False


class Waits:
    """Dates their waits, in a thread of its own, while a trial runs. To be ended."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._found: list[KernelWaits] = []
        self._first_ns = self._last_ns = read_waited_ns(proc)
        self._at_ns = time.monotonic_ns()
        self._over = Event()
        self._thread = Thread(target=self._read, name="softirq", daemon=True)
        if _threads(proc):
            self._thread.start()

    def end(self) -> None:
        """Stops reading, after a last look."""
        if not self._over.is_set():
            self._over.set()
            if self._thread.is_alive():
                self._thread.join()
            self._look()

    @property
    def waited_ns(self) -> int:
        """How long they waited in all."""
        return max(self._last_ns - self._first_ns, 0)

    def dated(self, began_ns: int | None) -> tuple[KernelWaits, ...]:
        """The waits, dated from this time of the monotonic clock; none if it is unknown, or they are many."""
        if began_ns is None or len(self._found) > MOST:
            return ()
        return tuple(
            replace(one, from_ns=one.from_ns - began_ns, until_ns=one.until_ns - began_ns)
            for one in self._found
        )

    def _read(self) -> None:
        took_s = 0.0
        while not self._over.wait(max(STEP_S, COST * took_s)):
            began_s = time.monotonic()
            self._look()
            took_s = time.monotonic() - began_s

    def _look(self) -> None:
        waited_ns, at_ns = read_waited_ns(self._proc), time.monotonic_ns()
        if waited_ns > self._last_ns and len(self._found) <= MOST:
            self._found.append(KernelWaits(self._at_ns, at_ns, waited_ns - self._last_ns))
        self._last_ns, self._at_ns = waited_ns, at_ns
