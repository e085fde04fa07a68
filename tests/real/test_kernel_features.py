"""What not every kernel has, as independent truth: netem's loss, copies and delay, VLANs, VRF, bonds."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import test_kernel_neighbours as neighbours
from netdyno.devices import addresses
from netdyno.devices.linux import device as dut
from netdyno.devices.wiring import LabError
from netdyno.values.outcome import Outcome

pytestmark = neighbours.pytestmark
device = neighbours.device

RATE, SECONDS = 1000, 3
VLANS = (10, 20)
"""Of the routers' VLAN interfaces on each port."""


def wanted(device: dut.Device, *commands: str) -> None:
    """Commands that set the device up; skips where the kernel does not have what they ask for."""
    for command in commands:
        try:
            device.do(command)
        except LabError as error:
            pytest.skip(f"this kernel has not what it takes: {error}")


def spec() -> dict[str, Any]:
    made = neighbours.spec(0, 1, 2)
    (stream,) = made["streams"]
    load = RATE * neighbours.BITS_64
    stream["schedule"] = [
        {"name": "traffic", "duration_ns": SECONDS * 10**9, "from_bps": load, "to_bps": load}
    ]
    stream["flows"] = 10
    # Room for a tag.
    stream["sizes"] = [{"size": 128, "weight": 1}]
    made["drain_ns"] = 10**9
    return made


def run(made: dict[str, Any]) -> Outcome:
    result = neighbours.Running(made).result()
    assert result.invalid == ()
    assert result.streams[0].offered > RATE
    return result


def drops(device: dut.Device) -> int:
    """What the queueing discipline of the way out counts as dropped."""
    said = re.search(r"dropped (\d+)", device.do("tc -s qdisc show dev d1"))
    assert said is not None
    return int(said[1])


def test_loss_is_what_netem_dropped(device: dut.Device) -> None:
    wanted(device, "tc qdisc add dev d1 root netem loss 10% limit 100000")
    result = run(spec())
    (stream,) = result.streams
    dropped = drops(device)
    assert dropped > 0
    # What it drops besides test frames: the answers to the tester's own questions.
    assert dropped - 20 <= stream.lost <= dropped + result.health.rx_dropped
    assert (stream.duplicates, stream.corrupted, stream.out_of_order) == (0, 0, 0)


def test_copies_are_those_netem_made(device: dut.Device) -> None:
    wanted(device, "tc qdisc add dev d1 root netem duplicate 5% limit 100000")
    (stream,) = run(spec()).streams
    sent = re.search(r"Sent \d+ bytes (\d+) pkt", device.do("tc -s qdisc show dev d1"))
    assert sent is not None
    assert stream.duplicates > 0
    assert 0 <= int(sent[1]) - stream.offered - stream.duplicates <= 20
    assert (stream.lost, stream.corrupted) == (0, 0)


def test_a_bit_that_netem_flips_is_corruption_and_no_loss(device: dut.Device) -> None:
    # One bit of a tenth of the frames; where it is in the headers the frame is lost or nobody's.
    wanted(device, "tc qdisc add dev d1 root netem corrupt 10% limit 100000")
    (stream,) = run(spec()).streams
    assert stream.corrupted > 0
    assert 0.05 < stream.missing / stream.offered < 0.15
    assert stream.received == stream.offered - stream.missing


def test_delay_is_netems(device: dut.Device) -> None:
    wanted(device, "tc qdisc add dev d1 root netem delay 30ms limit 100000")
    (stream,) = run(spec()).streams
    assert stream.lost == 0
    assert stream.latency is not None
    # No frame is earlier than the delay; how much later is this machine's.
    assert 30_000_000 <= stream.latency.min_ns <= stream.latency.sum_ns / stream.latency.count
    assert stream.latency.min_ns < 60_000_000


def test_order_is_what_netem_left_of_it(device: dut.Device) -> None:
    # Nine of ten frames wait 20 ms and are overtaken by the tenth.
    wanted(device, "tc qdisc add dev d1 root netem delay 20ms reorder 10% limit 100000")
    (stream,) = run(spec()).streams
    assert (stream.lost, stream.duplicates, stream.corrupted) == (0, 0, 0)
    assert stream.out_of_order > 0


def test_between_vlan_interfaces_of_a_router(device: dut.Device) -> None:
    for port, (name, vlan) in enumerate(zip(dut.PORTS, VLANS, strict=False)):
        wanted(device, f"ip link add link {name} name {name}.{vlan} type vlan id {vlan}")
        device.do(f"ip address flush dev {name}")
        device.do(f"ip address add {addresses.device(port)}/30 dev {name}.{vlan}")
        device.do(f"ip link set {name}.{vlan} up")
        device.do(f"ip route replace {addresses.BEHIND[port][0]} via {addresses.tester(port)}")
    made = spec()
    made["streams"][0]["headers"].insert(1, {"type": "vlan", "tpid": 0x8100, "vid": VLANS[0], "pcp": 0})
    for port, vlan in zip(made["ports"], VLANS, strict=True):
        own = {name: port.pop(name) for name in ("ipv4", "gateway")}
        port["vlans"] = [{"tags": [{"tpid": 0x8100, "vid": vlan}], **own}]
    result = run(made)
    neighbours_of = device.do("ip neighbour show")
    assert result.streams[0].lost <= result.health.rx_dropped
    for port, (name, vlan) in enumerate(zip(dut.PORTS, VLANS, strict=False)):
        learned = f"{addresses.tester(port)} dev {name}.{vlan} lladdr {addresses.tester_mac(port)}"
        assert learned in neighbours_of


def test_in_a_vrf(device: dut.Device) -> None:
    wanted(device, "ip link add blue type vrf table 10")
    device.do("ip link set blue up")
    for port, name in enumerate(dut.PORTS[:2]):
        device.do(f"ip link set {name} master blue")
        device.do(f"ip route replace {addresses.BEHIND[port][0]} via {addresses.tester(port)} vrf blue")
    result = run(spec())
    assert result.streams[0].lost <= result.health.rx_dropped
    counted = json.loads(device.do("ip -json -stats link show blue"))[0]["stats64"]["rx"]["packets"]
    assert counted >= result.streams[0].offered, "the frames went through the VRF"


def test_through_a_bond(device: dut.Device) -> None:
    wanted(device, "ip link add bond0 type bond mode active-backup miimon 100")
    device.do("ip address flush dev d1")
    mac = addresses.device_mac(1)
    device.do("ip link set d1 down")
    device.do("ip link set d1 master bond0")
    device.do(f"ip link set bond0 address {mac}")
    device.do("ip link set bond0 up")
    device.do(f"ip address add {addresses.device(1)}/30 dev bond0")
    device.do(f"ip route replace {addresses.BEHIND[1][0]} via {addresses.tester(1)}")
    device.do("timeout 10 sh -c 'until grep -q 1 /proc/net/bonding/bond0; do sleep 0.1; done'")
    result = run(spec())
    assert result.streams[0].lost <= result.health.rx_dropped
    counted = json.loads(device.do("ip -json -stats link show bond0"))[0]["stats64"]["tx"]["packets"]
    assert counted >= result.streams[0].offered
