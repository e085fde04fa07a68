"""Breaks of watches, found in series. Truth: series that are written out here."""

from __future__ import annotations

from netdyno.devices.watches.reasons import NoAnswer
from netdyno.values.breaks import ADJACENCY, ANSWERS, PING, Break, find_breaks
from netdyno.values.series import MOST_MISSED, Missed, Series

MS = 10**6
GONE = NoAnswer(100 * MS)


def pings(good: tuple[int, ...], lost: tuple[int, ...], took_ns: int = 2 * MS) -> Series:
    """Round trips of 2 ms. good, lost: when pings were sent, ms."""
    at = tuple(one * MS + took_ns // 2 for one in good)
    missed = tuple(Missed(one * MS, GONE) for one in lost)
    values = (took_ns,) * len(good)
    return Series(PING, "device", "round trip", "ns", at, values, took_ns=values, missed=missed)


def polls(*states: int) -> Series:
    """Polls once a second, each of which took 4 ms."""
    at = tuple(number * 1000 * MS for number in range(len(states)))
    took = (4 * MS,) * len(states)
    return Series(ADJACENCY, "OSPF neighbour 192.0.2.1", "adjacency", "up", at, states, took_ns=took)


def test_pings_that_are_all_answered_have_no_break() -> None:
    assert find_breaks(pings((0, 100, 200), ())) == ()


def test_lost_pings_are_dated_by_the_pings_around_them() -> None:
    """The first lost one may have been on its way for as long as the one before it took."""
    found = find_breaks(pings((0, 100, 400), (200, 300)))
    assert found == (Break(PING, "device", (100 * MS, 202 * MS), (300 * MS, 402 * MS), 2),)


def test_break_that_lasts_to_the_end_has_no_end() -> None:
    (found,) = find_breaks(pings((0,), (100, 200)))
    assert (found.begin, found.end) == ((0, 102 * MS), (200 * MS, None))


def test_break_from_the_start_has_no_begin() -> None:
    (found,) = find_breaks(pings((300,), (100, 200)))
    assert found.begin == (None, 100 * MS)
    assert found.end == (200 * MS, 302 * MS)


def test_each_break_is_one_of_its_own() -> None:
    found = find_breaks(pings((0, 200, 400), (100, 300)))
    assert [one.missed for one in found] == [1, 1]


def test_adjacency_breaks_between_two_polls() -> None:
    (found,) = find_breaks(polls(1, 1, 0, 0, 1))
    assert found.begin == (1000 * MS - 2 * MS, 2000 * MS + 2 * MS)
    assert found.end == (3000 * MS - 2 * MS, 4000 * MS + 2 * MS)
    assert found.missed == 2


def test_poll_without_a_reading_is_no_break_of_an_adjacency() -> None:
    one = Series(ADJACENCY, "x", "adjacency", "up", (0, 2), (1, 1), missed=(Missed(1, GONE),))
    assert find_breaks(one) == ()


def test_answer_above_the_longest_and_a_missed_one_are_breaks() -> None:
    at, times = (0, 1000, 2000), (5, 50, 5)
    one = Series(ANSWERS, "x", "answer time", "ns", at, times, took_ns=times, missed=(Missed(3000, GONE),))
    assert [(found.begin[1], found.missed) for found in find_breaks(one, 10)] == [(1030, 1), (3005, 1)]
    assert [found.missed for found in find_breaks(one)] == [1]


def test_more_missed_readings_than_are_listed_are_at_least_so_many() -> None:
    (found,) = find_breaks(pings((0,), tuple(range(1, MOST_MISSED + 1))))
    assert found.is_at_least
    assert found.missed == MOST_MISSED


def test_series_of_a_watch_without_times_taken_is_read() -> None:
    one = Series(ADJACENCY, "x", "adjacency", "up", (0, 5), (1, 0))
    (found,) = find_breaks(one)
    assert found.begin == (0, 5)
