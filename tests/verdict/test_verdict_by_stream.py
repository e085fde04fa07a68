"""Each value is judged by its own trials, and each stream by itself."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from methodlab import run_here, text
from netdyno.campaign.reasons import REASONS
from netdyno.methods import METHODS
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.values.finding import Result
from netdyno.values.load import Frames, Trial
from netdyno.values.records import StoredCase
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.verdict import Evidence, judge, with_standing_bounds
from tendevices import Device, drive, measure, passes_everything, wall

LINE = Fraction(10_000_000)
BOTH = Situation(("a-b", "b-a"), LINE, Fraction(64), places=(Place(0, 1), Place(1, 0)))
SECOND = 10**9


def one_way(device: Device) -> Device:
    """From a to b all passes; the way back is the device's."""

    def both(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        return (device if stream == "b-a" else passes_everything())(fps, seconds, stream)

    return both


def sweep(device: Device, *loads: str) -> tuple[Result, dict[tuple[str, str], tuple[str, Any]]]:
    """What a sweep of both directions finds, and each limit with its reason, by value and scope."""
    method = METHODS["sweep"]
    parameters = method.parameters(loads=list(loads), duration="1s")
    result, outcomes = drive(method.start(parameters, BOTH), device, BOTH)
    found = {}
    for name in result.judged:
        trials = tuple(outcomes[number] for number in result.resting(name))
        evidence = Evidence(BOTH, "virtual", True, trials, (SECOND,) * len(trials))
        for scope, verdict in judge(result, evidence, name).items():
            found[name, scope] = (verdict.limit, verdict.reason)
    return result, found


def test_sweep_of_a_one_way_failure_leaves_the_intact_direction_clean() -> None:
    """The way back passes 4 Mpps of 10: 20 % of its frames are lost at 50 %, 60 % at 100 %."""
    result, found = sweep(one_way(wall(4_000_000)), "10%", "50%", "100%")
    numbers = {
        scope: (value.number, value.high)
        for scope in ("a-b", "b-a", "sum")
        if (value := result.value("loss-free load", scope)) is not None
    }
    assert numbers == {
        "a-b": (LINE, None),
        "b-a": (LINE / 10, LINE / 2),
        "sum": (2 * LINE / 10, 2 * LINE / 2),
    }
    assert {scope: limit for (name, scope), (limit, _) in found.items() if name == "loss-free load"} == {
        "a-b": "line",
        "b-a": "device",
        "sum": "device",
    }
    assert {scope: limit for (name, scope), (limit, _) in found.items() if name == "frame loss rate"} == {
        "a-b": "none",
        "b-a": "device",
        "sum": "device",
    }
    reason = found["frame loss rate", "b-a"][1]
    assert (reason.lost, reason.sent) == (6_000_000, 10_000_000)
    reason = found["loss-free load", "b-a"][1]
    assert (reason.lost, reason.sent, reason.is_of_all_streams) == (1_000_000, 5_000_000, False)


def test_sweep_below_the_line_finds_no_limit_of_the_intact_direction() -> None:
    _, found = sweep(one_way(wall(4_000_000)), "10%", "50%")
    limit, reason = found["loss-free load", "a-b"]
    assert (limit, reason.code, reason.lost, reason.sent) == ("none", "no-more-offered", 0, 5_000_000)


def test_sweep_in_which_the_lowest_load_loses_is_limited_by_the_device() -> None:
    result, found = sweep(wall(740_000), "10%", "100%")
    value = result.value("frame loss rate", "a-b")
    assert value is not None
    assert value.number == Fraction(926, 1000)
    assert {limit for limit, _ in found.values()} == {"device"}


@pytest.mark.parametrize("late", [0, 1])
def test_bound_of_each_stream_is_raised_by_its_own_loss(late: int) -> None:
    """A pause of 1 s explains every loss at 50 %, and none at 100 %."""
    device = one_way(wall(4_000_000))
    method = METHODS["sweep"]
    parameters = method.parameters(loads=["10%", "50%", "100%"], duration="1s")
    result, _ = drive(method.start(parameters, BOTH), device, BOTH)
    trials = {}
    for number, share in enumerate((Fraction(1, 10), Fraction(1, 2), Fraction(1))):
        trial = Trial("t", Frames.steady(FrameRate(share * LINE), SECOND))
        outcome = measure(trial, device, BOTH)
        if late and number == 1:
            # What is known of single frames: any of them may have been late.
            health = outcome.health.__class__(**{**vars(outcome.health), "latest_departure_ns": SECOND})
            outcome = outcome.__class__(**{**vars(outcome), "health": health})
        trials[number] = (trial, outcome)
    known = Evidence(BOTH, "real", True, (), is_constant=True)
    raised = with_standing_bounds(result, trials, known)
    highs = {scope: value.high for scope in BOTH.scopes if (value := raised.value("loss-free load", scope))}
    back = LINE if late else LINE / 2
    assert highs == {"a-b": None, "b-a": back, "sum": 2 * back}
    assert raised.resting("loss-free load", "a-b") == result.resting("loss-free load", "a-b")
    assert raised.resting("loss-free load", "b-a") == ((0, 2) if late else (0, 1))


def case_of(tmp_path: Path, plan: str) -> StoredCase:
    """The one case of a plan on an emulated device."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = run_here(parse(plan), tmp_path)
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        return case


def test_sweep_latency_is_judged_by_its_own_trial(tmp_path: Path) -> None:
    """100 kpps of 1.488 Mpps pass: 5 % is loss-free, and the latency there is a time and no loss."""
    plan = text(
        "sweep: {loads: [5%, 50%, 100%], duration: 20ms}",
        kind="emulated/cross-connect, settings: {capacity: 100kpps}",
    )
    case = case_of(tmp_path, plan + "goals: [loss <= 50%]\n")
    latency = case.verdict("west-east", "latency mean")
    rate = case.verdict("west-east", "frame loss rate")
    assert case.result is not None
    value = case.result.value("latency mean", "west-east")
    assert value is not None
    assert latency is not None
    assert rate is not None
    assert latency.limit == rate.limit == "device"
    told = latency.reason.fields()
    assert (latency.reason.code, told["took_ns"], told["lost"]) == (
        "device-took",
        str(value.number),
        0,
    )
    # A tenth of 1.488 Mpps and no more came back: of the highest load and of no other trial.
    lost = rate.reason.fields()
    assert lost["sent"] == 29_762
    assert [goal.passed for goal in case.goals] == [False]


def test_sweep_in_which_no_frame_is_lost_has_a_loss_without_limit(tmp_path: Path) -> None:
    case = case_of(tmp_path, text("sweep: {loads: [5%, 50%], duration: 20ms}"))
    rate = case.verdict("west-east", "frame loss rate")
    assert rate is not None
    assert (rate.limit, rate.reason.code) == ("none", "nothing-lost")
