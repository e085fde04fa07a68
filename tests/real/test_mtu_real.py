"""The MTU of the tester's own interfaces: that of each case while it runs, and their own again afterwards."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces
from netdyno.plan import parse
from netdyno.ports import nic
from netdyno.store import open_run
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [pytest.mark.paired, needs_root]

PLAN = """\
title: Through a bridge with an MTU of 9000
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:t0", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:t1", "dut:d1"], rate: 1Gbps}
traffic: {longest: {size: mtu, flows: 8}}
matrix: {mtu: [1500, 9000], direction: [uni]}
method: {soak: {load: 200pps, duration: 1s, part: 0s}}
trial: {settle: 100ms, drain: 500ms, retries: 0, catch_up: 1000%}
"""


@pytest.fixture
def bridge() -> Iterator[None]:
    """Tester ports with an MTU of 2000, a bridge between their far ends, which take 9000."""
    with namespaces.tester_namespace(), dut.device_namespace() as device:
        device.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
        device.do("ip link add br0 type bridge stp_state 0 mcast_snooping 0; ip link set br0 up")
        for number in (0, 1):
            far = f"d{number} mtu 9000 netns {device.pid}"
            links.ip(f"link add t{number} mtu 2000 type veth peer name {far}")
            links.ip(f"link set t{number} arp off up")
            device.do(f"ip link set d{number} master br0 up")
        yield


def mtu_of(name: str) -> int:
    card = nic.read(name)
    assert card is not None
    return card.link.mtu


def test_interfaces_have_the_mtu_of_each_case_and_then_their_own(bridge: None, tmp_path: Path) -> None:
    outcome = runner.run(parse(PLAN), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        assert [case.state for case in run.cases] == ["done", "done"], run.cases[0].error
        for case in run.cases:
            (trial,) = run.trials(case.head.number)
            (stream,) = trial.result.streams
            mtu = int(case.head.axes["mtu"])
            assert {one.mtu for one in trial.result.interfaces} == {mtu}
            # A starved tester sends fewer than 200.
            assert stream.received > 0
            assert stream.received_bytes == stream.received * (mtu + 18)
    assert (mtu_of("t0"), mtu_of("t1")) == (2000, 2000)


def test_mtu_comes_back_after_the_process_was_killed(bridge: None) -> None:
    held = "from netdyno.devices.linux.mtu import with_mtu\nimport sys\n"
    held += "with with_mtu(['t0', 't1'], 9000):\n    print('ready', flush=True)\n    sys.stdin.read()\n"
    with subprocess.Popen(
        [sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert (mtu_of("t0"), mtu_of("t1")) == (9000, 9000)
        process.kill()
    deadline = time.monotonic() + 10
    while (mtu_of("t0"), mtu_of("t1")) != (2000, 2000):
        assert time.monotonic() < deadline
        time.sleep(0.02)
