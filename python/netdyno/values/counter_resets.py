"""When a device's counters were set back, from what it reports beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from netdyno.values.series import Series
from netdyno.values.spans import Span

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
