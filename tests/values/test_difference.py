"""Counters over a trial: how far they grew, or why that is unknown."""

from __future__ import annotations

from fractions import Fraction

import pytest
from netdyno.values.counter import Flow, growth, staleness
from netdyno.values.reason import Reason
from netdyno.values.series import Missed, Series

S = 10**9
END_NS = 12 * S


def counter(*points: tuple[int, int], bits: int | None = 64, **more: object) -> Series:
    """A counter read at these seconds."""
    times, values = zip(*points, strict=True) if points else ((), ())
    at_ns = tuple(time * S for time in times)
    return Series("fake", "Te0/1", "rx_packets", "packets", at_ns, values, is_counter=True, bits=bits, **more)  # type: ignore[arg-type]


def code(found: int | Reason) -> str:
    assert isinstance(found, Reason), found
    assert str(found)
    return found.code


def test_growth_from_before_traffic_to_after_drain_is_exact() -> None:
    assert growth(counter((-2, 1000), (5, 1700), (12, 4000)), END_NS) == 3000


def test_growth_of_a_counter_that_stands_still_is_zero() -> None:
    assert growth(counter((-2, 7), (12, 7)), END_NS) == 0


def test_growth_across_readings_that_were_missed_is_exact() -> None:
    missed = (Missed(5 * S, code_reason()),)
    assert growth(counter((-2, 1), (12, 11), missed=missed), END_NS) == 10


def code_reason() -> Reason:
    found = growth(counter(), END_NS)
    assert isinstance(found, Reason)
    return found


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (counter(), "counter-not-read"),
        (counter((1, 0), (12, 9)), "counter-read-late"),
        (counter((-2, 0), (11, 9)), "counter-read-early"),
        (counter((-2, 100), (5, 3), (12, 200)), "counter-reset"),
        (counter((-2, 100), (12, 3), bits=None), "counter-reset"),
        (counter((-2, 100), (12, 200), bits=32), "counter-may-wrap"),
    ],
)
def test_growth_that_cannot_be_known_is_a_reason(series: Series, expected: str) -> None:
    assert code(growth(series, END_NS)) == expected


def test_growth_of_32_bits_across_one_wrap_is_exact() -> None:
    # 14 s at 14,880,952 a second are 208 million: far from 4,294,967,296.
    wrapped = counter((-2, 2**32 - 10), (12, 90), bits=32)
    assert growth(wrapped, END_NS, Fraction(14_880_952)) == 100


def test_growth_of_32_bits_that_was_reset_is_no_wrap() -> None:
    # A wrap would be 4,294,967,196 frames in 14 s.
    assert code(growth(counter((-2, 200), (12, 100), bits=32), END_NS, Fraction(14_880_952))) == (
        "counter-reset"
    )


def test_growth_of_32_bits_that_may_wrap_twice_is_unknown() -> None:
    # Bytes at 10 Gbit/s: 1.25 billion a second, a wrap every 3.4 s.
    found = growth(counter((-2, 0), (12, 50), bits=32), END_NS, Fraction(1_250_000_000))
    assert code(found) == "counter-may-wrap"


def test_growth_of_old_counters_wants_a_later_reading() -> None:
    series = counter((-2, 0), (13, 50))
    assert growth(series, END_NS) == 50
    assert code(growth(series, END_NS, stale_ns=3 * S)) == "counter-read-early"


@pytest.mark.parametrize("more", [{"scale": 1}, {"is_counter": False}])
def test_growth_of_what_does_not_count_is_refused(more: dict[str, object]) -> None:
    fields = {"scale": 0, "is_counter": True, **more}
    series = Series("fake", "PS0", "power", "W", (0, S), (1, 2), **fields)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not count"):
        growth(series, END_NS)


def test_staleness_is_how_long_a_counter_stood_still_under_traffic() -> None:
    steps = [(at, 100 * (at // 3)) for at in range(13)]
    assert staleness(counter(*steps), Flow([100] * 12, S)) == (3 * S, 4 * S)


def test_staleness_without_traffic_is_zero() -> None:
    paused = [(0, 0), (1, 50), (2, 100), (3, 100), (4, 100), (5, 100), (6, 150)]
    assert staleness(counter(*paused), Flow([50, 50, 0, 0, 0, 50], S)) == (0, 0)
