"""Reasons about services and single kinds of frames: Y.1564, and RFC 2889 beside its searches."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.errors import counted
from netdyno.values.number import count
from netdyno.values.reason import Codes, Reason, declared

Assumption: TypeAlias = Literal["policing", "criteria", "bursts", "availability"]

ASSUMPTIONS: Mapping[Assumption, str] = {
    "policing": "the policing rule (CIR + 1.25 EIR, or 1.25 CIR + EIR if EIR is below 20 % of CIR) and the"
    " margin M follow descriptions of ITU-T Y.1564, not its text",
    "criteria": "FTD is the mean, FDV the 99.9th percentile less the minimum; contracts may define others",
    "bursts": "a burst of CBS is CBS * line / (line - CIR) bytes long; one of CBS + EBS is three frames"
    " shorter, so an EBS too small by that is not found",
    "availability": "ten seconds in a row with over 50 % loss begin unavailable time, ten others end it: not"
    " from the text of ITU-T Y.1563",
}


class Assumed(Reason, code="assumed", is_detail=True):
    """A choice that ITU-T Y.1564 leaves open, and how netdyno makes it."""

    what: Assumption

    def __str__(self) -> str:
        return f"assumed: {ASSUMPTIONS[self.what]}"


class StepNotRun(Reason, code="step-not-run"):
    """A step of a service that exceeds the line. share: of it."""

    service: str
    step: str
    of_line: Fraction
    says = "`{service}`, {step}: not run, it is {of_line:%} of the line"


class StepsPassed(Reason, code="steps-passed"):
    """Steps that passed. unknown: steps with an unknown outcome. is_by_delays: all that failed did so by
    their delays alone."""

    passed: int
    run: int
    unknown: int
    is_by_delays: bool = False

    def __str__(self) -> str:
        if not self.run:
            return "no step was run"
        unknown = f", {count(self.unknown)} unknown" if self.unknown else ""
        return f"{count(self.passed)} of {counted(self.run, 'step')}{unknown}"


class CameOut(Reason, code="came-out"):
    """Frames that came out of any port. flooded: how often out of a port they were not meant for."""

    frames: int
    sent: int
    flooded: int
    says = "{frames} of {sent:frame}{flooded:?, {flooded:time} out of a port it was not meant for}"


class ControlAt(Reason, code="control-at"):
    """The load at which the control is judged, as the plan writes it."""

    load: str
    says = "the control is judged at the lowest load, {load}"


class NoForwardPressure(Reason, code="no-forward-pressure"):
    """Forward pressure is not tested, as no port of netdyno can."""

    says = """forward pressure was not tested: it needs frames closer together than the shortest legal gap
        (88 bits, RFC 2889 section 5.6.3), which no port of this tester sends"""


class NoCost(Reason, code="no-cost"):
    """No device's limit was found with the service or without it: the line ended the search, or no load
    passed."""

    says = "the device's own limit was not found both with and without the service: offer more, or less"


class PairsLeftOut(Reason, code="pairs-left-out"):
    """Pairs of searches in which the tester, not the device, ended one: no number rests on them."""

    left_out: int
    pairs: int
    says = "{left_out} of {pairs:pair} do not count: the tester could not send what it was asked to"


class NoFrameTime(Reason, code="no-frame-time"):
    """No core of this machine can do the device's work beside sending."""

    says = """not measured: only where a core of this machine forwards and sends in turn (`linux/router`, as
        root)"""


class CoreTooBusy(Reason, code="core-too-busy"):
    """Others used the tester's core while the time of a frame was measured. share: that it had, at most.
    good: pairs in which it had enough, of so many."""

    share: Fraction
    good: int
    pairs: int
    says = """not measured: the tester had {share:%} of its core, in {good} of {pairs:pair} enough. Stop other
        programs"""


class NotTimed(Reason, code="not-timed"):
    """No pair of trials shows the time of a frame: the core kept up with the highest load, or lost frames."""

    says = "not measured: the core kept up with the highest load, or frames were lost. Raise `maximum`"


REASONS: Codes = declared(globals())
