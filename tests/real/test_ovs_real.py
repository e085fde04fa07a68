"""VLAN tags through Open vSwitch: bytes that its counters say at four points against netdyno's arithmetic.

The device is reached as a user's would be: by SSH, through a real bash. Truth: Open vSwitch's counters.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import ovs
import pytest
import real_shell
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.openvswitch import DRIVER
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces
from netdyno.devices.reach.instrument import CliInstrument, Turn
from netdyno.devices.reach.session import Session
from netdyno.plan import parse
from netdyno.reports.model.device import balance
from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import CaseView
from netdyno.store import open_run
from netdyno.values.outcome import Outcome
from netdyno.values.rates import FCS, WIRE_OVERHEAD
from netdyno.values.trunk import Trunk
from netdyno.verdict.balance_reasons import BytesExplained, EveryFrameAccounted
from netdyno.verdict.conventions import reconcile
from netdyno.verdict.device_counts import PortCounts
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(
        not ovs.is_installed(), reason="wants Open vSwitch (apt-get install openvswitch-switch)"
    ),
]

FRAMES = 960
"""Twenty rounds of the mix of 48 frames, few a second: a socket of the switch holds those of its pauses."""

PLAN = """\
title: QinQ through Open vSwitch
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut:
      kind: external
      driver: openvswitch
      host: 127.0.0.1
      user: lab
      ssh: {{port: {port}, known_hosts: {known}}}
  links:
    - {{endpoints: ["tester:t0", "dut:o0"], rate: 1Gbps, mac: "02:00:00:00:00:02"}}
    - {{endpoints: ["tester:t1", "dut:o1"], rate: 1Gbps, mac: "02:00:00:00:00:01"}}
traffic: {{mixed: {{size: {size}, flows: 16, vlan: {vlan}}}}}
matrix: {{direction: [uni]}}
method: {{soak: {{load: 480pps, duration: 2s, part: 0s}}}}
trial: {{settle: 100ms, drain: {drain}, retries: 0, catch_up: 1000%}}
"""
TUNNEL = "vlan_mode=dot1q-tunnel tag=100"
ACROSS = "vlan_mode=trunk trunks=100"


@dataclass(frozen=True)
class Lab:
    """A switch, and how it is reached."""

    switch: ovs.Switch
    server: real_shell.Server
    folder: Path

    @property
    def access(self) -> Access:
        known = self.server.known_hosts(self.folder)
        return Access("127.0.0.1", "lab", Ssh(self.server.port, known_hosts=known))

    def run(self, size: str = "imix/trex", vlan: str = "none", drain: str = "500ms") -> CaseView:
        known = self.server.known_hosts(self.folder)
        text = PLAN.format(port=self.server.port, known=known, size=size, vlan=vlan, drain=drain)
        outcome = runner.run(parse(text), self.folder / "runs", watcher(), runner.Selection())
        with open_run(outcome.folder, REASONS) as stored:
            (case,) = view(stored).cases
        return case


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Bridges without ports yet. The path of a socket has to be short."""
    real_shell.log_in(monkeypatch, tmp_path)
    with tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp") as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        with namespaces.tester_namespace(), dut.device_namespace() as device:
            links.ip("link set lo up")
            ovs.wire(device)
            into = (dut.tool("nsenter"), "--net", "--target", str(device.pid))
            with (
                ovs.run_switch(Path(short), device) as switch,
                real_shell.serve_bash(into, switch.env) as ssh,
            ):
                added = " -- ".join(
                    f"add-br {name} -- set Bridge {name} datapath_type=netdev" for name in ovs.BRIDGES
                )
                switch.do(f"ovs-vsctl --timeout=10 set Open_vSwitch . other_config:vlan-limit=2 -- {added}")
                yield Lab(switch, ssh, tmp_path)


def join(switch: ovs.Switch, access: str, trunk: str) -> None:
    """Gives both bridges their ports."""
    ports = [
        f"add-port {bridge} {name} {how}"
        for names, how in ((ovs.ACCESS, access), (ovs.TRUNK, trunk))
        for bridge, name in zip(ovs.BRIDGES, names, strict=True)
    ]
    switch.do(f"ovs-vsctl --timeout=10 {' -- '.join(ports)}")


Counts = Mapping[tuple[str, str], int]


@contextmanager
def counted(lab: Lab, ports: tuple[str, ...]) -> Iterator[dict[tuple[str, str], int]]:
    """By how much the counters of these ports grew in the block, read as the driver reads them."""
    named = tuple((port, port) for port in ports)
    grown: dict[tuple[str, str], int] = {}
    with Session(lab.access, DRIVER.shell) as session:

        def read() -> Counts:
            instrument = CliInstrument("ovs", session, DRIVER.readings[0], named, lambda *_: (), Turn())
            found = instrument.read(time.monotonic_ns)
            return {(one.subject, one.name): int(sample.value) for one, sample in found.items()}  # type: ignore[arg-type]

        before = read()
        yield grown
        grown.update({key: count - before[key] for key, count in read().items()})


def on_trunk(outcome: Outcome, counts: Counts) -> tuple[PortCounts, ...]:
    """What the tester sent, against the counters of the trunk's two ends."""
    west, east = outcome.ports

    def port(name: str, sent: int, sent_bytes: int, received: int, received_bytes: int) -> PortCounts:
        return PortCounts(
            *("trunk", name, sent, received, sent_bytes, received_bytes, 0, 0, 0, 0),
            taken=counts[name, "rx_packets"],
            given=counts[name, "tx_packets"],
            taken_bytes=counts[name, "rx_bytes"],
            given_bytes=counts[name, "tx_bytes"],
        )

    near, far = ovs.TRUNK
    return (
        port(near, 0, 0, west.tx_frames, west.tx_bytes),
        port(far, east.rx_frames, east.rx_bytes, 0, 0),
    )


def check_arithmetic(case: CaseView, counts: Counts, more: int, percent: float, tags: int = 0) -> None:
    """Frames are alike at all points; bytes on the trunk are those at the ports and `more` a frame.

    percent: of the line that tags take there, four digits. tags: of the tester's own frames.
    """
    (trial,) = case.resting_trials
    outcome = trial.result
    west, east = outcome.ports
    assert (west.tx_frames, east.rx_frames) == (FRAMES, FRAMES)
    ways = {("o0", "rx"), ("k0", "tx"), ("k1", "rx"), ("o1", "tx")}
    assert {counts[port, f"{way}_packets"] for port, way in ways} == {FRAMES}
    access = {counts["o0", "rx_bytes"], counts["o1", "tx_bytes"]}
    assert access == {west.tx_bytes - FCS * FRAMES}
    found = balance(case)
    assert isinstance(found.answer, EveryFrameAccounted), str(found.answer)
    assert [one.conventions for one in found.conventions if isinstance(one, BytesExplained)] == [
        ("without FCS",)
    ]
    # netdyno predicts both ends of the trunk to the byte: by its convention for tags that a device adds.
    ends = reconcile(on_trunk(outcome, counts), tags)
    assert [(one.port, one.way) for one in ends] == [("k0", "out"), ("k1", "in")]
    for one in ends:
        assert one.off == 0
        assert one.counted == next(iter(access)) + more * FRAMES
        assert {known.more for known in one.conventions} == {more - FCS}
    # The rates on the line, L1, and so the share that a full trunk of the ports' rate has no room for.
    line = {port: Fraction(counts[port, f"{way}_bytes"], FRAMES) + FCS + WIRE_OVERHEAD for port, way in ways}
    overhead = 1 - line["o0"] / line["k0"]
    rate_bps = 10**9
    mean = Fraction(west.tx_bytes, FRAMES)
    full = Fraction(rate_bps) / (8 * (mean + WIRE_OVERHEAD))
    assert Trunk(rate_bps, (0,), more).lost_share([(full, mean)]) == overhead
    assert line["k0"] == line["k1"]
    assert round(float(100 * overhead), 4) == percent


def test_tunnel_tag_takes_the_share_of_the_trunk_predicted(lab: Lab) -> None:
    join(lab.switch, TUNNEL, ACROSS)
    with counted(lab, (*ovs.ACCESS, *ovs.TRUNK)) as counts:
        case = lab.run()
    check_arithmetic(case, counts, 4, 1.0367)


def test_second_tag_of_a_tunnel_is_counted_beside_the_first(lab: Lab) -> None:
    """The tester's frames have a tag of their own."""
    join(lab.switch, TUNNEL, ACROSS)
    with counted(lab, (*ovs.ACCESS, *ovs.TRUNK)) as counts:
        case = lab.run("{68: 28, 598: 16, 1522: 4}", "10")
    check_arithmetic(case, counts, 4, 1.0261, tags=1)


def test_two_pushed_tags_take_twice_the_bytes_of_one(lab: Lab) -> None:
    join(lab.switch, "", "")
    push = "push_vlan:0x8100,set_field:4106->vlan_vid,push_vlan:0x88a8,set_field:4196->vlan_vid"
    lab.switch.do(f"ovs-ofctl -O OpenFlow13 add-flow ba 'in_port=o0,actions={push},output:k0'")
    lab.switch.do("ovs-ofctl add-flow bb in_port=k1,actions=pop_vlan,pop_vlan,output:o1")
    with counted(lab, (*ovs.ACCESS, *ovs.TRUNK)) as counts:
        case = lab.run()
    check_arithmetic(case, counts, 8, 2.0522)


def test_frames_that_a_flow_drops_have_open_vswitch_reason(lab: Lab) -> None:
    """It adds up its reasons once a second."""
    join(lab.switch, TUNNEL, ACROSS)
    lab.switch.do("ovs-ofctl add-flow bb in_port=k1,actions=drop")
    case = lab.run(drain="1500ms")
    found = balance(case)
    assert isinstance(found.answer, EveryFrameAccounted), str(found.answer)
    assert (found.answer.sent, found.answer.received, found.answer.dropped) == (FRAMES, 0, FRAMES)
    drops = {(one.subject, one.name, one.frames) for path in found.paths for one in path.drops if one.frames}
    assert drops == {("drop_action_of_pipeline", "datapath_drops", FRAMES)}


def test_cycles_of_a_pmd_thread_are_read_busy_and_idle(lab: Lab) -> None:
    """AF_XDP ports have one, which polls all the time."""
    for name in ovs.TESTER:
        # A frame that an XDP program sends into a veth needs NAPI at the other end.
        ethtool = dut.tool("ethtool")
        subprocess.run([ethtool, "--offload", name, "gro", "on"], check=True, timeout=10)
    added = (f"add-port ba {name} -- set Interface {name} type=afxdp" for name in ovs.ACCESS)
    lab.switch.do(f"ovs-vsctl --timeout=10 {' -- '.join(added)}")
    case = lab.run()
    answer = balance(case).answer
    assert isinstance(answer, EveryFrameAccounted), str(answer)
    series = case.resting_trials[0].result.series
    cycles = {one.name: one for one in series if one.subject.startswith("pmd thread ")}
    assert set(cycles) == {"idle cycles", "busy cycles"}
    for one in cycles.values():
        assert one.is_counter
        assert one.values[0] < one.values[-1]


def test_flows_are_chosen_by_what_the_driver_reads_of_members(lab: Lab) -> None:
    """The bond is between both bridges, out of sight of the tester: t0 o0 [ba] x0, x1 -- [bb] o1 t1."""
    switch, bonds = lab.switch, {"ba": ("x0", "x1"), "bb": ("y0", "y1")}
    for pair in zip(*bonds.values(), strict=True):
        switch.device.do(
            "ip link add {} mtu {mtu} type veth peer name {} mtu {mtu}".format(*pair, mtu=ovs.MTU)
        )
        for name in pair:
            switch.device.do(f"ip link set {name} up")
    for (bridge, members), access in zip(bonds.items(), ovs.ACCESS, strict=True):
        switch.do(
            f"ovs-vsctl --timeout=10 add-port {bridge} {access} -- add-bond {bridge} bond-{bridge}"
            f" {' '.join(members)} bond_mode=balance-tcp lacp=active"
            " other_config:bond-rebalance-interval=0"
        )
    for _ in range(100):
        if switch.do("ovs-appctl bond/show bond-ba").count(": enabled") == 2:
            break
        time.sleep(0.1)
    known = lab.server.known_hosts(lab.folder)
    text = PLAN.format(port=lab.server.port, known=known, size="128B", vlan="none", drain="500ms")
    text = text.replace("flows: 16", "flows: {count: 8, members: [3, 1]}")
    text = text.replace('"dut:o1"]', '"dut:x0"], members: [x1]')
    with counted(lab, bonds["ba"]) as grown:
        outcome = runner.run(parse(text), lab.folder / "runs", watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = view(stored).cases
    assert case.error is None
    assert case.result is not None
    (note,) = (one.fields() for one in case.result.notes if one.code == "flows-chosen")
    assert note["chosen"] == [6, 2]
    # A thousand frames of each candidate, then the trial's; LACPDUs each half minute.
    for member, found, chosen in zip(bonds["ba"], note["found"], note["chosen"], strict=True):
        frames = grown[member, "tx_packets"] - 1000 * found
        assert abs(frames - FRAMES * chosen // 8) <= FRAMES // 20
