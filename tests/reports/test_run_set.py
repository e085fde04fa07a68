"""Runs side by side: cases aligned by the typed values of their axes, and how much they differ."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from compared import Sample, run_of, sample
from netdyno.reports.model.run_set import RunSet, case_key
from netdyno.reports.model.standing import Difference
from netdyno.reports.model.standing import differ as difference
from netdyno.reports.model.view import RunView

RATES = (4_990_000, 5_000_000, 5_010_000, 5_005_000, 4_995_000)
"""With a mean of 5,000,000 and a variance of 62,500,000."""


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample(tmp_path_factory.mktemp("small"))


def differ(*runs: RunView, first: tuple[int, ...] = (0,), second: tuple[int, ...] = (1,)) -> Difference:
    (value,) = RunSet(runs).values
    return difference(value.side(first), value.side(second))


def ends(found: Difference) -> tuple[float, float]:
    assert found.interval is not None
    return float(found.interval.low), float(found.interval.high)


def test_cases_of_equal_quantities_in_other_order_are_aligned(case: Sample) -> None:
    one = run_of(case, 1, settings={"capacity": "1Mpps", "routes": "1000"})
    other = run_of(case, 1, settings={"routes": "1000", "capacity": "1000kpps"})
    third = run_of(case, 1, settings={"routes": "1001", "capacity": "1Mpps"})
    assert case_key(one.cases[0]) == case_key(other.cases[0]) != case_key(third.cases[0])
    both = replace(one, cases=(*one.cases, *third.cases))
    found = RunSet((both, other)).cases
    assert [[len(side) for side in sides] for sides in found.values()] == [[1, 1], [1, 0]]


def test_axis_with_one_value_a_run_is_a_condition_and_parts_no_cases(case: Sample) -> None:
    runs = RunSet(tuple(run_of(case, 1, settings={"routes": routes}) for routes in ("1000", "500000")))
    assert runs.conditions == {"routes": ("1000", "500000")}
    assert [[len(side) for side in sides] for sides in runs.cases.values()] == [[1, 1]]


def test_axis_with_endless_exponent_is_a_word(case: Sample) -> None:
    (shown,) = run_of(case, 1, settings={"routes": "1e999999999"}).cases
    assert ("routes", "1e999999999") in case_key(shown)


def test_one_search_a_side_is_compared_by_its_bracket(case: Sample) -> None:
    found = differ(run_of(case, 5_000_000, bracket=10_000), run_of(case, 5_100_000, bracket=20_000))
    assert (found.rule, found.share) == ("brackets", Fraction(1, 50))
    assert ends(found) == (70_000, 130_000)
    near = differ(run_of(case, 5_000_000, bracket=10_000), run_of(case, 5_015_000, bracket=10_000))
    assert ends(near) == (-5_000, 35_000)


def test_one_number_a_side_without_bounds_is_known_to_a_tenth(case: Sample) -> None:
    found = differ(run_of(case, 5_000_000), run_of(case, 5_100_000))
    assert (found.rule, ends(found)) == ("single", (100_000 - 510_000, 100_000 + 510_000))


def test_repeats_of_two_runs_are_compared_by_welch(case: Sample) -> None:
    found = differ(run_of(case, *RATES), run_of(case, *(rate + 200_000 for rate in RATES)))
    # Standard error 5,000; Student's t of 8 degrees of freedom at 97.5 % is 2.306004.
    assert found.rule == "welch"
    assert ends(found) == pytest.approx((200_000 - 11_530.02, 200_000 + 11_530.02), abs=0.1)


def test_one_number_is_compared_with_several_as_a_new_observation(case: Sample) -> None:
    found = differ(run_of(case, *RATES), run_of(case, 5_200_000))
    # The root of 62,500,000 * 6/5, times Student's t of 4 degrees of freedom, 2.776445.
    assert found.rule == "one against several"
    assert ends(found) == pytest.approx((200_000 - 24_044.72, 200_000 + 24_044.72), abs=0.1)


@pytest.mark.parametrize("second", [(5_100_000, 5_100_000), (5_000_000, 5_000_000)])
def test_equal_repeats_differ_by_what_they_differ(case: Sample, second: tuple[int, ...]) -> None:
    found = differ(run_of(case, 5_000_000, 5_000_000, 5_000_000), run_of(case, *second))
    assert (found.rule, ends(found)) == ("equal", (second[0] - 5_000_000,) * 2)


def test_brackets_widen_the_interval_of_repeats(case: Sample) -> None:
    found = differ(run_of(case, 5_000_000, 5_000_000, bracket=10_000), run_of(case, 5_100_000, 5_100_000))
    assert (found.rule, ends(found)) == ("brackets", (90_000, 110_000))


def test_of_several_runs_a_side_each_counts_once(case: Sample) -> None:
    before = [run_of(case, rate - 40_000, rate + 40_000) for rate in RATES]
    after = [run_of(case, rate + 200_000) for rate in RATES]
    found = differ(*before, *after, first=(0, 1, 2, 3, 4), second=(5, 6, 7, 8, 9))
    assert found.first.numbers == tuple(map(Fraction, RATES))
    assert ends(found) == pytest.approx((200_000 - 11_530.02, 200_000 + 11_530.02), abs=0.1)


def test_lower_bounds_above_the_other_side_differ_at_least(case: Sample) -> None:
    bound = run_of(case, 5_100_000, limit="tester")
    found = differ(run_of(case, 5_000_000, bracket=1000), bound)
    assert (found.rule, found.change) == ("at least", 100_000)
    assert differ(run_of(case, 5_200_000), bound).rule == "unknown"
