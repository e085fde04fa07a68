"""Rates from a device's counters, only where they can be known.

A device updates its counters when it likes: Net-SNMP every 3 s, however often it is asked. A rate is thus
taken between two changes of a counter, never between two readings, and it comes with its window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import median_low

from netdyno.values.counter_reasons import CounterImplausible, CounterReset, CounterStuck, WrappedTooOften
from netdyno.values.counter_resets import SECOND_NS, Span
from netdyno.values.reason import Reason
from netdyno.values.series import Series

WRAP = {32: 2**32}
"""Counts after which a counter begins anew, by its width. One of 64 bits lasts for years (RFC 2863)."""
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

    line_per_s: the most that the line carries, in the unit of the series per second; None: unknown. moving:
    when traffic is known to flow, ns from its begin, or always. resets: times within which counters were set
    back (`values.counter_resets`).

    A device that updates counters less often than it is asked is noticed by readings that repeat; one that
    updates them a little more often is not, and `low` and `high` leave out how old its values are.

    Raises ValueError for a series that is no counter, or that the device itself averaged over a window: that
    is not a rate over the trial.
    """
    return tuple(_Counter(series, line_per_s, moving, resets).intervals())


def mean_rate(
    series: Series,
    line_per_s: Fraction | None,
    *,
    moving: bool | Sequence[Span] = False,
    resets: Sequence[Span] = (),
) -> Interval | None:
    """The rate between the first and the last change of a counter, with the arguments of `rates`.

    The longer the time between them, the closer `low` and `high`. Unknown if it is for any part. None: the
    counter did not change twice. Raises ValueError as `rates` does.
    """
    return _Counter(series, line_per_s, moving, resets).mean()


class _Counter:
    """A counter's readings, and what is known beside them."""

    def __init__(
        self,
        series: Series,
        line_per_s: Fraction | None,
        moving: bool | Sequence[Span],
        resets: Sequence[Span],
    ) -> None:
        if series.window_ns is not None:
            raise ValueError(f"`{series.name}` is a mean of the device over {series.window_ns} ns")
        if not series.is_counter:
            raise ValueError(f"`{series.name}` is no counter")
        self.series, self.line_per_s, self.resets = series, line_per_s, resets
        self.at, self.values = series.times_ns, series.values
        whole = ((self.at[0], self.at[-1]),) if self.at else ()
        self.moving = (whole if moving else ()) if isinstance(moving, bool) else moving
        values = enumerate(pairwise(self.values), 1)
        self.changes = [place for place, (before, after) in values if after != before]
        # Where it stood still between two changes, the device updates it less often than it is asked.
        self.is_cached = any(later - earlier > 1 for earlier, later in pairwise(self.changes)) or (
            len(self.changes) == 1 and len(self.values) > 2
        )
        windows = [self.at[later] - self.at[earlier] for earlier, later in pairwise(self.changes)]
        self.usual_ns = median_low(windows) if windows else 0
        # The first value is of the time it was asked for only where the device answers with new ones.
        is_new = self.changes[:1] == [1] and not self.is_cached
        self.marks = [0, *self.changes] if is_new else self.changes

    def intervals(self) -> list[Interval]:
        """Between all marks; before the first and behind the last, if anything is known of that."""
        if not self.values:
            return []
        found = [self._between(one, other) for one, other in pairwise(self.marks)]
        if not self.changes:
            return self._still(0, len(self.values) - 1)
        before = self._still(0, self.changes[0] - 1)
        return [*before, *self._first(), *found, *self._still(self.changes[-1], len(self.values) - 1)]

    def _first(self) -> list[Interval]:
        """Of the first change, if no mark is before it: its time has no begin, but a reset is one."""
        if self.marks[0] == 0:
            return []
        one, other = self.marks[0] - 1, self.marks[0]
        grown = self._grown(one, other)
        if not isinstance(grown, CounterReset):
            return []
        return [Interval(self.at[one], self.at[other], None, grown)]

    def mean(self) -> Interval | None:
        """From the first mark to the last one."""
        if len(self.marks) < 2:
            return None
        one, other = self.marks[0], self.marks[-1]
        begin_ns, end_ns = self.at[one], self.at[other]
        grown = 0
        for first, second in pairwise(self.marks):
            counted = self._counted(first, second)
            if isinstance(counted, Reason):
                return Interval(begin_ns, end_ns, None, counted)
            grown += counted
        return self._interval(one, other, grown)

    def _still(self, one: int, other: int) -> list[Interval]:
        """Of readings between which it did not change; nothing if the device may just not have updated it."""
        begin_ns, end_ns = self.at[one], self.at[other]
        moved_ns = self._moving_ns(begin_ns, end_ns)
        if moved_ns > STILL * self.usual_ns:
            return [Interval(begin_ns, end_ns, None, CounterStuck(moved_ns))]
        if moved_ns or end_ns - begin_ns <= STILL * self.usual_ns:
            return []
        reset = self._reset(one, other)
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
        count = Fraction(grown, 10**self.series.scale)
        begin_ns, end_ns = self.at[one], self.at[other]
        longest, shortest = self._bounds(one, other) if self.series.took_ns else (0, 0)
        rate, low, high = (_per_second(count, time) for time in (end_ns - begin_ns, longest, shortest))
        return Interval(begin_ns, end_ns, rate, None, low, high)

    def _counted(self, one: int, other: int) -> int | Reason:
        """By how much it grew between two marks that follow each other; the reason if that is unknown."""
        grown = self._grown(one, other)
        if isinstance(grown, Reason):
            return grown
        # It may have missed what came while it was seen to stand still: the mean would be too low.
        moved_ns = self._moving_ns(self.at[one], self.at[other - 1])
        if moved_ns > STILL * self.usual_ns:
            return CounterStuck(moved_ns)
        longest_ns, _ = self._bounds(one, other)
        least = _per_second(Fraction(grown, 10**self.series.scale), longest_ns)
        if least is not None and self.line_per_s is not None and least > self.line_per_s:
            return CounterImplausible(least, self.line_per_s)
        return grown

    def _grown(self, one: int, other: int) -> int | Reason:
        """The difference of two marks that follow each other, across one wrap."""
        reset = self._reset(one, other)
        if reset is not None:
            return reset
        before, after = self.values[one], self.values[other]
        wrap = WRAP.get(self.series.bits or 0)
        if wrap is None:
            return after - before if after >= before else CounterReset(before, after)
        longest_ns, _ = self._bounds(one, other)
        # Up to one wrap, the remainder is what it counted; of more wraps it hides all but the last.
        if self.line_per_s is None or self._most(longest_ns) >= wrap:
            return WrappedTooOften(longest_ns, self.line_per_s)
        grown = (after - before) % wrap
        # More than the line carries: it was set back, and did not wrap.
        return CounterReset(before, after) if after < before and grown > self._most(longest_ns) else grown

    def _most(self, for_ns: int) -> Fraction:
        """The most that it can count in a time at line rate, in units of its values."""
        assert self.line_per_s is not None
        return self.line_per_s * Fraction(10) ** self.series.scale * for_ns / SECOND_NS

    def _reset(self, one: int, other: int) -> CounterReset | None:
        begin_ns, end_ns = self.at[one], self.at[other]
        if any(begin < end_ns and end > begin_ns for begin, end in self.resets):
            return CounterReset(self.values[one], self.values[other])
        return None

    def _bounds(self, one: int, other: int) -> Span:
        """The longest and the shortest time there can be between two marks, ns."""
        (begin_least, begin_most), (end_least, end_most) = self._when(one), self._when(other)
        return end_most - begin_least, end_least - begin_most

    def _when(self, place: int) -> Span:
        """The earliest and the latest time that a changed value can be of."""
        first = max(place - 1, 0) if self.is_cached else place
        took = self.series.took_ns or (0,) * len(self.values)
        return self.at[first] - (took[first] + 1) // 2, self.at[place] + (took[place] + 1) // 2

    def _moving_ns(self, begin_ns: int, end_ns: int) -> int:
        """How long traffic is known to have flowed within a time."""
        return sum(max(0, min(end, end_ns) - max(begin, begin_ns)) for begin, end in self.moving)


def _per_second(count: Fraction, for_ns: int) -> Fraction | None:
    """None if the time may be none at all: there is no bound."""
    return count * SECOND_NS / for_ns if for_ns > 0 else None
