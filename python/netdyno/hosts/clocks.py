"""How far a host's clock is from ours, by exchanges: the one that took the least time bounds it best."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

EXCHANGES = 50
CRYSTALS = 5000
"""Two clocks that nobody sets go apart by less than one part in so many."""
LEAST_JUMP_PS = 10_000_000_000
"""A smaller one does no more harm than a host that begins as late."""


@dataclass(frozen=True)
class Offset:
    """What a clock reads beyond ours, ps, and how far that may be wrong either way."""

    ps: int
    bound_ps: int


def now_ps() -> int:
    """Our clock, ps. It is never set or slewed: a step of the time of day moves no instant."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) * 1000


def measure_offset(read_ps: Callable[[], int], own_ps: Callable[[], int] = now_ps) -> Offset:
    """The offset of a clock. read_ps: asks it once."""
    return min((_exchange(read_ps, own_ps) for _ in range(EXCHANGES)), key=lambda found: found.bound_ps)


def find_jump_ps(before: Offset, after: Offset, elapsed_ps: int) -> int:
    """By how much a clock jumped against ours between two measurements; 0: by no more than is unknown, or
    than two crystals go apart in that time."""
    apart_ps = abs(after.ps - before.ps)
    unknown_ps = before.bound_ps + after.bound_ps + elapsed_ps // CRYSTALS
    return apart_ps if apart_ps > unknown_ps + LEAST_JUMP_PS else 0


def _exchange(read_ps: Callable[[], int], own_ps: Callable[[], int]) -> Offset:
    before = own_ps()
    theirs = read_ps()
    after = own_ps()
    half = (after - before + 1) // 2
    return Offset(theirs - before - half, half)
