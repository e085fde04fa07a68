"""Series: what they hold, and what none may hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from netdyno.values import series
from netdyno.values.health import Health
from netdyno.values.outcome import FrameCounts, Outcome
from netdyno.values.series import Missed, Series, Steps
from words import said

HEAT = Series("device", "slot 0", "temperature", "C", (-1000, 0, 2500), (231, -4, 234), scale=1)


def test_series_scale_gives_exact_numbers() -> None:
    assert HEAT.numbers == (Fraction("23.1"), Fraction("-0.4"), Fraction("23.4"))
    assert HEAT.times_ns == (-1000, 0, 2500)


def test_series_steps_give_a_time_to_each_value() -> None:
    assert replace(HEAT, at_ns=Steps(-5, 10)).times_ns == (-5, 5, 15)


@pytest.mark.parametrize(
    "change",
    [
        {"at_ns": (0, 1)},
        {"at_ns": (0, 2, 2)},
        {"at_ns": (0, 1, 2**63)},
        {"at_ns": Steps(2**63 - 2, 1)},
        {"values": (1, 2, 2**63)},
        {"values": (1, 2, -(2**63) - 1)},
        {"scale": -1},
        {"scale": 19},
        {"name": ""},
        {"unit": "x" * 101},
        {"subject": "d0\x1b[2J"},
        {"source": "a\nb"},
    ],
)
def test_series_that_no_store_takes_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        replace(HEAT, **change)  # type: ignore[arg-type]


def test_series_samples_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MOST_SAMPLES", 2)
    with pytest.raises(ValueError, match="3 samples"):
        replace(HEAT, at_ns=Steps(0, 1))


def test_steps_without_length_are_refused() -> None:
    with pytest.raises(ValueError, match="0 ns"):
        Steps(0, 0)


def test_outcome_series_are_bounded() -> None:
    outcome = Outcome(FrameCounts((), (), 1), Health(0, 0, 0, 0, 0, None), ())
    assert replace(outcome, series=(HEAT,) * series.MOST_SERIES).series
    with pytest.raises(ValueError, match="257 series"):
        replace(outcome, series=(HEAT,) * (series.MOST_SERIES + 1))


@pytest.mark.parametrize(
    "change",
    [
        {"took_ns": (1, 2)},
        {"took_ns": (1, 2, -1)},
        {"window_ns": 0},
        {"bits": 16},
        {"missed": (Missed(0, said("silent")),) * (series.MOST_MISSED + 1)},
    ],
)
def test_series_details_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        replace(HEAT, **change)  # type: ignore[arg-type]
