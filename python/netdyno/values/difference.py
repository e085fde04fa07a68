"""By how much a device's counter grew over a trial, or why that is unknown. Never a guess.

The first reading must come before traffic, the last one after the drain. Between them a counter may wrap once
where its width and the line's rate show that it wrapped no more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from netdyno.values import number as printed
from netdyno.values.reason import Codes, Reason, declared
from netdyno.values.series import Series

SECOND_NS = 10**9
SEEN = 2
"""Frames that must have come for a counter that stood still to be an old one: one may be on its way."""
WRAPS = {32: 2**32}
"""Counts after which a counter begins anew, by its width in bits. One of 64 bits lasts for years."""


@dataclass(frozen=True)
class CounterNotRead(Reason):
    """No driver read this counter in the trial. subject, name: of the counter."""

    code: ClassVar[str] = "counter-not-read"
    subject: str
    name: str

    def __str__(self) -> str:
        return f"`{self.name}` of `{self.subject}` was not read."


@dataclass(frozen=True)
class CounterReadLate(Reason):
    """The first reading came after traffic had begun. first_ns: when, from the begin of traffic."""

    code: ClassVar[str] = "counter-read-late"
    subject: str
    name: str
    first_ns: int

    def __str__(self) -> str:
        late = printed.duration(self.first_ns)
        return f"`{self.name}` of `{self.subject}` was first read {late} after traffic began."


@dataclass(frozen=True)
class CounterReadEarly(Reason):
    """The last reading came before all frames had arrived.

    last_ns: when, from the begin of traffic. until_ns: the end of the drain. stale_ns: how much later the
    reading had to be, as the device's counters stood still for a time while traffic flowed; 0: they did not.
    """

    code: ClassVar[str] = "counter-read-early"
    subject: str
    name: str
    last_ns: int
    until_ns: int
    stale_ns: int

    def __str__(self) -> str:
        early = printed.duration(max(self.until_ns + self.stale_ns - self.last_ns, 0))
        text = f"The last reading of `{self.name}` of `{self.subject}` came {early} too early."
        if self.stale_ns:
            text += " The device updates it only now and then: use a longer `drain`."
        return text


@dataclass(frozen=True)
class CounterWentBack(Reason):
    """A counter was reset in the trial. before, after: the counts around it."""

    code: ClassVar[str] = "counter-went-back"
    subject: str
    name: str
    before: int
    after: int

    def __str__(self) -> str:
        return (
            f"`{self.name}` of `{self.subject}` was reset in the trial (from {printed.count(self.before)} to"
            f" {printed.count(self.after)})."
        )


@dataclass(frozen=True)
class CounterMayWrap(Reason):
    """A 32-bit counter may have wrapped more than once between two readings. apart_ns: the time between."""

    code: ClassVar[str] = "counter-may-wrap"
    subject: str
    name: str
    apart_ns: int

    def __str__(self) -> str:
        apart = printed.duration(self.apart_ns)
        return (
            f"`{self.name}` of `{self.subject}` has 32 bits and was read {apart} apart: it may have wrapped"
            " more than once."
        )


REASONS: Codes = declared(globals())


def growth(
    series: Series, until_ns: int, line_per_s: Fraction | None = None, stale_ns: int = 0
) -> int | Reason:
    """By how much a counter grew from before traffic to after the drain, in its own unit.

    until_ns: the end of the drain, from the begin of traffic. line_per_s: the most that it can count a
    second; None: unknown, and then no counter of 32 bits is known to have wrapped at most once. stale_ns: how
    much later the last reading must be, as the device's counters are old (`staleness`).

    Raises ValueError for a series that is no counter, or has decimals.
    """
    if not series.is_counter or series.scale:
        raise ValueError(f"`{series.name}` of `{series.subject}` does not count")
    who, times, values = (series.subject, series.name), series.times_ns, series.values
    if not values:
        return CounterNotRead(*who)
    if times[0] > 0:
        return CounterReadLate(*who, times[0])
    if times[-1] < until_ns + stale_ns:
        return CounterReadEarly(*who, times[-1], until_ns, stale_ns)
    wrap, grown = WRAPS.get(series.bits or 0), 0
    for (begin_ns, before), (end_ns, after) in pairwise(zip(times, values, strict=True)):
        if wrap is None:
            if after < before:
                return CounterWentBack(*who, before, after)
            grown += after - before
            continue
        most = None if line_per_s is None else line_per_s * (end_ns - begin_ns) / SECOND_NS
        if most is None or most >= wrap:
            return CounterMayWrap(*who, end_ns - begin_ns)
        step = (after - before) % wrap
        if after < before and step > most:
            return CounterWentBack(*who, before, after)
        grown += step
    return grown


def staleness(series: Series, sent: Sequence[int], sample_ns: int) -> int:
    """How long a counter of received frames stood still between two changes while frames came, ns; 0: never.

    A device that updates its counters every 3 s shows the last frames up to 3 s late. sent: frames sent to
    the port in each sample of the traffic.
    """
    at, values = series.times_ns, series.values
    changes = [place for place, (one, other) in enumerate(pairwise(values), 1) if one != other]
    found = [
        (at[later] > len(sent) * sample_ns, at[later] - at[earlier])
        for earlier, later in pairwise(changes)
        if later - earlier > 1
        and sum(sent[max(-(-at[earlier] // sample_ns), 0) : max(at[later - 1] // sample_ns, 0)]) >= SEEN
    ]
    # A change that was seen behind the traffic may have come long before that reading.
    within = [for_ns for is_behind, for_ns in found if not is_behind]
    return max(within or (for_ns for _, for_ns in found), default=0)
