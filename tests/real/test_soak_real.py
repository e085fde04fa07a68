"""A soak in real time, through an emulated device served on memifs that loses three times."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from methodlab import table
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.cli.serve import Service
from netdyno.plan import parse
from netdyno.store import open_run

PLAN = """\
title: Four seconds
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:west"], rate: 10Gbps, backend: memif, socket: {folder}/west.sock}}
    - {{endpoints: ["tester:east", "dut:east"], rate: 10Gbps, backend: memif, socket: {folder}/east.sock}}
traffic: {{it: {{size: 64B, flows: 16}}}}
matrix: {{profile: [it], direction: [uni]}}
method: {{soak: {{load: 200pps, duration: 4s, part: 2s, apart: 100ms}}}}
trial: {{settle: 100ms, drain: 500ms, catch_up: 10000%}}
"""


def test_three_losses_are_dated_and_nothing_else_is(tmp_path: Path) -> None:
    """A frame each 5 ms: number 100 is due at 0.5 s, 300 to 302 from 1.5 s on, 500 in the second part."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    service = Service(
        "emulated/cross-connect", tuple((name, f"{tmp_path}/{name}.sock") for name in ("west", "east"))
    )
    spec = service.spec()
    lost = [100, 300, 301, 302, 500]
    spec["device"]["impairments"] = [{"port": 1, "fault": "lose", "when": {"frames": lost}}]
    server = import_module("netdyno._engine").Server(json.dumps(spec))
    begun = datetime.now(UTC)
    try:
        plan = parse(PLAN.format(folder=tmp_path))
        outcome = runner.run(plan, tmp_path / "runs", watcher(), runner.Selection())
    finally:
        server.stop()
    with open_run(outcome.folder, REASONS) as run:
        result = run.cases[0].result
        assert result is not None, run.cases[0].error
        first, *_ = (trial.result for trial in run.trials(0) if trial.state == "done")
    rows = table(result, "Loss events")
    assert [(row["part"], row["lost"]) for row in rows] == [(1, 1), (1, 3), (2, 1)]
    due = [(row["first lost"], row["last lost"]) for row in rows[:2]]
    assert due == [(500_000_000, 500_000_000), (1_500_000_000, 1_510_000_000)]
    # What the tester could not send of the first part, the device did not count.
    assert rows[2]["first frame"] == 500 - first.streams[0].offered
    for row in rows:
        at = datetime.strptime(f"{row['first lost, clock']}+0000", "%Y-%m-%d %H:%M:%S.%f%z")
        assert begun < at < datetime.now(UTC) + timedelta(seconds=1)
