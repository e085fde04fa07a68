"""Routes in a Linux router, each proven by frames, in real time."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import KINDS, LabError, LabLink
from netdyno.plan import parse
from netdyno.store import open_run

pytestmark = pytest.mark.paired

ROUTES = """\
title: Routes
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
traffic:
  it: {size: 64B, flows: 4096}
matrix: {routes: [500], direction: [uni]}
method: {throughput: {duration: 20ms, width: 1%, maximum: 20kpps}}
trial: {sample: 1ms, settle: 1ms, drain: 100ms}
"""


def test_a_linux_router_is_given_the_routes_and_forwards_by_each(tmp_path: Path) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    links = (LabLink("west", "d0", 10**9), LabLink("east", "d1", 10**9))
    try:
        with KINDS["linux/router"].build(KINDS["linux/router"].wire(links, {"routes": "3"})):
            pass
    except LabError as refused:
        pytest.skip(f"no lab of network namespaces here: {refused}")
    outcome = runner.run(parse(ROUTES), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        first = next(iter(run.trials(0)))
        # What a busy machine did not send is the tester's, and is reported as that.
        if case.error is None:
            assert [stream.flows_received for stream in first.result.streams] == [500]
        else:
            assert str(case.error).startswith("not every route was tried"), case.error
