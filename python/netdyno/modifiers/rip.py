"""RIP version 2 (RFC 2453) as far as a tester speaks it: an update, a frame that announces networks."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Sequence

from netdyno.modifiers import datagram

PORT = 520
GROUP = "224.0.0.9"
GROUP_MAC = bytes.fromhex("01005e000009")
"""Of the group on Ethernet (RFC 1112 section 6.4)."""
INFINITY = 16
"""Metric of what cannot be reached."""
MOST_NETWORKS = 25

_RESPONSE = 2
_VERSION = 2
_FAMILY = 2
# A routing update is for the neighbours alone.
_TTL = 1


def update(networks: Sequence[str], metric: int) -> bytes:
    """A message that says these networks are so far away from who sends it."""
    assert 0 < len(networks) <= MOST_NETWORKS
    entries = b"".join(_entry(ipaddress.IPv4Network(network), metric) for network in networks)
    return struct.pack("!BBH", _RESPONSE, _VERSION, 0) + entries


def _entry(network: ipaddress.IPv4Network, metric: int) -> bytes:
    ends = network.network_address.packed + network.netmask.packed
    # No route tag; no next hop but the sender itself.
    return struct.pack("!HH", _FAMILY, 0) + ends + struct.pack("!II", 0, metric)


def frame(mac: str, source: str, networks: Sequence[str], metric: int) -> bytes:
    """The frame of an update, without FCS."""
    ends = (source, PORT), (GROUP, PORT)
    return datagram.frame(mac, *ends, update(networks, metric), to=GROUP_MAC, ttl=_TTL)
