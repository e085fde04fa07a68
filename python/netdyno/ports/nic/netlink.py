"""Interfaces, addresses and default routes of the network namespace we are in, asked by rtnetlink(7).

Asking needs no right. /sys and /proc/net show the namespace they were mounted in, or that of the process's
first thread; a netlink socket belongs to the one it was opened in.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# linux/netlink.h, linux/rtnetlink.h
_REQUEST, _DUMP = 0x1, 0x300
_ERROR, _DONE = 2, 3
_NEWLINK, _DELLINK, _GETLINK = 16, 17, 18
_LINK_GROUP = 0x1  # RTMGRP_LINK
_SUBSCRIBED_BYTES = 1 << 20
"""Room for messages that wait: some hundred of them."""
_NEWADDR, _GETADDR = 20, 22
_NEWROUTE, _GETROUTE = 24, 26
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_TYPE_MASK = 0x3FFF
"""Two flags stand above the type of an attribute."""
_MAIN_TABLE = 254
_RECEIVE_BYTES = 1 << 16

# linux/if_link.h
_ADDRESS, _NAME, _MTU, _LINK, _MASTER, _OPERSTATE, _LINKINFO, _STATS64 = 1, 3, 4, 5, 10, 16, 18, 23
_PROMISCUITY, _CARRIER, _LINK_NAMESPACE, _XDP, _DOWN_COUNT = 30, 33, 37, 43, 48
_KIND = 1
_XDP_ATTACHED, _XDP_PROGRAM = 2, 4
_XDP_MODES = {1: "native", 2: "generic", 3: "offloaded", 4: "several"}
_STATES = ("unknown", "not present", "down", "lower layer down", "testing", "dormant", "up")
"""RFC 2863 ifOperStatus, in the kernel's order."""
_IFF_UP, _IFF_LOOPBACK = 0x1, 0x8
_ARPHRD_ETHER, _ARPHRD_LOOPBACK = 1, 772  # linux/if_arp.h

_STATS = (
    *("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped"),
    *("tx_dropped", "multicast", "collisions", "rx_length_errors", "rx_over_errors", "rx_crc_errors"),
    *("rx_frame_errors", "rx_fifo_errors", "rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors"),
    *("tx_fifo_errors", "tx_heartbeat_errors", "tx_window_errors", "rx_compressed", "tx_compressed"),
    *("rx_nohandler", "rx_otherhost_dropped"),
)
"""struct rtnl_link_stats64; an older kernel gives fewer."""


@dataclass(frozen=True)
class Link:
    """An interface as the kernel keeps it, whatever is behind it.

    up: switched on (`ip link set up`); carrier: the cable says so, None if the kernel does not tell. kind: of
    a virtual interface (`veth`), else empty. promiscuity: how many ask for all frames. downs: how often the
    carrier went. xdp: how a program is attached, `native` or `generic`, empty if none is. lower: what a
    virtual one is made on (a VLAN's card), group: the bridge or LAG that it is in, both by index.
    """

    index: int
    name: str
    up: bool
    loopback: bool
    ethernet: bool
    """Frames on it are Ethernet's (a tun's and a tunnel's are not)."""
    state: str
    mac: str
    mtu: int
    kind: str
    in_group: bool
    carrier: bool | None
    downs: int
    promiscuity: int
    xdp: str
    xdp_program: int | None
    counters: Mapping[str, int]
    lower: int | None = None
    group: int | None = None


def links() -> list[Link]:
    """Every interface of this namespace."""
    body = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, 0, 0, 0)
    return [read_link(answer) for answer in dump(_GETLINK, _NEWLINK, body)]


def link(name: str) -> Link | None:
    """One interface; None if there is none of that name."""
    return next((one for one in links() if one.name == name), None)


UPON = frozenset(("vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec"))
"""Kinds of interface whose frames another one sends and receives. The other end of a veth is no such one."""


def below(link: Link, among: Sequence[Link]) -> list[Link]:
    """The interfaces that send and receive the frames of one, down to the card: what a VLAN is made on, the
    members of a LAG or a bridge. Of interfaces of this namespace."""
    found: dict[int, Link] = {}
    upper = [link]
    while upper:
        one = upper.pop()
        for other in among:
            is_below = other.group == one.index or (one.kind in UPON and other.index == one.lower)
            if is_below and other.index not in found and other.index != link.index:
                found[other.index] = other
                upper.append(other)
    return list(found.values())


def addresses() -> dict[int, list[str]]:
    """Addresses with prefix length by interface, but for link-local ones, which every interface has."""
    found: dict[int, list[str]] = {}
    for answer in dump(_GETADDR, _NEWADDR, bytes(8)):
        family, prefix, _, _, index = struct.unpack_from("=BBBBi", answer)
        fields = attributes(answer[8:])
        # IFA_LOCAL is ours where the link has two ends, IFA_ADDRESS (1) the other one's.
        raw = fields.get(2, fields.get(1))
        if raw is None or family not in (socket.AF_INET, socket.AF_INET6):
            continue
        address = ipaddress.ip_address(raw)
        if not address.is_link_local:
            found.setdefault(index, []).append(f"{address}/{prefix}")
    return found


def default_routes() -> set[int]:
    """Interfaces that hold a default route of the main table."""
    found = set()
    for answer in dump(_GETROUTE, _NEWROUTE, bytes(12)):
        family, length, _, _, table = struct.unpack_from("=BBBBB", answer)
        if family not in (socket.AF_INET, socket.AF_INET6) or length != 0 or table != _MAIN_TABLE:
            continue
        fields = attributes(answer[12:])
        # RTA_OIF; of a route over several next hops, RTA_MULTIPATH, struct rtnexthop by struct rtnexthop.
        if 4 in fields:
            found.add(struct.unpack("=i", fields[4])[0])
        hops = fields.get(9, b"")
        while len(hops) >= 8:
            size, _, _, index = struct.unpack_from("=HBBi", hops)
            found.add(index)
            hops = hops[max(8, -4 & size + 3) :]
    return found


def route_to(address: str) -> int | None:
    """The interface by which an address is reached; None if no route leads there."""
    try:
        raw = ipaddress.ip_address(address.partition("%")[0])
        family = socket.AF_INET if raw.version == 4 else socket.AF_INET6
        asked = struct.pack("=BBBBBBBBI", family, raw.max_prefixlen, 0, 0, 0, 0, 0, 0, 0)
        asked += _ATTRIBUTE.pack(_ATTRIBUTE.size + len(raw.packed), 1) + raw.packed  # RTA_DST
        for answer in dump(_GETROUTE, _NEWROUTE, asked, flags=0):
            return int(struct.unpack("=i", attributes(answer[12:])[4])[0])
    except (OSError, ValueError, KeyError):
        pass
    return None


def read_link(answer: bytes) -> Link:
    """The interface of an RTM_NEWLINK or RTM_DELLINK message, without its header."""
    hardware, index, flags = struct.unpack_from("=2xHiI", answer)
    fields = attributes(answer[16:])
    info = attributes(fields.get(_LINKINFO, b""))
    xdp = attributes(fields.get(_XDP, b""))
    state = fields.get(_OPERSTATE, b"\0")[0]
    carrier = fields.get(_CARRIER)
    counts = fields.get(_STATS64, b"")
    return Link(
        index=index,
        name=_text(fields.get(_NAME, b"")),
        up=bool(flags & _IFF_UP),
        loopback=bool(flags & _IFF_LOOPBACK),
        ethernet=hardware in (_ARPHRD_ETHER, _ARPHRD_LOOPBACK),
        state=_STATES[state] if state < len(_STATES) else "unknown",
        mac=fields.get(_ADDRESS, b"").hex(":"),
        mtu=_number(fields, _MTU) or 0,
        kind=_text(info.get(_KIND, b"")),
        in_group=_MASTER in fields,
        # Without being up there is no telling of carriers: the kernel says 0 then for most cards.
        carrier=None if carrier is None or not flags & _IFF_UP else bool(carrier[0]),
        downs=_number(fields, _DOWN_COUNT) or 0,
        promiscuity=_number(fields, _PROMISCUITY) or 0,
        xdp=_XDP_MODES.get(xdp.get(_XDP_ATTACHED, b"\0")[0], ""),
        xdp_program=_number(xdp, _XDP_PROGRAM),
        # In another namespace it has an index of that one.
        lower=None if _LINK_NAMESPACE in fields else _number(fields, _LINK),
        group=_number(fields, _MASTER),
        counters=dict(zip(_STATS, struct.unpack_from(f"={len(counts) // 8}Q", counts), strict=False)),
    )


def subscribe() -> socket.socket:
    """A socket that receives a message for each change of an interface (RTNLGRP_LINK). Needs no right."""
    listening = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SUBSCRIBED_BYTES)
        listening.bind((0, _LINK_GROUP))
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening


def changes(listening: socket.socket) -> Iterator[tuple[Link, bool]]:
    """The interfaces that have changed, and whether each is still there, as far as messages are waiting.

    Messages that found no room are lost without a word: what they said is in later ones, or in `links`.
    """
    while True:
        try:
            piece = listening.recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            continue
        while len(piece) >= _HEADER.size:
            size, kind, _, _, _ = _HEADER.unpack_from(piece)
            if size < _HEADER.size:
                break
            # A bridge reports its ports in messages of its own family, which say nothing of a carrier.
            if kind in (_NEWLINK, _DELLINK) and piece[_HEADER.size] == socket.AF_UNSPEC:
                yield read_link(piece[_HEADER.size : size]), kind == _NEWLINK
            piece = piece[-4 & size + 3 :]


def dump(
    request: int, wanted: int, body: bytes, protocol: int = socket.NETLINK_ROUTE, *, flags: int = _DUMP
) -> Iterator[bytes]:
    """The payload of each answer to a request for all there is. Raises OSError if the kernel refuses.

    flags: without `_DUMP` there is one answer, and nothing says that it was the last.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as asking:
        asking.settimeout(5.0)
        asking.sendto(_HEADER.pack(_HEADER.size + len(body), request, _REQUEST | flags, 1, 0) + body, (0, 0))
        while True:
            piece = asking.recv(_RECEIVE_BYTES)
            while len(piece) >= _HEADER.size:
                size, kind, _, _, _ = _HEADER.unpack_from(piece)
                if kind == _DONE or size < _HEADER.size:
                    return
                if kind == _ERROR:
                    (code,) = struct.unpack_from("=i", piece, _HEADER.size)
                    raise OSError(-code, os.strerror(-code))
                if kind == wanted:
                    yield piece[_HEADER.size : size]
                piece = piece[-4 & size + 3 :]


def attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= _ATTRIBUTE.size:
        size, kind = _ATTRIBUTE.unpack_from(data)
        if size < _ATTRIBUTE.size:
            break
        found[kind & _TYPE_MASK] = data[_ATTRIBUTE.size : size]
        data = data[-4 & size + 3 :]
    return found


def _number(fields: Mapping[int, bytes], kind: int) -> int | None:
    raw = fields.get(kind)
    return None if raw is None or len(raw) < 4 else struct.unpack_from("=I", raw)[0]


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode(errors="replace")
