"""Whether two settings differ: by the means of their repeats, by ranks, and over several cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.stats.intervals import (
    CONFIDENCE,
    Interval,
    Summary,
    rounded,
    student_cdf,
    student_quantile,
    summarize,
)

FOR_DIFFERENCE = 2
"""Repeats of each of two settings that a comparison needs at the least."""

EXACT = 24
"""Measurements of two settings together, up to which ranks are compared by every way they can fall."""


@dataclass(frozen=True)
class Spread:
    """How a difference of means scatters about the true one: as Student's t with `df` degrees of freedom,
    times `error`."""

    error: float
    df: float

    def chance(self, off: Fraction) -> float:
        """The chance of a difference that far off the true one, or farther, to either side."""
        return min(2 * student_cdf(-abs(float(off)) / self.error, self.df), 1.0)

    def reach(self, chance: float = 1 - CONFIDENCE) -> Fraction:
        """How far off the true one a difference is with this chance."""
        return rounded(student_quantile(1 - chance / 2, self.df) * self.error)


def welch(one: Summary, other: Summary) -> Spread | None:
    """Of two means, with the degrees of freedom of Welch and Satterthwaite (Biometrika 34, 1947), which
    suppose no equal scatter. None where neither scatters."""
    assert one.stdev is not None
    assert other.stdev is not None
    parts = float(one.stdev) ** 2 / one.n, float(other.stdev) ** 2 / other.n
    if not sum(parts):
        return None
    df = sum(parts) ** 2 / (parts[0] ** 2 / (one.n - 1) + parts[1] ** 2 / (other.n - 1))
    return Spread(math.sqrt(sum(parts)), df)


def one_more(several: Summary) -> Spread | None:
    """Of one more measurement and the mean of several (Crawford and Howell, The Clinical Neuropsychologist
    12, 1998). None where they do not scatter."""
    assert several.stdev is not None
    if not several.stdev:
        return None
    return Spread(float(several.stdev) * math.sqrt(1 + 1 / several.n), several.n - 1)


def holm(chances: Sequence[float | None]) -> tuple[float | None, ...]:
    """The chances of several tests, adjusted so that the chance of one or more below 5 % is at most 5 %, if
    nothing differs anywhere (Holm, Scandinavian Journal of Statistics 6, 1979). None: no test."""
    adjusted: list[float | None] = [None] * len(chances)
    tests = sorted((one, place) for place, one in enumerate(chances) if one is not None)
    most = 0.0
    for done, (one, place) in enumerate(tests):
        most = max(most, min((len(tests) - done) * one, 1.0))
        adjusted[place] = most
    return tuple(adjusted)


@dataclass(frozen=True)
class Comparison:
    """Whether a second setting differs from a first: by their means, and by their ranks."""

    difference: Fraction
    """Of the means, the second less the first."""
    interval: Interval | None
    """Of the difference (Welch); None if neither scatters."""
    p_means: float | None
    """The chance of such a difference of means if there were none (Welch's t, two-sided); None as above."""
    p_ranks: float
    """The chance of ranks so far apart if there were no difference (Mann and Whitney, two-sided)."""
    effect: Fraction | None
    """Hedges' g: the difference in standard deviations, without the bias of small samples; None as above."""
    dominance: Fraction
    """Cliff's delta: how much oftener one of the second is above one of the first than below; -1 to 1."""

    @property
    def differs(self) -> bool:
        """Whether the means differ by more than chance; without any scatter, whether they differ at all."""
        if self.p_means is None:
            return self.difference != 0
        return self.p_means < 1 - CONFIDENCE


def compare(first: Sequence[Fraction], second: Sequence[Fraction]) -> Comparison:
    """Two settings, `FOR_DIFFERENCE` repeats of each at the least."""
    one, other = summarize(first), summarize(second)
    difference = other.mean - one.mean
    interval, p_means, effect = None, None, None
    spread = welch(one, other)
    if spread is not None:
        p_means, reach = spread.chance(difference), spread.reach()
        interval = Interval(difference - reach, difference + reach)
        effect = _hedges(difference, one, other)
    above = sum((b > a) - (b < a) for a in first for b in second)
    dominance = Fraction(above, len(first) * len(second))
    return Comparison(difference, interval, p_means, mann_whitney(first, second), effect, dominance)


def _hedges(difference: Fraction, one: Summary, other: Summary) -> Fraction:
    """Hedges, Distribution theory for Glass's estimator of effect size, 1981: with the exact correction."""
    assert one.stdev is not None
    assert other.stdev is not None
    free = one.n + other.n - 2
    pooled = math.sqrt(((one.n - 1) * float(one.stdev) ** 2 + (other.n - 1) * float(other.stdev) ** 2) / free)
    correction = math.exp(math.lgamma(free / 2) - math.lgamma((free - 1) / 2)) / math.sqrt(free / 2)
    return rounded(correction * float(difference) / pooled)


def mann_whitney(first: Sequence[Fraction], second: Sequence[Fraction]) -> float:
    """Two-sided p of the rank sum test, ties at their mean rank.

    Up to `EXACT` measurements by counting every way in which these ranks can fall to the first setting;
    above, by the normal distribution with corrections for ties and for continuity.
    """
    both = sorted([*first, *second])
    # Twice the mean rank of each value: whole, whatever the ties.
    ranks = {value: 2 * both.index(value) + both.count(value) + 1 for value in set(both)}
    every, own = [ranks[value] for value in both], sum(ranks[value] for value in first)
    if len(both) <= EXACT:
        ways = _ways(every, len(first))
        total = sum(ways.values())
        low = sum(count for at, count in ways.items() if at <= own)
        high = sum(count for at, count in ways.items() if at >= own)
        return min(2 * min(low, high) / total, 1.0)
    n, m, size = len(first), len(second), len(both)
    ties = sum(both.count(value) ** 3 - both.count(value) for value in set(both))
    variance = n * m / 12 * (size + 1 - ties / (size * (size - 1)))
    if not variance:
        return 1.0
    off = abs(own / 2 - n * (size + 1) / 2) - 0.5
    return min(math.erfc(max(off, 0.0) / math.sqrt(2 * variance)), 1.0)


def _ways(ranks: Sequence[int], size: int) -> dict[int, int]:
    """In how many ways so many of the ranks have each sum."""
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(size))]
    for rank in ranks:
        for taken in range(size, 0, -1):
            for at, count in ways[taken - 1].items():
                ways[taken][at + rank] = ways[taken].get(at + rank, 0) + count
    return ways[size]
