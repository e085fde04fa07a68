"""Two settings compared, and several comparisons at once, against SciPy and statsmodels.

`two-settings-scipy.json` was written by SciPy 1.17.1 (`ttest_ind` with `equal_var=False`, `t`) and by
statsmodels 0.15.0 (`multipletests`, method `holm`) over drawn numbers.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.stats.comparison import compare, holm, one_more, welch
from netdyno.stats.intervals import summarize

DATA: Any = json.loads((Path(__file__).parents[1] / "data" / "two-settings-scipy.json").read_text())


def of(numbers: list[int]) -> list[Fraction]:
    return [Fraction(one) for one in numbers]


@pytest.mark.parametrize("one", DATA["welch"])
def test_welch_is_that_of_scipy(one: dict[str, Any]) -> None:
    first, second = of(one["first"]), of(one["second"])
    found = compare(first, second)
    assert found.p_means == pytest.approx(one["p"], rel=1e-9)
    assert found.interval is not None
    assert float(found.interval.low) == pytest.approx(one["low"], rel=1e-9)
    assert float(found.interval.high) == pytest.approx(one["high"], rel=1e-9)
    spread = welch(summarize(first), summarize(second))
    assert spread is not None
    assert spread.chance(found.difference - one["shift"]) == pytest.approx(one["p_shift"], rel=1e-9)


@pytest.mark.parametrize("one", DATA["one"])
def test_one_measurement_more_is_that_of_students_t(one: dict[str, Any]) -> None:
    several = summarize(of(one["several"]))
    spread = one_more(several)
    assert spread is not None
    assert spread.chance(Fraction(one["one"]) - several.mean) == pytest.approx(one["p"], rel=1e-9)
    assert float(spread.reach()) == pytest.approx(one["reach"], rel=1e-9)


@pytest.mark.parametrize("one", DATA["holm"])
def test_holm_is_that_of_statsmodels(one: dict[str, Any]) -> None:
    assert holm(one["p"]) == pytest.approx(one["adjusted"], rel=1e-12)


def test_holm_keeps_false_differences_to_one_in_twenty_comparisons() -> None:
    draw = random.Random(45)
    runs = 2000
    drawn = (holm([draw.random() for _ in range(12)]) for _ in range(runs))
    false = sum(min(one for one in adjusted if one is not None) <= 0.05 for adjusted in drawn)
    # Of 2,000 comparisons without any difference 100 at the most are expected; 1 in 1,000 has over 131.
    assert false <= 131
    assert sum(min(draw.random() for _ in range(12)) <= 0.05 for _ in range(runs)) > 131, "without it"
