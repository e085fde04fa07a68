"""Times within others, and counters with many of them."""

from __future__ import annotations

import pytest
from alarm import at_most
from hypothesis import given
from hypothesis import strategies as st
from netdyno.values.counter import growth, rate_within
from netdyno.values.series import Series, Steps
from netdyno.values.spans import Spans

S = 10**9
MANY = 20_000
COUNTED = Series(
    "snmp", "xe0", "ifHCInOctets", "B", Steps(-S, S), tuple(range(MANY)), is_counter=True, bits=64
)


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (0, 100, 40),
        (15, 100, 35),
        (20, 30, 0),
        (30, 35, 5),
        (0, 10, 0),
        (60, 90, 0),
        (25, 25, 0),
        (35, 15, 0),
    ],
)
def test_spans_within_a_time_last_as_long_as_they_overlap_it(begin: int, end: int, expected: int) -> None:
    """From 10 to 20, from 30 to 50 with another one from 40 to 60 beside it, and none at 70."""
    spans = Spans([(30, 50), (10, 20), (40, 60), (70, 70)])
    assert spans.length_within(begin, end) == expected


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), max_size=6),
    st.integers(-20, 20),
    st.integers(-20, 20),
)
def test_length_of_spans_is_that_of_the_moments_in_them(
    spans: list[tuple[int, int]], begin: int, end: int
) -> None:
    moments = [at for at in range(begin, end) if any(first <= at < last for first, last in spans)]
    assert Spans(spans).length_within(begin, end) == len(moments)


def test_counter_beside_many_resets_is_judged_in_time() -> None:
    """Each reading of sysUpTime behind the counter's own says that the device restarted."""
    resets = tuple((number * S, (number + 1) * S) for number in range(MANY, 2 * MANY))
    with at_most(5):
        assert growth(COUNTED, (MANY - 5) * S, resets=resets) == MANY - 1


def test_counter_under_traffic_with_many_pauses_has_its_rate_in_time() -> None:
    moving = tuple((number * S, number * S + S // 2) for number in range(MANY))
    with at_most(5):
        found = rate_within(COUNTED, None, 0, 2 * MANY * S, moving=moving)
    assert found.rate == 1
