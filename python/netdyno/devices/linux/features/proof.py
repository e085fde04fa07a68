"""Whether a feature does what it says, by packets sent through the router before anything is measured."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address

from netdyno.devices import addresses
from netdyno.devices.linux.features.feature import Feature, Packet, Step
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.wiring import LabError

WAIT_S = 5.0
"""For a packet that is to come: the kernel takes microseconds, a machine that stalls a second."""
COPIES = 20
"""Of a packet that is to come: a limit lets the first one pass."""
QUIET_S = 0.2
"""For one that is not to come: the kernel takes microseconds."""

_IPV4, _UDP = 0x0800, 17
_MARK = b"netdyno proof "


def prove(feature: Feature, lab: Lab, interfaces: Sequence[str]) -> None:
    """Sends the packets of a feature's proof through the router, in the tester's namespace. interfaces: its
    ports. Raises LabError where one does not do as it should."""
    came: list[Packet] = []
    before = feature.count(lab)
    with _listening(interfaces) as sockets:
        for number, step in enumerate(feature.proof(lab)):
            counted = None if step.counted is None else step.counted()
            found = _send(sockets, step, number)
            wrong = (found is not None) != step.comes
            wrong = wrong or (step.counted is not None and step.counted() == counted)
            if found is not None and not wrong:
                came.append(found)
                wrong = step.is_right is not None and not step.is_right(came)
            if wrong:
                raise _refuted(feature, step, found)
    after = feature.count(lab)
    if before is not None and after is not None and after <= before:
        raise LabError(
            f"the service `{feature.name}` does not do what it says: its own counter stands still at {after}"
            " while packets pass",
            "something before it takes the packets: no number is measured with it",
            code="service-unproven",
        )


def _refuted(feature: Feature, step: Step, found: Packet | None) -> LabError:
    seen = "nothing came out" if found is None else f"{found} came out"
    return LabError(
        f"the service `{feature.name}` does not do what it says: {step.what} (sent {step.packet}; {seen})",
        "no number is measured with a service that is not at work",
        code="service-unproven",
    )


@contextmanager
def _listening(interfaces: Sequence[str]) -> Iterator[Sequence[socket.socket]]:
    with ExitStack() as stack:
        sockets = []
        for name in interfaces:
            one = stack.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_IPV4)))
            one.bind((name, _IPV4))
            sockets.append(one)
        yield sockets


def _send(sockets: Sequence[socket.socket], step: Step, number: int) -> Packet | None:
    """The packet as it came out of the other port; None: it did not, or not each of its copies."""
    sent = step.packet
    other = 1 - sent.port
    mark = _MARK + struct.pack(">II", number, time.monotonic_ns() & 0xFFFF_FFFF)
    copies = COPIES if step.comes else 1
    for _ in range(copies):
        sockets[sent.port].send(_frame(sent, mark))
    deadline = time.monotonic() + (WAIT_S if step.comes else QUIET_S)
    while (left := deadline - time.monotonic()) > 0:
        sockets[other].settimeout(left)
        try:
            frame = sockets[other].recv(2048)
        except TimeoutError:
            return None
        if frame.endswith(mark) and (found := _read(frame, other)) is not None:
            copies -= 1
            if not copies:
                return found
    return None


def _frame(packet: Packet, payload: bytes) -> bytes:
    """An Ethernet frame with the packet, from a tester port to the router's. Without UDP checksum, as
    RFC 768 lets it be: routers need not touch it."""
    to, own = (
        bytes.fromhex(make(packet.port).replace(":", ""))
        for make in (addresses.device_mac, addresses.tester_mac)
    )
    udp = struct.pack(">HHHH", packet.sport, packet.dport, 8 + len(payload), 0) + payload
    ends = ip_address(packet.source).packed + ip_address(packet.destination).packed
    head = struct.pack(">BBHHHBBH", 0x45, packet.tos, 20 + len(udp), 0, 0, 64, _UDP, 0) + ends
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    check = struct.pack(">H", 0xFFFF - ((total & 0xFFFF) + (total >> 16)))
    return to + own + struct.pack(">H", _IPV4) + head[:10] + check + head[12:] + udp


def _read(frame: bytes, port: int) -> Packet | None:
    """The UDP packet in a frame of Ethernet and IPv4; None: there is none."""
    start = 14 + 4 * (frame[14] & 0x0F)
    if len(frame) < start + 8 or frame[23] != _UDP:
        return None
    source, destination = (str(ip_address(frame[at : at + 4])) for at in (26, 30))
    return Packet(port, source, destination, *struct.unpack(">HH", frame[start : start + 4]))
