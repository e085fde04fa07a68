"""Rates from counters: between changes only, and none where none can be known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.values.counter import Interval, rate_within, rates, resets_by_change, resets_by_uptime
from netdyno.values.series import Series

S = 10**9
MS = 10**6
GIGABIT = Fraction(125_000_000)
"""Bytes a second."""


def counter(values: Iterable[int], bits: int | None = 64, took_ns: int | None = None) -> Series:
    """Read once a second."""
    found = tuple(values)
    at = tuple(number * S for number in range(len(found)))
    took = () if took_ns is None else (took_ns,) * len(found)
    return Series("snmp", "xe0", "ifHCInOctets", "B", at, found, 0, took, None, True, bits)


def codes(found: Iterable[Interval]) -> list[str | None]:
    return [None if one.reason is None else one.reason.code for one in found]


def test_counter_that_moves_at_each_reading_has_a_rate_each() -> None:
    found = rates(counter((5, 105, 305)), GIGABIT)
    assert [(one.begin_ns, one.end_ns, one.rate) for one in found] == [(0, S, 100), (S, 2 * S, 200)]


def test_rate_of_a_caching_agent_is_between_changes() -> None:
    """As Net-SNMP does: asked each second, its counter moves every three."""
    values = [1000 * (number // 3) for number in range(1, 12)]
    found = rates(counter(values, took_ns=0), GIGABIT, moving=True)
    assert {(one.rate, one.window_ns) for one in found} == {(Fraction(1000, 3), 3 * S)}
    assert {(one.low, one.high) for one in found} == {(Fraction(1000, 4), Fraction(1000, 2))}


def test_bounds_hold_the_time_a_reading_took() -> None:
    (one,) = rates(counter((0, 1000), took_ns=200 * MS), GIGABIT)
    assert (one.rate, one.low, one.high) == (1000, 1000 / Fraction("1.2"), 1000 / Fraction("0.8"))


def test_readings_that_took_longer_than_their_distance_have_no_upper_bound() -> None:
    (one,) = rates(counter((0, 1000), took_ns=S), GIGABIT)
    assert (one.rate, one.low, one.high) == (1000, 500, None)


def test_time_that_readings_took_unknown_leaves_no_bounds() -> None:
    (one,) = rates(counter((0, 1000)), GIGABIT)
    assert (one.low, one.high) == (None, None)


def test_32_bit_wrap_is_counted_across_once() -> None:
    (one,) = rates(counter((2**32 - 10, 90), bits=32), GIGABIT)
    assert one.rate == 100


@pytest.mark.parametrize("line", [GIGABIT * 100, Fraction(2**32), None])
@pytest.mark.parametrize("values", [(2**32 - 10, 90), (0, 90)])
def test_32_bit_counter_that_may_wrap_twice_has_no_rate(
    line: Fraction | None, values: tuple[int, int]
) -> None:
    (one,) = rates(counter(values, bits=32), line)
    assert (one.rate, codes([one])) == (None, ["counter-may-wrap"])


@pytest.mark.parametrize(("bits", "values"), [(64, (900, 100)), (None, (900, 100)), (32, (900, 100))])
def test_counter_that_was_set_back_has_no_rate(bits: int | None, values: tuple[int, int]) -> None:
    found = rates(counter((0, 450, *values, 550), bits=bits), GIGABIT)
    assert codes(found) == [None, None, "counter-reset", None]
    assert [one.rate for one in found] == [450, 450, None, 450]


def test_reset_that_left_a_higher_count_has_no_rate() -> None:
    found = rates(counter((10, 20, 500, 510)), GIGABIT, resets=((S, 2 * S),))
    assert codes(found) == [None, "counter-reset", None]


def test_reset_at_the_only_change_is_reported() -> None:
    found = rates(counter((700, 700, 700, 5, 5, 5)), GIGABIT)
    assert codes(found) == [None, "counter-reset", None]
    assert {one.rate for one in found} == {0, None}


def test_counter_faster_than_its_line_has_no_rate() -> None:
    found = rates(counter((0, 100, 10**9)), GIGABIT)
    assert codes(found) == [None, "counter-implausible"]


def test_counter_at_line_rate_has_a_rate_though_frames_are_whole() -> None:
    """10 Gbit/s of 64 B are 14,880,952.38 frames a second: of some seconds a frame more, of others none."""
    line = Fraction(10**10, 84 * 8)
    found = rates(counter((0, 14_880_953, 29_761_905, 44_642_858), took_ns=0), line)
    assert codes(found) == [None, None, None]
    assert codes(rates(counter((0, 14_880_955), took_ns=0), line)) == ["counter-implausible"]


@pytest.mark.parametrize("values", [(7,) * 5, (0, 100, 200, 300, 300, 300, 300)])
def test_counter_that_stands_still_under_traffic_has_no_rate(values: tuple[int, ...]) -> None:
    found = rates(counter(values), GIGABIT, moving=True)
    assert codes(found)[-1] == "counter-stuck"
    assert 0 not in [one.rate for one in found]


def test_counter_that_stood_still_between_has_no_rate_for_that() -> None:
    """A mean over the time would hold for a counter that counted meanwhile; this one may not have."""
    found = rates(counter((0, 100, 200, 300, 300, 300, 300, 400, 500, 600)), GIGABIT, moving=True)
    (unknown,) = [one for one in found if one.rate is None]
    assert (codes([unknown]), unknown.begin_ns, unknown.end_ns) == (["counter-stuck"], 3 * S, 7 * S)


def test_counter_that_missed_one_update_has_no_rate_for_that() -> None:
    values = [1000 * (number // 3) for number in (*range(1, 12), *(11,) * 3, *range(12, 20))]
    found = rates(counter(values), GIGABIT, moving=True)
    assert codes(found).count("counter-stuck") == 1
    assert {one.rate for one in found} == {None, Fraction(1000, 3)}


def test_counter_that_stands_still_without_traffic_has_rate_0() -> None:
    (one,) = rates(counter((7,) * 5), GIGABIT)
    assert (one.rate, one.window_ns) == (0, 4 * S)
    found = rates(counter((0, 100, 200, 200, 200, 200)), GIGABIT, moving=((0, 2 * S),))
    assert [one.rate for one in found] == [100, 100, 0]


def test_readings_that_are_missing_are_bridged() -> None:
    series = counter((0, 100, 200, 900))
    series = replace(series, at_ns=(0, S, 2 * S, 9 * S))
    assert [one.rate for one in rates(series, GIGABIT, moving=True)] == [100, 100, 100]


def test_rate_within_a_hold_is_of_its_changes_alone() -> None:
    """100 a second before, 500 in the hold from 4 s to 8 s, 100 behind it."""
    values = (0, 100, 200, 300, 400, 900, 1400, 1900, 2400, 2500, 2600)
    found = rate_within(counter(values, took_ns=0), GIGABIT, 4 * S, 8 * S, moving=True)
    assert (found.begin_ns, found.end_ns, found.rate, found.low, found.high) == (4 * S, 8 * S, 500, 500, 500)


def test_rate_within_a_hold_leaves_out_what_an_old_value_may_be_of() -> None:
    """Updated every 3 s, at 3, 6, 9 s: seen at 3 s, it may be of any time since 2 s."""
    values = [1000 * (number // 3) for number in range(13)]
    found = rate_within(counter(values, took_ns=0), GIGABIT, 3 * S, 12 * S, moving=True)
    assert (found.begin_ns, found.end_ns) == (6 * S, 12 * S)
    assert (found.rate, found.low, found.high) == (Fraction(1000, 3), Fraction(2000, 7), Fraction(2000, 5))


@pytest.mark.parametrize(
    ("values", "moving", "expected"),
    [
        ((0, 100, 200, 300, 400, 500), True, "counter-changes-too-few"),
        ((7,) * 6, True, "counter-stuck"),
        ((0, 100, 200, 200, 200, 200), True, "counter-stuck"),
    ],
)
def test_rate_within_a_hold_that_cannot_be_known_is_a_reason(
    values: tuple[int, ...], moving: bool, expected: str
) -> None:
    found = rate_within(counter(values), GIGABIT, 5 * S // 2, 5 * S, moving=moving)
    if expected == "counter-changes-too-few":
        found = rate_within(counter(values), GIGABIT, 5 * S // 2, 7 * S // 2, moving=moving)
    assert (found.rate, codes([found])) == (None, [expected])


def test_rate_within_a_hold_across_a_reset_is_unknown() -> None:
    series = counter(range(0, 1100, 100), took_ns=0)
    reset = ((6 * S, 7 * S),)
    assert codes([rate_within(series, GIGABIT, 4 * S, 9 * S, resets=reset)]) == ["counter-reset"]
    assert rate_within(series, GIGABIT, 0, 6 * S, resets=reset).rate == 100


def test_rate_within_a_time_without_traffic_is_zero() -> None:
    assert rate_within(counter((7,) * 6), GIGABIT, S, 4 * S).rate == 0


@pytest.mark.parametrize("values", [(), (3,)])
def test_rate_within_without_readings_is_unknown(values: tuple[int, ...]) -> None:
    assert codes([rate_within(counter(values), GIGABIT, 0, 4 * S)]) == ["counter-changes-too-few"]


@pytest.mark.parametrize("change", [{"window_ns": 30 * S}, {"is_counter": False}])
def test_rate_of_what_is_no_counter_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="ifHCInOctets"):
        rates(replace(counter((0, 1)), **change), GIGABIT)


def test_uptime_that_went_back_is_a_reset_and_its_wrap_is_none() -> None:
    up = counter((5000, 5100, 90, 190))
    assert resets_by_uptime(up) == ((S, 2 * S),)
    assert resets_by_uptime(counter((2**32 - 50, 50, 150))) == ()


def test_uptime_that_is_higher_but_too_low_after_a_gap_is_a_reset() -> None:
    up = replace(counter((1000, 3000)), at_ns=(0, 60 * S))
    assert resets_by_uptime(up) == ((0, 60 * S),)
    assert resets_by_uptime(replace(up, values=(1000, 7000))) == ()


def test_discontinuity_time_that_changed_is_a_reset() -> None:
    assert resets_by_change(counter((0, 0, 700, 700))) == ((S, 2 * S),)


@pytest.mark.parametrize("values", [(), (3,)])
def test_counter_without_two_readings_has_no_rate(values: tuple[int, ...]) -> None:
    assert [one for one in rates(counter(values), GIGABIT, moving=True) if one.rate is not None] == []


@given(st.lists(st.integers(0, 2**63 - 1), max_size=12), st.sampled_from((32, 64, None)), st.booleans())
def test_rate_of_any_counter_is_never_above_the_line(
    values: list[int], bits: int | None, moving: bool
) -> None:
    for one in rates(counter(values, bits, took_ns=0), GIGABIT, moving=moving):
        assert (one.rate is None) == (one.reason is not None)
        # In a second a frame more may be counted than the line carries.
        assert one.low is None or 0 <= one.low <= GIGABIT + 1
        assert not (moving and one.rate == 0)


@given(st.integers(1, 50_000_000), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_rate_of_a_wrapping_counter_holds_the_true_one(rate: int, every: int, start: int) -> None:
    """Whatever the agent's cache, the true rate is within the bounds."""
    values = [(start + rate * (number // every * every)) % 2**32 for number in range(1, 40)]
    for one in rates(counter(values, 32, took_ns=MS), GIGABIT, moving=True):
        assert one.rate is None or (one.low is not None and one.low <= rate)
        assert one.high is None or rate <= one.high
