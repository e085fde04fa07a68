"""A method against the real engine, in virtual time, on an emulated device that a test may change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import shoot
from netdyno.campaign import run as runner
from netdyno.campaign.case import run_case
from netdyno.campaign.events import Event
from netdyno.campaign.job import Job
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import KINDS
from netdyno.devices.wiring import Wiring
from netdyno.methods import METHODS
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import Case, cases, situation
from netdyno.reports.model.from_store import view
from netdyno.store import StoredRun, open_run
from netdyno.testers.netdyno.engine import Opened
from netdyno.testers.netdyno.spec import session_spec, trial_spec
from netdyno.values.finding import Cell, Result, Value
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome
from pages import OF_RUNS, report_text

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("west", "east", "south", "north")


def text(
    method: str,
    *,
    kind: str = "emulated/bridge",
    links: int = 2,
    rate: str = "1Gbps",
    profile: str = "size: 64B, flows: 100",
    matrix: str = "direction: [uni]",
    trial: str = "sample: 1ms, settle: 1ms, drain: 100ms",
) -> str:
    """A plan of one case."""
    cables = "\n".join(
        f'    - {{endpoints: ["tester:{NAMES[n]}", "dut:d{n}"], rate: {rate}}}' for n in range(links)
    )
    return f"""\
title: A method
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
{cables}
traffic:
  it: {{{profile}}}
matrix: {{profile: [it], {matrix}}}
method: {{{method}}}
trial: {{{trial}}}
"""


def measure_plan(
    plan_text: str, change: Callable[[dict[str, Any]], None] = lambda device: None
) -> tuple[Result, list[Trial], list[Outcome]]:
    """What the method of a plan finds. change: of the device, as crates/dut/src/spec.rs has it."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = parse(plan_text)
    (case,) = cases(plan)
    wiring = KINDS[plan.lab.kind].wire(plan.lab.links, case.settings)
    spec = session_spec(wiring, case)
    change(spec["devices"][0])
    trials: list[Trial] = []
    outcomes: list[Outcome] = []

    def record_trial(trial: Trial, outcome: Outcome) -> Outcome:
        assert outcome.invalid == ()
        trials.append(trial)
        outcomes.append(outcome)
        return outcome

    method = METHODS[plan.method].start(plan.parameters, situation(case, wiring))
    return follow(method, plan, case, wiring, spec, record_trial), trials, outcomes


def follow(
    method: Generator[Trial, Outcome, Result],
    plan: Plan,
    case: Case,
    wiring: Wiring,
    spec: dict[str, Any],
    record_trial: Callable[[Trial, Outcome], Outcome],
) -> Result:
    """A method through all its trials on one session. record_trial: returns what the method is sent."""
    with Opened(spec) as session:
        trial = next(method)
        while True:
            outcome = shoot(session, wiring, trial, trial_spec(plan, case, wiring, trial))
            try:
                trial = method.send(record_trial(trial, outcome))
            except StopIteration as stop:
                result: Result = stop.value
                return result


class OneProcess:
    """Stands in for the runner's worker processes: runs each case where it is asked for."""

    def __init__(self, count: int, *, fresh: bool, shared: Collection[int] = ()) -> None:
        pass

    def __enter__(self) -> OneProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: Iterable[Job]) -> Iterator[Event]:
        for job in jobs:
            events: list[Event] = []
            run_case(job, events.append, lambda: False)
            yield from events


def run_here(plan: Plan, folder: Path) -> runner.Outcome:
    """A plan of virtual time, whole, with its cases in this process: it has imported what they need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "Workers", OneProcess)
        return runner.run(plan, folder, watcher(), runner.Selection())


def run_example(example: str, scale: str, place: Path) -> StoredRun:
    """A plan of `examples`, run with its durations shortened; every report of it can be made."""
    text = (EXAMPLES / example).read_text(encoding="utf-8")
    outcome = runner.run(parse(f"{text}scale: {scale}\n"), place, watcher(), runner.Selection())
    assert outcome.exit_code == 0
    run = open_run(outcome.folder, REASONS)
    for name in OF_RUNS:
        assert report_text(name, view(run))
    return run


def value(result: Result, name: str, scope: str = "sum") -> Value:
    """A value that there must be."""
    return next(one for one in result.values if (one.name, one.scope) == (name, scope))


def table(result: Result, name: str) -> list[dict[str, Cell]]:
    """The rows of a table, by column; none if there is no such table."""
    return [
        dict(zip([column.name for column in found.columns], row, strict=True))
        for found in result.tables
        if found.name == name
        for row in found.rows
    ]
