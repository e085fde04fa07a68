"""When a device's counters were set back, from what it reports beside them."""

from __future__ import annotations

from itertools import pairwise

from netdyno.values.series import Series

SECOND_NS = 10**9
TICKS_PER_S = 100
"""Of sysUpTime and other TimeTicks (RFC 2578, 7.1.8)."""
TICKS = 2**32
SPARE = 500
"""Ticks by which sysUpTime may be behind, beside a tenth of the time: an agent may keep it for a while."""

Span = tuple[int, int]
"""Begin and end, ns."""


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
