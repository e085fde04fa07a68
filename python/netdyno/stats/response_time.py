"""Response time: from when a frame was due to leave to its last bit in, what users of the intended load wait.

Latency is counted from when a frame left, lag is how much later than due that was, and a response time is
their sum. Which lag goes with which latency is not recorded, so of a percentile only bounds are known: a
frame that took longer than a + b was over a by its latency or over b by its lag, so there are no more of the
first than of the two others together. In real time all frames of a burst count as late as its first, that is
no less late than they were.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate

from netdyno.stats.histogram import Histogram, decode
from netdyno.values.outcome import Lag, Latency

ROUNDED_NS = 1
"""Latency and lag are rounded down to whole nanoseconds, each by itself."""


def mean(latency: Latency, lag: Lag) -> tuple[Fraction, Fraction]:
    """The mean lies between these, ns. The lag of frames that were lost may be in the greater one."""
    least = Fraction(latency.sum_ns, latency.count)
    return least, least + Fraction(lag.sum_ns, latency.count) + ROUNDED_NS


def percentiles(latency: Latency, lag: Lag, shares: Iterable[Fraction]) -> list[tuple[int, int] | None]:
    """Between which values each percentile lies, ns; None if too few were timed, or some beyond measure."""
    taken, late = decode(latency.histogram), decode(lag.histogram)
    beyond = latency.over or latency.negative or lag.over
    found = [None if beyond else between(taken, late, share) for share in shares]
    # A bucket's upper end may lie above the greatest value there was: never said is more.
    most = latency.max_ns + lag.max_ns + ROUNDED_NS
    return [None if one is None else (min(one[0], latency.max_ns), min(one[1], most)) for one in found]


def between(taken: Histogram, late: Histogram, share: Fraction) -> tuple[int, int] | None:
    """As `percentiles`, of one share. late: of these frames and perhaps of others.

    A bucket stands for its upper end; of the lower bound too, as it would for the response time itself.
    """
    least = taken.percentile(share)
    if least is None:
        return None
    total = taken.count
    may_exceed = total - -(-total * share.numerator // share.denominator)
    up_to = list(accumulate(n for _, n in taken.buckets))
    later = late.count
    found = []
    # Frames that are over by their lag leave fewer that may be over by their latency.
    for lag_ns, n in late.buckets:
        later -= n
        if later <= may_exceed:
            longest, _ = taken.buckets[bisect_left(up_to, total - (may_exceed - later))]
            found.append(longest + lag_ns + ROUNDED_NS)
    return least, min(found, default=least)
