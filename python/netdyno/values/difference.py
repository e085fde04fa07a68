"""By how much a device's counter grew over a trial, or why that is unknown. Never a guess.

The first reading must come before traffic, the last one after the drain, and later where the device's
counters are old (`counter_age`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netdyno.values.counter import Counter
from netdyno.values.counter_reasons import CounterNotRead, CounterReadEarly, CounterReadLate
from netdyno.values.reason import Reason
from netdyno.values.series import Series
from netdyno.values.spans import Span


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
