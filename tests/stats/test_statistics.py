"""Statistics of repeats, against published tables and numbers that others computed."""

from __future__ import annotations

import math
import random
import statistics as standard
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.stats.comparison import EXACT, compare, mann_whitney
from netdyno.stats.intervals import (
    loss_bound,
    of_share,
    percentile,
    student_cdf,
    student_quantile,
    summarize,
)
from netdyno.stats.line import fit_line

# The table of t, two-sided 95 % and 99 %, as in any textbook (NIST/SEMATECH e-Handbook, section 1.3.6.7.2).
T_95 = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 19: 2.093, 30: 2.042, 49: 2.010, 100: 1.984}
T_99 = {1: 63.657, 2: 9.925, 4: 4.604, 9: 3.250, 19: 2.861, 30: 2.750, 100: 2.626}


@pytest.mark.parametrize(("events", "of"), [(1, 5), (3, 40), (10, 100), (50, 99), (7, 1000), (400, 401)])
def test_interval_of_a_share_leaves_a_fortieth_on_each_side(events: int, of: int) -> None:
    """By sums of the binomial distribution, of which Clopper and Pearson's ends are defined."""
    found = of_share(events, of)

    def at_least(many: int, share: float) -> float:
        return sum(math.comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(many, of + 1))

    assert at_least(events, float(found.low)) == pytest.approx(0.025, rel=1e-6)
    assert at_least(events + 1, float(found.high)) == pytest.approx(0.975, rel=1e-6)


def test_interval_of_none_and_of_all_has_a_closed_form() -> None:
    for of in (1, 20, 5_000_000, 10**12):
        end = -math.expm1(math.log(0.025) / of)
        assert (of_share(0, of).low, float(of_share(0, of).high)) == (0, pytest.approx(end, rel=1e-6))
        assert (float(of_share(of, of).low), of_share(of, of).high) == (pytest.approx(1 - end), 1)


@pytest.mark.parametrize(("df", "t"), T_95.items())
def test_students_t_is_that_of_the_tables(df: int, t: float) -> None:
    assert round(student_quantile(0.975, df), 3) == t


@pytest.mark.parametrize(("df", "t"), T_99.items())
def test_students_t_is_that_of_the_tables_further_out(df: int, t: float) -> None:
    assert round(student_quantile(0.995, df), 3) == t


def test_students_t_where_it_has_a_closed_form() -> None:
    """One degree of freedom is Cauchy's distribution; two have an algebraic one."""
    for t in (-30.0, -1.0, -0.1, 0.0, 0.5, 3.0, 1000.0):
        assert student_cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-12)
        assert student_cdf(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), abs=1e-12)


@given(st.floats(0.001, 0.999), st.floats(1, 300))
def test_the_quantile_undoes_the_distribution(p: float, df: float) -> None:
    assert student_cdf(student_quantile(p, df), df) == pytest.approx(p, abs=1e-9)


def test_students_t_becomes_normal() -> None:
    assert student_quantile(0.975, 10**7) == pytest.approx(standard.NormalDist().inv_cdf(0.975), abs=1e-6)


# Michelson's first 20 measurements of the speed of light, km/s less 299,000 (1879): a published sample.
MICHELSON = [
    *(850, 740, 900, 1070, 930, 850, 950, 980, 980, 880),
    *(1000, 980, 930, 650, 760, 810, 1000, 1000, 960, 960),
]


def test_a_published_sample() -> None:
    """Mean 909 and standard deviation 104.926, as R prints for the first run of its `morley`."""
    found = summarize([Fraction(one) for one in MICHELSON])
    assert (found.n, found.mean, found.median, found.least, found.most) == (20, 909, 940, 650, 1070)
    assert found.stdev is not None
    assert float(found.stdev) == pytest.approx(104.926, abs=5e-4)
    assert found.mean_interval is not None
    # 2.093 by the table of t, times 104.926 over the root of 20, is 49.11.
    assert float(found.mean_interval.low) == pytest.approx(909 - 49.11, abs=0.01)
    assert float(found.mean_interval.high) == pytest.approx(909 + 49.11, abs=0.01)
    assert (found.p1, found.p99) == (650, 1070)
    assert found.unstable, "104.9 of 909 is 11.5 %"


@given(st.lists(st.fractions(0, 10**6), min_size=2, max_size=30))
def test_mean_and_deviation_are_those_of_the_standard_library(found: list[Fraction]) -> None:
    own = summarize(found)
    assert own.mean == standard.mean(found)
    assert own.median == standard.median(found)
    assert own.stdev is not None
    assert float(own.stdev) == pytest.approx(float(standard.stdev(found)), rel=1e-9, abs=1e-9)


def test_one_measurement_says_nothing_of_its_spread() -> None:
    found = summarize([Fraction(7)])
    assert (found.mean, found.median, found.stdev, found.mean_interval, found.median_interval, found.cov) == (
        7,
        7,
        None,
        None,
        None,
        None,
    )
    assert not found.unstable


def test_what_does_not_scatter_has_no_width() -> None:
    found = summarize([Fraction(7)] * 5)
    assert found.mean_interval is not None
    assert found.median_interval is not None
    assert (found.mean_interval.low, found.mean_interval.high) == (7, 7)
    assert (found.median_interval.low, found.median_interval.high) == (7, 7)
    assert found.cov == 0


def test_percentiles_are_values_that_were_measured() -> None:
    """RFC 2330, section 11.3: its example, where the 50th percentile of -2, 7, 7, 4, 18, -5 is 4."""
    ordered = sorted(Fraction(one) for one in (-2, 7, 7, 4, 18, -5))
    assert [percentile(ordered, Fraction(p, 100)) for p in (0, 25, 50, 100)] == [-5, -2, 4, 18]


@pytest.mark.parametrize("n", [5, 6, 11, 12, 20])
def test_the_bootstrap_in_closed_form_is_what_ten_thousand_draws_find(n: int) -> None:
    draw = random.Random(n)
    found = sorted(Fraction(round(draw.gauss(10**6, 10**4))) for _ in range(n))
    medians = sorted(standard.median(draw.choices(found, k=n)) for _ in range(10_000))
    own = summarize(found).median_interval
    assert own is not None
    # The ends are values of a staircase: those of the draws, within half a per cent of them to either side.
    assert medians[200] <= own.low <= medians[300]
    assert medians[9_700] <= own.high <= medians[9_800]


def test_no_loss_is_bounded_by_the_rule_of_three() -> None:
    """60 s at 14.88 Mpps: 3.4e-9; and never less than the exact bound, 1 - 0.05^(1/N)."""
    assert float(loss_bound(14_880_952 * 60)) == pytest.approx(3.4e-9, rel=0.02)
    for frames in (3, 10, 1000, 10**6):
        assert float(loss_bound(frames)) >= 1 - 0.05 ** (1 / frames)


# Two settings


def of(*numbers: float) -> list[Fraction]:
    return [Fraction(str(number)) for number in numbers]


# Student's sleep data (1908), as in R: extra hours of sleep of two groups of ten.
SLEEP_1 = of(0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
SLEEP_2 = of(1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)


def test_welch_is_what_r_prints_of_students_sleep() -> None:
    """t = -1.8608, df = 17.776, p-value = 0.07939, interval of the difference -3.3654832 to 0.2054832."""
    found = compare(SLEEP_1, SLEEP_2)
    assert found.difference == Fraction("1.58")
    assert found.p_means == pytest.approx(0.07939, abs=5e-6)
    assert found.interval is not None
    assert float(found.interval.low) == pytest.approx(-0.2054832, abs=1e-6)
    assert float(found.interval.high) == pytest.approx(3.3654832, abs=1e-6)
    assert not found.differs
    assert found.effect is not None
    # (2.33 - 0.75) / 1.8986 is Cohen's d, 0.8322; Hedges' correction for 18 degrees of freedom is 0.9576.
    assert float(found.effect) == pytest.approx(0.8322 * 0.9576, abs=5e-4)


def test_ranks_in_every_order_they_can_have() -> None:
    """Of 5 and 5 without a tie, all of one above all of the other: 2 of the 252 ways."""
    low, high = of(1, 2, 3, 4, 5), of(6, 7, 8, 9, 10)
    assert mann_whitney(low, high) == pytest.approx(2 / 252)
    assert compare(low, high).dominance == 1
    assert compare(high, low).dominance == -1
    assert mann_whitney(low, low) == 1


def test_critical_values_of_mann_and_whitneys_table() -> None:
    """U of 23 is the greatest that is significant at 5 % (two-sided) for 10 and 10; 2 for 5 and 5."""
    for n, critical in ((10, 23), (5, 2)):
        first = [Fraction(2 * one) for one in range(n)]
        for most, significant in ((critical, True), (critical + 1, False)):
            # Others above so many of the first that U, the pairs the wrong way round, is `most`.
            places = _places(n, most)
            second = [Fraction(2 * place - 1) + Fraction(rank, 100) for rank, place in enumerate(places)]
            wrong = sum(b < a for a in first for b in second)
            assert wrong == most
            assert (mann_whitney(first, second) <= 0.05) is significant


def _places(n: int, wrong: int) -> list[int]:
    """Below how many of the first each of the second lies, so that so many pairs are the wrong way round."""
    below = [min(n, max(wrong - n * place, 0)) for place in range(n)]
    return [n - one for one in below]


def test_many_ranks_are_compared_by_the_normal_distribution() -> None:
    draw = random.Random(1)
    size = EXACT // 2 + 1
    first = [Fraction(draw.randrange(1000)) for _ in range(size)]
    second = [one + 150 for one in first]
    shorter = mann_whitney(first[1:], second[1:])
    assert mann_whitney(first, second) == pytest.approx(shorter, rel=0.35), "exact of a few less"


def test_settings_without_scatter_differ_if_they_differ() -> None:
    same, other = compare(of(1, 1), of(1, 1)), compare(of(1, 1), of(2, 2))
    assert (same.p_means, same.interval, same.effect, same.differs) == (None, None, None, False)
    assert other.differs


def test_line_has_the_slope_and_interval_of_a_worked_example() -> None:
    """SSE 2.4 on 3 degrees of freedom, Sxx 10: the slope's error is 0.08 ** 0.5; tables give t = 3.182446."""
    line = fit_line([(x, Fraction(y)) for x, y in ((1, 2), (2, 4), (3, 5), (4, 4), (5, 5))])
    assert line is not None
    assert line.slope == pytest.approx(0.6)
    assert line.at(0) == pytest.approx(2.2)
    assert line.reach == pytest.approx(3.182446 * 0.08**0.5, rel=1e-6)
    assert fit_line([(1, Fraction(2)), (2, Fraction(4)), (2, Fraction(5))]) is None
