"""What repeats of a measurement say: mean, spread and intervals.

Counts and rates come in as exact fractions, and stay so where nothing but sums is taken of them. Nothing is
dropped: an outlier is a measurement too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

CONFIDENCE = 0.95
"""Of every interval."""

UNSTABLE = Fraction(1, 10)
"""Repeats that spread more than this share of their mean are no steady device (RFC 8239, section 1.2)."""

FOR_TAILS = 20
"""Repeats from which the first and the last percentile are given (RFC 8219, section 7.2)."""


@dataclass(frozen=True)
class Interval:
    """From, to: with `CONFIDENCE`."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Summary:
    """What n measurements of one thing say. Of a single one nothing is known of its spread: None."""

    n: int
    mean: Fraction
    median: Fraction
    least: Fraction
    most: Fraction
    stdev: Fraction | None
    """Of the sample, by n - 1."""
    mean_interval: Interval | None
    """By Student's t: right if repeats scatter about normally."""
    median_interval: Interval | None
    """By bootstrap: right however they scatter."""
    p1: Fraction | None = None
    p99: Fraction | None = None

    @property
    def cov(self) -> Fraction | None:
        """Coefficient of variation: the standard deviation as a share of the mean."""
        return None if self.stdev is None or not self.mean else self.stdev / abs(self.mean)

    @property
    def unstable(self) -> bool:
        """Whether they spread too much to be called one value."""
        return self.cov is not None and self.cov > UNSTABLE


def summarize(found: Sequence[Fraction]) -> Summary:
    """The summary of one measurement or more."""
    ordered, n = sorted(found), len(found)
    mean = sum(ordered, Fraction(0)) / n
    stdev = None
    if n > 1:
        stdev = rounded(math.sqrt(sum(((one - mean) ** 2 for one in ordered), Fraction(0)) / (n - 1)))
    tails = n >= FOR_TAILS
    return Summary(
        n=n,
        mean=mean,
        median=(ordered[(n - 1) // 2] + ordered[n // 2]) / 2,
        least=ordered[0],
        most=ordered[-1],
        stdev=stdev,
        mean_interval=None if stdev is None else _of_mean(mean, stdev, n),
        median_interval=None if n == 1 else _of_median(ordered),
        p1=percentile(ordered, Fraction(1, 100)) if tails else None,
        p99=percentile(ordered, Fraction(99, 100)) if tails else None,
    )


def percentile(ordered: Sequence[Fraction], share: Fraction) -> Fraction:
    """The least of the measured values that `share` of them do not exceed (RFC 2330, section 11.3)."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def loss_bound(frames: int) -> Fraction:
    """What the loss ratio is at most, with 95 % confidence, if none of so many frames was lost.

    The rule of three: (1 - p)^N = 0.05 at p = 3/N, nearly, and never below what is exact. None is above 1.
    """
    return Fraction(3, max(frames, 3))


def frames_to_show(ratio: Fraction) -> int:
    """How many frames, none of which was lost, show that the loss ratio is no more than this, above zero."""
    return math.ceil(3 / ratio)


def of_share(events: Fraction | int, of: int) -> Interval:
    """The probability of an event that was seen so many times of `of` (Clopper and Pearson, 1934)."""
    if 2 * events > of:
        # Near 1 the digits of a float are of what is missing to it.
        rest = of_share(of - events, of)
        return Interval(1 - rest.high, 1 - rest.low)
    seen, tail = float(events), (1 - CONFIDENCE) / 2
    low = _inverse(lambda x: _beta(seen, of - seen + 1, x), tail) if events else 0.0
    high = _inverse(lambda x: _beta(seen + 1, of - seen, x), 1 - tail) if events < of else 1.0
    return Interval(rounded(low), rounded(high))


def _inverse(rising: Callable[[float], float], level: float) -> float:
    """Where a function of 0 to 1 that rises reaches this level, to nine digits."""
    low, high = 0.0, 1.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2 if low else high / 8
        if rising(middle) < level:
            low = middle
        else:
            high = middle
        if high < 1e-15:
            break
    return (low + high) / 2


def _of_mean(mean: Fraction, stdev: Fraction, n: int) -> Interval:
    reach = rounded(student_quantile((1 + CONFIDENCE) / 2, n - 1) * float(stdev) / math.sqrt(n))
    return Interval(mean - reach, mean + reach)


def _of_median(ordered: Sequence[Fraction]) -> Interval:
    """Percentile bootstrap: where the median lies of samples drawn anew from these, with putting back.

    Not by drawing: how often each order statistic is the median of all n^n samples is known in closed form,
    and 10,000 draws come close to that (Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982,
    section 10.3).
    """
    seen, below = 0.0, (1 - CONFIDENCE) / 2
    low = high = ordered[-1]
    for value, chance in sorted(_medians(ordered)):
        before, seen = seen, seen + chance
        if before < below <= seen:
            low = value
        if before < 1 - below <= seen:
            high = value
            break
    return Interval(low, high)


def _medians(ordered: Sequence[Fraction]) -> list[tuple[Fraction, float]]:
    """Every median that a sample drawn anew can have, and how likely it is."""
    n, half = len(ordered), (len(ordered) + 1) // 2

    def at_most(rank: int, least: int) -> float:
        """The chance that at least so many of n draws are among the lowest `rank`."""
        share = rank / n
        return sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(least, n + 1))

    own = [at_most(rank + 1, half) - at_most(rank, half) for rank in range(n)]
    if n % 2:
        return list(zip(ordered, own, strict=True))

    halves = math.comb(n, half)

    def apart(lower: int, upper: int) -> float:
        """The chance that half of the draws are among the lowest `lower`, the others above `upper`."""
        return halves * (lower / n) ** half * ((n - upper) / n) ** half

    found = []
    for i in range(n):
        alone = own[i]
        for j in range(i + 1, n):
            chance = apart(i + 1, j) - apart(i, j) - apart(i + 1, j + 1) + apart(i, j + 1)
            alone -= chance
            found.append(((ordered[i] + ordered[j]) / 2, chance))
        found.append((ordered[i], alone))
    return found


def student_cdf(t: float, df: float) -> float:
    """The chance that Student's t with `df` degrees of freedom is at most `t`."""
    tail = _beta(df / 2, 0.5, df / (df + t * t)) / 2
    return tail if t < 0 else 1 - tail


def student_quantile(p: float, df: float) -> float:
    """What Student's t is below with the chance p."""
    if p < 0.5:
        return -student_quantile(1 - p, df)
    low, high = 0.0, 1.0
    while student_cdf(high, df) < p:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if student_cdf(middle, df) < p:
            low = middle
        else:
            high = middle
        if middle in (low, high) and math.nextafter(low, high) == high:
            break
    return (low + high) / 2


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function (DLMF 8.17), by its continued fraction (8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    # Lentz's method: c and d are the ratios of successive numerators and denominators.
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 10_000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + factor * d or tiny)
            c = 1 + factor / c or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction / a


def rounded(number: float) -> Fraction:
    """What is no fraction by nature, to 12 digits: so many are the same on every machine."""
    return Fraction(f"{number:.12g}")
