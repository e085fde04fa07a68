"""Which stream answers which, and what a device that translates nothing makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from methodlab import run_here
from netdyno.campaign.reasons import REASONS
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.units import FrameRate

PLAN = """\
title: Answers
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/router}}
  links:
    - {endpoints: ["tester:a", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:b", "dut:d1"], rate: 1Gbps}
    - {endpoints: ["tester:c", "dut:d2"], rate: 1Gbps}
    - {endpoints: ["tester:d", "dut:d3"], rate: 1Gbps}
traffic: {it: {size: 128B, flows: 100, IT}}
matrix: {direction: [WAY]}
method: {sweep: {loads: [10%], duration: 100ms}}
trial: {settle: 1ms, drain: 10ms}
"""
CLASSES = "answers: true, classes: {voice: {dscp: ef, share: 20%}, data: {share: 80%}}"
CONSTANT = "answers: true, classes: {voice: {dscp: ef, rate: 1Mbps}, data: {}}"


def of(it: str, way: str = "bidir") -> str:
    return PLAN.replace("IT", it).replace("WAY", way)


@pytest.mark.parametrize("it", ["answers: true", CLASSES, CONSTANT])
def test_stream_answers_the_one_of_its_ports_and_class(it: str) -> None:
    plan = parse(of(it))
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    found = trial_spec(plan, case, wiring, Trial("it", Frames.steady(FrameRate(1000), 10**8)))["streams"]
    answers = [one for one in found if one["answers"] is not None]
    assert len(answers) == len(found) / 2
    for one in answers:
        asked = found[one["answers"]]
        assert (asked["tx_port"], asked["rx_port"]) == (one["rx_port"], one["tx_port"])
        assert asked["name"].partition("/")[2] == one["name"].partition("/")[2]
        assert asked["answers"] is None


def test_what_a_modifier_sends_answers_nothing() -> None:
    plan = parse(of("answers: true").replace("matrix: {", "matrix: {modifier: [broadcast], "))
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    sent = trial_spec(plan, case, wiring, Trial("it", Frames.steady(FrameRate(1000), 10**8)))["streams"]
    assert {one["name"].count("broadcast") for one in sent if one["answers"] is not None} == {0}


def test_frames_are_answered_where_nothing_translates(tmp_path: Path) -> None:
    with open_run(run_here(parse(of("answers: true")), tmp_path).folder, REASONS) as run:
        streams = [one for trial in run.trials(0) for one in trial.result.streams]
    assert streams
    assert all((one.lost, one.retranslated) == (0, 0) for one in streams)
    assert {one.translated for one in streams} == {0, None}


@pytest.mark.parametrize(
    ("it", "way"),
    [("answers: true", "uni"), ("answers: true, ip: 6", "bidir"), ("answers: true, probe: false", "bidir")],
)
def test_answers_that_cannot_be_are_refused(it: str, way: str) -> None:
    with pytest.raises(PlanErrors) as refused:
        parse(of(it, way))
    assert "unsupported" in [one.code for one in refused.value.errors]
