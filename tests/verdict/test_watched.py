"""Breaks of watches in results and verdicts. Truth: series that are written out here."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from kinds import kind
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.watching import Watching
from netdyno.devices.watches.reasons import NoAnswer
from netdyno.plan.goals import parse_goal
from netdyno.store.codec import decode_reason
from netdyno.values.breaks import ADJACENCY, ANSWERS, PING, WATCH_BREAKS
from netdyno.values.finding import Result, Value
from netdyno.values.health import Health
from netdyno.values.load import Event, Happened
from netdyno.values.outcome import FrameCounts, Outcome
from netdyno.values.reason import encode
from netdyno.values.series import Missed, Series
from netdyno.values.verdict import Verdict
from netdyno.verdict.reasons import NothingMeasured
from netdyno.verdict.watch_reasons import TABLE, WatchBroke, WatchesBroke, WatchesHeld, WatchesLost
from netdyno.verdict.watched import MOST, breaks_in, breaks_of, plain, with_breaks, with_watches

MS = 10**6
HEALTH = Health(0, 0, 0, 0, 0, None)


def polls(*states: int, of: str = "OSPF neighbour 192.0.2.1") -> Series:
    at = tuple(number * 1000 * MS for number in range(len(states)))
    return Series(ADJACENCY, of, "adjacency", "up", at, states)


def outcome(*series: Series) -> Outcome:
    return Outcome(FrameCounts((), (), 1), HEALTH, (), series=series)


RESULT = Result("ramp", (Value(kind("throughput"), "sum", Fraction(7)),), (0,))


def test_watches_that_held_are_one_note_and_no_break() -> None:
    found = with_watches(RESULT, {0: outcome(polls(1, 1), polls(1, of="x"))}, None)
    assert found.notes == (WatchesHeld(2),)
    value = found.value("watch breaks", "sum")
    assert value is not None
    assert value.number == 0
    (table,) = found.tables
    assert table.name == TABLE
    assert [row[2] for row in table.rows] == ["held", "held"]


def test_result_without_series_of_watches_stays() -> None:
    other = Series("device", "p0", "counter", "frames", (0,), (0,))
    assert with_watches(RESULT, {0: outcome(other)}, None) is RESULT


def test_break_is_noted_counted_and_in_the_table() -> None:
    found = with_watches(RESULT, {0: outcome(polls(1, 0, 0, 1), polls(1, of="x"))}, None)
    broke = WatchBroke(ADJACENCY, "OSPF neighbour 192.0.2.1", 0, 1000 * MS, 2000 * MS, 3000 * MS, 2, False, 1)
    assert found.notes == (WatchesLost(2, 1, (broke,), 0),)
    value = found.value("watch breaks", "sum")
    assert value is not None
    assert value.number == 1
    assert found.tables[0].rows[0] == (
        "OSPF neighbour 192.0.2.1",
        1,
        "broke",
        0,
        1000 * MS,
        2000 * MS,
        3000 * MS,
        2,
    )
    assert found.values[0] == RESULT.values[0], "numbers stay"


def test_break_that_goes_on_in_the_next_trial_is_one() -> None:
    trials = {0: outcome(polls(1, 0)), 1: outcome(polls(0, 1)), 2: outcome(polls(0, 1))}
    found = breaks_in(trials, None)
    assert [one.is_continued for one in found] == [False, True, False]
    result = with_watches(RESULT, trials, None)
    value = result.value("watch breaks", "sum")
    assert value is not None
    assert value.number == 2
    assert [one.trial for one in breaks_of(found, (0, 1))] == [1]
    assert [one.trial for one in breaks_of(found, (1,))] == [2], "it was broken in that trial, too"


def test_watch_that_a_link_cut_on_request_took_down_did_not_break() -> None:
    """It is down until the next trial; there it breaks once by itself."""
    cut = Happened(Event(500 * MS, "link-down", "a"), 500 * MS, 510 * MS)
    trials = {0: replace(outcome(polls(1, 0)), happened=(cut,)), 1: outcome(polls(0, 1, 0))}
    found = breaks_in(trials, None)
    assert [(one.is_asked, one.is_continued) for one in found] == [
        (True, False),
        (True, True),
        (False, False),
    ]
    result = with_watches(RESULT, trials, None)
    value = result.value("watch breaks", "sum")
    assert value is not None
    assert value.number == 1
    assert [row[2] for row in result.tables[0].rows] == ["cut", "still down", "broke"]
    assert [one.trial for one in breaks_of(found, (0, 1))] == [2]


def test_watch_back_after_a_cut_and_a_silent_command_line_can_break() -> None:
    cut = Happened(Event(500 * MS, "link-down", "a"), 500 * MS, 510 * MS)
    up = Happened(Event(1500 * MS, "link-up", "a"), 1500 * MS, 1510 * MS)
    whole = replace(outcome(polls(1, 0, 1, 0)), happened=(cut, up))
    assert [one.is_asked for one in breaks_in({0: whole}, None)] == [True, False]
    slow = Series(ANSWERS, "iosxr", "answer time", "ns", (0, 1000 * MS), (MS, 9000 * MS))
    silent = replace(outcome(slow), happened=(cut,))
    assert [one.is_asked for one in breaks_in({0: silent}, 1000 * MS)] == [False]


def test_watch_that_broke_before_a_link_was_cut_broke() -> None:
    cut = Happened(Event(1500 * MS, "link-down", "a"), 1500 * MS, 1510 * MS)
    found = breaks_in({0: replace(outcome(polls(1, 0, 0)), happened=(cut,))}, None)
    assert [one.is_asked for one in found] == [False]


def test_verdict_keeps_limit_and_reason_and_has_the_breaks() -> None:
    verdict = Verdict("device", NothingMeasured())
    breaks = breaks_in({0: outcome(polls(1, 0, 1, 0, 1, 0, 1, 0, 1, 0))}, None)
    found = with_breaks(verdict, breaks)
    assert found.limit == "device"
    assert isinstance(found.reason, WatchesBroke)
    assert found.reason.reason == verdict.reason == plain(found.reason)
    assert len(found.reason.breaks) == MOST
    assert found.reason.more == len(breaks) - MOST
    assert with_breaks(verdict, ()) is verdict


def test_reasons_of_watches_are_stored_and_read() -> None:
    breaks = breaks_in({0: outcome(polls(1, 0))}, None)
    for one in (
        breaks[0],
        WatchesHeld(1),
        WatchesLost(1, 1, breaks, 0),
        WatchesBroke(NothingMeasured(), breaks, 0),
        NoAnswer(5),
    ):
        assert decode_reason(encode(one), REASONS) == one
        assert str(one)


def test_goal_for_breaks_has_a_whole_number() -> None:
    goal = parse_goal("watch breaks <= 0", {"watch breaks": (WATCH_BREAKS,)})
    assert (goal.value, goal.bound) == ("watch breaks", 0)


def test_answers_of_a_command_line_are_a_series_of_their_own() -> None:
    """Each reading took its time once, however many quantities it had; what failed has no time."""
    gone = Missed(30, NoAnswer(1))
    one = Series("cli", "p0", "frames", "frames", (10, 20), (1, 2), took_ns=(4, 6), missed=(gone,))
    measured = outcome(one, replace(one, subject="p1"), polls(1))
    found = Watching((), frozenset({"cli"})).with_answers(measured)
    assert found.series[1:] == measured.series
    answers = found.series[0]
    assert (answers.source, answers.subject) == (ANSWERS, "cli")
    assert (answers.at_ns, answers.values, answers.missed) == ((10, 20), (4, 6), (gone,))
    (broke,) = breaks_in({0: found}, 5)
    assert (broke.source, broke.missed) == (ANSWERS, 2)
    assert Watching().with_answers(measured) is measured


def test_pings_of_a_trial_are_named_by_whom_they_go_to() -> None:
    series = Series(PING, "192.0.2.1", "round trip", "ns", (0,), (1,), missed=(Missed(5, NoAnswer(1)),))
    (broke,) = breaks_in({0: outcome(series)}, None)
    assert broke.watch == "ping to 192.0.2.1"
