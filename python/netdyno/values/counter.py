"""A device's counter: by how much it grew, how fast, how old its readings are, or why that is unknown.

The one place that knows wraps, resets, growth that no line carries, and how old a reading may be: no guess.

A device updates its counters when it likes: Net-SNMP every 3 s, however often it is asked. So a rate is taken
between two changes of a counter, never between two readings, and it comes with its window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from statistics import median_low

from netdyno.values.counter_reasons import (
    CounterAgeUnknown,
    CounterChangesTooFew,
    CounterImplausible,
    CounterMayWrap,
    CounterNotRead,
    CounterReadEarly,
    CounterReadLate,
    CounterReset,
    CounterStuck,
)
from netdyno.values.reason import Reason
from netdyno.values.series import Series
from netdyno.values.spans import Span, Spans

SECOND_NS = 10**9
UPTIME, DISCONTINUITY = "sysUpTime", "ifCounterDiscontinuityTime"
"""Names of series: of the device, and of an interface (RFC 3418, RFC 2863)."""
TICK_DIGITS = 2
"""Of their values, which are hundredths of a second."""
TICKS_PER_S = 100
"""Of sysUpTime and other TimeTicks (RFC 2578, 7.1.8)."""
TICKS = 2**32
SPARE = 500
"""Ticks by which sysUpTime may be behind, beside a tenth of the time: an agent may keep it for a while."""


def resets_by_uptime(uptime: Series) -> tuple[Span, ...]:
    """When the device or its agent restarted: readings of sysUpTime, in ticks, between which it went back, or
    grew by less than the time that passed, as after a gap.

    That it wraps, after 497 days, is no restart (RFC 3418).
    """
    found = []
    for (before_ns, before), (after_ns, after) in pairwise(zip(uptime.times_ns, uptime.values, strict=True)):
        passed = (after_ns - before_ns) * TICKS_PER_S // SECOND_NS
        spare = SPARE + passed // 10
        grown = (after - before) % TICKS
        if grown < passed - spare or (after < before and grown > passed + spare):
            found.append((before_ns, after_ns))
    return tuple(found)


def resets_by_change(mark: Series) -> tuple[Span, ...]:
    """When counters were set back: readings between which a mark changed, ifCounterDiscontinuityTime."""
    at = list(zip(mark.times_ns, mark.values, strict=True))
    return tuple((before[0], after[0]) for before, after in pairwise(at) if before[1] != after[1])


@dataclass(frozen=True)
class Resets:
    """When counters of a device were set back. shared: all of them. own: those of one subject."""

    shared: tuple[Span, ...] = ()
    own: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)

    def of(self, subject: str) -> tuple[Span, ...]:
        """When the counters of a subject were."""
        return (*self.shared, *self.own.get(subject, ()))


def find_resets(every: Iterable[Series]) -> Resets:
    """All resets that the series of a trial show: a reset may leave a count that is higher than before."""
    shared: list[Span] = []
    own: dict[str, tuple[Span, ...]] = {}
    for one in every:
        if (one.name, one.scale) == (UPTIME, TICK_DIGITS):
            shared += resets_by_uptime(one)
        elif one.name == DISCONTINUITY:
            own[one.subject] = (*own.get(one.subject, ()), *resets_by_change(one))
    return Resets(tuple(shared), own)


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

        resets: times within which counters were set back (`find_resets`).

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


def growth(
    series: Series,
    until_ns: int,
    line_per_s: Fraction | None = None,
    stale_ns: int = 0,
    resets: Sequence[Span] = (),
) -> int | Reason:
    """By how much a counter grew from before traffic to after the drain, in its own unit.

    until_ns: the end of the drain, from the begin of traffic. line_per_s: the most that it can count a
    second; None: unknown, and then no counter of 32 bits is known to have wrapped at most once. stale_ns: how
    much later the last reading must be, as the device's counters are old. resets: as of `Counter`.

    Raises ValueError for a series that is no counter, or has decimals.
    """
    if series.scale:
        raise ValueError(f"`{series.name}` of `{series.subject}` does not count in whole numbers")
    counter = Counter(series, line_per_s, resets)
    if not counter.at:
        return CounterNotRead(*counter.who)
    if counter.at[0] > 0:
        return CounterReadLate(*counter.who, counter.at[0])
    if counter.at[-1] < until_ns + stale_ns:
        return CounterReadEarly(*counter.who, counter.at[-1], until_ns, stale_ns)
    return counter.grown_through(0, len(counter.at) - 1)


SEEN = 2
"""Frames that must have come for a counter that stood still to be an old one: one may be on its way."""
SETTLED = 3
"""Readings behind the traffic that must be equal before a counter counts as settled."""


@dataclass(frozen=True)
class Flow:
    """Frames that a counter had to count, in each sample of the traffic.

    behind: samples by which they may be dated too late, as those that the tester received.
    """

    frames: Sequence[int]
    sample_ns: int
    behind: int = 0

    @property
    def end_ns(self) -> int:
        """The end of the last sample."""
        return len(self.frames) * self.sample_ns

    def moves(self, begin_ns: int, end_ns: int) -> bool:
        """Whether a counter had to change between two times, ns from the begin of traffic."""
        first = max(-(-begin_ns // self.sample_ns), 0) + self.behind
        return sum(self.frames[first : max(end_ns // self.sample_ns, 0)]) >= SEEN

    def spans(self) -> Iterator[Span]:
        """Times in which frames came in each sample."""
        begin = None
        for place, frames in enumerate((*self.frames, 0)):
            if frames and begin is None:
                begin = place
            elif not frames and begin is not None:
                yield begin * self.sample_ns, place * self.sample_ns
                begin = None


def staleness(series: Series, flow: Flow) -> Span:
    """How long a counter stood still between two changes while frames came, ns, as seen and at most.

    0: never. At most: the first update may have come right behind the reading before it was seen.
    """
    at = series.times_ns
    found = [
        (at[later] > flow.end_ns, at[later] - at[earlier], at[later] - at[earlier - 1])
        for earlier, later in pairwise(changes_of(series))
        if _stood_still(series, flow, earlier, later - 1)
    ]
    # A change that was seen behind the traffic may have come long before that reading.
    within = [one for one in found if not one[0]] or found
    return max((seen for _, seen, _ in within), default=0), max((most for *_, most in within), default=0)


def is_updated_behind(series: Series, last_ns: int) -> bool:
    """Whether an update was seen behind the last frame, which came at `last_ns`."""
    changes = changes_of(series)
    return bool(changes) and series.times_ns[changes[-1] - 1] >= last_ns


def unknown_age(series: Series, flow: Flow, last_ns: int) -> CounterAgeUnknown | None:
    """Why the age of a counter's last reading is unknown; None: it is known, or all frames are counted.

    Of a device that updates its counters now and then, two changes show how often. A counter that stood still
    while frames came and changed once or never shows that it is old, and not how old. All frames are in it if
    an update was seen behind them, or if it stood still behind them as long as they came: an update was due
    then of any device whose updates are no further apart than that.

    last_ns: when the last frame came.
    """
    at, changes = series.times_ns, changes_of(series)
    if not at or len(changes) > 1:
        return None
    last = len(at) - 1
    runs = ((0, changes[0] - 1), (changes[0], last)) if changes else ((0, last),)
    if not any(_stood_still(series, flow, first, end) for first, end in runs):
        return None
    if is_updated_behind(series, last_ns):
        return None
    equal = at[changes[0] if changes else 0 :]
    more_ns = 2 * last_ns - at[-1]
    if more_ns <= 0 and sum(at_ns > last_ns for at_ns in equal) >= SETTLED:
        return None
    return CounterAgeUnknown(series.subject, series.name, len(changes), last_ns, more_ns)


def _stood_still(series: Series, flow: Flow, first: int, last: int) -> bool:
    """Whether frames came between two equal readings."""
    at, doubt = series.times_ns, doubt_ns(series)
    return last > first and flow.moves(at[first] + doubt[first], at[last] - doubt[last])


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
