"""How far a host's clock is from ours, by exchanges: the one that took the least time bounds it best."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

EXCHANGES = 50


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


def _exchange(read_ps: Callable[[], int], own_ps: Callable[[], int]) -> Offset:
    before = own_ps()
    theirs = read_ps()
    after = own_ps()
    half = (after - before + 1) // 2
    return Offset(theirs - before - half, half)
