"""The limit of a result: each answer from counts that leave no other, and the order of the questions."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from kinds import kind
from lateness import encode
from netdyno.calibration import Proven
from netdyno.methods import METHODS
from netdyno.methods.reasons.tester import Unsent
from netdyno.methods.throughput import ThroughputParameters
from netdyno.plan import Goal
from netdyno.values.finding import Result, Value
from netdyno.values.health import CatchUp
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import (
    Conflict,
    HopChange,
    HopSilence,
    InterfaceResult,
    Lag,
    LatePeriod,
    NextHop,
    Outcome,
)
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate, Load
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, Witnesses, judge, judge_goal
from netdyno.verdict.knee import KneeCapped, with_capped_knees
from netdyno.verdict.proof_reasons import AddressClaimed, ByDirection, EachDirection, NextHopMoved
from netdyno.verdict.reasons import (
    DeviceTook,
    FarEndDropped,
    FramesMade,
    LineFull,
    MemberFull,
    SplitFlows,
)
from netdyno.verdict.saying import Reached
from tendevices import behind_a_starved_tester, drive, measure, passes_everything, starved_tester, wall
from words import said

LINE = Fraction(10_000_000)
UNI = Situation(("west-east",), LINE, Fraction(64))
BIDIR = Situation(("west-east", "east-west"), LINE, Fraction(64))


def result(number: int | None, situation: Situation = UNI, name: str = "ramp max Rx") -> Result:
    exact = None if number is None else Fraction(number)
    searched = name == "throughput"
    values = [Value(kind(name), scope, exact, searched=searched) for scope in (*situation.streams, "sum")]
    return Result("ramp", tuple(values), (0,), headlines=(name,))


PROVEN = Proven("c1", datetime(2026, 11, 21, tzinfo=UTC), max_fps=LINE)
"""A tester that passes a full line without a device."""


def evidence(
    capacity: int,
    *,
    situation: Situation = UNI,
    clock: str = "virtual",
    enforced: bool = True,
    health: dict[str, Any] | None = None,
    partner_drops: int = 0,
    proven: Proven | None = PROVEN,
) -> Evidence:
    """A second at full line into a wall."""
    line = FrameRate(LINE)
    trial = Trial("t", Frames((Segment("ramp", 10**9, line, line), Segment("hold", 10**9, line, line))))
    found = measure(trial, wall(capacity), situation)
    unsent = (health or {}).get("unsent", 0)
    found = replace(
        found.with_counts(
            streams=tuple(replace(stream, intended=stream.intended + unsent) for stream in found.streams)
        ),
        health=replace(found.health, **(health or {})),
        devices=({"ports": [{"name": "a", "partner_drops": partner_drops}, {"name": "b"}]},),
    )
    return Evidence(situation, clock, enforced, (found,), proven=proven)  # type: ignore[arg-type]


def limit(number: int | None, given: Evidence) -> tuple[str, Any]:
    verdict = judge(result(number, given.situation), given)["west-east"]
    return verdict.limit, verdict.reason


def late(given: Evidence, *periods: LatePeriod, catch_up: CatchUp | None = None) -> Evidence:
    """The same, its first stream sent late in these periods and on time otherwise."""
    (trial,) = given.trials
    (stream, *others) = trial.streams
    frames = sum(one.frames for one in periods)
    longest = max(one.longest_ns for one in periods)
    lag = Lag(stream.offered, 0, 0, longest, 0, NO_LAG, frames, 10_000, periods)
    streams = (replace(stream, lag=lag), *others)
    health = replace(trial.health, catch_up=catch_up, latest_departure_ns=longest)
    return replace(given, trials=(replace(trial.with_counts(streams=streams), health=health),))


NO_LAG = encode([0])


def losing(frames: int) -> Evidence:
    """A second at full line and another, of which so many frames are lost."""
    given = evidence(20_000_000, clock="real")
    (stream,) = given.trials[0].streams
    fewer = replace(stream, received=stream.offered - frames, lost=frames)
    trials = (given.trials[0].with_counts(streams=(fewer,)),)
    return replace(given, trials=trials, witnesses=TWO_AT_ONCE)


TWO_AT_ONCE = Witnesses(bunch=2)
"""The device is known to take two frames at once."""


def test_a_pause_explains_the_frames_that_were_due_in_it_and_one_more() -> None:
    """10 million frames a second, 0.9 ms late: 9,000 came in a bunch."""
    pause = LatePeriod(100_000_000, 102_000_000, 900_000, 900_000, 1, 18_000)
    for lost, name in ((9_001, "inconclusive"), (9_002, "device")):
        found, reason = limit(8_000_000, late(losing(lost), pause))
        assert (found, reason.lost) == (name, lost)
    assert limit(8_000_000, losing(1))[0] == "device"
    shallow = replace(late(losing(18_000), pause), witnesses=None)
    assert limit(8_000_000, shallow)[0] == "inconclusive", "a bucket of one may lose all that is made up for"
    few = replace(pause, frames=20)
    assert limit(8_000_000, late(losing(21), few))[0] == "device", "no more than were sent late"


def test_pauses_explain_what_all_of_them_together_do() -> None:
    pauses = [LatePeriod(at * 10**8, at * 10**8 + 10**6, 900_000, 900_000, 1, 18_000) for at in (1, 3, 5)]
    assert limit(8_000_000, late(losing(27_003), *pauses))[0] == "inconclusive"
    assert limit(8_000_000, late(losing(27_004), *pauses))[0] == "device"


def test_what_catching_up_may_have_lost_is_the_testers() -> None:
    """As many frames as left faster than asked for: of those the device may be innocent."""
    pause = LatePeriod(100_000_000, 102_000_000, 900_000, 900_000, 1, 18_000)
    caught = CatchUp(
        percent=200, pauses=1, longest_ns=900_000, frames=9_000, longest_run=9_000, most_in_round=128
    )
    named, reason = limit(8_000_000, late(losing(9_000), pause, catch_up=caught))
    assert (named, reason.code, reason.lost) == ("tester", "lost-catching-up", 9_000)
    assert limit(8_000_000, late(losing(9_001), pause, catch_up=caught))[0] == "inconclusive"
    assert limit(9_000_000, evidence(9_000_000, clock="virtual"))[0] == "device"


def test_line_from_99_percent_on() -> None:
    assert limit(9_900_000, evidence(9_900_000))[0] == "line"
    assert limit(9_899_999, evidence(9_899_999))[0] == "device"
    assert limit(9_900_000, evidence(9_900_000))[1] == LineFull(Fraction(9_900_000), LINE, False)


def test_a_line_rate_that_nothing_enforces_is_said_to_be_declared() -> None:
    assert limit(9_990_000, evidence(9_990_000, enforced=False))[1].is_declared


def test_a_starved_direction_is_named_by_its_own_frames() -> None:
    verdicts = judge(
        result(5_000_000, BIDIR), evidence(5_000_000, situation=BIDIR, health={"unsent": 200_000})
    )
    for name in BIDIR.streams:
        assert verdicts[name].reason.fields()["cause"]["fields"]["stream"] == name
    assert verdicts["sum"].reason == ByDirection(
        tuple((name, verdicts[name].reason) for name in BIDIR.streams), 0
    )


def test_what_limits_both_directions_alike_is_said_once() -> None:
    verdicts = judge(result(10_000_000, BIDIR), evidence(10_000_000, situation=BIDIR))
    assert verdicts["sum"].reason == EachDirection(LineFull(LINE, LINE, False))
    assert str(verdicts["sum"].reason).startswith("Line rate, each direction: ")


def test_no_share_is_given_of_a_line_rate_that_nothing_enforces() -> None:
    for capacity, number in ((5_000_000, 5_000_000), (20_000_000, 8_000_000)):
        assert limit(number, evidence(capacity))[1].reached.share == number / LINE
        assert limit(number, evidence(capacity, enforced=False))[1].reached.share is None


def test_a_single_flow_on_a_group_is_limited_by_its_member() -> None:
    grouped = replace(UNI, flow_ceiling_fps=LINE / 2)
    found, reason = limit(4_960_000, evidence(4_960_000, situation=grouped))
    assert found == "line"
    assert reason == MemberFull(Fraction(4_960_000), LINE / 2)
    assert limit(4_000_000, evidence(4_000_000, situation=grouped))[0] == "device"


def test_device_when_frames_were_lost_and_the_tester_was_well() -> None:
    found, reason = limit(5_000_000, evidence(5_000_000))
    assert found == "device"
    assert (reason.code, reason.lost, reason.sent) == ("device-lost", 10_000_000, 20_000_000)
    assert reason.reached == Reached(Fraction(5_000_000), share=Fraction(1, 2))


@pytest.mark.parametrize(
    ("health", "expected", "code", "fields"),
    [
        ({"unsent": 2_001}, "tester", "tester-short", {"cause": Unsent("west-east", 2_001, 20_002_001)}),
        ({"rx_dropped": 100_000}, "receiver", "dropped-receiving", {"dropped": 100_000, "besides": None}),
        ({"unsent": 200_000, "rx_dropped": 100_000}, "tester", "tester-short", {}),
        ({"unsent": 2_000, "rx_dropped": 100_000}, "receiver", "dropped-receiving", {"dropped": 100_000}),
        # Of two causes of its own the greater is named first, and the other besides.
        (
            {"unsent": 200_000, "rx_dropped": 9_000_000},
            "receiver",
            "dropped-receiving",
            {"dropped": 9_000_000, "besides": Unsent("west-east", 200_000, 20_200_000)},
        ),
        ({"unsent": 200_000, "rx_full": 7, "rx_full_ns": None}, "tester", "ring-full", {"times": 7}),
        ({"unsent": 200_000, "rx_full": 7, "rx_full_ns": 1000}, "tester", "tester-short", {}),
        (
            {"tx_dropped": 300_000, "rx_dropped": 400_000},
            "receiver",
            "dropped-receiving",
            {"dropped": 400_000},
        ),
        ({"tx_dropped": 400_000, "rx_dropped": 300_000}, "tester", "dropped-sending", {"dropped": 400_000}),
        ({"tx_dropped": 100_000}, "tester", "dropped-sending", {"dropped": 100_000}),
        ({"tx_dropped": 100_000, "rx_dropped": 100_000}, "tester", "dropped-sending", {"dropped": 100_000}),
        ({"rx_too_long": 100_000}, "inconclusive", "frames-joined", {"too_long": 100_000}),
        ({"rx_too_long": 100_000, "rx_dropped": 100_000}, "receiver", "dropped-receiving", {}),
        ({"rx_full": 1}, "inconclusive", "ring-full", {"times": 1}),
        ({"rx_full": 3}, "inconclusive", "ring-full", {"times": 3, "besides": None}),
        ({"rx_full": 3, "rx_dropped": 100_000}, "receiver", "dropped-receiving", {"dropped": 100_000}),
    ],
)
def test_the_tester_doubts_itself_first(
    health: dict[str, int], expected: str, code: str, fields: dict[str, Any]
) -> None:
    found, reason = limit(5_000_000, evidence(5_000_000, health=health, partner_drops=7))
    assert (found, reason.code) == (expected, code)
    assert {name: getattr(reason, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("full_ns", "expected"),
    [
        (0, "device"),
        (999_900_000, "device"),
        (1_000_100_000, "inconclusive"),
        (None, "inconclusive"),
    ],
)
def test_a_full_ring_excuses_what_can_have_come_meanwhile(full_ns: int | None, expected: str) -> None:
    """Ten million are lost, as many as the line carries in a second: so long full, a ring explains it."""
    found, reason = limit(5_000_000, evidence(5_000_000, health={"rx_full": 3, "rx_full_ns": full_ns}))
    assert found == expected, reason
    assert (reason.lost, reason.sent) == (10_000_000, 20_000_000)


def test_where_no_line_holds_a_peer_a_full_ring_excuses_more() -> None:
    """A peer may write 46 million frames a second into a memory they share, but not 10,000 million."""
    for full_ns, expected in ((217_000_000, "inconclusive"), (1_000_000, "device")):
        full = {"rx_full": 17, "rx_full_ns": full_ns}
        found, reason = limit(5_000_000, evidence(5_000_000, clock="real", enforced=False, health=full))
        assert found == expected, reason


@pytest.mark.parametrize("dropped", [1, 99_999])
def test_a_few_frames_dropped_by_the_receiver_do_not_clear_the_device(dropped: int) -> None:
    """Ten million are lost. The receiver is the limit from a hundredth of them on; a few are named."""
    found, reason = limit(5_000_000, evidence(5_000_000, health={"rx_dropped": dropped}))
    assert found == "device"
    assert (reason.dropped, reason.missing) == (dropped, 10_000_000)
    assert limit(5_000_000, evidence(5_000_000, health={"rx_dropped": 100_000}))[0] == "receiver"


@pytest.mark.parametrize(("missed", "expected"), [(99_999, "device"), (100_000, "receiver")])
def test_what_a_card_had_no_room_for_speaks_like_what_a_port_dropped(missed: int, expected: str) -> None:
    """The driver's count and the kernel's tell of the same frames, and are not added."""
    told = {"no room to receive": {"rx_missed_errors": missed, "rx_no_dma_resources": missed}}
    given = evidence(5_000_000)
    one = replace(given.trials[0], interfaces=(InterfaceResult("east", "eth2", kinds=told),))
    assert limit(5_000_000, replace(given, trials=(one,)))[0] == expected
    damaged = replace(
        one, interfaces=(InterfaceResult("east", "eth2", kinds={"damaged on the line": {"e": missed}}),)
    )
    assert limit(5_000_000, replace(given, trials=(damaged,)))[0] == "device"


def test_receiver_that_dropped_all_missing_frames_is_the_limit() -> None:
    given = evidence(20_000_000, health={"rx_dropped": 1})
    assert limit(8_000_000, given)[0] == "none"  # nothing of this traffic is missing
    one = given.trials[0].with_counts(streams=(replace(given.trials[0].streams[0], lost=1),))
    assert limit(8_000_000, replace(given, trials=(one,)))[0] == "receiver"


def test_a_few_frames_dropped_at_the_far_end_do_not_clear_the_device() -> None:
    assert limit(5_000_000, evidence(5_000_000, partner_drops=99_999))[0] == "device"
    assert limit(5_000_000, evidence(5_000_000, partner_drops=100_000))[0] == "fixture"


def corrupting(lost: int, corrupted: int, *, clock: str = "real", **health: int) -> Evidence:
    given = evidence(20_000_000, clock=clock, health=health)
    (stream,) = given.trials[0].streams
    spoiled = replace(stream, lost=lost, corrupted=corrupted, received=stream.offered - lost - corrupted)
    return replace(given, trials=(given.trials[0].with_counts(streams=(spoiled,)),))


def test_corrupted_frames_are_held_against_the_device() -> None:
    found, reason = limit(8_000_000, corrupting(0, 500))
    assert found == "device"
    assert (reason.lost, reason.corrupted, reason.sent) == (0, 500, 20_000_000)
    found, reason = limit(8_000_000, corrupting(300, 500))
    assert (reason.lost, reason.corrupted) == (300, 500)


def test_no_excuse_for_loss_covers_what_came_corrupted() -> None:
    """Bursts after a pause and a full buffer lose frames, but corrupt none."""
    for health in ({"latest_departure_ns": 5_000_000}, {"rx_dropped": 10}):
        assert limit(8_000_000, corrupting(10, 500, **health))[0] == "device"
    # The tester drops a tenth of the missing frames; that it was late says nothing of corrupted ones.
    assert limit(8_000_000, corrupting(500, 10, rx_dropped=49))[0] == "device"
    assert limit(8_000_000, corrupting(500, 10, rx_dropped=50))[0] == "receiver"
    assert limit(8_000_000, corrupting(500, 10, latest_departure_ns=5_000_000))[0] == "device"


def test_loss_that_set_in_long_before_the_line_was_full_is_not_the_lines() -> None:
    """A device that spoils one frame in a hundred fills 99 % of the line, and has a knee at a fifth."""
    given = corrupting(0, 200_000)
    (best, everything) = result(9_900_000).values
    for high, expected in ((2_200_000, "device"), (9_900_000, "line")):
        knee = Value(kind("knee"), "west-east", Fraction(high - 1), Fraction(high - 1), Fraction(high))
        found = Result("ramp", (best, knee, everything), (0,), headlines=(best.name,))
        assert judge(found, given)["west-east"].limit == expected


def test_mix_rate_is_a_share_of_frames_and_its_line_rate_another_number() -> None:
    mix = Situation(("west-east",), LINE, Fraction(400), mixed_receivers=(1,))
    (best, everything) = result(5_000_000).values
    used = Value(kind("line utilisation", "ratio"), "west-east", Fraction(3, 4))
    found = judge(
        Result("ramp", (best, used, everything), (0,), headlines=(best.name,)),
        evidence(5_000_000, situation=mix),
    )
    reason: Any = found["west-east"].reason
    reached = Reached(Fraction(5_000_000), share=Fraction(1, 2), is_of_mix=True, filled=Fraction(3, 4))
    assert reason.reached == reached


def test_a_tester_that_filled_the_line_is_no_limit() -> None:
    assert limit(10_000_000, evidence(10_000_000, health={"unsent": 200_000}))[0] == "line"


def test_offered_load_short_by_over_a_ten_thousandth_is_a_tester_limit() -> None:
    trial = Trial("t", Frames.steady(FrameRate(LINE), 10**9))
    found = measure(trial, starved_tester(most=9_000_000), UNI)
    assert limit(9_000_000, Evidence(UNI, "virtual", True, (found,)))[0] == "tester"
    # 0.01 % of ten million is a thousand frames: that much is not held against it.
    nearly = measure(trial, starved_tester(most=9_999_000), UNI)
    assert limit(9_000_000, Evidence(UNI, "virtual", True, (nearly,)))[0] == "none"
    more = measure(trial, starved_tester(most=9_998_999), UNI)
    assert limit(9_000_000, Evidence(UNI, "virtual", True, (more,)))[0] == "tester"


def test_loss_in_the_far_end_switch_is_a_fixture_limit_without_device_loss() -> None:
    """Ten million frames are lost. The two stand in a row: the one behind is narrower if it drops at all."""
    found, reason = limit(5_000_000, evidence(5_000_000, partner_drops=10_000_000))
    assert found == "fixture"
    assert reason == FarEndDropped(10_000_000, 10_000_000)
    given = evidence(5_000_000, partner_drops=6_000_000)
    for counter in ("in_drops", "both_drops", "out_drops"):
        device = {"ports": [{"partner_drops": 6_000_000, counter: 4_000_000}]}
        found, reason = limit(
            5_000_000, replace(given, trials=(replace(given.trials[0], devices=(device,)),))
        )
        assert found == "device"
        assert (reason.far_end, reason.missing) == (6_000_000, 10_000_000)
    box = {"ports": [{"partner_drops": 6_000_000}], "box_drops": 4_000_000}
    assert limit(5_000_000, replace(given, trials=(replace(given.trials[0], devices=(box,)),)))[0] == "device"
    stray = {"ports": [{"partner_drops": 9_999_000, "out_drops": 1_000}]}
    assert (
        limit(5_000_000, replace(given, trials=(replace(given.trials[0], devices=(stray,)),)))[0] == "fixture"
    )


def test_without_dated_lag_the_latest_departure_is_one_pause() -> None:
    """8,000 lost; 900 us at 10 million frames/s are a burst of 9,000."""
    for capacity, name in ((9_000_000, "device"), (9_996_000, "inconclusive"), (9_995_000, "device")):
        given = evidence(capacity, clock="real", health={"latest_departure_ns": 900_000})
        assert limit(5_000_000, replace(given, witnesses=TWO_AT_ONCE))[0] == name
        assert limit(5_000_000, given)[0] == "inconclusive"


def test_frames_too_late_to_identify_are_not_counted_to_the_device() -> None:
    given = evidence(5_000_000)
    late = given.trials[0].with_counts(
        streams=(replace(given.trials[0].streams[0], beyond_window=10_000_000),)
    )
    assert limit(5_000_000, replace(given, trials=(late,)))[0] == "inconclusive"
    few = late.with_counts(streams=(replace(late.streams[0], beyond_window=9_999_999),))
    assert limit(5_000_000, replace(given, trials=(few,)))[0] == "device"


def test_nothing_lost_below_the_line_is_a_lower_bound() -> None:
    found, reason = limit(8_000_000, evidence(20_000_000))
    assert found == "none"
    assert reason.code == "no-more-offered"


def test_after_a_full_line_there_is_no_more_to_offer() -> None:
    """All came back, but slower than it was offered: a queue held it, and only time shows how much."""
    given, found = evidence(20_000_000), result(8_000_000)
    for kept, code in ((LINE, "no-more-on-line"), (9_800_000, "no-more-offered")):
        values = (*found.values, Value(kind("kept up to"), "west-east", Fraction(kept)))
        verdict = judge(replace(found, values=values), given)["west-east"]
        assert (verdict.limit, verdict.reason.code) == ("none", code)
        assert ("longer" in str(verdict.reason)) == (code == "no-more-on-line")


def test_more_received_than_sent_is_invalid() -> None:
    given = evidence(10_000_000)
    trial = given.trials[0]
    made = trial.with_counts(streams=(replace(trial.streams[0], lost=-4),))
    found, reason = limit(10_000_000, replace(given, trials=(made,)))
    assert found == "invalid"
    assert reason == FramesMade(4)


def test_no_traffic_is_invalid() -> None:
    assert limit(0, replace(evidence(0), trials=()))[0] == "invalid"


def test_the_sum_carries_the_least_certain_of_the_directions() -> None:
    given = evidence(5_000_000, situation=BIDIR)
    both = result(5_000_000, BIDIR)
    assert judge(both, given)["sum"].limit == "device"
    # One direction fills its line, the other one does not.
    values = (replace(both.values[0], number=LINE), *both.values[1:])
    mixed = judge(replace(both, values=values), given)
    assert (mixed["west-east"].limit, mixed["east-west"].limit, mixed["sum"].limit) == (
        "line",
        "device",
        "device",
    )
    codes = [reason["code"] for _, reason in mixed["sum"].reason.fields()["reasons"]]
    assert codes == ["device-lost", "line-full"], "the limit comes first"


# Methods and verdict together


def judged(
    name: str, device: Any, situation: Situation = UNI, given: dict[str, Any] | None = None
) -> dict[str, str]:
    return {scope: one.limit for scope, one in verdicts_on(name, device, situation, given).items()}


def verdicts_on(
    name: str, device: Any, situation: Situation, given: dict[str, Any] | None = None
) -> dict[str, Verdict]:
    usual = {
        "ramp": {"warmup": "1s at 1kpps", "ramp": "10s to 100%", "hold": "2s"},
        "throughput": {"duration": "1s"},
    }
    procedure = METHODS[name]
    method = procedure.start(procedure.parameters.model_validate(given or usual[name]), situation)
    found, outcomes = drive(method, device, situation)
    trials: tuple[Outcome, ...] = tuple(outcomes[number] for number in found.trials)
    return judge(found, Evidence(situation, "virtual", True, trials))


@pytest.mark.parametrize("name", ["ramp", "throughput"])
def test_each_method_against_each_kind_of_device(name: str) -> None:
    assert judged(name, wall(5_000_000), BIDIR) == {
        "west-east": "device",
        "east-west": "device",
        "sum": "device",
    }
    assert judged(name, passes_everything())["sum"] == "line"
    assert judged(name, starved_tester(most=3_000_000))["sum"] == "tester"


def test_a_search_that_one_direction_ends_is_limited_by_the_device_in_both() -> None:
    forward, back = wall(5_000_000), passes_everything()
    one_way = lambda fps, seconds, stream: (forward if stream == "west-east" else back)(fps, seconds, stream)  # noqa: E731
    assert set(judged("throughput", one_way, BIDIR).values()) == {"device"}
    # A sweep holds each load for both, and the other direction has lost nothing at any.
    loads = {"loads": ["40%", "90%"], "duration": "1s"}
    found = judged("sweep", one_way, BIDIR, loads)
    assert found == {"west-east": "device", "east-west": "none", "sum": "device"}
    # A ramp has a number for each direction, and asks each by itself.
    assert judged("ramp", one_way, BIDIR)["east-west"] == "line"


def test_a_load_below_one_that_lost_frames_is_never_the_lines() -> None:
    """99 % of the line passed and 100 % did not: the device has 99.5 %, which no share of the line hides."""
    loads = {"loads": "95% to 100% by 1%", "duration": "1s"}
    found = verdicts_on("sweep", wall(int(LINE * 995 / 1000)), UNI, loads)["sum"]
    assert found.limit == "device", found.reason
    # That 99 % are the step of the list, and not the device's figure, is said beside it.
    reason: Any = found.reason
    assert (reason.reached.share, reason.reached.failed_share) == (Fraction(99, 100), 1)


def test_a_search_that_copies_ended_is_limited_by_the_device() -> None:
    given = evidence(20_000_000)
    copied = given.trials[0].with_counts(streams=(replace(given.trials[0].streams[0], duplicates=3),))
    (value, _) = result(5_000_000, name="throughput").values
    searched = Result(
        "throughput", (replace(value, high=Fraction(5_010_000)),), (0,), headlines=(value.name,)
    )
    found = judge(searched, replace(given, trials=(copied,)))["west-east"]
    assert found.limit == "device"
    assert found.reason.fields()["copies"] == 3


def test_ramp_with_a_knee_before_the_tester_fell_behind_names_the_device() -> None:
    assert judged("ramp", behind_a_starved_tester(wall(2_000_000), 3_000_000))["sum"] == "device"
    # A knee within a tenth of what the tester could send may be its own bursts.
    assert judged("ramp", behind_a_starved_tester(wall(2_900_000), 3_000_000))["sum"] == "tester"
    # And a search has no such part to go by.
    assert judged("throughput", behind_a_starved_tester(wall(4_000_000), 3_000_000))["sum"] == "tester"


def test_a_search_that_ends_just_below_the_line_is_not_limited_by_the_line() -> None:
    line = int(UNI.line_fps)
    assert judged("throughput", wall(line - line // 200))["sum"] == "device"
    assert judged("ramp", wall(line - line // 200))["sum"] == "line"


# Goals


def goal(name: str, operator: str, bound: str) -> Goal:
    return Goal(name, operator, Load.parse(bound))  # type: ignore[arg-type]


def met(wanted: Goal, number: int | None, who: str, low: int | None = None) -> bool | None:
    value = Value(
        kind(wanted.value),
        "west-east",
        None if number is None else Fraction(number),
        None if low is None else Fraction(low),
        searched=wanted.value == "throughput",
    )
    found = Result("throughput", (value,), (0,))
    verdicts = {"west-east": Verdict(who, said("because"))}  # type: ignore[arg-type]
    judged_ = judge_goal(wanted, found, verdicts, evidence(5_000_000))
    assert judged_.reason
    return judged_.passed


@pytest.mark.parametrize(
    ("number", "who", "expected"),
    [
        (9_500_000, "device", True),
        (9_499_999, "device", False),
        (9_499_999, "line", False),
        (9_500_000, "tester", True),
        (9_499_999, "tester", None),
        (9_499_999, "inconclusive", None),
        (None, "device", None),
        (10_000_000, "invalid", None),
    ],
)
def test_a_goal_is_missed_by_the_device_only(number: int | None, who: str, expected: bool | None) -> None:
    assert met(goal("throughput", ">=", "95%"), number, who) is expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (goal("throughput", ">=", "5Mpps"), True),
        (goal("throughput", ">=", "5.2Mpps"), None),
        (goal("throughput", ">=", "5.5Mpps"), False),  # which lost frames
        (goal("throughput", ">", "4.9Mpps"), True),
        (goal("throughput", ">", "5Mpps"), None),
        (goal("throughput", "<=", "4.9Mpps"), False),
        (goal("throughput", "<=", "5.2Mpps"), None),
        (goal("throughput", "<", "5.5Mpps"), True),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("name", "narrower"),
    [("throughput", "`width`"), ("knee", "`ramp`"), ("loss-free load", "`loads`")],
)
def test_a_goal_between_the_bounds_is_neither_met_nor_missed(
    wanted: Goal, expected: bool | None, name: str, narrower: str
) -> None:
    """Known from 5 to below 5.5 Mpps: 5 passed, 5.5 did not, and what lies between was not tried."""
    low, high = Fraction(5_000_000), Fraction(5_500_000)
    value = Value(kind(name), "west-east", low, low, high, searched=name != "knee")
    wanted = replace(wanted, value=name)  # type: ignore[arg-type]
    verdicts = {"west-east": Verdict("device", said("because"))}
    judged_ = judge_goal(wanted, Result("m", (value,), (0,)), verdicts, evidence(5_000_000))
    assert judged_.passed is expected
    if expected is None:
        assert "to below 5.5" in str(judged_.reason)
        assert narrower in str(judged_.reason)


@pytest.mark.parametrize(
    ("operator", "bound", "expected"),
    [
        (">=", "5Mpps", True),
        (">=", "5000010pps", True),
        (">=", "5000011pps", False),
        (">", "5000010pps", False),
        ("<=", "4999990pps", True),
        ("<=", "4999989pps", False),
    ],
)
def test_a_goal_within_the_frame_a_count_is_known_to_is_met(
    operator: str, bound: str, expected: bool
) -> None:
    """500,000 frames in 100 ms are known to one of them, 10 fps. Never above the line, though."""
    rate, frame = Fraction(5_000_000), 10
    value = Value(kind("ramp max Rx"), "west-east", rate, rate - frame, rate + frame)
    verdicts = {"west-east": Verdict("device", said("because"))}
    given = evidence(5_000_000)
    found = judge_goal(goal("ramp max Rx", operator, bound), Result("ramp", (value,), (0,)), verdicts, given)
    assert found.passed is expected
    best = Value(kind("ramp max Rx"), "west-east", LINE, LINE - frame, LINE + frame)
    found = judge_goal(
        goal("ramp max Rx", ">=", "10000001pps"), Result("ramp", (best,), (0,)), verdicts, given
    )
    assert found.passed is False


def test_goal_that_cannot_be_judged_says_so() -> None:
    verdicts = {"west-east": Verdict("inconclusive", said("because"))}
    found = Result("throughput", result(9_000_000, name="throughput").values, (0,))
    judged_ = judge_goal(goal("throughput", ">=", "95%"), found, verdicts, evidence(5_000_000))
    assert str(judged_.reason) == "west-east: 9.000 Mpps, 90 % of line rate; the limit is inconclusive"


def test_a_rate_limited_by_the_tester_meets_no_goal_for_less() -> None:
    assert met(goal("throughput", "<=", "95%"), 9_000_000, "tester") is None
    assert met(goal("throughput", "<=", "95%"), 9_600_000, "tester") is False


def test_corrupted_frames_are_loss_for_a_goal_too() -> None:
    given = corrupting(0, 2_000_000)
    found = Result("throughput", result(5_000_000, name="throughput").values, (0,))
    verdicts = {"west-east": Verdict("device", said("because"))}
    judged_ = judge_goal(goal("loss", "<=", "5%"), found, verdicts, given)
    assert judged_.passed is False
    assert "2,000,000 of 20,000,000 frames corrupted (10 %)" in str(judged_.reason)


def test_a_goal_for_a_lower_bound_can_be_met_and_not_missed() -> None:
    assert met(goal("knee", ">=", "90%"), None, "line", low=9_950_000) is True
    assert met(goal("knee", ">=", "90%"), None, "line", low=8_000_000) is None


def test_a_goal_for_loss_takes_the_trial_that_a_search_passed() -> None:
    """Full load is tried first and lost half; the number is that of a later trial, which lost nothing."""
    method = METHODS["throughput"].start(ThroughputParameters.model_validate({"duration": "1s"}), UNI)
    found, outcomes = drive(method, wall(5_000_000), UNI)
    given = Evidence(UNI, "virtual", True, tuple(outcomes[number] for number in found.trials))
    judged_ = judge_goal(goal("loss", "<=", "0%"), found, judge(found, given), given)
    assert judged_.passed is True, judged_.reason


def test_a_goal_for_loss_takes_the_end_of_the_ramp() -> None:
    value = Value(
        kind("loss at the end", "ratio"), "west-east", Fraction(1, 1000), note=said("1 of 1000 frames")
    )
    found = Result("ramp", (value, *result(9_990_000).values), (0,), headlines=("ramp max Rx",))
    given = evidence(9_990_000)
    verdicts = judge(found, given)
    for bound, passed in (("0%", False), ("0.1%", True)):
        assert judge_goal(goal("loss", "<=", bound), found, verdicts, given).passed is passed


def test_a_full_ring_without_loss_is_no_limit() -> None:
    assert limit(10_000_000, evidence(10_000_000, health={"rx_full": 3, "tx_dropped": 5}))[0] == "line"


@pytest.mark.parametrize(("dropped", "expected"), [(99_999, "device"), (100_000, "tester")])
def test_what_the_card_did_not_send_counts_against_the_tester(dropped: int, expected: str) -> None:
    """A hundredth of the ten million missing; kernel and driver may have counted the same ones."""
    given = evidence(5_000_000, health={"tx_dropped": 50_000})
    card = InterfaceResult("west", "eth1", kinds={"not sent": {"tx_dropped": dropped, "tx_drops": 70_000}})
    (trial,) = given.trials
    found, reason = limit(5_000_000, replace(given, trials=(replace(trial, interfaces=(card,)),)))
    assert found == expected
    assert reason.code == ("dropped-sending" if expected == "tester" else "device-lost")


OTHER = HopChange(1_500_000_000, "02:00:00:00:00:0a", "02:00:00:00:00:0b")
HOP = NextHop("west", (), "198.18.0.1", OTHER.after, 3, 3, (OTHER,), 0, ())


def around(capacity: int, **found: Any) -> Evidence:
    given = evidence(capacity)
    return replace(given, trials=(replace(given.trials[0], **found),))


def test_next_hop_whose_mac_changed_during_loss_makes_the_trial_invalid() -> None:
    found, reason = limit(5_000_000, around(5_000_000, next_hops=(HOP,)))
    assert found == "invalid"
    moved = NextHopMoved("next hop 198.18.0.1 of `west`", 1_500_000_000, OTHER.before, OTHER.after, 0)
    assert reason.why == moved
    quarrel = replace(HOP, changes=(OTHER, OTHER), further_changes=7)
    assert limit(5_000_000, around(5_000_000, next_hops=(quarrel,)))[1].why.further == 8
    # Nothing is missing, or it had settled before the traffic, or it was only silent.
    assert limit(10_000_000, around(10_000_000, next_hops=(HOP,)))[0] == "line"
    before = replace(HOP, changes=(replace(OTHER, at_ns=-1),))
    silent = replace(HOP, changes=(), silences=(HopSilence(0, None),))
    for hop in (before, silent):
        assert limit(5_000_000, around(5_000_000, next_hops=(hop,)))[0] == "device"


def test_second_host_with_the_address_of_the_tester_makes_loss_invalid() -> None:
    conflict = Conflict("west", "198.18.0.2", "02:00:00:00:00:0c")
    found, reason = limit(5_000_000, around(5_000_000, conflicts=(conflict,)))
    assert found == "invalid"
    assert reason.why == AddressClaimed("02:00:00:00:00:0c", "198.18.0.2", "west")
    assert limit(10_000_000, around(10_000_000, conflicts=(conflict,)))[0] == "line"


def test_a_device_that_lost_nothing_is_no_limit_because_frames_were_lost() -> None:
    """What a time of its own rests on is that the tester did as it was asked to. Its reason is the time."""
    value = Value(kind("latency", "ns"), "west-east", Fraction(1000))
    found = Result("m", (value,), (0,), headlines=("latency",))
    lossless = judge(found, evidence(LINE))["west-east"]
    assert lossless.limit == "device"
    assert lossless.reason == DeviceTook(Fraction(1000), None, 0, 20_000_000)
    lossy: Any = judge(found, evidence(4_000_000))["west-east"].reason
    assert (lossy.code, lossy.lost) == ("device-took", 12_000_000)


def test_flows_on_several_workers_make_the_loss_of_every_value_unknown() -> None:
    """A copy that another worker saw counts as a frame: shares and times of loss are not known either."""
    for unit, number in (("share", Fraction(1, 100)), ("ns", Fraction(1000)), ("fps", Fraction(5_000_000))):
        value = Value(kind("it", unit), "west-east", number)
        found = Result("m", (value,), (0,), headlines=("it",))
        for apart, limit in ((0, "device"), (3, "inconclusive")):
            given = replace(evidence(4_000_000, health={"split_flows": apart}), clock="virtual")
            verdict = judge(found, given)["west-east"]
            assert verdict.limit == limit, verdict.reason
    assert verdict.reason == SplitFlows(3)


@pytest.mark.parametrize(
    ("low", "high", "lost", "limit"),
    [
        (50, 51, 1000, "line"),
        (50, 50, 1000, "device"),
        # The line lies between wide bounds: it was full at 51 each, or only 96 % of it came.
        (48, 51, 1000, "line"),
        (48, 51, 446_000, "device"),
    ],
)
def test_search_that_ends_where_two_streams_fill_one_line_names_the_line(
    low: int, high: int, lost: int, limit: str
) -> None:
    """Two ports to one, in per cent of its line: at 50 each they fill it, and 51 each is too much."""
    places = (Place(1, 0), Place(2, 0))
    situation = Situation(("p1-p0", "p2-p0"), LINE, Fraction(64), places=places)
    tries = [Trial("t", Frames.steady(FrameRate(LINE * at / 100), 10**9)) for at in (low, high)]
    passed, lossy = (measure(trial, passes_everything(), situation) for trial in tries)
    lossy = lossy.with_counts(streams=tuple(replace(stream, lost=lost) for stream in lossy.streams))
    ends = (LINE * low / 100, LINE * high / 100)
    values = [Value(kind("throughput"), name, ends[0], *ends, searched=True) for name in situation.streams]
    given = Evidence(situation, "virtual", True, (passed, lossy), (10**9, 10**9))
    found = judge(Result("throughput", tuple(values), (0, 1), headlines=("throughput",)), given)
    assert {found[name].limit for name in situation.streams} == {limit}


def mesh(ports: int) -> tuple[Result, Evidence]:
    """A search over a full mesh: a load that passed, and one at which each stream lost another share."""
    names = [f"p{one}-p{other}" for one in range(ports) for other in range(ports) if one != other]
    places = tuple(Place(*map(int, re.findall(r"\d+", name)), Fraction(1, ports - 1)) for name in names)
    situation = Situation(tuple(names), LINE, Fraction(64), places=places)
    clean, lossy = (
        measure(Trial("t", Frames.steady(FrameRate(LINE / 100), 10**9)), device, situation)
        for device in (passes_everything(), wall(1_000))
    )
    lossy = lossy.with_counts(
        streams=tuple(replace(stream, lost=number + 1) for number, stream in enumerate(lossy.streams))
    )
    low, high = LINE / 100 / (ports - 1), LINE / 50 / (ports - 1)
    values = tuple(Value(kind("throughput"), name, low, low, high, searched=True) for name in names)
    together = Value(kind("throughput"), "sum", low * len(names), searched=True)
    return Result("throughput", (*values, together), (0, 1), headlines=("throughput",)), Evidence(
        situation, "virtual", True, (clean, lossy), (10**9, 10**9)
    )


def test_judging_grows_with_the_streams_and_not_with_their_square() -> None:
    """A full mesh of 64 ports has 4,032 streams, 8 times as many as one of 23: once that took 14 minutes."""

    def seconds(ports: int) -> float:
        given = mesh(ports)
        began = time.process_time()
        assert len(judge(*given)) == ports * (ports - 1) + 1
        return time.process_time() - began

    few = min(seconds(23) for _ in range(3))
    assert seconds(64) < 4 * 8 * few


def test_a_sum_of_many_streams_tells_of_a_few() -> None:
    result, evidence = mesh(23)
    reason = str(judge(result, evidence)["sum"].reason)
    assert reason.startswith("Device limit, each direction: ")
    ramps = replace(result, values=tuple(replace(value, searched=False) for value in result.values))
    reason = str(judge(ramps, evidence)["sum"].reason)
    assert reason.endswith("; and 501 more")
    assert reason.count("p0-") == 5, reason
    share = judge_goal(goal("throughput", ">=", "90%"), result, judge(result, evidence), evidence)
    assert share.passed is False
    assert str(share.reason).endswith("; and 501 more")


def test_knee_above_the_best_rate_of_its_scope_is_shown_as_that_rate() -> None:
    best = Value(kind("ramp max Rx"), "a", Fraction(514), Fraction(513), Fraction(515))
    for number, shown in ((Fraction(545), Fraction(514)), (Fraction(514), Fraction(514))):
        knee = Value(kind("knee"), "a", number, number, number + 2, said("one step"))
        found = with_capped_knees(Result("ramp", (best, knee), (0,))).value("knee", "a")
        assert found is not None
        assert found.number == shown
        if number > shown:
            # The rate is known to a frame, and the device may do a little more.
            assert (found.low, found.high) == (513, number + 2)
            assert found.note == KneeCapped(number, Fraction(514))
        else:
            assert found == knee
