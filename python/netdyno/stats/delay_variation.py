"""Delay variation of a stream, in the two forms of RFC 5481: from the least delay, and from frame to frame.

PDV(i) = D(i) - min D (section 4.2) comes from the histogram of latency; RFC 8219 section 7.3.1 reports the
99.9th percentile. IPDV(i) = D(i) - D(i-1) (section 4.1) is signed; RFC 8219 section 7.3.2 reports the least,
the median and the greatest. Neither needs clocks that agree, only clocks of one rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from netdyno.stats.histogram import decode, percentiles
from netdyno.values.outcome import Latency, Variation

PDV_SHARE = Fraction(999, 1000)
"""RFC 8219 section 7.3.1: the 99.9th percentile less the least."""


def pdv(latency: Latency, share: Fraction = PDV_SHARE) -> int | None:
    """The PDV that `share` of the frames do not exceed, ns.

    None if too few frames were timed to say, or some took longer than is told apart, or less than nothing.
    """
    if latency.over or latency.negative:
        return None
    (found,) = percentiles(latency, [share])
    return None if found is None else found - latency.min_ns


def median(variation: Variation) -> int | None:
    """The median IPDV, ns: the value that half of the pairs do not exceed. None as `ipdv`."""
    return ipdv(variation, Fraction(1, 2))


def ipdv(variation: Variation, share: Fraction) -> int | None:
    """The IPDV that `share` of the pairs do not exceed, ns.

    A bucket of a histogram stands for its end that is farther from zero: 3 digits. None if there were too few
    pairs to say (10 are needed on its shorter side), or some differ by more than the histograms tell apart.
    """
    if variation.over or 0 < variation.pairs * min(share, 1 - share) < 10:
        return None
    wanted = -(-variation.pairs * share.numerator // share.denominator)
    seen = 0
    for value, n in _sort_values(variation):
        seen += n
        if seen >= wanted:
            return max(variation.min_ns, min(value, variation.max_ns))
    raise AssertionError("the counts of the histograms add up to the pairs")


def _sort_values(variation: Variation) -> Iterator[tuple[int, int]]:
    """Values and how often they were, both sides of zero."""
    below = () if variation.below is None else decode(variation.below).buckets
    above = () if variation.above is None else decode(variation.above).buckets
    yield from ((-value, n) for value, n in reversed(below))
    yield from above
