"""The limit where a loss is the result: none without loss, the line where frames exceed its rate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest
from kinds import kind
from methodlab import run_here, text
from netdyno.campaign.judging import Made, judge_case
from netdyno.campaign.reasons import REASONS
from netdyno.methods import METHODS
from netdyno.methods.loss import LOSS_RATE
from netdyno.plan import Goal, parse
from netdyno.store import open_run
from netdyno.values.finding import Result, Value
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.records import StoredCase
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate, Load
from netdyno.verdict import Evidence, Traffic, judge, judge_goal
from netdyno.verdict.reasons import NothingLost
from netdyno.verdict.uneven import SentUnevenly
from tendevices import Device, drive, measure, passes_everything, wall

LINE = Fraction(10_000_000)
TWO_TO_ONE = Situation(
    ("a-c", "b-c"), LINE, Fraction(64), places=(Place(0, 2), Place(1, 2)), lines=(LINE, LINE, LINE)
)
ONE = Situation(("a-b",), LINE, Fraction(64), places=(Place(0, 1),))
SECOND = 10**9
MS = 10**6


def judged(
    device: Device,
    situation: Situation,
    *,
    clock: Literal["virtual", "real"] = "virtual",
    enforced: bool = True,
    load: str = "100%",
) -> tuple[Result, dict[str, tuple[str, Any]]]:
    """The loss at one load, and who limited each stream's and all together."""
    method = METHODS["frame-loss"]
    parameters = method.parameters(duration="1s", maximum=load, step="10%")
    result, outcomes = drive(method.start(parameters, situation), device, situation)
    evidence = Evidence(situation, clock, enforced, (outcomes[0],), (SECOND,))
    return result, {scope: (one.limit, one.reason) for scope, one in judge(result, evidence).items()}


def to_one(share: Fraction, queue: int = 0) -> Device:
    """Two senders meet at one line: each has so much of it, and the frames still queued come besides."""
    return lambda fps, seconds, stream: (
        int(fps * seconds),
        min(int(fps * seconds), int(share * LINE * seconds) + queue),
    )


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_a_loss_of_nothing_has_no_limit_and_needs_no_calibration(clock: Literal["virtual", "real"]) -> None:
    _, verdicts = judged(passes_everything(), ONE, clock=clock)
    assert verdicts["a-b"] == ("none", NothingLost(10_000_000, 0))


def test_one_direction_that_loses_is_the_limit_of_both() -> None:
    both = Situation(("a-b", "b-a"), LINE, Fraction(64), places=(Place(0, 1), Place(1, 0)))

    def lopsided(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        return (wall(8_000_000) if stream == "b-a" else passes_everything())(fps, seconds, stream)

    _, verdicts = judged(lopsided, both)
    assert {scope: limit for scope, (limit, _) in verdicts.items()} == {
        "a-b": "none",
        "b-a": "device",
        "sum": "device",
    }


@pytest.mark.parametrize(
    ("share", "queue", "limit"),
    [
        (Fraction(1, 2), 0, "line"),
        (Fraction(1, 2), 1000, "line"),
        (Fraction(99, 200), 0, "line"),
        (Fraction(98, 200), 0, "device"),
        (Fraction(1, 4), 0, "device"),
    ],
)
def test_what_a_full_line_has_no_room_for_is_the_lines(share: Fraction, queue: int, limit: str) -> None:
    """200 % are sent to one line. From 99 % of it on it is full."""
    _, verdicts = judged(to_one(share, queue), TWO_TO_ONE)
    assert {found for found, _ in verdicts.values()} == {limit}
    if limit == "line":
        reason = verdicts["a-c"][1]
        # What a queue of the device held while it came is no more than the line brings.
        came = min(2 * share + Fraction(2 * queue) / LINE, Fraction(1))
        assert (reason.code, reason.offered_share, reason.came_share) == ("line-oversubscribed", 2, came)


def test_a_device_that_loses_on_a_line_with_room_is_the_limit() -> None:
    """100 % are sent, and 99.5 % come: no line is to blame for the rest."""
    _, verdicts = judged(wall(9_950_000), ONE)
    assert verdicts["a-b"][0] == "device"


TO_LAG = Situation(
    ("a-b",),
    2 * LINE,
    Fraction(64),
    places=(Place(0, 1, bundle=(1, 2)),),
    lines=(2 * LINE, LINE, LINE),
    lags=((1, 2),),
)
"""One sender, and a LAG of two members that are half as fast each."""


@pytest.mark.parametrize(
    ("first", "capacity", "limit"),
    [
        # The first member has 5/8 of the frames, and is full from 80 % of the LAG on.
        (Fraction(5, 8), 2, "line"),
        # The device passes 75 % of the LAG: 93.75 % of the first member's line.
        (Fraction(5, 8), Fraction(3, 2), "device"),
        (Fraction(1, 2), Fraction(8, 5), "device"),
    ],
)
@pytest.mark.parametrize("by_stream", [True, False])
def test_member_that_a_hash_fills_is_the_line_and_no_device(
    first: Fraction, capacity: Fraction, limit: str, by_stream: bool
) -> None:
    """A search found 75 % of the LAG, 80 % for the hash, and lost frames at 90 %."""

    def outcome(load: Fraction) -> Outcome:
        passed = min(load, capacity)
        came = [min(passed * share, 1) for share in (first, 1 - first)]
        trial = Trial("t", Frames.steady(FrameRate(load * LINE), SECOND))
        found = measure(trial, lambda *_: (int(load * LINE), int(sum(came) * LINE)), TO_LAG)
        tenth = [int(one * LINE / 10) for one in came]
        members = [
            replace(found.ports[0], name=f"b.{n}", rx=(one,) * 10, rx_bytes_series=(64 * one,) * 10)
            for n, one in enumerate(tenth)
        ]
        return found.with_counts(ports=(found.ports[0], *members))

    low, high = min(capacity, 1 / first, Fraction(8, 5)), Fraction(9, 5)
    trials = (outcome(low), outcome(high))
    assert (trials[0].lost, trials[1].lost > 0) == (0, True)
    rates = {"number": low * LINE, "low": low * LINE, "high": high * LINE}
    value = Value(kind("throughput"), "a-b", **rates, searched=True, by_stream=by_stream)
    result = Result("throughput", (value,), (0, 1), headlines=("throughput",))
    evidence = Evidence(TO_LAG, "virtual", True, trials, (SECOND,) * 2, is_constant=True)
    verdict = judge(result, evidence)["a-b"]
    assert verdict.limit == limit
    if limit == "line":
        reason = verdict.reason.fields()
        # 10 of 10 Mpps, beside 3/8 of 18 Mpps: 1000 of 1675 that came.
        assert (verdict.reason.code, reason["port"], reason["ports"]) == ("hash-filled-port", "b.0", 2)
        assert (reason["line_share"], reason["share"]) == ("1", "40/67")
        assert (reason["lost"], reason["sent"]) == (1_250_000, 34_000_000)
    lost = Value(kind("loss", "ratio"), "a-b", Fraction(1, 100), of_frames=18_000_000)
    measured = Result("loss", (lost,), (0,), headlines=("loss",))
    one = replace(evidence, trials=trials[1:], planned_ns=(SECOND,))
    assert judge(measured, one)["a-b"].limit == limit


def test_a_line_out_that_is_faster_is_not_full_of_what_slower_ones_bring() -> None:
    """Two ports of 10 Mpps meet at one of 40: a line of 10 would be full, and this one is not."""
    faster = replace(TWO_TO_ONE, lines=(LINE, LINE, 4 * LINE))
    _, verdicts = judged(to_one(Fraction(1, 2)), faster)
    assert verdicts["sum"][0] == "device"


def test_a_line_that_nothing_enforces_is_no_reason() -> None:
    _, verdicts = judged(to_one(Fraction(1, 2)), TWO_TO_ONE, clock="real", enforced=False)
    assert verdicts["sum"][0] == "inconclusive"


def goal(bound: str, operator: str = "<=") -> Goal:
    return Goal("loss", operator, Load.parse(bound))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("frames", "lost", "wanted", "expected"),
    [
        (3_000, 0, goal("0.1%"), True),
        (2_999, 0, goal("0.1%"), None),
        (3_001, 0, goal("0.1%", "<"), True),
        (1_000, 0, goal("0.0001%"), None),
        (1_000, 0, goal("0%"), True),
        (1_000, 1, goal("0.1%"), True),
        (1_000, 2, goal("0.1%"), False),
        (1_000, 1, goal("0%"), False),
    ],
)
@pytest.mark.parametrize("name", ["loss ratio", "throughput"])
def test_a_goal_for_the_loss_is_met_by_frames_enough(
    name: str, frames: int, lost: int, wanted: Goal, expected: bool | None
) -> None:
    """Rule of three: none of N lost is no more than 3/N at 95 %. A goal of no loss is about these frames."""
    trial: Outcome = measure(
        Trial("trial", Frames.steady(FrameRate(frames), SECOND)), lambda *_: (frames, frames - lost), ONE
    )
    value = Value(kind(name, "share"), "a-b", Fraction(lost, frames), of_frames=frames)
    if name == "throughput":
        value = Value(kind(name), "a-b", Fraction(frames), high=Fraction(2 * frames), searched=True)
    result = Result("soak", (value,), (0,), headlines=(name,))
    evidence = Evidence(ONE, "virtual", True, (trial,), (SECOND,))
    found = judge_goal(wanted, result, judge(result, evidence), evidence)
    assert found.passed is expected, found.reason
    if expected is None and not lost:
        assert "at 95 %: send" in str(found.reason)


@pytest.mark.parametrize(
    ("unsent", "kept", "limit", "passed"),
    [
        (10_000, 10_000_000, "none", True),
        (10_001, 10_000_000, "tester", None),
        (10_000, 8_400_000, "device", False),
        (100_000, 8_400_000, "device", False),
        (100_000, 9_899_999, "device", None),
        (100_001, 8_400_000, "tester", None),
        (100_001, 10_000_000, "tester", None),
    ],
)
@pytest.mark.parametrize("name", ["frame-loss", "sweep"])
def test_loss_at_a_load_hardly_lower_is_that_at_the_load_sent(
    name: str, unsent: int, kept: int, limit: str, passed: bool | None
) -> None:
    """Of 10,000,000 frames; the goal is at most 0.1 % of them lost."""
    method = METHODS[name]
    given = {"maximum": "100%", "step": "10%"} if name == "frame-loss" else {"loads": ["100%"]}
    parameters = method.parameters(duration="1s", **given)

    def short(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds) - (unsent if fps == LINE else 0)
        return sent, min(sent, kept)

    result, outcomes = drive(method.start(parameters, ONE), short, ONE)
    loss = result.value(LOSS_RATE.name, "a-b")
    sent = 10_000_000 - unsent
    is_near = unsent <= 100_000
    assert loss.number == (Fraction(sent - min(sent, kept), sent) if is_near else None)
    evidence = Evidence(ONE, "virtual", True, (outcomes[0],), (SECOND,), is_constant=True)
    verdicts = judge(result, evidence, LOSS_RATE.name)
    assert verdicts["a-b"].limit == limit
    assert judge_goal(goal("0.1%"), result, verdicts, evidence).passed is passed


@pytest.mark.parametrize(
    ("method", "parameters", "late_ms", "noted"),
    [
        ("soak", {"load": "100%", "duration": "3s", "part": "1s"}, 11, SentUnevenly(11 * MS, 3, 3)),
        ("soak", {"load": "100%", "duration": "3s", "part": "1s"}, 10, None),
        ("frame-loss", {"duration": "1s"}, 11, SentUnevenly(11 * MS, 1, 1)),
        # Whatever pauses do to a rate is judged with it.
        ("throughput", {"duration": "1s"}, 11, None),
    ],
)
def test_fixed_load_sent_late_by_a_hundredth_of_its_time_is_called_uneven(
    method: str, parameters: dict[str, str], late_ms: int, noted: SentUnevenly | None
) -> None:
    asking = METHODS[method].start(METHODS[method].parameters(**parameters), ONE)
    trials: dict[int, tuple[Trial, Outcome]] = {}
    trial = next(asking)
    while True:
        outcome = measure(trial, passes_everything(), ONE)
        late = replace(outcome, health=replace(outcome.health, latest_departure_ns=late_ms * MS))
        trials[len(trials)] = trial, late
        try:
            trial = asking.send(late)
        except StopIteration as stop:
            result = stop.value
            break
    made = Made(0, method, ONE, "real", True, Traffic(), result, trials, None, (), has_one_profile=True)
    found = [one for one in judge_case(made).result.notes if isinstance(one, SentUnevenly)]
    assert found == ([] if noted is None else [noted])


def test_frames_needed_to_bound_a_loss_ratio() -> None:
    trial = measure(Trial("trial", Frames.steady(FrameRate(1000), SECOND)), passes_everything(), ONE)
    value = Value(kind("loss ratio", "share"), "a-b", Fraction(0), of_frames=1000)
    result = Result("soak", (value,), (0,), headlines=("loss ratio",))
    evidence = Evidence(ONE, "virtual", True, (trial,), (SECOND,))
    found = judge_goal(goal("0.0001%"), result, judge(result, evidence), evidence)
    assert "that shows no less than 0.3 % at 95 %: send 3,000,000 frames" in str(found.reason)


def limits(tmp_path: Path, plan: str) -> tuple[StoredCase, dict[str, tuple[str, Any]]]:
    """Of the whole product on emulated devices."""
    outcome = run_here(parse(plan), tmp_path)
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        return case, {one.value: (one.limit, one.reason) for one in case.verdicts}


def test_congested_bridge_has_its_line_as_limit_and_not_the_other_port(tmp_path: Path) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = text("congestion: {duration: 200ms}", links=4, matrix="direction: [uni]")
    case, found = limits(tmp_path, plan)
    assert found["loss at the uncongested port"][0] == "none"
    limit, reason = found["loss at the congested port"]
    assert limit == "line"
    assert (reason.code, round(reason.offered_share, 4)) == ("line-oversubscribed", Fraction(3, 2))
    assert case.result is not None
    numbers: dict[str, Any] = {value.name: value.number for value in case.result.values}
    assert numbers["loss at the uncongested port"] == 0
    assert Fraction(32, 100) < numbers["loss at the congested port"] < Fraction(1, 3)
