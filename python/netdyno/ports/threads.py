"""The tester's threads: how many a plan asks for, and the cores they are kept on."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Threads:
    """What a plan says of the tester's threads.

    workers: how many there are; None: one, or as many as cores. cores: theirs, and then those of the device
    if it is on this machine; empty: the lab's or the engine's choice.
    """

    workers: int | None = None
    cores: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many workers the tester has."""
        return self.workers or len(self.cores) or 1

    def asked(self, session: Mapping[str, Any]) -> Mapping[str, Any]:
        """The session with what the plan says, for the lab to be built by.

        Virtual time has one thread whatever a plan says.
        """
        if session["clock"] == "virtual" or (self.workers is None and not self.cores):
            return session
        own = {**session, "workers": self.count}
        return {**own, "cores": list(self.cores)} if self.cores else own


def workers_of(session: Mapping[str, Any]) -> int:
    """How many workers a session has."""
    return int(session.get("workers", 1))


def cores_of(session: Mapping[str, Any]) -> list[int]:
    """The cores its workers are kept on, one each; empty: one worker that is kept nowhere.

    Several workers are kept apart even if nobody says where: on the first cores of this process, as
    crates/session/src/threads.rs has it.
    """
    workers = workers_of(session)
    named = [int(core) for core in session.get("cores", ())]
    if named or workers == 1:
        return named[:workers]
    return sorted(os.sched_getaffinity(0))[:workers]


def spare_cores(session: Mapping[str, Any]) -> frozenset[int]:
    """The cores for whoever is not the tester: neither its own nor those named for emulated devices; if no
    others are left, not its own; else all that this thread may use.

    Who wakes up on a core may have it until the next tick of the scheduler, 4 ms: a pause of the tester.
    """
    allowed = frozenset(os.sched_getaffinity(0))
    if session.get("clock") != "real":
        return allowed
    own = cores_of(session)
    named = [int(core) for core in session.get("cores", ())]
    return allowed.difference(own, named) or allowed.difference(own) or allowed


def keep_to(cores: Collection[int]) -> None:
    """Keeps this thread, and what it will start, to these cores."""
    with suppress(OSError):
        os.sched_setaffinity(0, cores)


@contextmanager
def kept_to(cores: Collection[int] | None = None) -> Iterator[None]:
    """Keeps this thread to these cores for a while. None: it may be moved meanwhile, and comes back."""
    allowed = os.sched_getaffinity(0)
    keep_to(cores or allowed)
    try:
        yield
    finally:
        keep_to(allowed)
