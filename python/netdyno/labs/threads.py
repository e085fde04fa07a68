"""The tester's threads: how many a plan asks for, and the cores they are kept on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netdyno.labs.wiring import Wiring


@dataclass(frozen=True)
class Threads:
    """What a plan says of the tester's threads.

    workers: how many there are; None: one, or as many as cores. cores: theirs, and then those of emulated
    devices; empty: the engine's choice.
    """

    workers: int | None = None
    cores: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many workers the tester has."""
        return self.workers or len(self.cores) or 1

    def settled(self, wiring: Wiring) -> Wiring:
        """The wiring with what the plan says; virtual time has one thread whatever it says."""
        if wiring.clock == "virtual" or (self.workers is None and not self.cores):
            return wiring
        session, notes = dict(wiring.session), list(wiring.notes)
        planned = tuple(session.get("cores", ()))
        if self.cores:
            session["cores"] = list(self.cores)
        elif len(planned) < self.count:
            session.pop("cores", None)
        if planned and tuple(session.get("cores", ())) != planned:
            cores = " and ".join(str(core) for core in planned)
            notes.append(
                f"The lab leaves core {cores} to the tester; the plan gives it others,"
                " which the device may want too."
            )
        return replace(wiring, session={**session, "workers": self.count}, notes=tuple(notes))
