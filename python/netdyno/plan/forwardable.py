"""Whether a router may forward packets as a plan has them: what a standard has it drop is no loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from netdyno.plan.fields import ends

BEFORE_IP = ("ethernet", "vlan")
"""Headers behind which a router reads the packet that it forwards."""

HOPS = {"ipv4": "ttl", "ipv6": "hop_limit"}

KEPT_BACK = tuple(
    map(
        ip_network,
        (
            # RFC 1812 sections 4.2.2.11 and 5.3.7, RFC 3927 section 7; multicast without a tree goes nowhere.
            *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"),
            # RFC 4291 sections 2.5.2, 2.5.3, 2.5.6 and 2.7.
            *("::/128", "::1/128", "fe80::/10", "ff00::/8"),
        ),
    )
)
"""Addresses of packets that no router passes on, be they from there or to there."""


def find_obstacle(headers: Sequence[Mapping[str, Any]]) -> str:
    """What keeps every router from forwarding a packet, `TTL 1`, `127.0.0.1`; empty: nothing does."""
    outer = next((one for one in headers if one["type"] not in BEFORE_IP), None)
    if outer is None or outer["type"] not in HOPS:
        return ""
    hops = [int(one) for one in ends(outer.get(HOPS[outer["type"]]))]
    if hops and max(hops) <= 1:
        return f"{'TTL' if outer['type'] == 'ipv4' else 'hop limit'} {max(hops)}"
    for field in ("src", "dst"):
        found = [ip_address(one) for one in ends(outer.get(field))]
        for network in KEPT_BACK if found else ():
            if all(one in network for one in found):
                return str(found[0])
    return ""
