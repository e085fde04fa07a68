"""The tester as a neighbour of the Linux kernel: learned, not static, probed and pinged under load."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.lab_reasons import PortsNotCalibrated
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import LabLink, addresses
from netdyno.devices.linux import INTERFACES, MTU, ROUTER, _ip, _join, namespaces
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.forwarding import Router, set_up
from netdyno.devices.linux.services import routes
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.wiring import LabError
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import read_result
from netdyno.values.outcome import Outcome
from words import within

pytestmark = [
    pytest.mark.paired,
    pytest.mark.skipif(
        os.getuid() != 0 or shutil.which("ip", path=dut.SEARCH) is None,
        reason="wants root and `ip` (apt-get install iproute2)",
    ),
]

RATE = 10_000
SECONDS = 4
BITS_64 = 672

PING = """
import os, socket, struct, sys, time
def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
asked = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
asked.settimeout(2)
answered = 0
for number in range(20):
    head = struct.pack("!BBHHH", 8, 0, 0, 77, number)
    head = struct.pack("!BBHHH", 8, 0, checksum(head + bytes(32)), 77, number)
    asked.sendto(head + bytes(32), (sys.argv[1], 0))
    until = time.monotonic() + 2
    while time.monotonic() < until:
        try:
            packet = asked.recv(2048)
        except TimeoutError:
            break
        if packet[20] == 0 and struct.unpack("!HH", packet[24:28]) == (77, number):
            answered += 1
            break
print(answered)
"""
"""Twenty echo requests one after the other, by RFC 792: how many were answered within two seconds each."""


@pytest.fixture
def device() -> Iterator[dut.Device]:
    """A Linux router that knows nobody yet; the test lives in the tester's namespace."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    with namespaces.tester_namespace(), dut.device_namespace() as device, ExitStack() as within:
        try:
            _join(device, MTU, 1, 2)
            set_up(device, Router(), 2)
            ends = [LabLink(f"t{port}", f"d{port}", 10**9) for port in range(2)]
            within.enter_context(routes.SERVICE.install(Lab(device, ROUTER.wire(tuple(ends), {}))))
            for port, name in enumerate(dut.PORTS[:2]):
                device.do(f"ip neighbour del {addresses.tester(port)} dev {name}")
                # Soon, not after five seconds, is a neighbour in use that is stale asked whether it is there.
                device.do(f"echo 1 > /proc/sys/net/ipv4/neigh/{name}/delay_first_probe_time")
            yield device
        finally:
            for interface in INTERFACES[:2]:
                with suppress(LabError):
                    _ip(f"link delete {interface}")


def spec(sender: int, receiver: int, ports: int) -> dict[str, Any]:
    load = RATE * BITS_64
    nets = [prefix[0].split("/")[0].removesuffix(".0") + ".1" for prefix in addresses.BEHIND]
    return {
        "seed": 1,
        "streams": [
            {
                "name": "stream", "tx_port": sender, "rx_port": receiver,
                "headers": [
                    {"type": "ethernet", "src": addresses.tester_mac(sender), "dst": "00:00:00:00:00:00"},
                    {"type": "ipv4", "src": nets[0], "dst": nets[1]},
                    {"type": "udp", "sport": 1025, "dport": 12},
                ],
                "destination": {"gateway": addresses.device(sender)},
                "sizes": [{"size": 64, "weight": 1}], "flows": 1,
                "schedule": [
                    {"name": "traffic", "duration_ns": SECONDS * 10**9, "from_bps": load, "to_bps": load}
                ],
            }
        ],
        "ports": [
            {
                "mac": addresses.tester_mac(port), "ipv4": addresses.tester(port),
                "gateway": addresses.device(port),
            }
            for port in range(ports)
        ],
        "poll_ns": 500_000_000, "settle_ns": 100_000_000, "drain_ns": 500_000_000, "sample_ns": 100_000_000,
    }  # fmt: skip


class Running:
    """A trial under way on the first ports."""

    def __init__(self, spec: dict[str, Any]) -> None:
        from netdyno import _engine

        names = INTERFACES[: len(spec["ports"])]
        ports = [{"name": name, "backend": {"kind": "af_packet", "interface": name}} for name in names]
        self.session = _engine.Session(json.dumps({"clock": "real", "ports": ports}))
        self.session.start(json.dumps(spec))
        deadline = time.monotonic() + 20
        while json.loads(self.session.snapshot())["phase"] in ("resolve", "settle"):
            assert time.monotonic() < deadline, "traffic does not begin"
            time.sleep(0.02)

    def result(self) -> Outcome:
        assert self.session.wait(30)
        result = read_result(self.session.result())
        self.session.close()
        return result


def nothing_lost(result: Outcome) -> None:
    """Nothing but what the tester itself was too late to take."""
    assert result.invalid == ()
    stream = result.streams[0]
    assert stream.offered > 0
    assert stream.offered + result.health.unsent == RATE * SECONDS
    assert 0 <= stream.lost <= result.health.rx_dropped, (stream.lost, result.health)


def state(device: dut.Device, port: int) -> str:
    shown = device.do(f"ip neighbour show {addresses.tester(port)} dev {dut.PORTS[port]}").split()
    assert shown[shown.index("lladdr") + 1] == addresses.tester_mac(port)
    return shown[-1]


def until_reachable(device: dut.Device, port: int) -> None:
    deadline = time.monotonic() + 10
    while state(device, port) != "REACHABLE":
        assert time.monotonic() < deadline, state(device, port)
        time.sleep(0.05)


def test_the_kernel_finds_the_tester_there_whenever_it_asks(device: dut.Device) -> None:
    running = Running(spec(0, 1, 2))
    # A unicast probe at once; then as stale, which the traffic to it makes the kernel doubt a second later.
    device.do(f"ip neighbour change {addresses.tester(1)} dev d1 nud probe")
    until_reachable(device, 1)
    device.do(f"ip neighbour change {addresses.tester(1)} dev d1 nud stale")
    until_reachable(device, 1)
    answered = device.do(f"{sys.executable} -c '{PING}' {addresses.tester(1)}")
    assert int(answered) == 20
    result = running.result()
    nothing_lost(result)
    hops = {hop.address: hop for hop in result.next_hops}
    assert set(hops) == {addresses.device(0), addresses.device(1)}
    for port, hop in enumerate(hops[addresses.device(port)] for port in (0, 1)):
        assert hop.mac == addresses.device_mac(port)
        assert (hop.changes, hop.silences) == ((), ())
        assert hop.heard > hop.polls > 0, "each poll was answered, and the first question"
    # The answers to the pings at least, and none of them is test traffic.
    assert result.ports[1].own_frames >= 20
    assert sum(result.ports[0].tx) == result.streams[0].offered


def test_a_router_that_gets_another_mac_address_is_followed(device: dut.Device) -> None:
    running = Running(spec(0, 1, 2))
    device.do("echo 1 > /proc/sys/net/ipv4/conf/d0/arp_notify")
    device.do("ip link set d0 address 02:00:00:00:02:99")
    result = running.result()
    assert result.invalid == ()
    (hop,) = [hop for hop in result.next_hops if hop.address == addresses.device(0)]
    assert [(change.before, change.after) for change in hop.changes] == [
        (addresses.device_mac(0), "02:00:00:00:02:99")
    ]
    # It said so itself, and what was sent from then on arrives.
    stream = result.streams[0]
    after = hop.changes[0].at_ns // result.sample_ns + 1
    assert stream.lost >= 0
    assert sum(stream.arrived[after:]) > 0
    assert sum(stream.arrived[after + 1 :]) + result.health.rx_dropped >= sum(stream.tx[after + 1 :])


def test_one_port_sends_to_a_router_and_receives_from_it(device: dut.Device) -> None:
    device.do(f"ip route replace 48.0.0.0/8 via {addresses.tester(0)}")
    result = Running(spec(0, 0, 1)).result()
    nothing_lost(result)
    assert len(result.ports) == 1
    assert sum(result.ports[0].rx) == result.streams[0].received


def test_a_plan_with_one_link_measures_a_router_on_a_stick(device: dut.Device, tmp_path: Path) -> None:
    """The whole way of a plan, from and to one port; the routes are those that `netdyno check` lists."""
    for prefix in ("16.0.0.0/8", "48.0.0.0/8"):
        device.do(f"ip route replace {prefix} via {addresses.tester(0)}")
    link = f"interface: {INTERFACES[0]}, address: {addresses.tester(0)}/30, gateway: {addresses.device(0)}"
    plan = parse(f"""\
title: On a stick
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links: [{{endpoints: ["tester:west", "dut:d0"], rate: 1Gbps, {link}}}]
traffic:
  small: {{size: 64B, flows: 64}}
method: {{ramp: {{warmup: 200ms at 1kpps, ramp: 400ms to 10kpps, hold: 200ms}}}}
trial: {{settle: 100ms, drain: 500ms, sample: 50ms}}
""")
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.state == "done", case.error
        (trial,) = [trial for trial in run.trials(case.head.number) if trial.state == "done"]
    (stream,) = trial.result.streams
    assert stream.name == "west-west"
    # 200 ms at 1000 a second, 400 ms from nothing to 10,000, 200 ms at that.
    assert stream.offered + trial.result.health.unsent == 200 + 2000 + 2000
    assert 0 <= stream.lost <= trial.result.health.rx_dropped
    assert len(trial.result.ports) == 1
    assert addresses.device(0) in dict(trial.result.resolved)
    assert case.wiring is not None
    assert within(PortsNotCalibrated, case.wiring.notes)
