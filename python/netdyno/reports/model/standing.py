"""What the values of repeats say of the device: which of them it decided, which are bounds, which nothing.

Statistics of repeats and their comparison need to know. Three repeats that all filled the line scatter by
nothing, and say nothing of by how much two devices differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.reports.model.view import CaseView
from netdyno.stats.comparison import Spread, one_more, welch
from netdyno.stats.intervals import CONFIDENCE, UNSTABLE, Interval, of_share, summarize
from netdyno.values.finding import Value
from netdyno.values.kind import RATES

OF_THE_DEVICE = ("device", "licence", "shaper", "policer", "none")
"""Limits whose numbers are the device's own: also where it lost nothing."""

NOT_MADE = ("pending", "running", "interrupted")
"""States of cases that are still to come."""


@dataclass(frozen=True)
class Repeats:
    """The repeats of one case with what they found of one value."""

    numbers: tuple[Fraction, ...] = ()
    """Of all but those that are invalid."""
    made: int = 0
    """How many repeats were made."""
    bounds: int = 0
    """How many numbers are lower bounds: the line, the tester or the fixture ended before the device did, or
    the method says that it may be more."""
    doubtful: int = 0
    """How many numbers may not be the device's, nor are bounds of it."""
    invalid: tuple[str, ...] = ()
    """Names of the cases whose numbers are left out, since what was counted can be of no device."""
    without: int = 0
    """How many repeats found no number, or failed."""
    span: Interval | None = None
    """From the mean of the lower bounds to that of the upper ones, which the mean of what they bound lies
    between; a number without any is its own. None where none has both."""
    pooled: Interval | None = None
    """Of shares of frames: that of the frames of all of them together, which has a width where repeats lose
    less than a frame each, and so scatter by little or nothing. None of other numbers."""
    limits: tuple[str, ...] = ()
    """What limited its numbers, each once."""

    def widened(self, interval: Interval | None) -> Interval | None:
        """The interval of a mean, no narrower than that of the frames of all repeats, or else the span.

        Repeats that end at the same step of a search scatter by nothing, and are no closer to the device.
        """
        if interval is None:
            return None
        least = self.pooled or self.span or interval
        return Interval(min(interval.low, least.low), max(interval.high, least.high))

    def overlaps(self, other: Repeats) -> bool:
        """Whether bounds on either side leave room for one number that both may have found."""
        if (self.span is None and other.span is None) or not (self.numbers and other.numbers):
            return False
        one, two = self.bracket, other.bracket
        return one.low < two.high and two.low < one.high

    @property
    def known(self) -> bool:
        """Whether every number is the device's own."""
        return not self.bounds and not self.doubtful

    @property
    def mean(self) -> Fraction:
        """Of its numbers, of which it has one at the least."""
        return sum(self.numbers, Fraction(0)) / len(self.numbers)

    @property
    def bracket(self) -> Interval:
        """What its mean lies in as far as a search tells, or of a share its frames; else the mean itself."""
        # The frames of a single trial say nothing of how another one would lose them.
        pooled = self.pooled if len(self.numbers) > 1 else None
        return self.span or pooled or Interval(self.mean, self.mean)

    @property
    def missing(self) -> int:
        """How many repeats gave no number that counts."""
        return self.without + len(self.invalid)


def gather(cases: Sequence[CaseView], values: Sequence[Value | None]) -> Repeats:
    """The repeats of one case. values: of each of them the value in question, None if it has none."""
    numbers: list[Fraction] = []
    ends: list[tuple[Fraction, Fraction]] = []
    two_ends = False
    shares: list[tuple[Fraction, int]] = []
    invalid: list[str] = []
    limits: dict[str, None] = {}
    made = bounds = doubtful = without = 0
    for case, value in zip(cases, values, strict=True):
        if case.state in NOT_MADE:
            continue
        made += 1
        if value is None or value.number is None:
            without += 1
            continue
        limit = case.limit_of(value)
        if limit == "invalid":
            invalid.append(case.name)
            continue
        numbers.append(value.number)
        limits["contradicted" if value.is_refuted else limit] = None
        if value.of_frames:
            shares.append((value.number * value.of_frames, value.of_frames))
        low = value.number if value.low is None else min(value.low, value.number)
        ends.append((low, value.number if value.high is None else max(value.high, value.number)))
        two_ends = two_ends or (value.low is not None and value.high is not None)
        if value.is_refuted:
            doubtful += 1
            continue
        # A rate beyond which no more was offered is a lower bound, as no limit of a loss is not.
        if limit in OF_THE_DEVICE and not (limit == "none" and value.unit in RATES):
            continue
        if _at_least(value, limit):
            bounds += 1
        else:
            doubtful += 1
    span = None
    if two_ends:
        lows, highs = (sum(side, Fraction(0)) / len(side) for side in zip(*ends, strict=True))
        span = Interval(lows, highs)
    pooled = None
    if shares and len(shares) == len(numbers):
        lost, sent = (sum(side) for side in zip(*shares, strict=True))
        pooled = of_share(lost, int(sent))
    return Repeats(
        tuple(numbers), made, bounds, doubtful, tuple(invalid), without, span, pooled, tuple(sorted(limits))
    )


def _at_least(value: Value, limit: str) -> bool:
    """Whether a number that is not the device's own is a lower bound of what is.

    A rate that something else held is; and so is what has a lower bound and no upper one. Times and shares
    of a tester that fell short are of another load, where they may be more or less.
    """
    open_above = value.low is not None and value.high is None
    return open_above or (value.unit in RATES and limit != "inconclusive")


Rule: TypeAlias = Literal[
    "welch", "one against several", "brackets", "equal", "single", "at least", "unknown"
]


@dataclass(frozen=True)
class Difference:
    """By how much a second side differs from a first, and how sure that is. Of numbers that were searched for
    the interval is no narrower than what the brackets leave open, of shares than what their frames do.

    rule: how the interval follows. `welch`, several numbers a side: Welch's t. `one against several`:
    Student's t of a single new observation; the one is taken to scatter as the several do. `brackets`,
    numbers that do not scatter, or one a side, with bounds: from the farthest of the ends to the other
    farthest (Moore, Interval Analysis, 1966), which is certain of these searches and says nothing of
    scatter. `equal`, repeats a side that do not scatter, without bounds: the change itself. `single`, a
    number without bounds on a side: a tenth of the larger mean to either side, since repeats that spread
    more are no steady device's (RFC 8239, section 1.2). `at least`: a side of lower bounds, all above what
    the other side reached; the change is the least there is. `unknown`: numbers that are not the device's
    own, and losses of single trials: no interval. ends: what the brackets leave open. spread: how the
    change scatters; None: not known.
    """

    first: Repeats
    second: Repeats
    rule: Rule
    ends: Interval | None = None
    spread: Spread | None = None

    @property
    def change(self) -> Fraction:
        """The mean of the second less that of the first."""
        return self.second.mean - self.first.mean

    def as_share(self, change: Fraction) -> Fraction | None:
        """A change as a share of the first mean; None where that is 0."""
        return change / abs(self.first.mean) if self.first.mean else None

    @property
    def share(self) -> Fraction | None:
        """The change as a share of the first mean; None where that is 0."""
        return self.as_share(self.change)

    @property
    def interval(self) -> Interval | None:
        """What the true change lies in, with `CONFIDENCE`; of a lower bound that is not known."""
        return None if self.rule == "at least" else self.within(1 - CONFIDENCE)

    def within(self, chance: float) -> Interval | None:
        """What the true change lies in, but for this chance, or the least there is of it; None: not known."""
        if self.ends is None:
            return None
        reach = Fraction(0) if self.spread is None else self.spread.reach(chance)
        return Interval(min(self.ends.low, self.change - reach), max(self.ends.high, self.change + reach))

    def chance(self, of: Fraction = Fraction(0)) -> float | None:
        """The chance of such a change or one farther off if the true one were `of`, two-sided; None: the rule
        knows none."""
        if self.spread is None or self.ends is None:
            return None
        return 1.0 if self.ends.low <= of <= self.ends.high else self.spread.chance(self.change - of)


def differ(first: Repeats, second: Repeats) -> Difference:
    """How two sides differ, each with one number or more."""
    least = not (first.known and second.known)
    if least and not is_at_least(first, second):
        return Difference(first, second, "unknown")
    one, two = first.bracket, second.bracket
    ends = Interval(two.low - one.high, two.high - one.low)
    several = [summarize(side.numbers) for side in (first, second) if len(side.numbers) > 1]
    spread = None
    if several:
        spread = welch(*several) if len(several) == 2 else one_more(several[0])
    if spread is not None:
        rule: Rule = "welch" if len(several) == 2 else "one against several"
        return Difference(first, second, "at least" if least else rule, ends, spread)
    if ends.low < ends.high:
        return Difference(first, second, "at least" if least else "brackets", ends)
    if least:
        return Difference(first, second, "unknown")
    if len(several) == 2:
        return Difference(first, second, "equal", ends)
    if first.pooled is None and second.pooled is None:
        reach = UNSTABLE * max(abs(first.mean), abs(second.mean))
        change = second.mean - first.mean
        return Difference(first, second, "single", Interval(change - reach, change + reach))
    return Difference(first, second, "unknown")


def is_at_least(first: Repeats, second: Repeats) -> bool:
    """Whether a side of lower bounds is above a side that is known, each of the one above each of the other.

    The true numbers are higher still, and as far apart at the least.
    """
    lower, upper = (first, second) if second.mean > first.mean else (second, first)
    apart = min(upper.numbers) > max(lower.numbers)
    return lower.known and upper.bounds > 0 and not upper.doubtful and apart


def average_runs(runs: Sequence[Repeats], *, by_runs: bool = False) -> Repeats:
    """Several runs as one side, each by the mean of its repeats; a single one as it is. by_runs: that one,
    too, as one number, since the other side has several runs, and these scatter more than repeats do."""
    found = [run for run in runs if run.numbers]
    if not found:
        return Repeats(made=sum(run.made for run in runs), without=sum(run.missing for run in runs))
    if len(runs) < 2 and not by_runs:
        return found[0]
    lows, highs = ([getattr(run.bracket, end) for run in found] for end in ("low", "high"))
    return Repeats(
        numbers=tuple(run.mean for run in found),
        made=len(runs),
        without=len(runs) - len(found) + sum(run.missing > 0 for run in found),
        bounds=sum(run.bounds > 0 for run in found),
        doubtful=sum(run.doubtful > 0 for run in found),
        span=Interval(sum(lows) / len(found), sum(highs) / len(found))
        if any(run.span or run.pooled for run in found)
        else None,
        limits=tuple(sorted({limit for run in found for limit in run.limits})),
    )
