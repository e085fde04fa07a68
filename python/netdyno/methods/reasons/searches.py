"""Reasons of searches over the load: the bounds of the result, and doubts about them."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from netdyno.errors import counted
from netdyno.values.number import Claim, count, duration, percent, rate, share, to_whole
from netdyno.values.reason import Codes, Reason, declared
from netdyno.values.rehearsal import STILL_QUEUED


class Between(Reason, code="between"):
    """The highest load that passed, and the lowest that did not."""

    low_pps: Fraction
    high_pps: Fraction
    says = "between {low_pps:in full} and {high_pps:in full} pps"


class PassedHighest(Reason, code="passed-highest"):
    """The highest load tried passed. is_irregular: which RFC 9971 has reported."""

    rate_pps: Fraction
    is_irregular: bool = False
    says = """no loss at the highest load tried, {rate_pps:at least}{is_irregular:?: an irregular result (RFC
        9971)}"""


class TesterBound(Reason, code="tester-bound"):
    """A lower bound: the limit of the device above it is unknown. rate_pps: the load tried there."""

    cause: Reason
    rate_pps: Fraction | None = None
    says = "a lower bound: {rate_pps:?at {rate_pps}|above it}, {cause}"


class UnknownAtAll(Reason, code="unknown-at-all"):
    """No load tried has a result. cause: why the lowest has none."""

    cause: Reason
    says = "unknown at every load tried; at the lowest, {cause}"


class NonePassed(Reason, code="none-passed"):
    """No load tried passed, down to the lowest."""

    lowest_pps: Fraction
    says = "no load passed, down to {lowest_pps}"


class MoreArrived(Reason, code="more-arrived"):
    """More frames arrived than were sent. trials: in how many at that load."""

    rate_pps: Fraction
    trials: int
    says = "at {rate_pps}, more frames arrived than were sent{trials:=1?|, {trials:time}}"


class EndedByOthers(Reason, code="ended-by-others"):
    """Other port groups ended a common search, in which this one lost no frame."""

    rate_pps: Fraction
    says = "a lower bound: other port groups ended the search, this one lost no frame at {rate_pps}"


class StreamFailed(Reason, code="stream-failed"):
    """The failure of a stream in a trial. beyond: more received than sent. refused: by a memif ring."""

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


class FailedAt(Reason, code="failed-at", is_detail=True):
    """The lowest load that did not pass, and the failures of its streams."""

    rate_pps: Fraction
    streams: tuple[StreamFailed, ...]

    def __str__(self) -> str:
        return f"at {rate(self.rate_pps, 'pps')}: {', '.join(map(str, self.streams))}"


class StillQueued(Reason, code=STILL_QUEUED):
    """Frames still queued at the end of a trial that passed; rate_pps: over the time it sent.

    further: how many more streams had frames queued. of: what the load is called. times: how many times as
    long a trial must be for the whole queue to be no more than one step of the search.
    """

    stream: str
    frames: Fraction
    offered: int
    rate_pps: Fraction
    further: int
    of: Literal["throughput", "load"]
    times: Fraction | None = None

    def __str__(self) -> str:
        also = f" and of {counted(self.further, 'more stream')}" if self.further else ""
        frames = f"{count(to_whole(self.frames, 'at least'))} of {counted(self.offered, 'frame')}"
        return (
            f"{rate(self.rate_pps, 'pps')} of that {self.of} were still queued when sending ended"
            f" ({frames} of `{self.stream}`{also}): a longer trial may lose frames"
        )


class PassedAt(Reason, code="passed-at"):
    """Something that weakens the trial that passed at a load."""

    rate_pps: Fraction
    reason: Reason

    def __str__(self) -> str:
        return f"passed at {rate(self.rate_pps, 'pps', 'at least', 1)}, but {self.reason}"


class NoThroughput(Reason, code="no-throughput"):
    """There is no throughput to measure at. is_testers: the tester fell short at every load."""

    is_testers: bool
    says = """no throughput to measure at: {is_testers:?the tester fell short at every load tried|no load
        passed}"""


class LostOnce(Reason, code="lost-once"):
    """A load whose first trial lost frames, and whose last did not."""

    rate_pps: Fraction
    missing: int
    sent: int
    trials: int
    says = """at {rate_pps:at least}, {missing} of {sent:frame} were missing in the first trial, none in the
        last of {trials:d}"""


class TrialsAtLoads(Reason, code="trials-at-loads", is_detail=True):
    """The number of trials of a search, and the number of its loads."""

    trials: int
    loads: int
    says = "{trials:trial} at {loads:load}, {_repeated} of them repeated"

    @property
    def _repeated(self) -> int:
        return self.trials - self.loads


class SoFar(Reason, code="so-far"):
    """A search that has not ended: its finished trials, of which nothing is judged.

    Rates are of all streams together. passed_pps: the highest load that passed below all that did not.
    failed_pps: the lowest that did not, with the frames missing of those sent in its trials. short_pps: the
    load, below any that failed, at which the tester fell short. line_pps: None where nothing enforces it.
    """

    value: str
    trials: int
    passed_pps: Fraction | None
    failed_pps: Fraction | None
    short_pps: Fraction | None
    missing: int
    sent: int
    line_pps: Fraction | None

    @property
    def in_short(self) -> str:
        """The loads, without a word on what they are worth."""
        passed = None if self.passed_pps is None else self._load(self.passed_pps, "at least")
        if self.failed_pps is None:
            at_least = "unknown" if passed is None else f"at least {passed}"
            short = f"the tester fell short at {self._load(self.short_pps)}" if self.short_pps else ""
            return f"{self.value} {', '.join(filter(None, (at_least, short)))}"
        failed = self._load(self.failed_pps, "at most")
        between = f"below {failed}" if passed is None else f"between {passed} and {failed}"
        return f"{self.value} {between}, where {share(Fraction(self.missing, max(self.sent, 1)))} was lost"

    def _load(self, pps: Fraction, claim: Claim = "about") -> str:
        line = "" if not self.line_pps else f" ({percent(pps / self.line_pps)} of line)"
        return f"{rate(pps, 'pps', claim, 1)}{line}"

    def __str__(self) -> str:
        return f"not finished, not judged, after {counted(self.trials, 'trial')}: {self.in_short}"


class BudgetSpent(Reason, code="budget-spent"):
    """A search made as many trials, or as much traffic, as it may."""

    trials: int | None = None
    traffic_ns: int | None = None
    says = """{trials:?its limit of {trials:trial} is reached|the next trial would exceed its limit of
        {traffic_ns:?{traffic_ns} of }traffic}"""


class EndedEarly(Reason, code="ended-early"):
    """A search ended before its bounds were close. spent: why, if it is known."""

    spent: Reason | None
    low_pps: Fraction | None = None
    high_pps: Fraction | None = None

    def __str__(self) -> str:
        why = "the search ended early" if self.spent is None else f"the search ended early: {self.spent}"
        above = "" if not self.low_pps else f"above {rate(self.low_pps, 'pps', 'at least')}"
        below = "" if self.high_pps is None else f"below {rate(self.high_pps, 'pps', 'at most')}"
        known = " and ".join(filter(None, (above, below)))
        return f"{why}; the result is {known}" if known else why


class NoRfc2544(Reason, code="no-rfc2544"):
    """A goal of a search is not RFC 2544's throughput; trial_ns: None if that is long enough."""

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


class ShortWaits(Reason, code="short-waits"):
    """The waits around each trial, shorter than those of RFC 2544."""

    settle_ns: int
    drain_ns: int
    says = """the waits around each trial were settle {settle_ns} and drain {drain_ns} (RFC 2544 section 23:
        2 s each)"""


class Conditional(Reason, code="conditional-throughput"):
    """The conditional throughput of RFC 9971: a load less its loss."""

    rate_pps: Fraction
    loss: Fraction
    says = "conditional throughput {rate_pps:at least} of each sending port, its load less {loss:%} of loss"


class TrialsShort(Reason, code="trials-short"):
    """Trials in which the tester fell short, which say nothing of the device."""

    trials: int
    says = "the tester fell short in {trials:trial}, not counted against the device"


class TrafficSent(Reason, code="traffic-sent", is_detail=True):
    """The traffic that a search sent."""

    trials: int
    traffic_ns: int
    says = "{trials:trial} with {traffic_ns} of traffic"


class SharesOfBound(Reason, code="shares-of-bound"):
    """Loads that are shares of a goal of which only a lower bound is known. why: of that bound."""

    goal: str
    why: Reason | None
    says = "loads in shares of {goal} are shares of a lower bound{why:? ({why})}"


class NotHeld(Reason, code="not-held"):
    """A load that was not offered."""

    load: str
    is_above_line: bool
    says = "{load} was not offered: {is_above_line:?it exceeds line rate|the search found no value}"


class NoLoadHeld(Reason, code="no-load-held"):
    """None of the loads was offered."""

    says = "no load was offered"


class NotWhole(Reason, code="not-whole"):
    """The lowest load at which not every frame came back once. is_lowest: of all."""

    rate_pps: Fraction
    is_lowest: bool
    says = "not every frame came back once at {is_lowest:?the lowest load, }{rate_pps}"


REASONS: Codes = declared(globals())
