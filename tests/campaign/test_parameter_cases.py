"""A run with parameters of its method as axes finds what runs of plans with those parameters find."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from methodlab import run_here, text
from netdyno.campaign import memory
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.reports.model.from_store import view
from netdyno.reports.model.run_set import RunSet
from netdyno.store import open_run

pytest.importorskip("netdyno._engine", reason="the engine is not built")

DURATIONS, WIDTHS = ("5ms", "20ms"), ("1%", "5%")
KIND = "emulated/asr9006"


def test_cases_of_two_axes_are_the_cases_of_plans_without(tmp_path: Path) -> None:
    axes = f"direction: [uni], duration: [{', '.join(DURATIONS)}], width: [{', '.join(WIDTHS)}]"
    run = run_here(parse(text("throughput: {}", kind=KIND, rate="10Gbps", matrix=axes)), tmp_path)
    apart = [(duration, width) for duration in DURATIONS for width in WIDTHS]
    numbers = set()
    with open_run(run.folder, REASONS) as stored:
        assert [case.state for case in stored.cases] == ["done"] * 4
        for case, (duration, width) in zip(stored.cases, apart, strict=True):
            given = f"throughput: {{duration: {duration}, width: {width}}}"
            alone = run_here(parse(text(given, kind=KIND, rate="10Gbps")), tmp_path / f"{duration}-{width}")
            with open_run(alone.folder, REASONS) as other:
                (single,) = other.cases
                assert json.loads(case.head.parameters) == json.loads(single.head.parameters)
                assert case.result == single.result
                assert [(one.spec, one.result) for one in stored.trials(case.head.number)] == [
                    (one.spec, one.result) for one in other.trials(0)
                ]
            assert case.result is not None
            numbers.add(case.result.values[0].number)
    assert len(numbers) > 1


def test_runs_are_aligned_by_what_values_of_parameters_mean(tmp_path: Path) -> None:
    runs = []
    for written in ("[5ms, 20ms]", "[20000us, 0.005s]"):
        plan = text("throughput: {width: 5%}", kind=KIND, rate="10Gbps", matrix=f"duration: {written}")
        run = run_here(parse(plan), tmp_path / written[1:4])
        with open_run(run.folder, REASONS) as stored:
            runs.append(view(stored))
    found = RunSet(tuple(runs))
    assert found.conditions == {}
    assert [[len(side) for side in sides] for sides in found.cases.values()] == [[1, 1]] * len(found.cases)
    for one in found.values:
        assert one.runs[0].numbers == one.runs[1].numbers


def test_memory_is_that_of_the_longest_case() -> None:
    plan = parse(
        text("soak: {load: 1kpps}", matrix="direction: [uni], duration: [1s, 1000s]", trial="sample: 10ms")
    )
    short, longest = cases(plan)
    need = memory.most_needed(plan, cases(plan))
    assert need.case == longest.name
    assert need.bytes > memory.most_needed(plan, [short]).bytes
