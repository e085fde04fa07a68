"""Finite bursts of classes, and chains of classes: which frames leave when, computed before a trial.

Times are whole ns from the begin of the load. Burst j of a class that begins at t begins j periods later,
rounded up: a period is the time from the first frame of a burst to its last, and the gap.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from pydantic import Field

from netdyno.errors import Problem
from netdyno.plan.fields import Element
from netdyno.values.units import Duration

NS = 10**9
MOST_BURSTS = 3_000
"""The most bursts of a class in a trial: each is up to three segments of a schedule."""


class Bursts(Element):
    """Bursts of a class with a rate: so many frames at that rate, then a gap, so many times."""

    frames: int = Field(ge=1, le=10**12)
    """Frames of a burst."""
    count: int | None = Field(default=None, ge=1, le=10**9)
    """How many bursts; left out: until the load ends."""
    gap: Duration = Duration.of_ns(0)
    """From the last frame of a burst to the first of the next; no less than frames are apart at the rate."""


@dataclass(frozen=True)
class Sending:
    """What a class sends by itself on one way.

    bps: its load while it sends, L1 bits a second. bits: of a frame on the line. bursts: None of a load that
    goes on. then: the class that begins when its last burst was sent. starts: whether it begins with the
    load, and not only behind another. loops: how often it is sent before the chain ends; None: no limit.
    """

    name: str
    bps: int
    bits: int
    bursts: Bursts | None = None
    delay_ns: int = 0
    then: str | None = None
    starts: bool = True
    loops: int | None = None

    def takes_ns(self, frames: int) -> int:
        """The time of so many frames with the gap behind the last, in whole ns, rounded up past the end."""
        return frames * self.bits * NS // self.bps + 1


@dataclass(frozen=True)
class Burst:
    """A burst: its first frame leaves at_ns from the begin of the load. frames: None until the load ends."""

    at_ns: int
    frames: int | None


@lru_cache(maxsize=256)
def list_bursts(sendings: tuple[Sending, ...], duration_ns: int) -> Mapping[str, tuple[Burst, ...]]:
    """The bursts of each class in a load of that length, in order. Raises Problem if one has too many.

    A class that still sends is not begun again: the chain that comes to it ends there.
    """
    known = {one.name: one for one in sendings}
    found: dict[str, list[Burst]] = {one.name: [] for one in sendings}
    sent = dict.fromkeys(known, 0)
    # The last frame of what a class sends, and when it has room for another.
    last_ns: dict[str, Fraction | float] = {}
    order = itertools.count()
    due = [(Fraction(one.delay_ns), next(order), one.name) for one in sendings if one.starts]
    heapq.heapify(due)
    while due:
        at, _, name = heapq.heappop(due)
        one, bursts = known[name], found[name]
        if at >= duration_ns or at < last_ns.get(name, 0):
            continue
        ends = _add_run(one, bursts, at, duration_ns)
        last_ns[name] = math.inf if ends is None else ends
        sent[name] += 1
        if ends is not None and one.then is not None and sent[name] != one.loops:
            heapq.heappush(due, (ends + known[one.then].delay_ns, next(order), one.then))
    return {name: tuple(bursts) for name, bursts in found.items()}


def _add_run(one: Sending, bursts: list[Burst], at: Fraction, duration_ns: int) -> Fraction | None:
    """Adds what a class sends when it begins at a time; returns when its last frame leaves, None: never."""
    given, interval = one.bursts, Fraction(one.bits * NS, one.bps)
    if given is None or (given.count is None and given.gap.ns <= interval):
        bursts.append(Burst(_next_ns(one, bursts, at), None))
        return None
    frames, count, gap = given.frames, given.count, Fraction(given.gap.ns)
    if count is not None and gap <= interval:
        frames, count = frames * count, 1
    period = (frames - 1) * interval + gap
    for number in range(count or duration_ns):
        start_ns = _next_ns(one, bursts, at + number * period)
        if start_ns >= duration_ns:
            return None
        if len(bursts) == MOST_BURSTS:
            raise Problem(
                f"more than {MOST_BURSTS} bursts of `{one.name}` in a load of {Duration.of_ns(duration_ns)}",
                "a longer `gap`, a `count`, or shorter trials",
                at=(one.name, "bursts"),
                code="too-many",
            )
        bursts.append(Burst(start_ns, frames))
    return bursts[-1].at_ns + (frames - 1) * interval


def _next_ns(one: Sending, bursts: Sequence[Burst], at: Fraction) -> int:
    """The first whole ns from a time on at which the bursts before have their frames' time on the line."""
    free = 0 if not bursts else bursts[-1].at_ns + one.takes_ns(bursts[-1].frames or 0)
    return max(math.ceil(at), free)


def list_segments(one: Sending, bursts: Sequence[Burst], duration_ns: int) -> Iterator[tuple[int, int, int]]:
    """A schedule of which exactly these frames depart: length, ns, and load at begin and end, L1 bit/s.

    The bits of a burst's frames end in the middle of a ns, and the engine counts them exactly: what is over
    is offered in the last two ns, at no more than the rate.
    """
    at_ns = 0
    for burst in bursts:
        if burst.at_ns > at_ns:
            yield burst.at_ns - at_ns, 0, 0
        if burst.frames is None:
            parts = [(duration_ns - burst.at_ns, one.bps, one.bps)]
        else:
            length_ns = one.takes_ns(burst.frames)
            whole_ns = max(length_ns - 2, 0)
            rest = burst.frames * one.bits * NS - one.bps * whole_ns
            ends = (rest - rest // 2, rest // 2) if length_ns > 1 else (rest, rest)
            parts = [(whole_ns, one.bps, one.bps), (length_ns - whole_ns, *ends)]
        at_ns = burst.at_ns
        for part_ns, begin, end in parts:
            # A burst that the end of the load cuts has fewer frames.
            part_ns = min(part_ns, duration_ns - at_ns)
            if part_ns > 0:
                yield part_ns, begin, end
                at_ns += part_ns
    if not bursts:
        yield duration_ns, 0, 0
