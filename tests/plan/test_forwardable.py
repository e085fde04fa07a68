"""Packets that every router drops. Truth: RFC 1812 section 5.3.7, RFC 4291 section 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from netdyno.cli import outline
from netdyno.plan import parse
from netdyno.plan.forwardable import find_obstacle

ETHERNET = {"type": "ethernet"}
PLAN = (Path(__file__).parents[2] / "examples" / "own-router.yaml").read_text()


def ipv4(**fields: Any) -> dict[str, Any]:
    return {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1", "ttl": 64} | fields


def ipv6(**fields: Any) -> dict[str, Any]:
    return {"type": "ipv6", "src": "2001:db8::1", "dst": "2001:db8:1::1", "hop_limit": 64} | fields


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ([ipv4()], ""),
        ([ipv4(ttl=2)], ""),
        ([ipv4(ttl=1)], "TTL 1"),
        ([{"type": "vlan"}, ipv4(ttl={"list": [0, 1]})], "TTL 1"),
        ([ipv4(ttl={"list": [1, 2]})], ""),
        ([ipv4(dst="127.0.0.1")], "127.0.0.1"),
        ([ipv4(src="0.0.0.0")], "0.0.0.0"),
        ([ipv4(dst={"random": {"min": "224.0.0.1", "max": "224.0.0.9"}})], "224.0.0.1"),
        ([ipv4(src={"step": {"start": "255.255.255.0", "step": 1, "count": 256}})], "255.255.255.0"),
        # The most of these addresses are others.
        ([ipv4(src={"step": {"start": "127.255.255.255", "step": 1, "count": 256}})], ""),
        ([ipv6(hop_limit=1)], "hop limit 1"),
        ([ipv6(src="fe80::1")], "fe80::1"),
        ([ipv6()], ""),
        # A label switch does not read what is behind its labels, nor a router the inner packet of a tunnel.
        ([{"type": "mpls", "label": 16}, ipv4(ttl=1)], ""),
        ([ipv4(), {"type": "gre"}, ipv4(ttl=1)], ""),
    ],
)
def test_packets_that_no_router_forwards_are_known(headers: list[dict[str, Any]], why: str) -> None:
    assert find_obstacle([ETHERNET, *headers]) == why


@pytest.mark.parametrize(("ttl", "codes"), [(64, []), (1, ["not-forwarded"])])
def test_check_warns_of_packets_that_no_router_forwards(ttl: int, codes: list[str]) -> None:
    headers = (
        "[{type: ethernet}, {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1, ttl: %d},"
        " {type: udp, sport: 1, dport: 2}]"
    )
    text = PLAN.replace("{size: 64B, flows: 4096}", f"{{size: 128B, flows: 1, headers: {headers % ttl}}}")
    assert [one.code for one in outline.list_packet_warnings(parse(text))] == codes
