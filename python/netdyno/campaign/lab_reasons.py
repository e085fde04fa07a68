"""Reasons that a run adds to the notes of a lab: its calibration, its opened ports, the backend it chose."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.values.number import rate
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class TooManyPorts(Reason):
    """A case has more than two ports, and only two can be calibrated."""

    code: ClassVar[str] = "too-many-ports-to-calibrate"
    ports: int

    def __str__(self) -> str:
        return (
            "Not calibrated: what the tester itself can do with these ports is not known. Two ports are"
            " calibrated, joined with each other, or one that leads back into itself, and this case has"
            f" {self.ports}."
        )


@dataclass(frozen=True)
class PortsNotCalibrated(Reason):
    """The tester was never calibrated with these ports and frames. command: calibrates it."""

    code: ClassVar[str] = "ports-not-calibrated"
    command: str

    def __str__(self) -> str:
        return (
            "Not calibrated: what the tester itself can do with these ports and frames is not known;"
            f" `{self.command} --quick` takes about 20 s."
        )


@dataclass(frozen=True)
class CalibrationInvalid(Reason):
    """A calibration no longer holds. why: the changed facts or the failed check, a clause."""

    code: ClassVar[str] = "calibration-invalid"
    id: str
    why: str
    command: str

    def __str__(self) -> str:
        return f"The calibration {self.id} proves nothing now: {self.why}; `{self.command}` makes a new one."


@dataclass(frozen=True)
class OpenedPorts(Reason):
    """How ports were opened: the name, the backend and its details of each."""

    code: ClassVar[str] = "opened-ports"
    ports: tuple[tuple[str, str, str], ...]

    def __str__(self) -> str:
        return f"{'; '.join(f'`{name}` is {kind}: {detail}' for name, kind, detail in self.ports)}."


@dataclass(frozen=True)
class BackendRefused(Reason):
    """A backend cannot be used here. why: a clause."""

    code: ClassVar[str] = "backend-refused"
    backend: str
    why: str

    def __str__(self) -> str:
        return f"`{self.backend}` cannot be: {self.why}"


@dataclass(frozen=True)
class BackendChosen(Reason):
    """The backend that `backend: auto` became. how: such as `native, copy`; empty: nothing to say.

    needed_pps: frames a second and direction that the method may send. carried_pps: frames a second that the
    backend carries; None: more than the others, number unknown. proven: by a calibration, else the usual
    rate. refused: the other backends, given only where the chosen one does not carry enough.
    """

    code: ClassVar[str] = "backend-chosen"
    backend: str
    how: str
    needed_pps: Fraction
    carried_pps: Fraction | None
    proven: bool
    is_enough: bool
    refused: tuple[BackendRefused, ...]

    def __str__(self) -> str:
        how = f" ({self.how})" if self.how else ""
        if self.carried_pps is None:
            carried = "what it carries is not proven here"
        elif self.proven:
            carried = f"proven {rate(self.carried_pps, 'pps')} here"
        else:
            carried = f"not proven here, {rate(self.carried_pps, 'pps')} are usual"
        end = "." if self.is_enough else ": the result may be a lower bound."
        others = f" {'; '.join(map(str, self.refused))}." if self.refused else ""
        needed = rate(self.needed_pps, "pps")
        return (
            f"`backend: auto` is `{self.backend}`{how}: {needed} a direction are needed,"
            f" {carried}{end}{others}"
        )


REASONS: Codes = declared(globals())
