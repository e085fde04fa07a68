"""Which load to measure next: the controller of RFC 9971, which leaves its heuristics free.

They are those of the reference implementation (FD.io's `MLRsearch`), so that without a seed the trials are
those it would make; tests hold the two against each other. Each goal becomes a chain of targets, from coarse
to final, with a selector of its own. Each selector nominates a load; the lowest of them is measured, and
counts for all.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.methods.mlr.goals import Evidence, Target
from netdyno.methods.mlr.grid import Grid


@dataclass(frozen=True)
class Ask:
    """A trial that the search wants. warmup: its result is to be forgotten."""

    load: int
    duration_ns: int
    warmup: bool = False


Search: TypeAlias = Generator[Ask, Fraction, None]
"""Asks for trials; is sent the share of the intended frames that came back once and intact, and finds the
trial itself in its evidence, unless the tester fell short and it is none."""

EXPANSION = 2
"""A search for a missing bound goes this many times as far with each miss."""


@dataclass(frozen=True)
class Start:
    """Where the selector of one goal begins: its targets, coarse to final, and the two loads to try.

    The rest is for loads that are trusted, as a ramp's knee is. ladder: how long the first trials at a load
    are, when it is to be proven: a short one that is bad may be all that is needed. only_down: the coarse
    targets look for a load that passes, and take none that passes for a reason to go up.
    """

    targets: tuple[Target, ...]
    lower: int
    upper: int
    ladder: tuple[int, ...] = ()
    only_down: bool = False


def from_the_top(
    grid: Grid, evidence: Evidence, chains: Sequence[tuple[Target, ...]], warmup_ns: int
) -> Search:
    """A search from the maximum load: that first, then the rate that came back of it."""
    if warmup_ns:
        yield Ask(grid.steps, warmup_ns, warmup=True)
    first = [chain[0] for chain in chains]
    loss = min(target.loss for target in first)
    duration = max(target.trial_ns for target in first)
    width = max(target.width for target in first)
    limits = _Limits(grid.steps)

    share = yield Ask(grid.steps, duration)
    forwarded = grid.at_most(grid.fps(grid.steps) * share / (1 - loss))
    low = high = grid.steps
    if forwarded < grid.steps:
        low = high = limits.settle(forwarded, width, None, grid.steps) or 0
        share = yield Ask(low, duration)
        if 1 - share > loss:
            # Less comes back at its own forwarding rate: go down to the rate there.
            forwarded = grid.at_most(grid.fps(low) * share / (1 - loss))
            other = limits.settle(forwarded, width, None, low)
        else:
            other = limits.settle(low + width, width, low, grid.steps)
        if other is not None:
            yield Ask(other, duration)
            low, high = sorted((low, other))
    yield from between(grid, evidence, [Start(chain, low, high) for chain in chains], high - low)


def between(grid: Grid, evidence: Evidence, starts: Sequence[Start], step: int = 0) -> Search:
    """A search from two loads a goal, until every goal's bounds are as near as it wants them.

    step: how far the first search for a missing bound goes at least.
    """
    shared = _Shared(step)
    selectors = [_Selector(start, grid, evidence, shared) for start in starts]
    while True:
        nominated = [(one, selector) for selector in selectors if (one := selector.nominate()) is not None]
        if not nominated:
            return
        # The first of equals, and so the goal named first.
        won, selector = min(nominated, key=lambda pair: pair[0].priority)
        yield Ask(won.load, won.duration_ns)
        shared.width = won.width
        selector.measured(won)


@dataclass
class _Shared:
    """The last load and width of the search, shared by all goals, so that they do not overtake each other."""

    width: int


@dataclass(frozen=True)
class _Nomination:
    load: int
    duration_ns: int
    width: int
    missed: Literal["lower", "upper"] | None = None
    """The search was for the other bound: if the load turns out to be this one, it goes further next time."""

    @property
    def priority(self) -> tuple[int, int, int]:
        """The order of nominations: low loads first, as a failure there says most."""
        return self.load, -self.duration_ns, -self.width


@dataclass(frozen=True)
class _Limits:
    """Keeps loads away from loads already tried, and within the grid. Loads and widths in steps."""

    top: int

    def settle(self, load: int, width: int, lower: int | None, upper: int | None) -> int | None:
        """A load near this one that is worth measuring, None if there is none.

        It is no nearer than a width to a bound. Nearer than that to an end of the grid it is that end.
        """
        load = min(max(load, 0), self.top)
        low, high = 0 if lower is None else lower, self.top if upper is None else upper
        if (upper is not None and (high <= 0 or load >= high)) or (lower is not None and load <= low):
            return None
        if high - low <= width:
            return low if lower is None else high if upper is None else None
        nearest, furthest = low + width, high - width
        if nearest > furthest:
            nearest = furthest = middle(low, high, width)
        if load < nearest:
            return low if lower is None else nearest
        if load > furthest:
            return high if upper is None else furthest
        return load


def middle(low: int, high: int, width: int) -> int:
    """Where to split an interval wider than `width`, so that halving it again comes out even: one part is
    `width` times a power of two, and the lower part is not the larger one."""
    whole = high - low
    assert whole > width
    if whole < 2 * width:
        # An odd width is that of a last target: nothing comes after it that would split further.
        return middle(low, high, width // 2) if width % 2 == 0 else low + whole // 2
    part = width
    while whole - 2 * part > 2 * part:
        part *= 2
    # The largest power of two that leaves the other part larger, or the next one: whichever is more even.
    smaller, larger = part, whole - 2 * part
    return low + (smaller if smaller * (whole - smaller) > larger * 2 * part else larger)


class _Selector:
    """Nominates loads for one goal: for its coarsest target first, and so on to its final one."""

    def __init__(self, start: Start, grid: Grid, evidence: Evidence, shared: _Shared) -> None:
        self._limits = _Limits(grid.steps)
        self._evidence = evidence
        self._shared = shared
        self._start = start
        self._further = list(start.targets[1:])
        self._begin(start.targets[0], start.lower, start.upper)

    def _begin(self, target: Target, lower: int | None, upper: int | None) -> None:
        """The two loads that the target before this one ended with, or that the search began with."""
        self._target = target
        self._first_lower, self._first_upper = lower, upper
        apart = upper - lower if lower is not None and upper is not None else 0
        self._limit(max(target.width, apart))

    @property
    def _looks_down(self) -> bool:
        return self._start.only_down and bool(self._further)

    def _limit(self, width: int) -> None:
        """The search for a missing bound begins anew with small steps."""
        self._next = EXPANSION * max(width, self._target.width)

    @property
    def _step(self) -> int:
        return max(self._next, self._shared.width)

    def nominate(self) -> _Nomination | None:
        """The load to measure next, None if this goal is reached."""
        while True:
            lower, upper = self._evidence.bounds(self._target)
            if self._knee_was_too_low(lower, upper):
                self._start = replace(self._start, only_down=False)
                self._further = [self._target]
                self._begin(self._start.targets[0], lower, lower)
                continue
            found = (
                self._halve(lower, upper)
                or self._refine(self._first_lower, lower, upper)
                or (None if self._looks_down else self._refine(self._first_upper, lower, upper))
                or self._extend(lower, upper)
                or self._bisect(lower, upper)
            )
            if found is not None or not self._further:
                return found
            if self._start.only_down and lower is not None and upper is None:
                upper = min(lower + self._target.width, self._limits.top)
            self._begin(self._further.pop(0), lower, upper)

    def _knee_was_too_low(self, lower: int | None, upper: int | None) -> bool:
        """Whether both loads that were trusted passed: then short trials look for one that does not."""
        trusted = self._start.only_down and not self._further and upper is None
        return trusted and lower is not None and lower == self._first_upper != self._limits.top

    def measured(self, nomination: _Nomination) -> None:
        """The nominated load was measured."""
        if nomination.missed is None:
            return
        lower, upper = self._evidence.bounds(self._target)
        if nomination.load == (lower if nomination.missed == "lower" else upper):
            self._next *= EXPANSION
            self._shared.width = self._next

    def _nomination(self, load: int, width: int) -> _Nomination:
        return _Nomination(load, self._duration_ns(load), width)

    def _duration_ns(self, load: int) -> int:
        """The duration of the next trial at a load, ns."""
        ladder = () if self._further else self._start.ladder
        # Where the lower bound is expected, only a trial of the full length is of use.
        expected = self._first_lower is not None and load <= self._first_lower
        place = len(self._evidence.at(load)) + (len(ladder) if expected and self._evidence.at(load) else 0)
        return ladder[place] if place < len(ladder) else self._target.trial_ns

    def _worth(self, load: int, lower: int | None, upper: int | None) -> bool:
        """Whether measuring there can give a bound that is missing, or a nearer one where that is wanted."""
        if (lower is not None and lower >= load) or (upper is not None and upper <= load):
            return False
        return lower is None or upper is None or upper - lower > self._target.width

    def _halve(self, lower: int | None, upper: int | None) -> _Nomination | None:
        """The middle of the interval that the target before left, if that is one halving away; else None."""
        low, high, width = self._first_lower, self._first_upper, self._target.width
        if low is None or high is None or not width < high - low <= 2 * width:
            return None
        load = middle(low, high, width)
        return self._close(load) if self._worth(load, lower, upper) else None

    def _refine(self, load: int | None, lower: int | None, upper: int | None) -> _Nomination | None:
        """An end of the interval that the target before left, to be measured with trials of this target."""
        return self._close(load) if load is not None and self._worth(load, lower, upper) else None

    def _close(self, load: int) -> _Nomination:
        self._limit(self._target.width)
        return self._nomination(load, self._target.width)

    def _extend(self, lower: int | None, upper: int | None) -> _Nomination | None:
        """Beyond the one bound there is, for the other one."""
        width, step = self._target.width, self._step
        missed: Literal["lower", "upper"]
        if upper is not None and lower is None:
            load, missed = self._limits.settle(upper - step, width, None, upper), "upper"
        elif lower is not None and upper is None and lower < self._limits.top and not self._looks_down:
            load, missed = self._limits.settle(lower + step, width, lower, None), "lower"
        else:
            return None
        if load is None or not self._worth(load, lower, upper):
            return None
        return replace(self._nomination(load, step), missed=missed)

    def _bisect(self, lower: int | None, upper: int | None) -> _Nomination | None:
        """Between two bounds: the middle, unless a step from the side that the first loads were on is nearer
        to them. A bound that another goal's trials gave may be far off."""
        width = self._target.width
        if lower is None or upper is None or upper - lower <= width:
            return None
        load, step = middle(lower, upper, width), self._step
        if self._first_upper is not None and load < self._first_upper:
            down = self._limits.settle(upper - step, width, lower, upper)
            if down is not None and load < down < self._first_upper:
                return replace(self._nomination(down, step), missed="upper")
        if self._first_lower is not None and load > self._first_lower:
            up = self._limits.settle(lower + step, width, lower, upper)
            if up is not None and self._first_lower < up < load:
                return replace(self._nomination(up, step), missed="lower")
        self._limit(min(load - lower, upper - load))
        return self._nomination(load, min(load - lower, upper - load))
