"""Reasons of searches over the load: the bounds of the result, and doubts about them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from netdyno.errors import counted
from netdyno.values.number import count, duration, rate, share, to_whole
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class Between(Reason):
    """The highest load that passed, and the lowest that did not."""

    code: ClassVar[str] = "between"
    low_pps: Fraction
    high_pps: Fraction

    def __str__(self) -> str:
        return f"between {rate(self.low_pps, 'pps', 'at least')} and {rate(self.high_pps, 'pps', 'at most')}"


@dataclass(frozen=True)
class PassedHighest(Reason):
    """The highest load tried passed. is_irregular: which RFC 9971 has reported."""

    code: ClassVar[str] = "passed-highest"
    rate_pps: Fraction
    is_irregular: bool = False

    def __str__(self) -> str:
        irregular = ": an irregular result (RFC 9971)" if self.is_irregular else ""
        return f"no loss at the highest load tried, {rate(self.rate_pps, 'pps', 'at least')}{irregular}"


@dataclass(frozen=True)
class TesterBound(Reason):
    """A lower bound: the limit of the device above it is unknown. rate_pps: the load tried there."""

    code: ClassVar[str] = "tester-bound"
    cause: Reason
    rate_pps: Fraction | None = None

    def __str__(self) -> str:
        where = "above it" if self.rate_pps is None else f"at {rate(self.rate_pps, 'pps')}"
        return f"a lower bound: {where}, {self.cause}"


@dataclass(frozen=True)
class UnknownAtAll(Reason):
    """No load tried has a result. cause: why the lowest has none."""

    code: ClassVar[str] = "unknown-at-all"
    cause: Reason

    def __str__(self) -> str:
        return f"unknown at every load tried; at the lowest, {self.cause}"


@dataclass(frozen=True)
class NonePassed(Reason):
    """No load tried passed, down to the lowest."""

    code: ClassVar[str] = "none-passed"
    lowest_pps: Fraction

    def __str__(self) -> str:
        return f"no load passed, down to {rate(self.lowest_pps, 'pps')}"


@dataclass(frozen=True)
class MoreArrived(Reason):
    """More frames arrived than were sent. trials: in how many at that load."""

    code: ClassVar[str] = "more-arrived"
    rate_pps: Fraction
    trials: int

    def __str__(self) -> str:
        times = f", {counted(self.trials, 'time')}" if self.trials > 1 else ""
        return f"at {rate(self.rate_pps, 'pps')}, more frames arrived than were sent{times}"


@dataclass(frozen=True)
class EndedByOthers(Reason):
    """Other port groups ended a common search, in which this one lost no frame."""

    code: ClassVar[str] = "ended-by-others"
    rate_pps: Fraction

    def __str__(self) -> str:
        at = rate(self.rate_pps, "pps")
        return f"a lower bound: other port groups ended the search, this one lost no frame at {at}"


@dataclass(frozen=True)
class StreamFailed(Reason):
    """The failure of a stream in a trial. beyond: more received than sent. refused: by a memif ring."""

    code: ClassVar[str] = "stream-failed"
    stream: str
    offered: int
    lost: int
    beyond: int
    corrupted: int
    duplicated: int
    refused: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether some frames were sent, none was refused, and each came back once and intact."""
        bad = self.lost or self.beyond or self.corrupted or self.duplicated or self.refused
        return self.offered > 0 and not bad

    def __str__(self) -> str:
        if not self.offered:
            return f"no frame of `{self.stream}` fell into the trial"
        counts = (
            (self.lost, "lost"),
            (self.beyond, "more received than sent"),
            (self.corrupted, "corrupted"),
            (self.duplicated, "duplicated"),
            (self.refused, "not taken by the device"),
        )
        what = " and ".join(f"{count(frames)} {word}" for frames, word in counts if frames)
        return f"{what} of {counted(self.offered + self.refused, 'frame')} of `{self.stream}`"


@dataclass(frozen=True)
class FailedAt(Reason):
    """The lowest load that did not pass, and the failures of its streams."""

    code: ClassVar[str] = "failed-at"
    is_detail: ClassVar[bool] = True
    rate_pps: Fraction
    streams: tuple[StreamFailed, ...]

    def __str__(self) -> str:
        return f"at {rate(self.rate_pps, 'pps')}: {', '.join(map(str, self.streams))}"


@dataclass(frozen=True)
class StillQueued(Reason):
    """Frames still queued at the end of a trial that passed; rate_pps: over the time it sent.

    further: how many more streams had frames queued. of: what the load is called.
    """

    code: ClassVar[str] = "still-queued"
    stream: str
    frames: Fraction
    offered: int
    rate_pps: Fraction
    further: int
    of: Literal["throughput", "load"]

    def __str__(self) -> str:
        also = f" and of {counted(self.further, 'more stream')}" if self.further else ""
        frames = f"{count(to_whole(self.frames, 'at least'))} of {counted(self.offered, 'frame')}"
        return (
            f"{rate(self.rate_pps, 'pps')} of that {self.of} were still queued when sending ended"
            f" ({frames} of `{self.stream}`{also}): a longer trial may lose frames"
        )


@dataclass(frozen=True)
class PassedAt(Reason):
    """Something that weakens the trial that passed at a load."""

    code: ClassVar[str] = "passed-at"
    rate_pps: Fraction
    reason: Reason

    def __str__(self) -> str:
        return f"passed at {rate(self.rate_pps, 'pps', 'at least', 1)}, but {self.reason}"


@dataclass(frozen=True)
class NoThroughput(Reason):
    """There is no throughput to measure at. is_testers: the tester fell short at every load."""

    code: ClassVar[str] = "no-throughput"
    is_testers: bool

    def __str__(self) -> str:
        why = "the tester fell short at every load tried" if self.is_testers else "no load passed"
        return f"no throughput to measure at: {why}"


@dataclass(frozen=True)
class LostOnce(Reason):
    """A load whose first trial lost frames, and whose last did not."""

    code: ClassVar[str] = "lost-once"
    rate_pps: Fraction
    missing: int
    sent: int
    trials: int

    def __str__(self) -> str:
        lost = f"{count(self.missing)} of {counted(self.sent, 'frame')} were missing in the first trial"
        return f"at {rate(self.rate_pps, 'pps', 'at least')}, {lost}, none in the last of {self.trials}"


@dataclass(frozen=True)
class TrialsAtLoads(Reason):
    """The number of trials of a search, and the number of its loads."""

    code: ClassVar[str] = "trials-at-loads"
    is_detail: ClassVar[bool] = True
    trials: int
    loads: int

    def __str__(self) -> str:
        repeated = f"{count(self.trials - self.loads)} of them repeated"
        return f"{counted(self.trials, 'trial')} at {counted(self.loads, 'load')}, {repeated}"


@dataclass(frozen=True)
class BudgetSpent(Reason):
    """A search made as many trials, or as much traffic, as it may."""

    code: ClassVar[str] = "budget-spent"
    trials: int | None = None
    traffic_ns: int | None = None

    def __str__(self) -> str:
        if self.trials is not None:
            return f"its limit of {counted(self.trials, 'trial')} is reached"
        return f"the next trial would exceed its limit of {duration(self.traffic_ns or 0)} of traffic"


@dataclass(frozen=True)
class EndedEarly(Reason):
    """A search ended before its bounds were close. spent: why, if it is known."""

    code: ClassVar[str] = "ended-early"
    spent: Reason | None
    low_pps: Fraction | None = None
    high_pps: Fraction | None = None

    def __str__(self) -> str:
        why = "the search ended early" if self.spent is None else f"the search ended early: {self.spent}"
        above = "" if not self.low_pps else f"above {rate(self.low_pps, 'pps', 'at least')}"
        below = "" if self.high_pps is None else f"below {rate(self.high_pps, 'pps', 'at most')}"
        known = " and ".join(filter(None, (above, below)))
        return f"{why}; the result is {known}" if known else why


@dataclass(frozen=True)
class NoRfc2544(Reason):
    """A goal of a search is not RFC 2544's throughput; trial_ns: None if that is long enough."""

    code: ClassVar[str] = "no-rfc2544"
    goal: str
    loss: Fraction
    exceed: Fraction
    trial_ns: int | None

    def __str__(self) -> str:
        apart = [
            f"{share(allowed)} of the {what} (section 26.1: none)"
            for allowed, what in (
                (self.loss, "frames may be missing"),
                (self.exceed, "time may be bad trials"),
            )
            if allowed
        ]
        if self.trial_ns is not None:
            apart.append(f"trials last {duration(self.trial_ns)} (section 24: at least 60 s)")
        return f"{self.goal} is no throughput of RFC 2544: {'; '.join(apart)}"


@dataclass(frozen=True)
class ShortWaits(Reason):
    """The waits around each trial, shorter than those of RFC 2544."""

    code: ClassVar[str] = "short-waits"
    settle_ns: int
    drain_ns: int

    def __str__(self) -> str:
        waits = f"settle {duration(self.settle_ns)} and drain {duration(self.drain_ns)}"
        return f"the waits around each trial were {waits} (RFC 2544 section 23: 2 s each)"


@dataclass(frozen=True)
class Conditional(Reason):
    """The conditional throughput of RFC 9971: a load less its loss."""

    code: ClassVar[str] = "conditional-throughput"
    rate_pps: Fraction
    loss: Fraction

    def __str__(self) -> str:
        at = rate(self.rate_pps, "pps", "at least")
        return f"conditional throughput {at} of each sending port, its load less {share(self.loss)} of loss"


@dataclass(frozen=True)
class TrialsShort(Reason):
    """Trials in which the tester fell short, which say nothing of the device."""

    code: ClassVar[str] = "trials-short"
    trials: int

    def __str__(self) -> str:
        trials = counted(self.trials, "trial")
        return f"the tester fell short in {trials}, not counted against the device"


@dataclass(frozen=True)
class TrafficSent(Reason):
    """The traffic that a search sent."""

    code: ClassVar[str] = "traffic-sent"
    is_detail: ClassVar[bool] = True
    trials: int
    traffic_ns: int

    def __str__(self) -> str:
        return f"{counted(self.trials, 'trial')} with {duration(self.traffic_ns)} of traffic"


@dataclass(frozen=True)
class SharesOfBound(Reason):
    """Loads that are shares of a goal of which only a lower bound is known. why: of that bound."""

    code: ClassVar[str] = "shares-of-bound"
    goal: str
    why: Reason | None

    def __str__(self) -> str:
        why = "" if self.why is None else f" ({self.why})"
        return f"loads in shares of {self.goal} are shares of a lower bound{why}"


@dataclass(frozen=True)
class NotHeld(Reason):
    """A load that was not offered."""

    code: ClassVar[str] = "not-held"
    load: str
    is_above_line: bool

    def __str__(self) -> str:
        why = "it exceeds line rate" if self.is_above_line else "the search found no value"
        return f"{self.load} was not offered: {why}"


@dataclass(frozen=True)
class NoLoadHeld(Reason):
    """None of the loads was offered."""

    code: ClassVar[str] = "no-load-held"

    def __str__(self) -> str:
        return "no load was offered"


@dataclass(frozen=True)
class NotWhole(Reason):
    """The lowest load at which not every frame came back once. is_lowest: of all."""

    code: ClassVar[str] = "not-whole"
    rate_pps: Fraction
    is_lowest: bool

    def __str__(self) -> str:
        lowest = "the lowest load, " if self.is_lowest else ""
        return f"not every frame came back once at {lowest}{rate(self.rate_pps, 'pps')}"


REASONS: Codes = declared(globals())
