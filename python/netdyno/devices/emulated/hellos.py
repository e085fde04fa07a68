"""Both ends of the OSPF adjacencies of an emulated router, as the engine has them: NeighbourSpec of
crates/frame/src/hello.rs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from netdyno.devices.peering import Ospf
from netdyno.devices.wiring import WiredPort

SHORTEST_NS = 100_000
"""From one hello to the next: what an answer takes in virtual time."""
PREFIX_LEN = 30


@dataclass(frozen=True)
class Ends:
    """An adjacency: the spec of the tester's end and that of the device's."""

    tester: Mapping[str, Any]
    device: Mapping[str, Any]


def adjacencies_of(port: WiredPort) -> list[Ends]:
    """The adjacency of each VLAN of a port, or of the port itself if it has none; empty: it has no OSPF.

    Behind each VLAN is a router of its own; the device is one router on all of them. The hellos of both ends
    are spread evenly over the interval, as those of interfaces that came up one by one. Raises ValueError.
    """
    ospf = None if port.speaker is None else port.speaker.ospf
    if ospf is None:
        return []
    if ospf.hello_ns < SHORTEST_NS:
        raise ValueError(
            f"with `scale: {ospf.scale}` hellos are less than {SHORTEST_NS // 1000} us apart: take a larger"
            " scale, or a longer `hello`"
        )
    ends = list(_addresses(port))
    own_id = ends[0][1]
    each = ospf.hello_ns / (2 * len(ends))
    return [
        Ends(
            _end(ospf, tester, own_id, round((2 * number + 2) * each)),
            _end(ospf, own_id, tester, round((2 * number + 1) * each)),
        )
        for number, (tester, _) in enumerate(ends)
    ]


def _addresses(port: WiredPort) -> Iterator[tuple[str, str]]:
    """The tester's address and the device's on each VLAN, or on the port."""
    for one in port.vlans:
        assert one.address is not None
        assert one.gateway is not None
        yield one.address, one.gateway
    if not port.vlans:
        assert port.ipv4 is not None
        yield port.ipv4, port.destination


def _end(ospf: Ospf, own: str, other: str, first_ns: int) -> Mapping[str, Any]:
    return {
        "router_id": own,
        "neighbour_id": other,
        "area": ospf.area,
        "prefix_len": PREFIX_LEN,
        "hello_ns": ospf.hello_ns,
        "dead_ns": ospf.dead_ns,
        "first_ns": first_ns,
        "hello_s": ospf.hello_s,
        "dead_s": ospf.dead_s,
    }
