"""What the values of repeats say of the device: which of them it decided, which are bounds, which nothing.

Statistics of repeats and their comparison need to know. Three repeats that all filled the line scatter by
nothing, and say nothing of by how much two devices differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports.model.view import CaseView
from netdyno.stats.intervals import Interval
from netdyno.values.finding import Value

OF_THE_DEVICE = ("device", "licence", "none")
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

    def widened(self, interval: Interval | None) -> Interval | None:
        """The interval of a mean, no narrower than the span.

        Repeats that end at the same step of a search scatter by nothing, and are no closer to the device.
        """
        if interval is None or self.span is None:
            return interval
        return Interval(min(interval.low, self.span.low), max(interval.high, self.span.high))

    def overlaps(self, other: Repeats) -> bool:
        """Whether bounds on either side leave room for one number that both may have found."""
        if (self.span is None and other.span is None) or not (self.numbers and other.numbers):
            return False
        means = (sum(side.numbers, Fraction(0)) / len(side.numbers) for side in (self, other))
        one, two = (
            side.span or Interval(mean, mean) for side, mean in zip((self, other), means, strict=True)
        )
        return one.low < two.high and two.low < one.high

    @property
    def known(self) -> bool:
        """Whether every number is the device's own."""
        return not self.bounds and not self.doubtful


def gather(cases: Sequence[CaseView], values: Sequence[Value | None]) -> Repeats:
    """The repeats of one case. values: of each of them the value in question, None if it has none."""
    numbers: list[Fraction] = []
    ends: list[tuple[Fraction, Fraction]] = []
    two_ends = False
    invalid: list[str] = []
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
        low = value.number if value.low is None else min(value.low, value.number)
        ends.append((low, value.number if value.high is None else max(value.high, value.number)))
        two_ends = two_ends or (value.low is not None and value.high is not None)
        # A rate beyond which no more was offered is a lower bound, as no limit of a loss is not.
        if limit in OF_THE_DEVICE and not (limit == "none" and value.unit == "fps"):
            continue
        if _at_least(value, limit):
            bounds += 1
        else:
            doubtful += 1
    span = None
    if two_ends:
        lows, highs = (sum(side, Fraction(0)) / len(side) for side in zip(*ends, strict=True))
        span = Interval(lows, highs)
    return Repeats(tuple(numbers), made, bounds, doubtful, tuple(invalid), without, span)


def _at_least(value: Value, limit: str) -> bool:
    """Whether a number that is not the device's own is a lower bound of what is.

    A rate that something else held is; and so is what has a lower bound and no upper one. Times and shares
    of a tester that fell short are of another load, where they may be more or less.
    """
    open_above = value.low is not None and value.high is None
    return open_above or (value.unit == "fps" and limit != "inconclusive")
