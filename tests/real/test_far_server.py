"""TCP to an iperf3 server on another host behind a router: both in a namespace that no tester builds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.links import ip
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.testers import tables
from test_labs import needs_root

pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed"),
]

PLAN = """\
title: TCP to a server
tester: iperf3
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:farsrv0", "dut:farsrv1"], rate: 1Gbps, address: 10.0.1.2/24, gateway: 10.0.1.1}
    - {endpoints: ["tester:far", "dut:lo"], rate: 1Gbps, server: 192.0.2.20}
traffic: {it: {size: 1518B, flows: 2}}
matrix: {direction: [uni, bidir]}
method: {tcp: {duration: 1s}}
"""


@pytest.fixture
def _server() -> Iterator[None]:
    """A router's interface, and behind it an address with servers at 5201 and 5202."""
    with ExitStack() as running:
        device = running.enter_context(dut.device_namespace())
        ip(f"link add farsrv0 type veth peer name farsrv1 netns {device.pid}")
        running.callback(ip, "link delete farsrv0")
        ip("link set farsrv0 up")
        for line in (
            "ip link set lo up",
            "ip address add 192.0.2.20/32 dev lo",
            "ip address add 10.0.1.1/24 dev farsrv1",
            "ip link set farsrv1 up gso_max_segs 1",
            'for port in 5201 5202; do iperf3 -s -p $port >/dev/null 2>&1 & servers="$servers $!"; done',
        ):
            device.do(line)
        running.callback(device.do, "kill $servers")
        dut.await_success(device, "grep -q :1452 /proc/net/tcp6", 10, "the second server")
        yield


@pytest.mark.usefixtures("_server")
def test_both_directions_of_a_far_server_are_carried_without_own_frames(tmp_path: Path) -> None:
    outcome = runner.run(parse(PLAN, tables=tables()), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        for case in run.cases:
            assert case.state == "done", case.error
            assert case.result is not None
            assert "far-server" in {note.code for note in case.result.notes}
            assert {one.limit for one in case.verdicts} <= {"tester", "inconclusive", "receive-window"}
            (trial,) = run.trials(case.head.number)
            for one in trial.result.carried:
                assert one.received_bytes > 0
                is_sender = one.name == "farsrv0-far"
                assert len(one.each) == (2 if is_sender else 0)
                assert (one.sender is None) is not is_sender
                assert (one.receiver is None) is is_sender
