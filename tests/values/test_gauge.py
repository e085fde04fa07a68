"""Means of gauges over a part of a trial."""

from __future__ import annotations

from fractions import Fraction

from netdyno.values.gauge import mean_within, sum_of_means
from netdyno.values.series import Series

S = 10**9


def gauge(*values: int, first_s: int = 0, window_ns: int | None = None) -> Series:
    """Read every second, in tenths of a watt."""
    at_ns = tuple((first_s + place) * S for place, _ in enumerate(values))
    return Series("fake", "PS0", "power", "W", at_ns, values, 1, window_ns=window_ns)


def test_mean_within_takes_the_readings_of_the_span_alone() -> None:
    assert mean_within(gauge(10, 20, 30, 40), S, 2 * S) == Fraction(5, 2)


def test_mean_within_leaves_out_windows_that_reach_back() -> None:
    # Averaged over 2 s: what was read at 2 s is of 0 to 2 s, and the span begins at 1 s.
    assert mean_within(gauge(10, 20, 30, 40, window_ns=2 * S), S, 3 * S) == 4


def test_mean_within_a_span_shorter_than_the_window_is_unknown() -> None:
    assert mean_within(gauge(10, 20, 30, 40, window_ns=60 * S), 0, 4 * S) is None


def test_sum_of_means_with_one_supply_unread_is_unknown() -> None:
    assert sum_of_means([gauge(10, 20), gauge(30, 50)], 0, S) == Fraction(55, 10)
    assert sum_of_means([gauge(10, 20), gauge(30, first_s=9)], 0, S) is None
    assert sum_of_means([], 0, S) is None
