"""Bounds of response time, against every way in which lags can fall to latencies."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from netdyno.stats.histogram import Histogram
from netdyno.stats.response_time import between, mean
from netdyno.values.outcome import Lag, Latency

HALF, NINETY, MOST = Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)


def histogram(values: list[int]) -> Histogram:
    return Histogram(tuple(sorted(Counter(values).items())))


def percentile(values: list[int], share: Fraction) -> int:
    """By its definition: the least value that `share` of all do not exceed."""
    return min(one for one in values if sum(other <= one for other in values) >= share * len(values))


@pytest.mark.parametrize("seed", range(20))
def test_percentile_for_any_order_of_lags_is_between_its_bounds(seed: int) -> None:
    draw = Random(seed)
    latencies = [draw.choice([5, 5, 6, 9, 40]) for _ in range(120)]
    lags = [draw.choice([0, 0, 0, 1, 30, 500]) for _ in range(120)]
    lost = draw.choices([0, 700], k=draw.choice([0, 7]))
    orders = [sorted(lags), sorted(lags, reverse=True), *(draw.sample(lags, 120) for _ in range(50))]
    latencies.sort()
    for share in (HALF, NINETY):
        bounds = between(histogram(latencies), histogram(lags + lost), share)
        assert bounds is not None
        for order in orders:
            taken = [a + b for a, b in zip(latencies, order, strict=True)]
            assert bounds[0] <= percentile(taken, share) <= bounds[1], (share, bounds)


def test_the_greater_bound_can_be_reached() -> None:
    """Five late ones leave five that may take longer than 2,000; if the late ones were quick it is so."""
    latencies = [1000] * 990 + [2000] * 9 + [50_000]
    lags = [10_000] * 5 + [0] * 995
    assert between(histogram(latencies), histogram(lags), MOST) == (1000, 2001)
    assert percentile([a + b for a, b in zip(latencies, lags, strict=True)], MOST) == 2000


def test_all_late_by_the_same_is_that_much_more() -> None:
    assert between(histogram([7] * 30), histogram([40] * 30), HALF) == (7, 48)
    assert between(histogram([7] * 30), histogram([0] * 30), HALF) == (7, 8)


def test_of_too_few_nothing_is_known() -> None:
    assert between(histogram([7] * 19), histogram([0] * 19), HALF) is None


def test_the_mean_is_between_that_of_latency_and_the_sum_of_both() -> None:
    latency = Latency(4, 1, 100, 50, 0, 0, "")
    lag = Lag(5, 0, 60, 40, 0, "", 1, 30)
    assert mean(latency, lag) == (25, 25 + 15 + 1)
