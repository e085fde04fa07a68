"""UDP datagrams of the tester's own, as frames to a next hop that the engine resolves."""

from __future__ import annotations

import ipaddress
import struct
from typing import TYPE_CHECKING

from netdyno.devices.watches.ping import checksum

if TYPE_CHECKING:
    from netdyno.devices.wiring import WiredPort

ETHERNET, IPV4, UDP = 14, 20, 8
HEADERS = ETHERNET + IPV4 + UDP

UNRESOLVED = b"\0" * 6
_DO_NOT_FRAGMENT = 0x4000
TTL = 64
_PROTOCOL = 17


def host(port: WiredPort) -> str:
    """Its IPv4 address, without a prefix length."""
    assert port.ipv4 is not None  # As the plan was checked.
    return str(ipaddress.ip_interface(port.ipv4).ip)


def frame(
    mac: str,
    source: tuple[str, int],
    target: tuple[str, int],
    payload: bytes,
    *,
    to: bytes = UNRESOLVED,
    ttl: int = TTL,
) -> bytes:
    """The frame without FCS, its destination MAC unset unless it is given; addresses with their UDP ports.

    Without a UDP checksum, which IPv4 leaves open (RFC 768) and RFC 2544 appendix C.2.6.2 has not: a number
    in the payload may change from frame to frame.
    """
    length = UDP + len(payload)
    ends = b"".join(ipaddress.IPv4Address(address).packed for address, _ in (source, target))
    head = struct.pack("!BBHHHBBH", 0x45, 0, IPV4 + length, 0, _DO_NOT_FRAGMENT, ttl, _PROTOCOL, 0) + ends
    summed = struct.pack("!H", checksum(head))
    udp = struct.pack("!HHHH", source[1], target[1], length, 0)
    ethernet = to + bytes.fromhex(mac.replace(":", "")) + b"\x08\x00"
    return ethernet + head[:10] + summed + head[12:] + udp + payload
