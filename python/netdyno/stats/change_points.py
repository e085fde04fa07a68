"""Where a series of measurements changed its level: binary segmentation by a permutation test.

A stretch is cut where the mean ranks of its two parts are farthest apart (the largest CUSUM of ranks;
Pettitt, Applied Statistics 28, 1979), if fewer than one in twenty random orders of the same numbers have
one as large; then its parts are looked at alike (Vostrikova, Soviet Mathematics Doklady 24, 1981). It
supposes nothing of how they scatter, and a single one that is far off counts no more than one that is a
little off.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from netdyno.stats.intervals import CONFIDENCE

LEAST = 2
"""Numbers of a part."""
ORDERS = 1999
"""Random orders: the chance is a share of these and the observed one."""
SEED = 2544


def change_points(numbers: Sequence[Fraction]) -> tuple[int, ...]:
    """The places of the first numbers of new levels, in order."""
    values = [float(one) for one in numbers]
    return tuple(sorted(_cuts(values, 0, random.Random(SEED))))


def _cuts(values: Sequence[float], begin: int, draw: random.Random) -> list[int]:
    if len(values) < 2 * LEAST:
        return []
    ranks = _ranks(values)
    most, place = _largest(ranks)
    if most <= 0:
        return []
    shuffled, as_large = list(ranks), 0
    for _ in range(ORDERS):
        draw.shuffle(shuffled)
        # Orders that part the same numbers alike have sums that differ in their last digits alone.
        as_large += _largest(shuffled)[0] >= most * (1 - 1e-9)
    if (as_large + 1) / (ORDERS + 1) > 1 - CONFIDENCE:
        return []
    return [
        begin + place,
        *_cuts(values[:place], begin, draw),
        *_cuts(values[place:], begin + place, draw),
    ]


def _ranks(values: Sequence[float]) -> list[float]:
    """Those of equal values are their mean."""
    ordered = sorted(values)
    return [(bisect_left(ordered, one) + bisect_right(ordered, one)) / 2 for one in values]


def _largest(values: Sequence[float]) -> tuple[float, int]:
    """The largest distance of the means of two parts, in a unit that is one for all places; the place."""
    n = len(values)
    mean = math.fsum(values) / n
    sums = list(accumulate(value - mean for value in values))
    found = ((abs(sums[k - 1]) / math.sqrt(k * (n - k) / n), k) for k in range(LEAST, n - LEAST + 1))
    return max(found, key=lambda one: one[0])
