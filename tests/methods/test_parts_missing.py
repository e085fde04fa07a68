"""A suite of which a part cannot be measured: the rest stands, and the part is named with the reason."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import fake_engine
import pytest
from netdyno.campaign import judging
from netdyno.campaign.case import run_case
from netdyno.campaign.events import Event, Failed, Interrupted, Measured, TrialEnded
from netdyno.campaign.job import Job
from netdyno.methods import METHODS
from netdyno.methods.reasons.deviations import NotTested
from netdyno.methods.reasons.loss import NotMeasured
from netdyno.methods.wrap.late import without_late_values
from netdyno.methods.wrap.routes import proven
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.values.engine_reason import EngineReason
from netdyno.values.finding import Result
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.reason import About, Reason
from netdyno.values.records import StoredTrial
from netdyno.values.situation import Situation
from netdyno.values.unmeasured import NotMeasuredError, TrialInvalid
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, judge
from tendevices import finite_queue, measure

ONE = Situation(("west-east",), Fraction(10_000_000), Fraction(64))
DEVICE = finite_queue(6_000_000, 1000)
FLOOD = EngineReason.of("a flood", "flood", {})
SUITE = "reset: null, latency: {repeats: 3}, back-to-back: {repeats: 2}, recovery: {repeats: 2}"


def suite() -> Method:
    method = METHODS["rfc2544"]
    short = {
        "latency": {"repeats": 3},
        "back-to-back": {"repeats": 2},
        "recovery": {"repeats": 2},
        "reset": {"kind": "by-hand", "repeats": 2},
    }
    return method.start(method.parameters.model_validate(short), ONE)


def driven(method: Method, fails: Callable[[str], bool]) -> tuple[Result, list[tuple[Trial, Outcome | None]]]:
    """The method against the device, but for trials whose name fails."""
    made: list[tuple[Trial, Outcome | None]] = []
    try:
        trial = next(method)
        while True:
            assert len(made) < 500, "it does not end"
            if fails(trial.name):
                made.append((trial, None))
                trial = method.throw(NotMeasuredError(TrialInvalid(trial.name, 3, (FLOOD,))))
                continue
            outcome = measure(trial, DEVICE, ONE)
            found = replace(outcome.streams[0], flows_received=3)
            outcome = outcome.with_counts(streams=(found,))
            made.append((trial, outcome))
            trial = method.send(outcome)
    except StopIteration as stop:
        return stop.value, made


PARTS = {
    "latency 2": ("latency", "latency"),
    "frame loss: loss at 90 %": ("frame loss", "frame loss rate"),
    "frames": ("back to back", "back-to-back frames"),
    "recovery 1": ("recovery", "recovery time"),
    "reset 2": ("reset", "reset time"),
}
BEGINS = {
    "throughput": "throughput: ",
    "latency": "latency ",
    "frame loss rate": "frame loss: loss",
    "recovery time": "recovery ",
    "reset time": "reset ",
}


def unmeasured(result: Result, title: str) -> Reason:
    """Why the part of that title was not measured."""
    notes = [note.reason for note in result.notes if isinstance(note, About) and note.subject == title]
    (found,) = (note.cause for note in notes if isinstance(note, NotMeasured))
    return found


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_part_that_fails_takes_no_other_with_it(name: str, wrapped: bool) -> None:
    title, headline = PARTS[name]
    method = (
        without_late_values(proven(suite(), ONE, 3, dict.fromkeys(ONE.streams, 3))) if wrapped else suite()
    )
    result, made = driven(method, lambda trial: name in trial)
    whole, _ = driven(
        without_late_values(proven(suite(), ONE, 3, dict.fromkeys(ONE.streams, 3))) if wrapped else suite(),
        lambda trial: False,
    )
    missed = unmeasured(result, title)
    assert isinstance(missed, TrialInvalid)
    assert (missed.attempts, missed.causes) == (3, (FLOOD,))
    (left,) = (one for one in result.compliance if isinstance(one, NotTested))
    assert (left.test, left.why) == (title, missed)
    # All others are what they are without it.
    others = [value for value in whole.values if value.name not in (headline, "buffer time")]
    assert [value for value in result.values if value.name not in (headline, "buffer time")] == others
    missing = [value for value in result.values if value.name == headline]
    assert missing
    assert {(value.number, value.low, value.high) for value in missing} == {(None, None, None)}
    assert {value.note for value in missing} == {missed}
    assert list(result.headlines) == list(whole.headlines)
    # Each rests on trials of its own that came to an end.
    assert result.resting(headline) == ()
    for other, begin in BEGINS.items():
        resting = result.resting(other)
        assert (not resting) == (other == headline)
        for number in resting:
            trial, outcome = made[number]
            assert outcome is not None
            assert trial.name.removeprefix("measured: ").startswith(begin)


def test_without_its_throughput_there_is_no_suite() -> None:
    with pytest.raises(NotMeasuredError, match="search 2"):
        driven(suite(), lambda trial: trial.endswith("search 2"))


@pytest.mark.parametrize("method", ["throughput", "latency", "soak", "frame-loss", "ndr", "ramp"])
def test_a_method_of_one_part_ends(method: str) -> None:
    procedure = METHODS[method]
    running = without_late_values(procedure.start(procedure.parameters(), ONE))
    with pytest.raises(NotMeasuredError, match="a flood"):
        driven(running, lambda trial: True)


PLAN = f"""\
title: Parts
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/router}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 100Mbps}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 100Mbps}}
traffic: {{small: {{size: 64B}}}}
matrix: {{direction: [uni], capacity: [100kpps]}}
method: {{rfc2544: {{{SUITE}}}}}
scale: 1/1000
"""
LATENCY_NS = 120_000_000


def is_latency(spec: dict[str, Any]) -> bool:
    return bool(spec["streams"][0]["schedule"][0]["duration_ns"] == LATENCY_NS)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A stand-in for the engine, in which the link goes down in the second and third stream of latency."""

    class Session(fake_engine.Session):
        def __init__(self, session_json: str) -> None:
            super().__init__(session_json)
            self.latencies = 0

        def start(self, trial_json: str, events_json: str | None = None) -> None:
            super().start(trial_json)
            self.latencies += is_latency(self.spec)
            engine.started.append(self.spec)  # type: ignore[attr-defined]

        def result(self) -> str:
            found = json.loads(super().result())
            found["trial"]["phases"].append({"name": "drain", "start_ns": 0, "duration_ns": 2_000_000})
            if is_latency(self.spec) and (self.latencies > 1 or engine.sick):  # type: ignore[attr-defined]
                found["trial"]["invalid"] = [
                    {"code": "link-down", "fields": {}, "text": "the link went down"}
                ]
            return json.dumps(found)

    engine = ModuleType("engine_of_parts")
    engine.Session = Session  # type: ignore[attr-defined]
    engine.started = []  # type: ignore[attr-defined]
    engine.sick = False  # type: ignore[attr-defined]
    monkeypatch.setattr(fake_engine, "CAPACITY_FPS", 100_000)
    monkeypatch.setitem(sys.modules, engine.__name__, engine)
    return engine


def run(name: str, *done: StoredTrial, plan: str = PLAN) -> tuple[Event, list[StoredTrial]]:
    """The last event of the only case, and the trials it made."""
    parsed = parse(plan, name="parts.yaml", base=Path())
    (case,) = cases(parsed)
    events: list[Event] = []
    run_case(Job(parsed, case, fake_engine.entry(sys.modules[name]), done), events.append, lambda: False)
    return events[-1], [event.trial for event in events if isinstance(event, TrialEnded)]


def left_out_of(measured: Measured) -> dict[str, Reason | None]:
    """Why each test of the suite that was not measured is missing."""
    return {
        one.test: one.why
        for one in measured.result.compliance
        if isinstance(one, NotTested) and one.section == "RFC 2544 section 26"
    }


def test_a_case_whose_latency_fails_has_its_throughput(engine: ModuleType) -> None:
    measured, trials = run(engine.__name__)
    assert isinstance(measured, Measured)
    failed = [trial for trial in trials if trial.state == "invalid"]
    assert [(trial.name, trial.attempt) for trial in failed] == [("latency 2", n) for n in range(3)]
    (number,) = {trial.number for trial in failed}
    after = [trial for trial in trials if trial.number > number]
    assert after[0].name == "frame loss: loss at 100 %"
    assert after[0].number == number + 1
    reason = "trial `latency 2` was invalid 3 times: the link went down"
    verdicts = {one.value: (one.limit, str(one.reason)) for one in measured.verdicts if one.scope == "sum"}
    assert verdicts["latency"] == ("inconclusive", f"Inconclusive: {reason}")
    assert next(iter(verdicts)) == "throughput"
    assert verdicts["throughput"][0] == "device"
    left = left_out_of(measured)
    assert str(left["latency"]) == reason


def test_a_run_killed_anywhere_ends_the_same(engine: ModuleType) -> None:
    whole, trials = run(engine.__name__)
    assert isinstance(whole, Measured)
    (number, *_) = (trial.number for trial in trials if trial.state == "invalid")
    last = max(at for at, trial in enumerate(trials) if trial.number == number)
    for kept in range(1, len(trials), 2):
        # As the engine is made anew it has seen no latency yet; it is as sick as it was.
        engine.sick = kept > 0 and any(is_latency(json.loads(one.spec)) for one in trials[:kept])  # type: ignore[attr-defined]
        again, more = run(engine.__name__, *trials[:kept])
        assert isinstance(again, Measured)
        if kept > last + 1:
            assert again.result == whole.result
            assert again.verdicts == whole.verdicts
            assert [one.number for one in more] == [one.number for one in trials[kept:]]
        else:
            # Nobody could tell that the run had given up: one more attempt is made, and told.
            assert [value.number for value in again.result.values] == [
                value.number for value in whole.result.values
            ]


def test_recovered_device_leaves_the_trials_of_a_resumed_run_unchanged(engine: ModuleType) -> None:
    whole, trials = run(engine.__name__)
    assert isinstance(whole, Measured)
    engine.started.clear()
    again, more = run(engine.__name__, *trials[:-1])
    assert isinstance(again, Measured)
    assert again.result == whole.result
    assert len(engine.started) == len(more) == 1


def other_load(trial: StoredTrial) -> StoredTrial:
    return replace(trial, segments=tuple(replace(one, to_rate=one.to_rate * 2) for one in trial.segments))


def other_flows(trial: StoredTrial) -> StoredTrial:
    spec = json.loads(trial.spec)
    spec["streams"][0]["flows"] += 1
    return replace(trial, spec=json.dumps(spec))


@pytest.mark.parametrize("change", [other_load, other_flows])
def test_another_load_than_a_resumed_runs_ends_it(
    engine: ModuleType, change: Callable[[StoredTrial], StoredTrial]
) -> None:
    _, trials = run(engine.__name__)
    other = [change(trial) if trial.name == "recovery 1" else trial for trial in trials]
    failed, _ = run(engine.__name__, *other)
    assert isinstance(failed, Failed)
    assert "asked for another load" in failed.error.message


def test_a_stop_is_heard_while_a_result_is_judged(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []

    def slowly(result: Result, evidence: Evidence, name: str) -> Mapping[str, Verdict]:
        judged.append(name)
        return judge(result, evidence, name)

    monkeypatch.setattr(judging, "judge", slowly)
    parsed = parse(PLAN, name="parts.yaml", base=Path())
    (case,) = cases(parsed)
    events: list[Event] = []
    run_case(Job(parsed, case, fake_engine.entry(engine)), events.append, lambda: bool(judged))
    assert isinstance(events[-1], Interrupted)
    assert judged == ["throughput"], "of five values"


def test_a_stop_is_a_stop(engine: ModuleType) -> None:
    parsed = parse(PLAN, name="parts.yaml", base=Path())
    (case,) = cases(parsed)
    events: list[Event] = []
    run_case(
        Job(parsed, case, fake_engine.entry(engine)),
        events.append,
        lambda: any(map(is_latency, engine.started)),
    )
    assert isinstance(events[-1], Interrupted)


def test_emulated_device_away_for_one_part_is_measured_in_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = pytest.importorskip("netdyno._engine", reason="the engine is not built")

    class Session:
        """The engine itself; in the first stream of latency the device restarts, and is away for 10 s."""

        def __init__(self, session_json: str) -> None:
            spec = json.loads(session_json)
            spec["devices"][0]["reset_ns"] = 10 * 10**9
            self.session = real.Session(json.dumps(spec))
            self.latencies = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(self.session, name)

        def start(self, trial_json: str, events_json: str | None = None) -> None:
            if is_latency(json.loads(trial_json)):
                self.latencies += 1
                if self.latencies == 1:
                    events_json = json.dumps([{"at_ns": 119_000_000, "kind": "reset", "port": None}])
            self.session.start(trial_json, events_json)

    engine = ModuleType("restarting_engine")
    engine.Session = Session  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, engine.__name__, engine)
    measured, trials = run(engine.__name__)
    assert isinstance(measured, Measured)
    failed = [one.name for one in trials if one.state == "invalid"]
    assert failed == ["latency 2"] * 3
    verdicts = {one.value: one.limit for one in measured.verdicts if one.scope == "sum"}
    assert verdicts["throughput"] == "device"
    numbers = {value.name: value.number for value in measured.result.values if value.scope == "west-east"}
    missing = {name for name, number in numbers.items() if number is None}
    assert missing == {"latency"}
    why = left_out_of(measured)["latency"]
    assert isinstance(why, TrialInvalid)
    assert (why.trial, why.attempts) == ("latency 2", 3)
