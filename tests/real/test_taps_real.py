"""Speakers on VLANs of a port: which frames come up and go down, byte for byte, with which checksums.

Truth: the numbers of the RFCs, frames written here, and the TCP of a kernel that takes or leaves a segment.
"""

from __future__ import annotations

import shutil
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from ipaddress import ip_address

import pytest
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces
from netdyno.devices.speakers.taps import Taps
from netdyno.devices.wiring import LabError, Subinterface
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(shutil.which("ip", path=dut.SEARCH) is None, reason="wants `ip` (iproute2)"),
]

OURS, FAR = "02:00:00:00:00:02", "02:00:00:00:00:01"
TAGGED = Subinterface(((100, 0x8100),), "10.0.0.2", "10.0.0.1", ipv6="2001:db8::2")
TWICE = Subinterface(((100, 0x88A8), (20, 0x8100)), "10.0.1.2", "10.0.1.1")
VLANS = (TAGGED, TWICE)
SOL_PACKET, PACKET_VNET_HDR = 263, 15
PATIENCE_S = 5.0


@dataclass(frozen=True)
class Ends:
    """The far end of the cable, and each TAP's, as packet sockets."""

    taps: Taps
    speaker: dut.Device
    far: socket.socket
    at: dict[str, socket.socket]


def listen(interface: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    made.bind((interface, 0))
    made.settimeout(PATIENCE_S)
    return made


@pytest.fixture
def ends() -> Iterator[Ends]:
    with ExitStack() as stack:
        stack.enter_context(namespaces.tester_namespace())
        device = stack.enter_context(dut.device_namespace())
        speaker = stack.enter_context(dut.device_namespace())
        for one in (device, speaker):
            one.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
        links.ip(f"link add t0 address {OURS} type veth peer name d0 address {FAR} netns {device.pid}")
        links.ip("link set t0 up")
        device.do("ip link set d0 up")
        taps = stack.enter_context(Taps("t0", VLANS, speaker.pid, OURS))
        with namespaces.within(device.pid):
            far = stack.enter_context(listen("d0"))
        with namespaces.within(speaker.pid):
            at = {name: stack.enter_context(listen(name)) for name in taps.names}
        yield Ends(taps, speaker, far, at)


def ethernet(payload: bytes, tags: tuple[tuple[int, int], ...], kind: int) -> bytes:
    """A frame to a group address, as OSPF's and ARP's are; the priority of tags is not zero."""
    between = b"".join(struct.pack("!HH", tpid, 0xC000 | vid) for vid, tpid in tags)
    head = bytes.fromhex("01005e000005") + bytes.fromhex(FAR.replace(":", ""))
    return (head + between + struct.pack("!H", kind) + payload).ljust(60 + 4 * len(tags), b"\0")


def ipv4(protocol: int, rest: bytes, to: str = "10.0.0.2", offset: int = 0, options: bytes = b"") -> bytes:
    words = 5 + len(options) // 4
    length = 4 * words + len(rest)
    head = struct.pack("!BBHHHBBH", 0x40 | words, 0xC0, length, 7, offset, 1, protocol, 0)
    return head + ip_address("10.0.0.1").packed + ip_address(to).packed + options + rest


def ipv6(protocol: int, rest: bytes, to: str = "2001:db8::2") -> bytes:
    head = struct.pack("!IHBB", 0x6C00_0000, len(rest), protocol, 255)
    return head + ip_address("2001:db8::1").packed + ip_address(to).packed + rest


def ports(source: int, destination: int) -> bytes:
    return struct.pack("!HH", source, destination) + bytes(20)


UP = {
    "arp": (0x0806, bytes(28)),
    "ospf": (0x0800, ipv4(89, bytes(44))),
    "later fragment of ospf": (0x0800, ipv4(89, bytes(44), offset=185)),
    "bgp to the server": (0x0800, ipv4(6, ports(40000, 179))),
    "bgp of the server": (0x0800, ipv4(6, ports(179, 40000))),
    "bgp behind options": (0x0800, ipv4(6, ports(40000, 179), options=bytes(8))),
    "bfd": (0x0800, ipv4(17, ports(49152, 3784))),
    "bfd echo": (0x0800, ipv4(17, ports(3785, 3785))),
    "bfd over several hops": (0x0800, ipv4(17, ports(49152, 4784))),
    "echo": (0x0800, ipv4(1, b"\x08" + bytes(40))),
    "unreachable": (0x0800, ipv4(1, b"\x03\x01" + bytes(40), to="10.0.1.2")),
    "ospfv3": (0x86DD, ipv6(89, bytes(36), "ff02::5")),
    "bgp over ipv6": (0x86DD, ipv6(6, ports(40000, 179))),
    "bfd over ipv6": (0x86DD, ipv6(17, ports(49152, 3784))),
    "neighbor solicitation": (0x86DD, ipv6(58, b"\x87" + bytes(23), "ff02::1:ff00:2")),
    "redirect": (0x86DD, ipv6(58, b"\x89" + bytes(39))),
    "echo over ipv6": (0x86DD, ipv6(58, b"\x80" + bytes(40))),
}
LEFT = {
    "test frame": (0x0800, ipv4(17, ports(1024, 4791))),
    "from port 3784": (0x0800, ipv4(17, ports(3784, 1024))),
    "tcp": (0x0800, ipv4(6, ports(40000, 443))),
    "later fragment with a port's bytes": (0x0800, ipv4(6, ports(179, 179), offset=185)),
    "gre": (0x0800, ipv4(47, bytes(40))),
    "time exceeded of a test frame": (0x0800, ipv4(1, b"\x0b" + bytes(40), to="16.0.0.1")),
    "error of a test frame over ipv6": (0x86DD, ipv6(58, b"\x01" + bytes(40), to="2001:db8:1::9")),
    "listener report": (0x86DD, ipv6(58, b"\x8f" + bytes(40), to="ff02::16")),
    "test frame over ipv6": (0x86DD, ipv6(17, ports(1024, 4791))),
    "mpls": (0x8847, bytes(40)),
    "lldp": (0x88CC, bytes(40)),
}


def receive(at: socket.socket) -> bytes:
    """The next frame that came in, those that were sent left out."""
    while True:
        frame, (_, _, kind, *_) = at.recvfrom(4096)
        if kind != socket.PACKET_OUTGOING:
            return bytes(frame)


def without_tags(frame: bytes, tags: tuple[tuple[int, int], ...]) -> bytes:
    return frame[:12] + frame[12 + 4 * len(tags) :]


def test_control_frames_of_each_vlan_come_up_and_test_frames_do_not(ends: Ends) -> None:
    last = ("ospf", UP["ospf"])
    for vlan in VLANS:
        for name, (kind, payload) in LEFT.items():
            assert name not in UP
            ends.far.send(ethernet(payload, vlan.tags, kind))
        # Untagged, behind one tag more, on a VLAN of nobody.
        kind, payload = UP["arp"]
        for tags in ((), (*vlan.tags, (7, 0x8100)), ((101, 0x8100),)):
            ends.far.send(ethernet(payload, tags, kind))
        for name, (kind, payload) in (*UP.items(), last):
            sent = ethernet(payload, vlan.tags, kind)
            ends.far.send(sent)
            got = receive(ends.at[f"v{vlan.name}"])
            assert got == without_tags(sent, vlan.tags), name
    carried = ends.taps.carried()
    assert (carried.up, carried.dropped) == (len(VLANS) * (len(UP) + 1), 0)


def test_frames_of_a_tap_leave_with_its_tags(ends: Ends) -> None:
    for number, vlan in enumerate(VLANS):
        for length in (60, 1514 - 8 * number):
            frame = ethernet(bytes(range(200)) * 10, (), 0x0800)[:length]
            ends.at[f"v{vlan.name}"].send(frame)
            tags = b"".join(struct.pack("!HH", tpid, vid) for vid, tpid in vlan.tags)
            # The kernel took the outer tag off for a socket of Python: it has it beside the frame.
            assert receive(ends.far) == frame[:12] + tags[4:] + frame[12:]
    assert ends.taps.carried().dropped == 0


def sum16(data: bytes) -> int:
    """The ones'-complement sum of RFC 1071."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize("vlan", VLANS, ids=lambda vlan: vlan.name)
def test_segment_whose_checksum_is_left_to_the_card_is_answered(ends: Ends, vlan: Subinterface) -> None:
    """As a kernel's own segments come over a veth: with a sum of the pseudo header alone."""
    name = f"v{vlan.name}"
    assert vlan.address is not None
    assert vlan.gateway is not None
    ends.speaker.do(
        f"ip address add {vlan.address}/24 dev {name}; ip neigh add {vlan.gateway} lladdr {FAR} dev {name}"
    )
    with namespaces.within(ends.speaker.pid), socket.create_server((vlan.address, 179)):
        addresses = ip_address(vlan.gateway).packed + ip_address(vlan.address).packed
        sum_of_pseudo = sum16(addresses + struct.pack("!HH", 6, 20))
        syn = struct.pack("!HHIIBBHHH", 40000, 179, 1, 0, 0x50, 2, 8192, sum_of_pseudo, 0)
        head = struct.pack("!BBHHHBBH", 0x45, 0, 40, 1, 0, 64, 6, 0) + addresses
        head = head[:10] + struct.pack("!H", sum16(head) ^ 0xFFFF) + head[12:]
        tags = b"".join(struct.pack("!HH", tpid, vid) for vid, tpid in vlan.tags)
        to, own = (bytes.fromhex(mac.replace(":", "")) for mac in (OURS, FAR))
        frame = to + own + tags + b"\x08\x00" + head + syn
        # struct virtio_net_hdr: the sum is to be taken from here on, and to be put 16 bytes behind.
        start = 14 + len(tags) + 20
        ends.far.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        ends.far.send(struct.pack("=BBHHHH", 1, 0, 0, 0, start, 16) + frame)
        answer = receive(ends.far)[10:]
    of_ipv4 = answer[14 + len(tags) - 4 :]
    assert struct.unpack("!HHII", of_ipv4[20:32])[::3] == (179, 2)
    assert of_ipv4[33] == 0x12, "SYN and ACK"


def test_taps_end_with_their_block_and_their_names_are_free(ends: Ends) -> None:
    look = "ip -brief link"
    assert "v100.20" in ends.speaker.do(look)
    ends.taps.close()
    ends.taps.close()
    assert "v100" not in ends.speaker.do(look)
    with Taps("t0", VLANS, ends.speaker.pid, OURS):
        assert "v100.20" in ends.speaker.do(look)


def test_name_that_is_taken_is_refused_and_nothing_left_behind(ends: Ends) -> None:
    ends.taps.close()
    ends.speaker.do("ip link add v100.20 type veth peer name other")
    with pytest.raises(LabError) as refused:
        Taps("t0", VLANS, ends.speaker.pid, OURS)
    assert refused.value.code == "no-tap"
    assert "v100@" not in ends.speaker.do("ip -brief link")
