"""Rates from a device's counters, only where they can be known.

A rate is taken between two changes of a counter, never between two readings, and it comes with its window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from netdyno.values.counter import Counter, per_second
from netdyno.values.counter_reasons import CounterChangesTooFew, CounterReset, CounterStuck
from netdyno.values.reason import Reason
from netdyno.values.series import Series
from netdyno.values.spans import Span, Spans

STILL = Fraction(3, 2)
"""A counter that is seen to stand still for more than so many of its usual windows has stopped."""


@dataclass(frozen=True)
class Interval:
    """What a counter says of the time between two of its changes.

    begin_ns, end_ns: from the begin of traffic. rate: per second, in the unit of the series; None: unknown,
    for `reason`. low, high: bounds of the rate, as each value is of some time between question and answer, or
    since the question before if the device updates the counter less often than it is asked; None: no bound.
    """

    begin_ns: int
    end_ns: int
    rate: Fraction | None
    reason: Reason | None
    low: Fraction | None = None
    high: Fraction | None = None

    @property
    def window_ns(self) -> int:
        """The time over which the rate is a mean."""
        return self.end_ns - self.begin_ns


def rates(
    series: Series,
    line_per_s: Fraction | None,
    *,
    moving: bool | Sequence[Span] = False,
    resets: Sequence[Span] = (),
) -> tuple[Interval, ...]:
    """The rate between each two changes of a counter, in order; gaps are times of which nothing is known.

    line_per_s, resets: as of `Counter`. moving: when traffic is known to flow, ns from its begin, or always.

    A device that updates counters less often than it is asked is noticed by readings that repeat; one that
    updates them a little more often is not, and `low` and `high` leave out how old its values are.

    Raises ValueError as `Counter` does.
    """
    return tuple(_Rates(Counter(series, line_per_s, resets), moving).intervals())


def rate_within(
    series: Series,
    line_per_s: Fraction | None,
    begin_ns: int,
    end_ns: int,
    *,
    moving: bool | Sequence[Span] = False,
    resets: Sequence[Span] = (),
) -> Interval:
    """The mean rate over a part of the trial, from changes that are surely of that part alone.

    Unknown with its reason if there are less than two, or if it is for any part of the time. The other
    arguments are those of `rates`. Raises ValueError as `rates` does.
    """
    return _Rates(Counter(series, line_per_s, resets), moving).within(begin_ns, end_ns)


class _Rates:
    """The rates of one counter. moving: when traffic is known to flow, or always."""

    def __init__(self, counter: Counter, moving: bool | Sequence[Span]) -> None:
        self.counter, self.at = counter, counter.at
        whole = ((self.at[0], self.at[-1]),) if self.at else ()
        self._moving = Spans((whole if moving else ()) if isinstance(moving, bool) else moving)

    def intervals(self) -> list[Interval]:
        """Between all marks; before the first and behind the last, if anything is known of that."""
        changes, marks = self.counter.changes, self.counter.marks
        if not self.at:
            return []
        if not changes:
            return self._still(0, len(self.at) - 1)
        before = self._still(0, changes[0] - 1)
        found = [self._between(one, other) for one, other in pairwise(marks)]
        return [*before, *self._first(), *found, *self._still(changes[-1], len(self.at) - 1)]

    def within(self, begin_ns: int, end_ns: int) -> Interval:
        """Over a part of the time."""
        places = [place for place, at_ns in enumerate(self.at) if begin_ns <= at_ns <= end_ns]
        changes = [place for place in self.counter.changes if places and places[0] < place <= places[-1]]
        marks = [
            place
            for place in self.counter.marks
            if self.counter.when(place)[0] >= begin_ns and self.counter.when(place)[1] <= end_ns
        ]
        edges = [(places[0], (changes or places)[0] - 1), (changes[-1], places[-1])] if changes else []
        if places and not changes:
            edges = [(places[0], places[-1])]
        still = [one for first, last in edges for one in self._still(first, last)]
        unknown = next((one for one in still if one.reason is not None), None)
        mean = unknown or self._mean(marks)
        if mean is None and still and not changes:
            return still[0]
        few = CounterChangesTooFew(*self.counter.who, min(len(changes), 1), begin_ns, end_ns)
        return mean or Interval(begin_ns, end_ns, None, few)

    def _mean(self, marks: Sequence[int]) -> Interval | None:
        """From the first of these marks to the last one."""
        if len(marks) < 2:
            return None
        one, other = marks[0], marks[-1]
        total = 0
        for first, second in pairwise(marks):
            counted = self._counted(first, second)
            if isinstance(counted, Reason):
                return Interval(self.at[one], self.at[other], None, counted)
            total += counted
        return self._interval(one, other, total)

    def _first(self) -> list[Interval]:
        """Of the first change, if no mark is before it: its time has no begin, but a reset is one."""
        if self.counter.marks[0] == 0:
            return []
        one, other = self.counter.marks[0] - 1, self.counter.marks[0]
        grown = self.counter.grown(one, other)
        if not isinstance(grown, CounterReset):
            return []
        return [Interval(self.at[one], self.at[other], None, grown)]

    def _still(self, one: int, other: int) -> list[Interval]:
        """Of readings between which it did not change; nothing if the device may just not have updated it."""
        begin_ns, end_ns, usual_ns = self.at[one], self.at[other], self.counter.usual_ns
        moved_ns = self._moving.length_within(begin_ns, end_ns)
        if moved_ns > STILL * usual_ns:
            return [Interval(begin_ns, end_ns, None, CounterStuck(*self.counter.who, moved_ns))]
        if moved_ns or end_ns - begin_ns <= STILL * usual_ns:
            return []
        reset = self.counter.reset(one, other)
        if reset is not None:
            return [Interval(begin_ns, end_ns, None, reset)]
        return [Interval(begin_ns, end_ns, Fraction(0), None, Fraction(0))]

    def _between(self, one: int, other: int) -> Interval:
        """Of two marks that follow each other."""
        counted = self._counted(one, other)
        if isinstance(counted, Reason):
            return Interval(self.at[one], self.at[other], None, counted)
        return self._interval(one, other, counted)

    def _interval(self, one: int, other: int, grown: int) -> Interval:
        count = Fraction(grown, 10**self.counter.series.scale)
        begin_ns, end_ns = self.at[one], self.at[other]
        longest, shortest = self.counter.apart(one, other) if self.counter.series.took_ns else (0, 0)
        rate, low, high = (per_second(count, time) for time in (end_ns - begin_ns, longest, shortest))
        return Interval(begin_ns, end_ns, rate, None, low, high)

    def _counted(self, one: int, other: int) -> int | Reason:
        """By how much it grew between two marks that follow each other; the reason if that is unknown."""
        grown = self.counter.grown(one, other)
        if isinstance(grown, Reason):
            return grown
        # It may have missed what came while it was seen to stand still: the mean would be too low.
        moved_ns = self._moving.length_within(self.at[one], self.at[other - 1])
        if moved_ns > STILL * self.counter.usual_ns:
            return CounterStuck(*self.counter.who, moved_ns)
        return self.counter.implausible(one, other, grown) or grown
