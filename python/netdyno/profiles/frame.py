"""The bytes of a template as netdyno's headers, and what these would be in a frame of netdyno's."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

ANNOUNCED = frozenset(
    (0x0800, 0x0806, 0x6558, 0x8100, 0x86DD, 0x8847, 0x8848, 0x8864, 0x88A8, 0x9100, 0x9200, 0x9300)
)
"""Ethernet types behind which a plan has a header: if none is like it, raw bytes."""
SHORTEST_TYPE = 0x0600
ETHERTYPES = {0x0800: "ipv4", 0x86DD: "ipv6", 0x8847: "mpls", 0x8100: "vlan", 0x88A8: "vlan", 0x9100: "vlan"}
PROTOCOLS = {4: "ipv4", 41: "ipv6", 6: "tcp", 17: "udp", 1: "echo"}
LONGEST = 4
"""Bytes of a number in a plan that are still read at sight."""
RAW_BYTES, OF_TCP = 40, 6
OF_OTHERS = {1: 8, 58: 8, 47: 4, 50: 8, 51: 24, 132: 12}
"""Bytes of headers that a plan does not have: ICMP, ICMPv6, GRE, ESP, AH, SCTP."""
IN_UDP = {4789: "vxlan", 2152: "gtpu", 6081: "geneve"}


@dataclass(frozen=True)
class Place:
    """Where a field that may vary stands: its first byte, its length, how its value is written."""

    name: str
    at: int
    bytes: int
    written: Callable[[int], Any]


@dataclass
class Part:
    """A header in a frame. fields: as in a plan. built: its bytes as netdyno makes them, checksums zero."""

    kind: str
    at: int
    size: int
    fields: dict[str, Any] = field(default_factory=dict)
    built: bytes = b""
    places: tuple[Place, ...] = ()
    sum_at: int = 0
    """Where its checksum is, in the frame; 0: it has none."""
    lengths: tuple[int, ...] = ()
    """Where its lengths of 2 bytes are."""
    is_unknown: bool = False
    """Whether it is one that a plan does not have, and so raw."""

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.at + self.size


def ipv4_text(value: int) -> str:
    """An IPv4 address."""
    return str(ipaddress.IPv4Address(value))


def ipv6_text(value: int) -> str:
    """An IPv6 address."""
    return str(ipaddress.IPv6Address(value))


def mac_text(value: int) -> str:
    """A MAC address."""
    return value.to_bytes(6, "big").hex(":")


def as_is(value: int) -> int:
    """A number."""
    return value


def read_headers(frame: bytes) -> list[Part]:
    """The headers of a frame, as far as they are netdyno's; the payload is behind the last one."""
    found: list[Part] = []
    kind, at = "ethernet", 0
    while kind and len(found) < 16:
        part = READERS[kind](frame, at) if at + LEAST[kind] <= len(frame) else None
        if part is None:
            break
        found.append(part)
        kind, at = _next(frame, part), part.end
    last = found[-1]
    size = min(_bytes_unknown(frame, last), len(frame) - last.end) // 2 * 2
    number = last.fields.get("type of next")
    _announce(found, frame)
    if size:
        data = frame[last.end : last.end + size]
        last.fields["protocol" if last.kind in ("ipv4", "ipv6") else "ethertype"] = number
        found.append(Part("raw", last.end, size, {"bytes": data.hex()}, data, is_unknown=True))
    return found


def _bytes_unknown(frame: bytes, last: Part) -> int:
    """Bytes of the header behind the last one that a plan has, which are raw there; 0: a payload follows."""
    number = last.fields.get("type of next")
    if last.kind in ("ethernet", "vlan"):
        return RAW_BYTES if number in ANNOUNCED else 0
    if last.kind not in ("ipv4", "ipv6"):
        return 0
    if number == OF_TCP and last.end + 13 <= len(frame):
        return 4 * (frame[last.end + 12] >> 4)
    return OF_OTHERS.get(int(number or 0), 0)


def _next(frame: bytes, part: Part) -> str:
    """The kind of what follows a header; empty: its payload."""
    fields, at = part.fields, part.end
    if part.kind in ("ethernet", "vlan"):
        return ETHERTYPES.get(fields["type of next"], "")
    if part.kind == "mpls":
        if not frame[part.at + 2] & 1:
            return "mpls"
        return {4: "ipv4", 6: "ipv6"}.get(frame[at] >> 4 if at < len(frame) else 0, "")
    if part.kind in ("ipv4", "ipv6"):
        return PROTOCOLS.get(fields["type of next"], "")
    if part.kind == "udp":
        return IN_UDP.get(fields["dport"], "")
    if part.kind == "gtpu":
        return {4: "ipv4", 6: "ipv6"}.get(frame[at] >> 4 if at < len(frame) else 0, "")
    return "ethernet" if part.kind in ("vxlan", "raw") else ""


def _announce(found: list[Part], frame: bytes) -> None:
    """Says of each header what follows, where no header of netdyno does."""
    for index, part in enumerate(found):
        number = part.fields.pop("type of next", None)
        is_last = index == len(found) - 1
        if is_last and number is not None:
            part.fields["protocol" if part.kind in ("ipv4", "ipv6") else "ethertype"] = number
        elif not is_last and part.kind in ("ethernet", "vlan") and found[index + 1].kind == "vlan":
            found[index + 1].fields |= {} if number == 0x8100 else {"tpid": number}


def _ethernet(frame: bytes, at: int) -> Part:
    target, source = (int.from_bytes(frame[one : one + 6], "big") for one in (at, at + 6))
    (kind,) = struct.unpack_from("!H", frame, at + 12)
    fields = {"src": mac_text(source), "dst": mac_text(target), "type of next": kind}
    places = (Place("dst", at, 6, mac_text), Place("src", at + 6, 6, mac_text))
    return Part("ethernet", at, 14, fields, frame[at : at + 14], places)


def _vlan(frame: bytes, at: int) -> Part:
    tag, kind = struct.unpack_from("!HH", frame, at)
    fields: dict[str, Any] = {"vid": tag & 0xFFF}
    fields |= {"pcp": tag >> 13} if tag >> 13 else {}
    fields |= {"dei": True} if tag & 0x1000 else {}
    return Part("vlan", at, 4, {**fields, "type of next": kind}, frame[at : at + 4])


def _mpls(frame: bytes, at: int) -> Part:
    (word,) = struct.unpack_from("!I", frame, at)
    fields = {"label": word >> 12, "tc": word >> 9 & 7, "ttl": word & 0xFF}
    return Part("mpls", at, 4, {k: v for k, v in fields.items() if v or k != "tc"}, frame[at : at + 4])


def _ipv4(frame: bytes, at: int) -> Part | None:
    first, tos, _, number, fragment, ttl, protocol, _, source, target = struct.unpack_from(
        "!BBHHHBBHII", frame, at
    )
    if first != 0x45 or fragment & 0x3FFF:
        return None
    fields: dict[str, Any] = {"src": ipv4_text(source), "dst": ipv4_text(target)}
    more = {"dscp": tos >> 2, "ttl": ttl, "df": bool(fragment & 0x4000), "id": number}
    fields |= {name: value for name, value in more.items() if value != {"ttl": 64}.get(name, 0)}
    built = struct.pack(
        "!BBHHHBBHII",
        *(0x45, tos & 0xFC, len(frame) - at, number, fragment & 0x4000, ttl, protocol, 0, source, target),
    )
    places = (
        Place("id", at + 4, 2, as_is),
        Place("ttl", at + 8, 1, as_is),
        Place("src", at + 12, 4, ipv4_text),
        Place("dst", at + 16, 4, ipv4_text),
    )
    return Part(
        "ipv4", at, 20, {**fields, "type of next": protocol}, built, places, sum_at=at + 10, lengths=(at + 2,)
    )


def _ipv6(frame: bytes, at: int) -> Part | None:
    word, _, protocol, limit = struct.unpack_from("!IHBB", frame, at)
    if word >> 28 != 6:
        return None
    source, target = (int.from_bytes(frame[one : one + 16], "big") for one in (at + 8, at + 24))
    fields: dict[str, Any] = {"src": ipv6_text(source), "dst": ipv6_text(target)}
    more = {"dscp": word >> 22 & 63, "flow_label": word & 0xFFFFF, "hop_limit": limit}
    fields |= {name: value for name, value in more.items() if value != {"hop_limit": 64}.get(name, 0)}
    head = struct.pack("!IHBB", word & 0xFFCFFFFF, len(frame) - at - 40, protocol, limit)
    places = (
        Place("hop_limit", at + 7, 1, as_is),
        Place("src", at + 8, 16, ipv6_text),
        Place("dst", at + 24, 16, ipv6_text),
    )
    built = head + frame[at + 8 : at + 40]
    return Part("ipv6", at, 40, {**fields, "type of next": protocol}, built, places, lengths=(at + 4,))


def _udp(frame: bytes, at: int) -> Part:
    sport, dport, _, total = struct.unpack_from("!HHHH", frame, at)
    fields: dict[str, Any] = {"sport": sport, "dport": dport}
    fields |= {} if total else {"checksum": False}
    built = struct.pack("!HHHH", sport, dport, len(frame) - at, 0)
    places = (Place("sport", at, 2, as_is), Place("dport", at + 2, 2, as_is))
    return Part("udp", at, 8, fields, built, places, sum_at=at + 6, lengths=(at + 4,))


def _tcp(frame: bytes, at: int) -> Part | None:
    sport, dport, _, _, offset, flags = struct.unpack_from("!HHIIBB", frame, at)
    if offset >> 4 != 5:
        return None
    fields = {"sport": sport, "dport": dport, "flags": flags}
    built = struct.pack("!HHIIBBHHH", sport, dport, 0, 0, 0x50, flags, 0xFFFF, 0, 0)
    places = (Place("sport", at, 2, as_is), Place("dport", at + 2, 2, as_is))
    return Part("tcp", at, 20, fields, built, places, sum_at=at + 16)


def _vxlan(frame: bytes, at: int) -> Part | None:
    (vni,) = struct.unpack_from("!I", frame, at + 4)
    built = struct.pack("!II", 0x08000000, vni & 0xFFFFFF00)
    places = (Place("vni", at + 4, 3, as_is),)
    return Part("vxlan", at, 8, {"vni": vni >> 8}, built, places)


def _gtpu(frame: bytes, at: int) -> Part | None:
    flags, kind, _, teid = struct.unpack_from("!BBHI", frame, at)
    if (flags, kind) != (0x30, 0xFF):
        return None
    built = struct.pack("!BBHI", 0x30, 0xFF, len(frame) - at - 8, teid)
    places = (Place("teid", at + 4, 4, as_is),)
    return Part("gtpu", at, 8, {"teid": teid}, built, places, lengths=(at + 2,))


def _geneve(frame: bytes, at: int) -> Part | None:
    """Geneve without options has no header of netdyno's: its bytes are raw."""
    flags, kind = struct.unpack_from("!HH", frame, at)
    if flags or kind != 0x6558:
        return None
    return Part("raw", at, 8, {"bytes": frame[at : at + 8].hex()}, frame[at : at + 8])


def _echo(frame: bytes, at: int) -> Part | None:
    kind, code, _, number, sequence = struct.unpack_from("!BBHHH", frame, at)
    if (kind, code) != (8, 0):
        return None
    built = struct.pack("!BBHHH", 8, 0, 0, number, sequence)
    return Part("echo", at, 8, {"id": number} if number else {}, built, sum_at=at + 2)


READERS: Mapping[str, Callable[[bytes, int], Part | None]] = {
    "ethernet": _ethernet,
    "vlan": _vlan,
    "mpls": _mpls,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "udp": _udp,
    "tcp": _tcp,
    "echo": _echo,
    "vxlan": _vxlan,
    "gtpu": _gtpu,
    "geneve": _geneve,
}
LEAST = {"ethernet": 14, "vlan": 4, "mpls": 4, "ipv4": 20, "ipv6": 40, "udp": 8, "tcp": 20, "echo": 8}
LEAST |= {"vxlan": 8, "gtpu": 8, "geneve": 8}


def ones_sum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(~total & 0xFFFF)


def is_sum_right(frame: bytes, parts: list[Part], part: Part) -> bool:
    """Whether the checksum of a header is right in a frame; 0 of UDP is."""
    if part.kind == "ipv4":
        return ones_sum(frame[part.at : part.end]) == 0
    if part.kind == "udp" and frame[part.sum_at : part.sum_at + 2] == b"\0\0":
        return True
    below = parts[parts.index(part) - 1]
    length = length_of(frame, below) - (20 if below.kind == "ipv4" else 0)
    data = frame[part.at : part.at + length]
    if part.kind == "echo":
        return ones_sum(data) == 0
    protocol = {"udp": 17, "tcp": 6}[part.kind]
    if below.kind == "ipv4":
        pseudo = frame[below.at + 12 : below.at + 20] + struct.pack("!BBH", 0, protocol, length)
    else:
        pseudo = frame[below.at + 8 : below.at + 40] + struct.pack("!II", length, protocol)
    return ones_sum(pseudo + data) == 0


def length_of(frame: bytes, part: Part) -> int:
    """What a header says of its length: of IPv4 with itself, of IPv6 without."""
    return int.from_bytes(frame[part.lengths[0] : part.lengths[0] + 2], "big")


def differences(frame: bytes, parts: list[Part], *, with_lengths: bool) -> Iterator[tuple[int, int]]:
    """The bytes of the headers, without checksums and MAC addresses, that netdyno would make differently:
    first byte and how many, `LONGEST` at most."""
    skipped = set(range(12))
    for part in parts:
        if part.sum_at:
            skipped |= {part.sum_at, part.sum_at + 1}
        if part.kind == "echo":
            skipped |= {part.at + 6, part.at + 7}
        if not with_lengths:
            skipped |= {at + one for at in part.lengths for one in (0, 1)}
    found: list[int] = []
    for part in parts:
        for offset, byte in enumerate(part.built, part.at):
            if offset not in skipped and byte != frame[offset]:
                if found and (offset != found[-1] + 1 or len(found) == LONGEST):
                    yield found[0], len(found)
                    found = []
                found.append(offset)
    if found:
        yield found[0], len(found)
