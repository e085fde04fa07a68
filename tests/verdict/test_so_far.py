"""Searches that have not ended: what their trials say so far. Truth: what the same search says when it has
ended, or is ended by its budget at that very trial."""

from __future__ import annotations

import io
import json
import os
import re
import signal
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from methodlab import text
from netdyno.campaign import run as runner
from netdyno.campaign.events import Event, TrialEnded
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.selection import Selection
from netdyno.cli import live
from netdyno.methods import METHODS
from netdyno.methods.parts.procedure import record_trials
from netdyno.methods.reasons.searches import SoFar
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.finding import Result
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome
from netdyno.values.records import CaseWiring, StoredTrial
from netdyno.values.situation import Situation
from netdyno.verdict.so_far import SearchSoFar
from pages import OF_RUNS, report_text
from sampling import examples
from tendevices import Device, drive, finite_queue, starved_tester

ONE = Situation(("west-east",), Fraction(10_000_000), Fraction(64))
BOTH = Situation(("west-east", "east-west"), Fraction(10_000_000), Fraction(64))
CAPACITIES = st.integers(min_value=50_000, max_value=9_900_000)


def searched(
    method: str, device: Device, situation: Situation, parameters: dict[str, Any]
) -> tuple[Result, list[tuple[Trial, Outcome]], tuple[SoFar, ...]]:
    """A search that has ended, its trials, and what these say by themselves."""
    procedure = METHODS[method]
    read = procedure.parameters.model_validate(parameters)
    # As it is read from a record.
    read = procedure.parameters.model_validate_json(read.model_dump_json(by_alias=True))
    (result, made), _ = drive(record_trials(procedure.start(read, situation)), device, situation)  # type: ignore[arg-type, misc]
    return result, [*made.values()], so_far(read, situation, [*made.values()])


def so_far(parameters: Any, situation: Situation, made: list[tuple[Trial, Outcome]]) -> tuple[SoFar, ...]:
    search = SearchSoFar(parameters.searched, CaseWiring("virtual", situation, True, (), "{}"))
    now = datetime.now(UTC)
    for number, (trial, outcome) in enumerate(made):
        search.add(StoredTrial(0, number, 0, trial.name, "done", trial.segments, "{}", outcome, now, now))
    return tuple(search.find())


def assert_is_bracket(found: tuple[SoFar, ...], result: Result) -> None:
    assert found
    for one in found:
        value = result.value(one.value, "sum")
        assert value is not None
        assert (one.passed_pps or 0, one.failed_pps) == (value.load, value.high)


def loses_now_and_then(capacity: int, seed: int, share: int) -> Device:
    """A wall that loses a frame of some trials, at any load, and of more of them near its capacity."""
    random = Random(seed)

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds)
        unlucky = random.randrange(100) < share * fps / capacity
        return sent, max(min(sent, int(capacity * seconds)) - unlucky, 0)

    return device


@settings(max_examples=examples(60), deadline=None)
@given(capacity=CAPACITIES, frames=st.integers(0, 200_000), both=st.booleans())
def test_trials_of_a_throughput_say_its_bracket(capacity: int, frames: int, both: bool) -> None:
    parameters = {"duration": "10s", "search": "1s", "width": "0.5%"}
    device, situation = finite_queue(capacity, frames), BOTH if both else ONE
    result, made, found = searched("throughput", device, situation, parameters)
    assert_is_bracket(found, result)
    assert [one.trials for one in found] == [len(made)]
    read = METHODS["throughput"].parameters.model_validate(parameters)
    lower, upper = Fraction(0), None
    searching = [one for one in made if one[0].name.startswith("search")]
    for number, (trial, outcome) in enumerate(searching, 1):
        # Halving: whatever is tried lies between the two.
        load = situation.fps(trial.segments[0].from_rate) * situation.share("sum")
        lower, upper = (load, upper) if outcome.lost == 0 else (lower, load)
        (one,) = so_far(read, situation, searching[:number])
        assert (one.passed_pps or 0, one.failed_pps, one.trials) == (lower, upper, number)


@settings(max_examples=examples(60), deadline=None)
@given(capacity=CAPACITIES, repeats=st.integers(0, 3), seed=st.integers(0, 99), share=st.integers(0, 40))
def test_trials_of_a_bisection_say_its_bracket(capacity: int, repeats: int, seed: int, share: int) -> None:
    device = loses_now_and_then(capacity, seed, share)
    result, _, found = searched(
        "bisection", device, ONE, {"duration": "1s", "width": "0.5%", "repeats": repeats}
    )
    assert_is_bracket(found, result)


@settings(max_examples=examples(60), deadline=None)
@given(
    capacity=CAPACITIES,
    exceed=st.sampled_from(["0%", "10%", "50%"]),
    seed=st.integers(0, 99),
    share=st.integers(0, 40),
    first=st.sampled_from(["none", "ramp"]),
    ended=st.integers(4, 60),
)
def test_trials_of_ndr_say_its_bracket(
    capacity: int, exceed: str, seed: int, share: int, first: str, ended: int
) -> None:
    """A search that its budget ended gives what is settled: the trials say no more than that, and nearer."""
    goal = {"exceed": exceed, "duration": "1s", "sum": "5s", "width": "0.5%"}
    goals = {"NDR": {"loss": "0%", **goal}, "PDR": {"loss": "0.5%", **goal}}
    parameters = {"goals": goals, "seed": first, "warmup": "0s"}
    whole, made, found = searched("ndr", loses_now_and_then(capacity, seed, share), ONE, parameters)
    assert_is_bracket(found, whole)
    cut, made, found = searched(
        "ndr", loses_now_and_then(capacity, seed, share), ONE, {**parameters, "trials": ended}
    )
    for one in found:
        value = cut.value(one.value, "sum")
        assert value is not None
        assert one.trials == len(made) - (first == "ramp")
        if value.high is not None:
            assert one.failed_pps is not None
            assert one.failed_pps <= value.high
        if value.low and value.number is None and one.passed_pps is not None:
            assert one.passed_pps >= value.low or (one.failed_pps or value.low) <= value.low


@pytest.mark.parametrize("method", ["throughput", "bisection", "ndr"])
def test_a_load_that_the_tester_did_not_send_is_no_loss(method: str) -> None:
    parameters = {"duration": "1s"} if method != "ndr" else {"warmup": "0s"}
    _, _, found = searched(method, starved_tester(5_000_000), ONE, parameters)
    for one in found:
        assert one.failed_pps is None
        assert one.short_pps is not None
        assert one.passed_pps is not None
        assert one.passed_pps <= 5_000_000 < one.short_pps
        assert (one.missing, one.sent) == (0, 0)


def test_every_method_reads_its_parameters_as_they_are_stored() -> None:
    for name in ("throughput", "ndr", "bisection", "rfc2544", "latency", "back-to-back", "delay-variation"):
        parameters = METHODS[name].parameters()
        again = METHODS[name].parameters.model_validate_json(parameters.model_dump_json(by_alias=True))
        assert again.searched == parameters.searched != {}, name
    known = METHODS["latency"].parameters.model_validate({"throughput": "50%"})
    assert METHODS["latency"].parameters.model_validate_json(known.model_dump_json()).searched == {}


class Interrupting(live.PlainView):
    """Interrupts the run, as Ctrl-C does, while the search is under way; notes what the view says of it."""

    so_far: tuple[str, ...] = ()

    def event(self, event: Event) -> None:
        super().event(event)
        if isinstance(event, TrialEnded) and event.trial.number == 5:
            self.so_far = self.now[event.case].so_far
            os.kill(os.getpid(), signal.SIGINT)


SEARCHES = {
    "throughput": ("throughput: {duration: 1s}", ["throughput"]),
    "survey": ("ramp: {warmup: null, ramp: 2s to 100%, hold: null, then: search}", ["NDR", "PDR"]),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_an_interrupted_search_says_between_which_loads_it_stands(name: str, tmp_path: Path) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    method, values = SEARCHES[name]
    plan = parse(
        text(method, kind="emulated/router", matrix="direction: [bidir], capacity: [1Mpps]", rate="1Gbps")
    )
    watcher = Interrupting(io.StringIO())
    outcome = runner.run(plan, tmp_path, watcher, Selection())
    assert outcome.exit_code == 130
    with open_run(outcome.folder, REASONS) as run:
        shown = view(run)
        (case,) = run.cases
        done = [trial for trial in run.trials(0) if trial.state == "done"]
        pages = {name: report_text(name, shown) for name in OF_RUNS}
    assert case.result is None
    found = json.loads(pages["json"])["cases"][0]["so_far"]
    assert [one["code"] for one in found] == ["so-far"] * len(values)
    assert json.loads(pages["json-small"])["cases"][0]["so_far"] == [
        {"code": one["code"], "text": one["text"]} for one in found
    ]
    for one, value in zip(found, values, strict=True):
        fields = one["fields"]
        assert (fields["value"], fields["trials"]) == (value, len(done) - (name == "survey"))
        # Of both directions together; the router takes in 1 Mpps on each port, and its queue 1,025 frames.
        passed, failed = (Fraction(fields[end] or 2_002_050) for end in ("passed_pps", "failed_pps"))
        assert passed <= 2_002_050 * Fraction(1005, 1000)
        assert failed >= 2_002_050
    assert found[0]["fields"]["failed_pps"] is not None
    for page in ("terminal", "markdown", "html"):
        said = " ".join(re.sub(r"<[^>]*>|[\\`]", "", pages[page]).split())
        assert all(one["text"] in said for one in found), page
    assert len(watcher.so_far) == len(values), "the live view says it as well"
