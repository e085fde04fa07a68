"""A router on a stick: two VLANs of one tester port, a Linux router between them behind Open vSwitch.

tester t0 (VLANs 10, 20) -- o0 [br] a10, a20 -- e10, e20 [router]
Truth: what the router's kernel counted at the interface of each VLAN.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import ovs
import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links
from netdyno.plan import parse
from netdyno.plan.device_lists import route_lines
from netdyno.store import open_run
from ovs_vlans import vlan_router
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(
        not ovs.is_installed() or shutil.which("ethtool", path=dut.SEARCH) is None,
        reason="wants Open vSwitch and ethtool (apt-get install openvswitch-switch ethtool)",
    ),
]

VIDS = (10, 20)
PLAN = """\
title: A router on a stick
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - endpoints: ["tester:t0", "dut:o0"]
      rate: 1Gbps
      vlans:
        - {vlan: 10, address: 10.0.10.2/24, gateway: 10.0.10.1}
        - {vlan: 20, address: 10.0.20.2/24, gateway: 10.0.20.1}
traffic: {small: {size: 128B, flows: 64}}
matrix: {pattern: [hairpin], direction: [uni, bidir]}
method: {soak: {load: 1kpps, duration: 2s, part: 0s}}
trial: {resolve: 5s, settle: 100ms, drain: 500ms, retries: 0, catch_up: 1000%}
"""


@pytest.fixture
def router() -> Iterator[dut.Device]:
    with vlan_router(VIDS) as router:
        links.ip("link set t0 arp off")
        router.do("echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter")
        for line in route_lines(parse(PLAN)):
            router.do(f"ip route add {line}")
        yield router


def counts(router: dut.Device) -> dict[int, tuple[int, int]]:
    """Frames in and out of the router at the interface of each VLAN."""
    found = {}
    for vid in VIDS:
        (link,) = json.loads(router.do(f"ip -s -j link show e{vid}"))
        found[vid] = (link["stats64"]["rx"]["packets"], link["stats64"]["tx"]["packets"])
    return found


@pytest.mark.parametrize("direction", ["uni", "bidir"])
def test_frames_of_each_vlan_come_back_on_the_other_one(
    direction: str, router: dut.Device, tmp_path: Path
) -> None:
    before = counts(router)
    only = {"direction": direction}
    outcome = runner.run(parse(PLAN), tmp_path, watcher(), runner.Selection(only=only))
    after = counts(router)
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.state == "done", case.error
        (trial,) = run.trials(case.head.number)
    assert trial.result.invalid == ()
    sent = {one.name: one.offered for one in trial.result.streams}
    ways = {"uni": ["10-20"], "bidir": ["10-20", "20-10"]}[direction]
    # A starved tester sends fewer.
    assert set(sent) == {f"t0-t0/{way}" for way in ways}
    assert all(0 < count <= 2000 // len(ways) for count in sent.values())
    assert {one.lost for one in trial.result.streams} == {0}
    # Beside test frames there is ARP: fewer than 50 frames each way, while traffic comes by the hundred.
    for way in ways:
        near, far = map(int, way.split("-"))
        into = after[near][0] - before[near][0]
        out = after[far][1] - before[far][1]
        assert 0 <= into - sent[f"t0-t0/{way}"] < 50
        assert 0 <= out - sent[f"t0-t0/{way}"] < 50
