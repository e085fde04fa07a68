"""Reasons why a trial offered another load than asked: clauses about the tester."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count, duration, share
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class Unsent(Reason):
    """The tester did not send all frames of a stream."""

    code: ClassVar[str] = "unsent"
    stream: str
    unsent: int
    intended: int

    @property
    def part(self) -> Fraction:
        """The share of the load that was not offered."""
        return Fraction(self.unsent, max(self.intended, 1))

    def __str__(self) -> str:
        part = share(Fraction(self.unsent, self.intended))
        return (
            f"the tester left {count(self.unsent)} of {counted(self.intended, 'frame')} of `{self.stream}`"
            f" unsent ({part})"
        )


@dataclass(frozen=True)
class SentLonger(Reason):
    """The tester took longer than planned to send a stream, which is a lower rate. unsent: not even then."""

    code: ClassVar[str] = "sent-longer"
    stream: str
    planned_ns: int
    over_ns: int
    unsent: int
    intended: int

    @property
    def part(self) -> Fraction:
        """The share of the load that was not offered in the planned time."""
        return Fraction(self.over_ns, max(self.planned_ns, 1)) + Fraction(self.unsent, max(self.intended, 1))

    def __str__(self) -> str:
        left = f", {count(self.unsent)} of {counted(self.intended, 'frame')} unsent" if self.unsent else ""
        return (
            f"the tester could not send `{self.stream}` faster ({duration(self.over_ns)} behind schedule"
            f" after {duration(self.planned_ns)}{left})"
        )


@dataclass(frozen=True)
class Preempted(Reason):
    """The tester was preempted while it sent."""

    code: ClassVar[str] = "preempted"
    pause_ns: int

    def __str__(self) -> str:
        return f"tester preempted for {duration(self.pause_ns)}"


@dataclass(frozen=True)
class ShortAfterPause(Reason):
    """A pause made the tester send less than it was to."""

    code: ClassVar[str] = "short-after-pause"
    short: Reason
    pause_ns: int

    def __str__(self) -> str:
        return f"{self.short}, after a pause of {duration(self.pause_ns)}"


@dataclass(frozen=True)
class OfOffered(Reason):
    """A number is of the load that was offered, not of the one asked for. cause: why."""

    code: ClassVar[str] = "of-offered"
    cause: Reason

    def __str__(self) -> str:
        return f"{self.cause}; the numbers are of the load that was offered"


@dataclass(frozen=True)
class SamplesTooLong(Reason):
    """No whole sample lies in a trial."""

    code: ClassVar[str] = "samples-too-long"

    def __str__(self) -> str:
        return "the trial is too short for its samples. Use a longer trial or a shorter `sample`"


@dataclass(frozen=True)
class OrderUnknown(Reason):
    """Flows that arrived on several workers, which cannot see each other's order."""

    code: ClassVar[str] = "order-unknown"
    flows: int

    def __str__(self) -> str:
        flows = f"{counted(self.flows, 'flow')} arrived on several workers"
        return f"{flows}: their order across workers is unknown. Rerun with `workers: 1`"


@dataclass(frozen=True)
class Unpaired(Reason):
    """Differences of neighbouring frames that are missing in the IPDV."""

    code: ClassVar[str] = "unpaired"
    pairs: int

    def __str__(self) -> str:
        return (
            f"{count(self.pairs)} differences of neighbouring frames are not in the IPDV: the two arrived on"
            " several workers, or too far apart. RFC 8219 section 7.3.2 has all: rerun with `workers: 1`"
        )


@dataclass(frozen=True)
class NoProbe(Reason):
    """Frames hold no probe, so what came back was counted by its headers."""

    code: ClassVar[str] = "no-probe"

    def __str__(self) -> str:
        return (
            "frames have no probe: they are counted by their headers where they arrive, so copies hide"
            " losses; latency, order and flows are not known"
        )


REASONS: Codes = declared(globals())
