"""Searches end to end, on emulated devices in virtual time, and bisection and ramps that lead to a search."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from methodlab import run_here
from netdyno.campaign.reasons import REASONS
from netdyno.methods import METHODS
from netdyno.methods.bisection import BisectionParameters
from netdyno.methods.ndr import NdrParameters
from netdyno.methods.ramp import RampParameters
from netdyno.methods.reasons.ramps import SecondRamp
from netdyno.methods.reasons.searches import LostOnce, MoreArrived, NoRfc2544, TesterBound
from netdyno.plan import PlanErrors, parse
from netdyno.store import open_run
from netdyno.values.finding import Result, Value
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.records import StoredCase
from netdyno.values.situation import Place, Situation
from sampling import examples
from tendevices import (
    Device,
    drive,
    makes_frames,
    measure,
    never_passes,
    passes_everything,
    starved_tester,
    wall,
    window_loss,
)
from words import has_code, within

EXAMPLE = Path(__file__).parents[2] / "examples" / "ndr.yaml"
QUEUE = 1025
"""Frames of an emulated device's queue, and the one at work."""

LINE = Fraction(10_000_000)
ONE = Situation(streams=("west-east",), line_fps=LINE, mean_size=Fraction(64))
BOTH = Situation(streams=("west-east", "east-west"), line_fps=LINE, mean_size=Fraction(64))


def value(result: Result, name: str, scope: str = "sum") -> Value:
    return next(found for found in result.values if (found.name, found.scope) == (name, scope))


# End to end


def measured(text: str, place: Path) -> list[StoredCase]:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = run_here(parse(text, name="ndr.yaml"), place)
    with open_run(outcome.folder, REASONS) as run:
        cases = list(run.cases)
    for case in cases:
        assert case.state == "done", case.error
        assert case.result is not None
    return cases


@pytest.mark.parametrize(("seed", "capacity"), [("none", 100_000), ("ramp", 1_000_000)])
def test_a_router_is_found_within_the_width(seed: str, capacity: int, tmp_path: Path) -> None:
    """In a trial of 1 s it passes its capacity and what its queue holds, and not a frame more."""
    text = EXAMPLE.read_text()
    head, tail = text[: text.index("    goals:")], text[text.index("    seed: ramp") :]
    goals = "    goals: {NDR: {loss: 0%, exceed: 50%, duration: 1s, sum: 3s, width: 0.5%}}\n"
    head = head.replace("1Mpps]", f"{'1Mpps' if capacity == 10**6 else '100kpps'}]")
    (case,) = measured(head + goals + tail.replace("seed: ramp", f"seed: {seed}"), tmp_path)
    assert case.result is not None
    found = value(case.result, "NDR")
    assert found.number is not None
    assert found.load is not None
    assert found.high is not None
    assert found.load <= capacity + QUEUE <= found.high
    assert found.high - found.load <= found.high / 200
    assert found.number <= capacity + (0 if found.as_searched else found.load / 200)
    verdict = case.verdict("sum")
    assert verdict is not None
    assert verdict.limit == "device"


def test_the_example_finds_all_its_goals_and_stays_below_the_line(tmp_path: Path) -> None:
    """A tenth of its times: trials of 100 ms, in which the queue is worth 10,250 fps."""
    (case,) = measured(EXAMPLE.read_text() + "\nscale: 1/10\n", tmp_path)
    assert case.result is not None
    most = 1_000_000 + 10 * QUEUE
    for name, loss in (("NDR", 0), ("PDR", Fraction(5, 1000)), ("NDR at 10 %", 0)):
        found = value(case.result, name)
        assert found.number is not None
        assert found.high is not None
        assert found.number <= most / (1 - loss) <= found.high + 1
    apart = {one.goal: one.loss for one in within(NoRfc2544, case.result.notes)}
    assert apart["PDR"] == Fraction(5, 1000)


def test_a_line_is_named_where_the_device_passes_all_of_it(tmp_path: Path) -> None:
    text = EXAMPLE.read_text().replace("[1Mpps]", "[line]").replace("1Gbps", "10Mbps")
    (case,) = measured(text + "\nscale: 1/10\n", tmp_path)
    assert case.result is not None
    found = value(case.result, "NDR")
    assert found.number == Fraction(10_000_000, 84 * 8)
    assert found.high is None
    verdict = case.verdict("sum")
    assert verdict is not None
    assert verdict.limit == "line"


def test_a_device_is_never_blamed_for_a_loss_that_its_goal_allows(tmp_path: Path) -> None:
    """1 Mpps are 67 % of the line. Asked for no more than 67.1 % of it, with up to 1 % of loss, it passes."""
    text = EXAMPLE.read_text()
    head = text[: text.index("    goals:")]
    goal = "    goals: {PDR: {loss: 1%, exceed: 0%, duration: 1s, sum: 1s}}\n    maximum: 1.005Mpps\n"
    (case,) = measured(head + goal + "trial: {settle: 100ms, drain: 500ms}\n", tmp_path)
    assert case.result is not None
    found = value(case.result, "PDR")
    assert (found.number, found.high) == (1_005_000, None)
    verdict = case.verdict("sum")
    assert verdict is not None
    assert (verdict.limit, verdict.reason.code) == ("none", "no-more-offered")


def test_mistakes_in_goals_are_reported_at_their_place() -> None:
    text = EXAMPLE.read_text().replace("PDR: csit-pdr", "PDR: csit-prd")
    with pytest.raises(PlanErrors) as told:
        parse(text, name="ndr.yaml")
    (error,) = told.value.errors
    assert error.path == "method.ndr.goals.PDR"
    assert "`csit-prd` is not a goal" in error.message
    assert "`csit-pdr`" in str(error.hint)
    line = text.splitlines()[error.line - 1]
    assert line.strip().startswith("PDR:")


# Bisection with loss verification


def bisection(device: Device, situation: Situation = ONE, **parameters: Any) -> tuple[Result, list[Outcome]]:
    read = BisectionParameters.model_validate({"duration": "1s", **parameters})
    return drive(METHODS["bisection"].start(read, situation), device, situation)


class Unlucky:
    """A wall that loses some frames of the first trial at every load, or of the first few."""

    def __init__(self, capacity: int, lost: int, times: int = 1) -> None:
        self.capacity, self.lost, self.times = capacity, lost, times
        self.seen: dict[Fraction, int] = {}

    def __call__(self, fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds)
        self.seen[fps] = self.seen.get(fps, 0) + 1
        passed = min(sent, int(self.capacity * seconds))
        return sent, passed - (self.lost if self.seen[fps] <= self.times else 0)


@settings(max_examples=examples(60), deadline=None)
@given(
    capacity=st.integers(min_value=20_000, max_value=9_980_000), repeats=st.integers(min_value=0, max_value=3)
)
def test_bisection_brackets_any_wall_within_its_budget(capacity: int, repeats: int) -> None:
    result, outcomes = bisection(wall(capacity), repeats=repeats)
    found = value(result, "NDR")
    assert found.number is not None
    assert found.high is not None
    assert found.number < capacity + 1
    assert found.high > capacity
    assert found.high - found.number <= 10_000
    # 1000 steps are halved ten times, and the maximum comes first; what fails is tried again.
    assert len(outcomes) <= 11 * (repeats + 1)


def test_a_loss_that_does_not_come_again_is_not_believed() -> None:
    sure, _ = bisection(Unlucky(5_000_000, lost=3), repeats=2)
    found = value(sure, "NDR")
    assert (found.number, found.high) == (5_000_000, 5_010_000)
    assert within(LostOnce, sure.notes) == (LostOnce(Fraction(5_000_000), 3, 5_000_000, 2),)
    # Without another look the same device has nothing to show.
    hasty, _ = bisection(Unlucky(5_000_000, lost=3), repeats=0)
    assert value(hasty, "NDR").number == 0
    # Twice is too much for one repeat, and not for two.
    assert value(bisection(Unlucky(5_000_000, lost=3, times=2), repeats=1)[0], "NDR").number == 0
    assert value(bisection(Unlucky(5_000_000, lost=3, times=2), repeats=2)[0], "NDR").number == 5_000_000


def test_a_hopeless_loss_is_not_looked_at_again() -> None:
    """TST 009's z: with more lost than that no repeat is made, so each load that fails takes one trial."""
    few, outcomes = bisection(wall(5_000_000), repeats=5, hopeless=1000)
    assert value(few, "NDR").number == 5_000_000
    assert len(outcomes) <= 11
    # 3 frames are fewer than z: they are.
    result, _ = bisection(Unlucky(5_000_000, lost=3), repeats=1, hopeless=3)
    assert value(result, "NDR").number == 5_000_000
    result, _ = bisection(Unlucky(5_000_000, lost=3), repeats=1, hopeless=2)
    assert value(result, "NDR").number == 0


def test_bisection_of_devices_without_a_wall() -> None:
    everything, outcomes = bisection(passes_everything())
    assert (value(everything, "NDR").number, value(everything, "NDR").high) == (LINE, None)
    assert len(outcomes) == 1
    nothing, _ = bisection(never_passes())
    assert (value(nothing, "NDR").number, value(nothing, "NDR").high) == (0, 10_000)
    made, outcomes = bisection(makes_frames())
    assert value(made, "NDR").number is None
    assert isinstance(value(made, "NDR").note, MoreArrived)
    assert len(outcomes) == 1
    inverted, outcomes = bisection(window_loss(4_000_000, 6_000_000, above=9_000_000))
    found = value(inverted, "NDR")
    assert found.number is not None
    assert found.number < 4_000_000 or 6_000_000 < found.number < 9_000_000
    assert len(outcomes) <= 33


def test_bisection_with_a_starved_tester_has_a_bound_and_no_limit() -> None:
    result, outcomes = bisection(starved_tester(most=2_000_000), BOTH)
    found = value(result, "NDR", "west-east")
    assert (found.number, found.high) == (2_000_000, None)
    assert isinstance(found.note, TesterBound)
    assert outcomes[result.trials[0]].lost == 0
    hopeless, _ = bisection(starved_tester(most=0))
    assert value(hopeless, "NDR").number is None


# A ramp, its knee, and a search from there


def ramp(device: Device, situation: Situation = ONE, **parameters: Any) -> tuple[Result, list[Outcome]]:
    given_ = {"warmup": "1s at 1kpps", "ramp": "10s to 100%", "hold": "2s", **parameters}
    return drive(METHODS["ramp"].start(RampParameters.model_validate(given_), situation), device, situation)


def test_a_second_ramp_narrows_the_knee() -> None:
    """The first one's bounds are 150,000 fps apart; the second rises over twice that in 100 samples."""
    coarse, _ = ramp(wall(5_000_000))
    fine, outcomes = ramp(wall(5_000_000), refine="10s")
    assert len(outcomes) == 2
    before, after = value(coarse, "knee"), value(fine, "knee")
    assert (before.low, before.high) == (4_950_000, 5_100_000)
    assert after.low is not None
    assert after.high is not None
    # Frames are lost from 5,000,000 fps on, 0.1 % of them from 5,005,005 on: both are within the bounds.
    assert after.low <= 5_000_000 <= 5_005_005 <= after.high
    assert after.high - after.low <= 5_100
    assert isinstance(after.note, SecondRamp)
    # Nothing else is of the second one.
    assert value(fine, "ramp max Rx") == value(coarse, "ramp max Rx")
    assert fine.trials == (0,)


def test_without_a_knee_there_is_nothing_to_narrow() -> None:
    for device in (passes_everything(), makes_frames()):
        result, outcomes = ramp(device, refine="10s")
        assert len(outcomes) == 1
        assert value(result, "knee").number is None


@settings(max_examples=30, deadline=None)
@given(capacity=st.integers(min_value=200_000, max_value=9_000_000), refine=st.sampled_from([None, "5s"]))
def test_a_search_after_a_ramp_begins_at_its_knee_and_proves_it(capacity: int, refine: str | None) -> None:
    result, outcomes = ramp(wall(capacity), then="search", refine=refine)
    found = value(result, "NDR")
    assert found.number is not None
    assert found.high is not None
    assert found.number < capacity + 1 <= found.high + 2
    assert found.high - found.number <= found.high / 200
    # Eleven trials prove each of three bounds, and few are made elsewhere.
    assert len(outcomes) <= 33 + 9
    assert value(result, "ramp max Rx").number is not None
    assert all(outcomes[number].phases[1].duration_ns == 10**9 for number in result.trials)


def test_what_follows_a_ramp_has_parameters_of_its_own() -> None:
    goals = {"NDR": {"loss": "0%", "exceed": "0%", "duration": "2s", "sum": "2s", "width": "1%"}}
    result, outcomes = ramp(wall(3_000_000), then={"goals": goals})
    found = value(result, "NDR")
    assert found.number is not None
    assert found.number <= 3_000_000
    assert outcomes[result.trials[0]].phases[1].duration_ns == 2 * 10**9
    half, _ = ramp(passes_everything(), ramp="10s to 50%", then={"maximum": "50%"})
    assert (value(half, "NDR").number, value(half, "NDR").high) == (LINE / 2, None)


def test_streams_of_a_port_have_their_shares_of_its_load() -> None:
    """A port sends a quarter to one and three quarters to another, and the device passes 3 Mfps a stream."""
    places = (Place(0, 1, Fraction(1, 4)), Place(0, 2, Fraction(3, 4)))
    parts = Situation(("a", "b"), LINE, Fraction(64), places=places)
    shares = {name: place.share for name, place in zip(parts.streams, places, strict=True)}

    def measured(trial: Trial) -> Outcome:
        """What `measure` finds of each stream at its own load, put together."""
        alone = []
        for name in parts.streams:
            segments = tuple(
                replace(one, from_rate=one.from_rate * shares[name], to_rate=one.to_rate * shares[name])
                for one in trial.segments
            )
            own = Situation((name,), LINE, Fraction(64))
            alone.append(measure(replace(trial, load=Frames(segments=segments)), wall(3_000_000), own))
        return alone[0].with_counts(streams=tuple(one.streams[0] for one in alone))

    for first in ("none", "ramp"):
        method = METHODS["ndr"].start(NdrParameters.model_validate({"seed": first}), parts)
        trial, count = next(method), 0
        while True:
            try:
                trial = method.send(measured(trial))
            except StopIteration as stop:
                result: Result = stop.value
                break
            count += 1
            assert count < 200
        total, small, large = (value(result, "NDR", scope) for scope in ("sum", "a", "b"))
        # The larger share reaches 3 Mfps when its port sends 4 Mfps.
        assert total.number is not None
        assert total.high is not None
        assert total.number <= 4_000_000 < total.high + 2
        assert (small.number, large.number) == (total.number / 4, total.number * 3 / 4)
        # With the ramp no more than a look is made elsewhere.
        assert first == "none" or count <= 38


LAB_OF_TWO = """\
title: No room
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/router}}
  links:
    - {endpoints: ["tester:west", "dut:west"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:east"], rate: 1Gbps}
traffic: {it: {size: 64B}}
"""


@pytest.mark.parametrize(
    "method",
    [
        "ndr: {minimum: 50%, maximum: 10%}",
        "sweep: {loads: [50% of NDR], search: {minimum: 50%, maximum: 10%}}",
        "ramp: {then: {minimum: 50%, maximum: 10%}}",
    ],
)
def test_search_without_room_is_refused_before_anything_starts(method: str) -> None:
    with pytest.raises(PlanErrors, check=has_code("conflict")):
        parse(LAB_OF_TWO + f"method: {{{method}}}\n")


def test_a_load_asked_for_twice_is_a_mistake() -> None:
    with pytest.raises(PlanErrors, check=has_code("given-twice")):
        parse(LAB_OF_TWO + "method: {sweep: {loads: [10%, 50%, 10%]}}\n")


def test_a_search_that_no_load_is_a_share_of_is_a_mistake() -> None:
    with pytest.raises(PlanErrors, check=has_code("conflict")):
        parse(LAB_OF_TWO + "method: {sweep: {loads: [50%], search: {minimum: 1%}}}\n")
