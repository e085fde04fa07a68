"""Frames at four points through a real Linux router, by its kernel's own counters."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.telemetry.linux_cpu import MachineCores
from netdyno.plan import parse
from netdyno.reports.model.device import Balance, balance
from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import CaseView
from netdyno.store import open_run
from netdyno.verdict.balance_reasons import BytesExplained, EveryFrameAccounted, FramesUnaccounted

PLAN = """\
title: A ramp through a Linux router
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
traffic: {frames: {size: 128B, flows: 16}}
matrix: {direction: [bidir]}
method: {ramp: {warmup: 300ms at 1kpps, ramp: 1s to 1%, hold: 1s}}
trial: {sample: 10ms}
"""


def case_of(text: str, folder: Path) -> CaseView:
    outcome = runner.run(parse(text), folder, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = view(stored).cases
    return case


def test_every_frame_through_a_linux_router_is_accounted_for(tmp_path: Path) -> None:
    case = case_of(PLAN, tmp_path)
    found: Balance = balance(case)
    answer = found.answer
    assert isinstance(answer, EveryFrameAccounted), str(answer)
    sent = sum(stream.offered for stream in case.resting_trials[0].result.streams)
    received = sum(stream.received for stream in case.resting_trials[0].result.streams)
    assert sent > 5_000
    # Beside them the tester asks for its next hops.
    assert sent <= answer.sent <= sent + 10
    assert received <= answer.received == answer.given <= received + 10
    # Linux counts the bytes of a packet without the FCS, which a veth has not.
    assert [one.conventions for one in found.conventions if isinstance(one, BytesExplained)] == [
        ("without FCS",)
    ]


def test_cores_under_a_linux_router_are_labelled_as_this_machines(tmp_path: Path) -> None:
    case = case_of(PLAN, tmp_path)
    series = case.resting_trials[0].result.series
    own = [one for one in series if one.source == MachineCores().name]
    cores = {one.subject for one in own if one.name == "softirq"}
    assert cores
    assert cores <= {f"cpu{number}" for number in range(os.cpu_count() or 1)}
    assert all(one.took_ns for one in own)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="a core of its own for the device wants two")
def test_frames_that_an_overloaded_router_dropped_have_a_reason(tmp_path: Path) -> None:
    """Where the device keeps up with the tester nothing is dropped, and all are accounted for as well."""
    text = PLAN.replace("ramp: 1s to 1%", "ramp: 1s to 100%").replace("16}", "1024}")
    found = balance(case_of(text, tmp_path))
    answer = found.answer
    if isinstance(answer, FramesUnaccounted):
        pytest.fail(f"{answer}: {[path.drops for path in found.paths]}")
    assert isinstance(answer, EveryFrameAccounted)
    assert sum(drop.frames for path in found.paths for drop in path.drops) == answer.dropped
