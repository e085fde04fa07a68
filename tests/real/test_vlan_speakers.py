"""Twenty OSPF adjacencies over VLANs of one trunk port of Open vSwitch, beside test traffic on the same port.

tester t0 (trunk, TAPs of the speaker) -- o0 [br] 10..29 -- a router in a namespace of its own for each VLAN
                                                  o1 -- t1 (trunk) tester
Truth: BIRD's own list of its neighbours, and the states of theirs in its log.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import ovs
import pytest
from netdyno.devices.linux import daemon, links, namespaces
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.bird import IS_UP, run_bird
from netdyno.devices.speakers.taps import Taps
from netdyno.devices.wiring import Subinterface
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(
        not ovs.is_installed() or shutil.which("bird", path=dut.SEARCH) is None,
        reason="wants Open vSwitch and BIRD (apt-get install openvswitch-switch bird2)",
    ),
]

VIDS = range(10, 30)
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")
UP_S = 20.0
DEAD_S = 3
BIRD = """log stderr all;
debug protocols { events };
router id %(own)s;
protocol device {}
protocol ospf v2 {
  ipv4 { import all; export none; };
  area 0 { interface "%(ports)s" { type ptp; hello 1; dead %(dead)d; }; };
}
"""
PLAN = """\
title: traffic across the trunk port
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:t0", "dut:o0"], rate: 1Gbps, vlans: [{vlan: 10-29}]}
    - {endpoints: ["tester:t1", "dut:o1"], rate: 1Gbps, vlans: [{vlan: 10-29}]}
traffic: {small: {size: 128B, flows: 20}}
matrix: {direction: [bidir]}
method: {throughput: {duration: 1s}}
trial: {resolve: 5s, settle: 100ms, drain: 1s}
"""


@dataclass(frozen=True)
class Lab:
    """The speaker, its BIRD and its TAPs."""

    speaker: dut.Device
    bird: daemon.Daemon
    taps: Taps

    def full(self) -> int:
        """How many adjacencies the speaker's BIRD has."""
        birdc = f"{dut.tool('birdc')} -s {self.bird.control} show ospf neighbors"
        return self.speaker.do(birdc).count("Full/")

    def count_changes(self) -> int:
        """How often a neighbour of it has changed its state."""
        return self.bird.log.read_text().count("changed state from")

    def await_all(self) -> None:
        """Waits for all adjacencies."""
        begun = time.monotonic()
        while self.full() < len(VIDS):
            assert time.monotonic() < begun + UP_S, f"{self.full()} adjacencies, {self.taps.carried()}"
            time.sleep(0.1)


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    with ExitStack() as stack:
        short = stack.enter_context(tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp"))
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        stack.enter_context(namespaces.tester_namespace())
        switch_side = stack.enter_context(dut.device_namespace())
        switch_side.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up")
        for name, far, mac in zip(("t0", "t1"), ("o0", "o1"), MACS, strict=True):
            links.ip(f"link add {name} address {mac} type veth peer name {far} netns {switch_side.pid}")
            links.ip(f"link set {name} up")
            switch_side.do(f"ip link set {far} up")
        switch = stack.enter_context(ovs.run_switch(Path(short), switch_side))
        trunks = ",".join(map(str, VIDS))
        ports = [f"add-port br {name} trunks={trunks}" for name in ("o0", "o1")]
        for vid in VIDS:
            router = stack.enter_context(dut.device_namespace())
            router.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
            switch_side.do(
                f"ip link add a{vid} type veth peer name e0 netns {router.pid} && ip link set a{vid} up"
            )
            router.do(f"ip address add 10.0.{vid}.1/24 dev e0; ip link set e0 up")
            ports.append(f"add-port br a{vid} tag={vid}")
            text = BIRD % {"own": f"10.0.{vid}.1", "ports": "e0", "dead": DEAD_S}
            stack.enter_context(run_bird(router, text, IS_UP))
        made = "add-br br -- set Bridge br datapath_type=netdev"
        switch.do(f"ovs-vsctl --timeout=10 {' -- '.join((made, *ports))}")
        speaker = stack.enter_context(dut.device_namespace())
        speaker.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
        vlans = [Subinterface(((vid, 0x8100),), f"10.0.{vid}.2", f"10.0.{vid}.1") for vid in VIDS]
        taps = stack.enter_context(Taps("t0", vlans, speaker.pid, MACS[0]))
        for vid, name in zip(VIDS, taps.names, strict=True):
            speaker.do(f"ip address add 10.0.{vid}.2/24 dev {name}")
        text = BIRD % {"own": "10.0.0.2", "ports": "v*", "dead": DEAD_S}
        bird = stack.enter_context(run_bird(speaker, text, IS_UP))
        yield Lab(speaker, bird, taps)


def measure(pps: int, seconds: int) -> Outcome:
    from netdyno import _engine

    plan = parse(PLAN)
    (case,) = cases(plan)
    with plan.kind.build(plan.kind.wire(plan.lab.links, case.settings)) as live:
        segment = Segment("traffic", seconds * 10**9, FrameRate(pps), FrameRate(pps))
        spec = trial_spec(plan, case, live.wiring, Trial("trial", Frames((segment,))))
        session = _engine.Session(json.dumps(session_spec(live.wiring, case)))
        session.start(json.dumps(spec))
        assert session.wait(60)
        found = read_result(session.result())
        session.close()
    return found


def test_adjacencies_of_all_vlans_come_up_and_stay_beside_traffic(lab: Lab) -> None:
    lab.await_all()
    before, changes = lab.taps.carried(), lab.count_changes()
    assert changes >= 4 * len(VIDS), "down, init, exchange, loading, full"
    # Twice as long as a neighbour is believed that says nothing.
    found = measure(2_000, 2 * DEAD_S)
    after = lab.taps.carried()
    assert found.invalid == ()
    assert (lab.full(), lab.count_changes()) == (len(VIDS), changes)
    hellos = len(VIDS) * 2 * DEAD_S // 2
    assert min(after.up - before.up, after.down - before.down) >= hellos
    assert (before.dropped, after.dropped) == (0, 0)
    # Not one of some thousand test frames came up.
    offered = sum(stream.offered for stream in found.streams)
    assert after.up - before.up < offered / 20
