"""A device's counter: by how much it grew between two readings, or why that is unknown.

The one place that knows wraps, resets, growth that no line carries, and how old a reading may be. Growth over
a trial (`difference`) and rates (`counter_rates`) rest on it.

A device updates its counters when it likes: Net-SNMP every 3 s, however often it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import median_low

from netdyno.values.counter_reasons import CounterImplausible, CounterMayWrap, CounterReset
from netdyno.values.counter_resets import SECOND_NS
from netdyno.values.reason import Reason
from netdyno.values.series import Series
from netdyno.values.spans import Span, Spans

WRAPS = {32: 2**32}
"""Counts after which a counter begins anew, by its width. One of 64 bits lasts for years (RFC 2863)."""


def changes_of(series: Series) -> list[int]:
    """The places of values that differ from the one before."""
    return [place for place, (before, after) in enumerate(pairwise(series.values), 1) if after != before]


def doubt_ns(series: Series) -> tuple[int, ...]:
    """How much before or behind its time each value can be of, ns: half of what its reading took."""
    return tuple((took + 1) // 2 for took in series.took_ns) or (0,) * len(series.values)


class Counter:
    """A counter's readings, and what is known beside them."""

    def __init__(
        self, series: Series, line_per_s: Fraction | None = None, resets: Sequence[Span] = ()
    ) -> None:
        """line_per_s: the most that the line carries, in the unit of the series per second; None: unknown.

        resets: times within which counters were set back (`counter_resets`).

        Raises ValueError for a series that is no counter, or that the device itself averaged over a window:
        that is not of the trial.
        """
        if series.window_ns is not None:
            raise ValueError(f"`{series.name}` is a mean of the device over {series.window_ns} ns")
        if not series.is_counter:
            raise ValueError(f"`{series.name}` of `{series.subject}` does not count")
        self.series, self.line_per_s, self._resets = series, line_per_s, Spans(resets)
        self.who = (series.subject, series.name)
        self.at, self.values, self.changes = series.times_ns, series.values, changes_of(series)
        self._doubt_ns = doubt_ns(series)
        # Where it stood still between two changes, the device updates it less often than it is asked.
        self.is_cached = any(later - earlier > 1 for earlier, later in pairwise(self.changes)) or (
            len(self.changes) == 1 and len(self.values) > 2
        )
        windows = [self.at[later] - self.at[earlier] for earlier, later in pairwise(self.changes)]
        self.usual_ns = median_low(windows) if windows else 0
        # The first value is of the time it was asked for only where the device answers with new ones.
        is_new = self.changes[:1] == [1] and not self.is_cached
        self.marks = [0, *self.changes] if is_new else self.changes
        """Places of values whose time is known."""

    def grown(self, one: int, other: int) -> int | Reason:
        """The difference of two readings between which it changed once or never, across one wrap."""
        reset = self.reset(one, other)
        if reset is not None:
            return reset
        before, after = self.values[one], self.values[other]
        wrap = WRAPS.get(self.series.bits or 0)
        if wrap is None:
            return after - before if after >= before else CounterReset(*self.who, before, after)
        longest_ns, _ = self.apart(one, other)
        # Up to one wrap, the remainder is what it counted; of more wraps it hides all but the last.
        if self.line_per_s is None or self._most(longest_ns) >= wrap:
            return CounterMayWrap(*self.who, longest_ns, self.line_per_s)
        grown = (after - before) % wrap
        # More than the line carries: it was set back, and did not wrap.
        is_reset = after < before and grown > self._most(longest_ns)
        return CounterReset(*self.who, before, after) if is_reset else grown

    def grown_through(self, one: int, other: int) -> int | Reason:
        """The growth from a reading to a later one, all between them counted."""
        total, mark = 0, one
        for place, (before, after) in enumerate(pairwise(self.values[one : other + 1]), one + 1):
            # A cached value may be as old as the one that it was cached behind.
            step = self.grown(mark if self.is_cached and after != before else place - 1, place)
            if isinstance(step, Reason):
                return step
            total += step
            mark = place if after != before else mark
        return self.implausible(one, other, total) or total

    def implausible(self, one: int, other: int, grown: int) -> Reason | None:
        """The reason if it grew between two readings by more than the line carries."""
        longest_ns, _ = self.apart(one, other)
        # The line's rate need not be whole frames in this time: one more than that is no contradiction.
        least = per_second(Fraction(max(grown - 1, 0), 10**self.series.scale), longest_ns)
        if least is None or self.line_per_s is None or least <= self.line_per_s:
            return None
        return CounterImplausible(*self.who, least, self.line_per_s)

    def reset(self, one: int, other: int) -> CounterReset | None:
        """The reason if the counter was set back between two readings."""
        if self._resets.length_within(self.at[one], self.at[other]):
            return CounterReset(*self.who, self.values[one], self.values[other])
        return None

    def apart(self, one: int, other: int) -> Span:
        """The longest and the shortest time there can be between two values, ns."""
        (begin_least, begin_most), (end_least, end_most) = self.when(one), self.when(other)
        return end_most - begin_least, end_least - begin_most

    def when(self, place: int) -> Span:
        """The earliest and the latest time that a changed value can be of."""
        first = max(place - 1, 0) if self.is_cached else place
        return self.at[first] - self._doubt_ns[first], self.at[place] + self._doubt_ns[place]

    def _most(self, for_ns: int) -> Fraction:
        """The most that it can count in a time at line rate, in units of its values."""
        assert self.line_per_s is not None
        return self.line_per_s * Fraction(10) ** self.series.scale * for_ns / SECOND_NS


def per_second(count: Fraction, for_ns: int) -> Fraction | None:
    """None if the time may be none at all: there is no bound."""
    return count * SECOND_NS / for_ns if for_ns > 0 else None
