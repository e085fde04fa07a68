"""Reasons that a run adds to the notes of a lab: its calibration, its opened ports, the backend it chose."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netdyno.errors import as_cabling, names
from netdyno.values.number import rate
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.saying import begun


class PortsNotCalibrated(Reason, code="ports-not-calibrated"):
    """The tester was never calibrated with these ports and frames.

    command: calibrates it. cables: ports that the user has to join for that, in pairs; one alone takes a
    loopback plug.
    """

    command: str
    cables: tuple[tuple[str, ...], ...] = ()
    hosts: tuple[str, ...] = ()
    """Those of several hosts that were not; empty is this one."""

    def __str__(self) -> str:
        others = [host for host in self.hosts if host]
        each_of = [f"host{'s' * (len(others) > 1)} {names(others)}"] if others else []
        each_of += ["this host"] if "" in self.hosts else []
        where = f" of {' and '.join(each_of)}" if each_of else ""
        each = " a host" if each_of else ""
        return (
            f"Not calibrated for these ports and frames{where}, so no limit of the device is named."
            f" {_first(self.cables)} `{self.command} --quick` (about 20 s{each})."
        )


class CalibrationInvalid(Reason, code="calibration-invalid"):
    """A calibration no longer holds. why: the changed facts or the failed check. cables: as above."""

    id: str
    why: str
    command: str
    cables: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        return f"The calibration {self.id} does not hold: {self.why}. {_first(self.cables)} `{self.command}`."


def _first(cables: Sequence[Sequence[str]]) -> str:
    """How a sentence on calibrating begins: what is to be cabled before."""
    return f"{begun(as_cabling(cables))} in place of the device and run" if cables else "Run"


class ResumedOtherwise(Reason, code="resumed-otherwise"):
    """An earlier run made trials of the case, and no calibration covered its ports and threads then."""

    trials: int
    says = """The first {trials:=1?trial of this case was|trials of this case were} made before the run was
        resumed, with ports or threads that no calibration covers, so no limit of the device is named. Start
        a new run."""


class OpenedPorts(Reason, code="opened-ports"):
    """How ports were opened: the name, the backend and its details of each."""

    ports: tuple[tuple[str, str, str], ...]

    def __str__(self) -> str:
        return f"{'; '.join(f'`{name}` is {kind}: {detail}' for name, kind, detail in self.ports)}."


class BackendRefused(Reason, code="backend-refused"):
    """A backend cannot be used here. why: a clause."""

    backend: str
    why: str
    says = "`{backend}` is not possible: {why}"


class BackendChosen(Reason, code="backend-chosen"):
    """The backend that `backend: auto` became. how: such as `native, copy`; empty: nothing to say.

    needed_pps: frames a second and direction that the method may send. carried_pps: frames a second that the
    backend carries; None: more than the others, number unknown. proven: by a calibration, else the usual
    rate. refused: the other backends, given only where the chosen one does not carry enough.
    """

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
            carried = "it was never calibrated here"
        elif self.proven:
            carried = f"it is calibrated for {rate(self.carried_pps, 'pps')}"
        else:
            carried = f"it usually carries {rate(self.carried_pps, 'pps')}, not calibrated here"
        end = "." if self.is_enough else ": the result may be a lower bound."
        others = f" {'; '.join(map(str, self.refused))}." if self.refused else ""
        needed = rate(self.needed_pps, "pps")
        return (
            f"`backend: auto` chose `{self.backend}`{how}: each direction needs {needed};"
            f" {carried}{end}{others}"
        )


REASONS: Codes = declared(globals())
