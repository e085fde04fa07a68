"""Echo requests and replies of ICMP (RFC 792) and ICMPv6 (RFC 4443 section 4) as bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

REQUEST = {4: 8, 6: 128}
REPLY = {4: 0, 6: 129}
_HEADER = struct.Struct("!BBHHH")


@dataclass(frozen=True)
class Echo:
    """An echo message. identifier and sequence: 16 bits each."""

    identifier: int
    sequence: int
    payload: bytes


def encode_request(echo: Echo, version: int) -> bytes:
    """The request as it is handed to the kernel, which adds the checksum of ICMPv6 itself (RFC 3542
    section 3.1)."""
    head = (REQUEST[version], 0, 0, echo.identifier, echo.sequence)
    plain = _HEADER.pack(*head) + echo.payload
    if version == 6:
        return plain
    return _HEADER.pack(REQUEST[4], 0, checksum(plain), echo.identifier, echo.sequence) + echo.payload


def decode_reply(frame: bytes, version: int, *, has_ip: bool) -> Echo | None:
    """The reply in what a socket received; None: it is no whole, undamaged echo reply.

    has_ip: the IPv4 header stands before it, as of a raw socket. The kernel has checked ICMPv6.
    """
    if has_ip:
        # RFC 791: the header's length is in words of 32 bits.
        length = (frame[0] & 0x0F) * 4 if frame else 0
        if length < 20 or frame[0] >> 4 != 4:
            return None
        frame = frame[length:]
    if len(frame) < _HEADER.size:
        return None
    kind, code, _, identifier, sequence = _HEADER.unpack_from(frame)
    if kind != REPLY[version] or code != 0 or (version == 4 and checksum(frame)):
        return None
    return Echo(identifier, sequence, frame[_HEADER.size :])


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071); 0 over data that holds its own right one."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
