"""RFC 2544's 256 networks, packet filters and broadcasts on devices of the kernel's, in real time."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import LabError
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.records import StoredTrial
from netdyno.values.units import FrameRate
from test_frames_tshark import TSHARK, capturing

engine = pytest.importorskip("netdyno._engine", reason="the engine is not built")


def plan(addresses: str, more: str = "") -> Plan:
    return parse(f"""\
title: RFC 2544 on Linux
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: linux/router}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}}
traffic: {{it: {{size: 64B, addresses: {addresses}, flows: 256}}}}
matrix: {{direction: [uni]{more}}}
method: {{throughput: {{duration: 200ms, width: 50%, maximum: 5kpps}}}}
trial: {{sample: 10ms, settle: 1ms, drain: 100ms}}
""")


def trials(asked: Plan, folder: Path) -> list[StoredTrial]:
    """Those of its only case; skips where there can be no such device."""
    (case,) = cases(asked)
    try:
        with asked.kind.build(asked.kind.wire(asked.lab.links, case.settings)):
            pass
    except LabError as refused:
        pytest.skip(f"no such Linux router here: {refused}")
    outcome = runner.run(asked, folder, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        found = list(run.trials(0))
    assert found
    return found


def test_a_linux_router_forwards_to_each_of_256_networks(tmp_path: Path) -> None:
    found = trials(plan("rfc2544-256"), tmp_path)
    # Of a busy machine the first may not count.
    assert max(stream.flows_received for trial in found for stream in trial.result.streams) == 256


def test_a_linux_router_passes_what_its_filter_permits(tmp_path: Path) -> None:
    first, *_ = trials(plan("rfc2544", ", modifier: [filters-25]"), tmp_path)
    assert first.result.streams[0].received > 0


def test_a_linux_router_drops_what_its_filter_does_not_permit(tmp_path: Path) -> None:
    found = trials(plan("rfc2544", ", filters: ['1 at 1, 0: 10.0.0.0/8 > 11.0.0.0/8']"), tmp_path)
    assert all(trial.result.streams[0].offered > 0 for trial in found)
    assert all(trial.result.streams[0].received == 0 for trial in found)


def test_every_hundredth_frame_on_the_cable_is_a_broadcast(tmp_path: Path) -> None:
    """As tshark has it, of what came out of a cross connect."""
    if TSHARK is None:
        pytest.skip("wants tshark (apt-get install tshark)")
    text = plan("rfc2544", ", modifier: [broadcast]").text.replace("linux/router", "linux/xconnect")
    asked = parse(text.replace("5kpps", "2kpps").replace("200ms, width", "1s, width"))
    (case,) = cases(asked)
    file = tmp_path / "frames.pcapng"
    wiring = asked.kind.wire(asked.lab.links, case.settings)
    load = (Segment("traffic", 10**9, FrameRate(2000), FrameRate(2000)),)
    try:
        with asked.kind.build(wiring) as live:
            built = live.wiring
            interface = built.session["ports"][1]["backend"]["interface"]
            session = engine.Session(json.dumps(session_spec(built, case)))
            try:
                with capturing(interface, file):
                    session.start(json.dumps(trial_spec(asked, case, built, Trial("x", Frames(load)))))
                    assert session.wait(20)
                    result = read_result(session.result(), {"west-east/broadcast"})
            finally:
                session.close()
    except LabError as refused:
        pytest.skip(f"no lab of network namespaces here: {refused}")
    fields = ("eth.src", "eth.dst", "eth.type", "frame.len")
    command = [TSHARK, "-n", "-r", str(file), "-T", "fields", *(f"-e{field}" for field in fields)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    frames = [tuple(line.split("\t")) for line in said.splitlines()]
    ours = [frame for frame in frames if frame[0] == built.ports[0].mac]
    places = [number for number, frame in enumerate(ours) if frame[1] == "ff:ff:ff:ff:ff:ff"]
    assert {ours[place][2:] for place in places} == {("0x88b5", "60")}
    (judged,), (beside,) = result.streams, result.beside
    assert (len(ours) - len(places), len(places)) == (judged.received, beside.received)
    assert result.health.unsent or (judged.offered, beside.offered) == (1980, 20)
    # A tester that was away sends what it owes of each stream in a burst.
    if result.health.longest_gap_ns < 10**7:
        assert all(abs(second - first - 100) <= 20 for first, second in pairwise(places))
