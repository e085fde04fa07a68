"""What a service costs: rates found in turns, and times of a frame, of devices whose cost is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from methodlab import run_here
from netdyno.campaign.reasons import REASONS
from netdyno.errors import PlanErrors
from netdyno.methods.service_cost import (
    BASELINE,
    COST,
    DISTINCT,
    LOST,
    METHOD,
    NEW,
    NEW_FLOWS,
    RATE,
    TIME,
)
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.values.finding import Result, Value
from netdyno.values.health import Health, WorkerHealth
from netdyno.values.load import CORE_SETTING, NO_SERVICE, SERVICE_SETTING, TESTERS_CORE, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.unmeasured import NotMeasuredError, TrialInvalid
from tendevices import Device, measure, passes_everything, starved_tester, wall

LINE = Fraction(1_488_095)
PLAIN = Situation(("in-out",), LINE, Fraction(64))
SERVING = replace(PLAIN, switched=(SERVICE_SETTING, CORE_SETTING), distinct_flows=DISTINCT * NEW_FLOWS)
BASE_NS = 2_400


def lab(
    without: Callable[[int], Device],
    having: Callable[[int], Device],
    cost_ns: Mapping[bool, int],
    **health: Any,
) -> Callable[[Trial, int], Outcome]:
    """A device with a service: by trial. cost_ns: of a frame of a flow that is known, and of a new one."""

    def trial(asked: Trial, number: int) -> Outcome:
        is_on = asked.settings.get(SERVICE_SETTING) != NO_SERVICE
        if asked.settings.get(CORE_SETTING) != TESTERS_CORE:
            return measure(asked, (having if is_on else without)(number), SERVING)
        found = measure(asked, passes_everything(), SERVING)
        each = BASE_NS + (cost_ns[asked.frames.flows is not None] if is_on else 0)
        frames = found.streams[0].offered
        # It sends as fast as its core can: less than it was asked to.
        streams = tuple(replace(one, intended=2 * one.offered) for one in found.streams)
        found = found.with_counts(streams=streams)
        worker = WorkerHealth(0, 1_000_000, 1, 0, 2 * frames, each * frames + number)
        own = {"core_share_ppm": 990_000, **health}
        return replace(found, health=replace(Health(0, 0, 0, 0, 0, None), workers=(worker,), **own))

    return trial


def found(measured: Callable[[Trial, int], Outcome], situation: Situation = SERVING, **asked: Any) -> Result:
    parameters = METHOD.parameters.model_validate({"pairs": 4, "duration": "40ms", **asked})
    method, numbers = METHOD.start(parameters, situation), count()
    trial = next(method)
    while True:
        try:
            try:
                outcome = measured(trial, next(numbers))
            except NotMeasuredError as error:
                trial = method.throw(error)
                continue
            trial = method.send(outcome)
        except StopIteration as stop:
            result: Result = stop.value
            return result


def value(result: Result, kind: Any) -> Value:
    one = result.value(kind.name, "sum")
    assert one is not None
    return one


NS = {False: 730, True: 4_100}


@pytest.mark.parametrize(("without", "having"), [(600_000, 400_000), (412_345, 312_001), (1_200_000, 60_000)])
def test_cost_is_that_of_the_device_within_its_interval(without: int, having: int) -> None:
    result = found(lab(lambda _: wall(without), lambda _: wall(having), NS))
    cost, truth = value(result, COST), 1 - Fraction(having, without)
    assert cost.low is not None
    assert cost.high is not None
    assert cost.low <= truth <= cost.high
    assert cost.high - cost.low <= Fraction(3, 100)
    for kind, capacity in ((RATE, having), (BASELINE, without)):
        rate = value(result, kind)
        assert rate.low is not None
        assert rate.high is not None
        # Counts are whole: of 40 ms a frame is 25 a second.
        assert rate.low - 25 <= capacity <= rate.high <= rate.low * Fraction(102, 100)


def test_known_and_new_flows_have_times_of_their_own() -> None:
    result = found(lab(lambda _: wall(600_000), lambda _: wall(400_000), NS))
    assert [round(value(result, kind).number or 0) for kind in (TIME, NEW)] == [730, 4_100]


def test_device_that_drifts_costs_the_same() -> None:
    """Each trial finds it slower than the one before. In one order each search with the service is later than
    its partner by a few trials, so the cost would be higher by what the device loses meanwhile."""
    slower, truth = Fraction(1, 1000), Fraction(1, 3)
    asked: list[str] = []

    def drifting(capacity: int) -> Callable[[int], Device]:
        return lambda number: wall(int(capacity * (1 - slower * number)))

    measured = lab(drifting(600_000), drifting(400_000), NS)

    def note(trial: Trial, number: int) -> Outcome:
        asked.append(trial.name)
        return measured(trial, number)

    cost = value(found(note, pairs=8, width="0.2%", duration="400ms"), COST)
    trials = [name for name in asked if name.startswith("pair") and ", load" in name]
    searches = list(dict.fromkeys(name.partition(", load")[0] for name in trials))
    assert [name.endswith("without") for name in searches] == [True, False, False, True] * 4
    assert cost.number is not None
    assert cost.low is not None
    assert cost.high is not None
    assert cost.low <= truth <= cost.high
    # A search and the trial before it, which does not count.
    later = Fraction(len(trials), len(searches)) + 1
    in_one_order = (1 - truth) * slower * later / (1 - slower * len(asked) / 2)
    assert abs(cost.number - truth) < in_one_order / 5


def test_loss_at_the_rate_is_what_the_load_that_passed_lost() -> None:
    """Of a load above the capacity a part is lost, within `loss`; where nothing may be, no value says it."""
    lost = value(found(lab(lambda _: wall(600_000), lambda _: wall(400_000), NS), loss="1%"), LOST)
    rate = value(found(lab(lambda _: wall(600_000), lambda _: wall(400_000), NS), loss="1%"), RATE)
    assert lost.number is not None
    assert rate.number is not None
    assert abs(lost.number - (1 - 400_000 / rate.number)) < Fraction(1, 1000)
    assert 0 < lost.number <= Fraction(1, 100)
    strict = found(lab(lambda _: wall(600_000), lambda _: wall(400_000), NS))
    assert strict.value(LOST.name, "sum") is None


def test_service_that_costs_nothing_has_an_interval_around_nothing() -> None:
    cost = value(found(lab(lambda _: wall(600_000), lambda _: wall(600_000), NS)), COST)
    assert cost.low is not None
    assert cost.high is not None
    assert cost.low <= 0 <= cost.high


@pytest.mark.parametrize(
    ("alone", "most"), [(passes_everything(), LINE), (starved_tester(500_000), Fraction(500_000))]
)
def test_cost_is_a_bound_where_the_router_alone_does_more_than_was_found(
    alone: Device, most: Fraction
) -> None:
    cost = value(found(lab(lambda _: alone, lambda _: wall(400_000), NS)), COST)
    assert cost.number is not None
    assert (cost.low, cost.high) == (cost.number, None)
    assert 1 - 400_000 / most - Fraction(3, 100) <= cost.number <= 1 - 400_000 / most


@pytest.mark.parametrize(
    ("device", "code"),
    [(passes_everything(), "no-cost"), (starved_tester(300_000), "tester-bound")],
)
def test_limit_of_line_or_tester_with_the_service_says_nothing_of_it(device: Device, code: str) -> None:
    cost = value(found(lab(lambda _: wall(600_000), lambda _: device, NS)), COST)
    assert cost.number is None
    assert cost.note is not None
    assert cost.note.code == code


def test_pair_in_which_the_tester_fell_short_is_left_out_and_said() -> None:
    """The tester is starved in the last trials alone."""

    def starved(number: int) -> Device:
        return starved_tester(200_000) if number > 34 else wall(600_000)

    result = found(lab(starved, lambda _: wall(400_000), NS), pairs=6)
    (note,) = result.notes
    assert note.code == "pairs-left-out"
    cost = value(result, COST)
    assert cost.number is not None
    assert abs(cost.number - Fraction(1, 3)) < Fraction(2, 100)


def test_cost_is_that_of_the_rates_beside_it_after_a_stray_loss() -> None:
    """A search without the service that ended far too low made the mean of the pairs' own costs -240 %."""

    def unlucky(number: int) -> Device:
        return wall(40_000 if number in range(30, 45) else 600_000)

    result = found(lab(unlucky, lambda _: wall(500_000), NS), pairs=8)
    cost, rate, alone = (value(result, kind) for kind in (COST, RATE, BASELINE))
    assert cost.number is not None
    assert rate.number is not None
    assert alone.number is not None
    assert abs(cost.number - (1 - rate.number / alone.number)) < Fraction(1, 100)
    assert cost.low is not None
    assert cost.high is not None
    assert cost.low <= Fraction(1, 6) <= cost.high


def test_bound_that_scatter_alone_made_is_none() -> None:
    """The tester is the limit, and a stray loss closes each search with the service somewhere."""

    def noisy(number: int) -> Device:
        return wall(300_000 + 47_000 * (number * number % 5)) if number % 3 == 0 else starved_tester(500_000)

    cost = value(found(lab(lambda _: starved_tester(500_000), noisy, NS)), COST)
    assert (cost.number, cost.low) == (None, None)
    assert cost.note is not None


def test_trial_in_which_flows_were_new_stands_for_no_other() -> None:
    """The one before makes them known. If the one that counts is invalid, there is no pair."""
    measured = lab(lambda _: wall(600_000), lambda _: wall(400_000), NS)

    def invalid(trial: Trial, number: int) -> Outcome:
        if trial.name.startswith(TIME.name) and trial.name.endswith(", with"):
            raise NotMeasuredError(TrialInvalid(trial.name, 1, ()))
        return measured(trial, number)

    assert value(found(invalid), TIME).number is None


def test_pair_whose_search_no_device_ended_has_no_cost() -> None:
    (table,) = found(lab(lambda _: starved_tester(500_000), lambda _: wall(400_000), NS)).tables
    assert {row[3] for row in table.rows} == {None}


def test_trial_that_no_attempt_counts_of_leaves_its_pair_out() -> None:
    """As of a tester that is preempted for longer than a trial may be."""
    measured = lab(lambda _: wall(600_000), lambda _: wall(400_000), NS)

    def invalid(trial: Trial, number: int) -> Outcome:
        if number in (3, 40):
            raise NotMeasuredError(TrialInvalid(trial.name, 3, ()))
        return measured(trial, number)

    cost = value(found(invalid, pairs=6), COST)
    assert cost.number is not None
    assert abs(cost.number - Fraction(1, 3)) < Fraction(2, 100)


def test_time_is_not_measured_on_a_core_that_others_used() -> None:
    result = found(lab(lambda _: wall(600_000), lambda _: wall(400_000), NS, core_share_ppm=899_999))
    time = value(result, TIME)
    assert time.number is None
    assert time.note is not None
    assert time.note.code == "core-too-busy"


def test_core_that_keeps_up_with_the_highest_load_times_no_frame() -> None:
    measured = lab(lambda _: wall(600_000), lambda _: wall(400_000), NS)

    def idle(trial: Trial, number: int) -> Outcome:
        found = measured(trial, number)
        return found.with_counts(streams=tuple(replace(one, intended=one.offered) for one in found.streams))

    for kind in (TIME, NEW):
        time = value(found(idle), kind)
        assert time.number is None
        assert time.note is not None
        assert time.note.code == "not-timed"


def test_time_is_not_measured_where_no_core_can_do_the_devices_work() -> None:
    """As of an emulated device, or of a plain user's."""
    emulated = replace(SERVING, switched=(SERVICE_SETTING,))
    time = value(found(lab(lambda _: wall(600_000), lambda _: wall(400_000), NS), emulated), TIME)
    assert time.number is None
    assert time.note is not None
    assert time.note.code == "no-frame-time"


def test_router_without_a_service_has_a_rate_and_no_cost() -> None:
    result = found(lab(lambda _: wall(600_000), lambda _: wall(600_000), NS), PLAIN)
    assert {one.name for one in result.values} == {RATE.name}


@pytest.mark.parametrize(
    ("service", "size", "truth"),
    [("process-switching", 64, 1 - Fraction(47, 99)), ("acl-log", 1518, None), ("none", 64, None)],
)
def test_cost_of_an_emulated_router_is_that_of_its_model(
    service: str, size: int, truth: Fraction | None, tmp_path: Path
) -> None:
    """Each trial has a device of its own, with the service or without. Long frames fill the line before."""
    asked = parse(f"""\
title: Services
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/isr-881}}}}
  links:
    - {{endpoints: ["tester:in", "dut:fa0"], rate: 100Mbps}}
    - {{endpoints: ["tester:out", "dut:fa1"], rate: 100Mbps}}
traffic: {{it: {{size: {size}B, flows: 16}}}}
matrix: {{service: [{service}], direction: [uni]}}
method: {{service-cost: {{pairs: 2, duration: 500ms}}}}
trial: {{settle: 1ms, drain: 100ms, sample: 50ms}}
""")
    with open_run(run_here(asked, tmp_path).folder, REASONS) as run:
        (case,) = run.cases
        assert case.result is not None
        assert {one.limit for one in case.verdicts} == {"line" if size == 1518 else "device"}
        cost = case.result.value(COST.name, "sum")
    if truth is None:
        assert cost is None or cost.number is None
        return
    assert cost is not None
    assert cost.low is not None
    assert cost.high is not None
    # A queue of 75 frames is a rate of 150 in half a second.
    assert cost.low - Fraction(1, 100) <= truth <= cost.high + Fraction(1, 100)


def test_cost_of_a_service_that_is_a_rate_itself_is_refused() -> None:
    """Nor both ways without answers, nor of more flows than are tracked."""
    text = """\
title: Services
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:in", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:out", "dut:d1"], rate: 1Gbps}
traffic: {it: {size: 128B, ip: VERSION, flows: FLOWS}}
matrix: {service: [SERVICE], direction: [WAY]}
method: {service-cost: {}}
"""

    def plan(service: str, way: str, flows: str, version: str = "4") -> str:
        words = (("SERVICE", service), ("WAY", way), ("FLOWS", flows), ("VERSION", version))
        return reduce(lambda found, word: found.replace(*word), words, text)

    def codes(*words: str) -> list[str]:
        with pytest.raises(PlanErrors) as refused:
            parse(plan(*words))
        return [one.code for one in refused.value.errors]

    assert parse(plan("masquerade", "uni", "131072"))
    assert parse(plan("firewall", "bidir", "16"))
    assert codes("llq-100mbit", "uni", "16") == ["unsupported"]
    assert codes("acl-25", "bidir", "16") == ["unsupported"]
    assert codes("firewall", "bidir", "16", "6") == ["unsupported"]
    assert codes("masquerade", "uni", "131073") == ["out-of-range"]
    assert codes("acl-26", "uni", "16") == ["unknown-name"]


def test_rate_with_a_service_rests_on_trials_with_it() -> None:
    asked: list[Trial] = []
    measured = lab(lambda _: wall(600_000), lambda _: wall(400_000), NS)

    def note(trial: Trial, number: int) -> Outcome:
        asked.append(trial)
        return measured(trial, number)

    result = found(note)
    assert all(asked[number].settings == {} for number in result.resting(RATE.name))
    assert {trial.settings.get(SERVICE_SETTING) for trial in asked} == {None, NO_SERVICE}
