"""The headers that a profile may use, with Scapy's names and defaults; addresses are T-Rex's own defaults."""

from __future__ import annotations

import struct
from typing import Any, ClassVar

from netdyno.profiles.stl.packet import (
    PADDING,
    RAW,
    BitField,
    ByteField,
    Field,
    FlagsField,
    IntField,
    IP6Field,
    IPField,
    MACField,
    NamedField,
    Packet,
    ShortField,
    StrField,
    ThreeBytesField,
    as_bytes,
    bind_layers,
    ones_sum,
)

PROTOCOLS = {"icmp": 1, "ip": 4, "tcp": 6, "udp": 17, "ipv6": 41, "gre": 47, "ipv6-icmp": 58, "none": 59}


class Raw(Packet):
    """Plain bytes."""

    name = "Raw"
    fields_desc: ClassVar[list[Field]] = [StrField("load", b"")]

    def __init__(self, _raw: Any = b"", /, **fields: Any) -> None:
        super().__init__(**{"load": as_bytes(_raw), **fields} if _raw else fields)


class Padding(Raw):
    """Bytes behind the end of a packet."""

    name = "Padding"


RAW.append(Raw)
PADDING.append(Padding)


class Ether(Packet):
    """Ethernet II."""

    name = "Ethernet"
    fields_desc: ClassVar[list[Field]] = [
        MACField("dst", "00:00:00:01:00:00"),
        MACField("src", "00:00:00:02:00:00"),
        ShortField("type", 0x9000),
    ]


class Dot1Q(Packet):
    """A VLAN tag."""

    name = "802.1Q"
    fields_desc: ClassVar[list[Field]] = [
        BitField("prio", 0, 3),
        BitField("id", 0, 1),
        BitField("vlan", 1, 12),
        ShortField("type", 0),
    ]


class Dot1AD(Dot1Q):
    """The outer one of two VLAN tags."""

    name = "802_1AD"


class MPLS(Packet):
    """A label."""

    name = "MPLS"
    fields_desc: ClassVar[list[Field]] = [
        BitField("label", 3, 20),
        BitField("cos", 0, 3),
        BitField("s", 1, 1),
        ByteField("ttl", 0),
    ]


def _pseudo(under: Packet | None, protocol: int, length: int) -> bytes | None:
    """The pseudo header of a checksum; None without IP below."""
    if isinstance(under, IP):
        ends = b"".join(IPField("", 0).number(under.given(end)).to_bytes(4, "big") for end in ("src", "dst"))
        return ends + struct.pack("!BBH", 0, protocol, length)
    if isinstance(under, IPv6):
        ends = b"".join(
            IP6Field("", 0).number(under.given(end)).to_bytes(16, "big") for end in ("src", "dst")
        )
        return ends + struct.pack("!II", length, protocol)
    return None


class IP(Packet):
    """IPv4."""

    name = "IP"
    fields_desc: ClassVar[list[Field]] = [
        BitField("version", 4, 4),
        BitField("ihl", None, 4),
        ByteField("tos", 0),
        ShortField("len", None),
        ShortField("id", 1),
        FlagsField("flags", 0, 3, ["MF", "DF", "evil"]),
        BitField("frag", 0, 13),
        ByteField("ttl", 64),
        NamedField("proto", 0, PROTOCOLS),
        ShortField("chksum", None),
        IPField("src", "16.0.0.1"),
        IPField("dst", "48.0.0.1"),
        StrField("options", b""),
    ]

    def header(self) -> bytes:
        """Options are padded to words."""
        found = super().header()
        return found + b"\0" * (-len(found) % 4)

    def computed(self, header: bytes, behind: bytes) -> bytes:
        """IHL, total length, checksum."""
        if self.given("ihl") is None:
            header = bytes([header[0] & 0xF0 | len(header) // 4]) + header[1:]
        if self.given("len") is None:
            header = header[:2] + struct.pack("!H", len(header) + len(behind)) + header[4:]
        if self.given("chksum") is None:
            header = header[:10] + struct.pack("!H", ones_sum(header)) + header[12:]
        return header

    def room(self, raw: bytes) -> int:
        """Bytes of its options."""
        return max(0, 4 * (raw[0] & 15) - 20)

    def end(self, raw: bytes) -> int:
        """Its total length."""
        return max(20, struct.unpack("!H", raw[2:4])[0]) if len(raw) >= 20 else len(raw)


class IPOption(Raw):
    """Options of IPv4 as bytes."""

    name = "IP Option"


class IPv6(Packet):
    """IPv6."""

    name = "IPv6"
    fields_desc: ClassVar[list[Field]] = [
        BitField("version", 6, 4),
        BitField("tc", 0, 8),
        BitField("fl", 0, 20),
        ShortField("plen", None),
        NamedField("nh", 59, PROTOCOLS),
        ByteField("hlim", 64),
        IP6Field("src", "::2"),
        IP6Field("dst", "::1"),
    ]

    def computed(self, header: bytes, behind: bytes) -> bytes:
        """Payload length."""
        if self.given("plen") is None:
            header = header[:4] + struct.pack("!H", len(behind)) + header[6:]
        return header

    def end(self, raw: bytes) -> int:
        """Header and payload length."""
        return 40 + struct.unpack("!H", raw[4:6])[0] if len(raw) >= 40 else len(raw)


class UDP(Packet):
    """UDP."""

    name = "UDP"
    fields_desc: ClassVar[list[Field]] = [
        ShortField("sport", 53),
        ShortField("dport", 53),
        ShortField("len", None),
        ShortField("chksum", None),
    ]

    def computed(self, header: bytes, behind: bytes) -> bytes:
        """Length and checksum."""
        length = len(header) + len(behind)
        if self.given("len") is None:
            header = header[:4] + struct.pack("!H", length) + header[6:]
        pseudo = _pseudo(self.underlayer, 17, length)
        if self.given("chksum") is None and pseudo is not None:
            header = header[:6] + struct.pack("!H", ones_sum(pseudo + header + behind) or 0xFFFF)
        return header


class TCP(Packet):
    """TCP without options."""

    name = "TCP"
    fields_desc: ClassVar[list[Field]] = [
        ShortField("sport", 20),
        ShortField("dport", 80),
        IntField("seq", 0),
        IntField("ack", 0),
        BitField("dataofs", 5, 4),
        BitField("reserved", 0, 3),
        FlagsField("flags", 2, 9, "FSRPAUECN"),
        ShortField("window", 8192),
        ShortField("chksum", None),
        ShortField("urgptr", 0),
    ]

    def computed(self, header: bytes, behind: bytes) -> bytes:
        """Checksum."""
        pseudo = _pseudo(self.underlayer, 6, len(header) + len(behind))
        if self.given("chksum") is None and pseudo is not None:
            found = ones_sum(pseudo + header + behind)
            header = header[:16] + struct.pack("!H", found) + header[18:]
        return header


class ICMP(Packet):
    """ICMP echo, or any with an identifier and a sequence number."""

    name = "ICMP"
    fields_desc: ClassVar[list[Field]] = [
        NamedField("type", 8, {"echo-request": 8, "echo-reply": 0}),
        ByteField("code", 0),
        ShortField("chksum", None),
        ShortField("id", 0),
        ShortField("seq", 0),
    ]

    def computed(self, header: bytes, behind: bytes) -> bytes:
        """Checksum."""
        if self.given("chksum") is None:
            header = header[:2] + struct.pack("!H", ones_sum(header + behind)) + header[4:]
        return header


class ICMPv6ND_NS(Packet):  # noqa: N801
    """A neighbour solicitation."""

    name = "ICMPv6 Neighbor Discovery - Neighbor Solicitation"
    fields_desc: ClassVar[list[Field]] = [
        ByteField("type", 135),
        ByteField("code", 0),
        ShortField("cksum", None),
        IntField("res", 0),
        IP6Field("tgt", "::"),
    ]

    def computed(self, header: bytes, behind: bytes) -> bytes:
        """Checksum."""
        pseudo = _pseudo(self.underlayer, 58, len(header) + len(behind))
        if self.given("cksum") is None and pseudo is not None:
            header = header[:2] + struct.pack("!H", ones_sum(pseudo + header + behind)) + header[4:]
        return header


class GENEVE(Packet):
    """Geneve without options (RFC 8926)."""

    name = "GENEVE"
    fields_desc: ClassVar[list[Field]] = [
        BitField("version", 0, 2),
        BitField("optionlen", 0, 6),
        BitField("oam", 0, 1),
        BitField("critical", 0, 1),
        BitField("reserved", 0, 6),
        ShortField("proto", 0),
        ThreeBytesField("vni", 0),
        ByteField("reserved2", 0),
    ]


class GTP_U_Header(Packet):  # noqa: N801
    """GTP-U without options (3GPP TS 29.281)."""

    name = "GTP-U Header"
    fields_desc: ClassVar[list[Field]] = [
        BitField("version", 1, 3),
        BitField("PT", 1, 1),
        BitField("reserved", 0, 1),
        BitField("E", 0, 1),
        BitField("S", 0, 1),
        BitField("PN", 0, 1),
        ByteField("gtp_type", 255),
        ShortField("length", None),
        IntField("teid", 0),
    ]

    def computed(self, header: bytes, behind: bytes) -> bytes:
        """Length."""
        if self.given("length") is None:
            header = header[:2] + struct.pack("!H", len(behind)) + header[4:]
        return header


_TYPES: dict[int, type[Packet]] = {0x0800: IP, 0x86DD: IPv6, 0x8100: Dot1Q, 0x88A8: Dot1AD, 0x8847: MPLS}
_PROTOCOLS: dict[int, type[Packet]] = {1: ICMP, 4: IP, 6: TCP, 17: UDP, 41: IPv6}
for _number, _upper in _TYPES.items():
    bind_layers(Ether, _upper, type=_number)
    bind_layers(Dot1Q, _upper, type=_number)
for _number, _upper in _PROTOCOLS.items():
    bind_layers(IP, _upper, proto=_number)
    bind_layers(IPv6, _upper, nh=_number)
bind_layers(IPv6, ICMPv6ND_NS, nh=58, hlim=255)
bind_layers(MPLS, MPLS, s=0)
bind_layers(UDP, GENEVE, dport=6081)
bind_layers(GENEVE, Ether, proto=0x6558)
bind_layers(GENEVE, IP, proto=0x0800)
bind_layers(UDP, GTP_U_Header, dport=2152)
bind_layers(GTP_U_Header, IP, gtp_type=255)
