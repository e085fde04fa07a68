"""The text of a plan that `send` and `ndr` make: by its arguments, and read by the ordinary reader."""

from __future__ import annotations

from typing import Any

import pytest
from netdyno.plan import Plan, parse
from netdyno.plan.quick import QuickPlan, QuickPort, link_addresses
from netdyno.values.units import L1Rate

LINE = L1Rate.parse("1Gbps")
SOAK = {"load": "80%", "duration": "10s", "part": "0s", "interval": "1s"}


def quick(*options: dict[str, Any], **more: Any) -> QuickPlan:
    names = ("eth1", "eth2.10")
    first, second = (
        QuickPort(name, LINE, {"interface": name, "backend": "auto", **one})
        for name, one in zip(names, options or ({}, {}), strict=True)
    )
    return QuickPlan("Send", (first, second), "soak", SOAK, {"settle": "200ms", "drain": "1s"}, **more)


def read(made: QuickPlan) -> Plan:
    return parse(made.text(), name="send.yaml")


def test_text_of_two_ports_is_the_plan_that_was_asked_for() -> None:
    assert quick(size="imix/bench", direction="bidir").text() == (
        'title: "Send"\n'
        "lab:\n"
        "  nodes:\n"
        "    tester: {kind: netdyno}\n"
        "    dut: {kind: external}\n"
        "  links:\n"
        '    - {endpoints: ["tester:eth1", "dut:a"], rate: 1Gbps, interface: eth1, backend: auto}\n'
        '    - {endpoints: ["tester:eth2.10", "dut:b"], rate: 1Gbps, interface: eth2.10, backend: auto}\n'
        "traffic:\n"
        "  imix-bench: {size: imix/bench, flows: 4096}\n"
        "matrix: {profile: [imix-bench], direction: [bidir]}\n"
        "method: {soak: {load: 80%, duration: 10s, part: 0s, interval: 1s}}\n"
        "trial: {settle: 200ms, drain: 1s}\n"
    )


ROUTED = (
    {"address": "10.0.1.2/30", "gateway": "10.0.1.1"},
    {"address": "10.0.2.2/30", "gateway": "10.0.2.1"},
)


@pytest.mark.parametrize(
    ("options", "more", "ends"),
    [
        (ROUTED, {}, ("10.0.1.2", "10.0.2.2")),
        (ROUTED, {"to": "10.9.0.1", "vlan": 10, "size": "68B"}, ("10.0.1.2", "10.9.0.1")),
        (({}, {}), {"to": "10.9.0.1", "flows": 1}, ("16.0.0.1", "10.9.0.1")),
        # What the second port sends has source and destination swapped.
        (ROUTED, {"direction": "uni-reverse"}, ("10.0.1.2", "10.0.2.2")),
        (ROUTED, {"direction": "uni-reverse", "to": "10.9.0.1"}, ("10.9.0.1", "10.0.2.2")),
        (({}, {}), {"to": "2001:db8::9", "size": "128B"}, ("2001:2::1", "2001:db8::9")),
    ],
)
def test_frames_go_to_an_address_in_flows_of_ports(
    options: tuple[dict[str, Any], ...], more: dict[str, Any], ends: tuple[str, str]
) -> None:
    (profile,) = read(quick(*options, **more)).profiles.values()
    network = next(header for header in profile.stack if header.type in ("ipv4", "ipv6"))
    assert (network.src, network.dst) == ends
    flows = more.get("flows", 4096)
    assert profile.stack[-1].sport == (
        {"step": {"start": 1025, "step": 1, "count": flows}} if flows > 1 else 1025
    )
    assert [header.vid for header in profile.stack if header.type == "vlan"] == (
        [10] if "vlan" in more else []
    )


def test_frames_go_to_a_network_or_where_they_always_go() -> None:
    (profile,) = read(quick(*ROUTED, to="10.9.0.0/16")).profiles.values()
    assert (profile.pool.source, profile.pool.destination) == ("10.0.1.2/32", "10.9.0.0/16")
    (profile,) = read(quick(vlan=7, size="68B")).profiles.values()
    assert (profile.pool.name, profile.tagged) == ("trex", True)


def test_names_that_yaml_reads_otherwise_are_quoted() -> None:
    odd = {"backend": "memif", "interface": "1e3", "socket": "@a: b", "id": 1}
    assert 'interface: "1e3", backend: memif, socket: "@a: b", id: 1' in quick(odd, odd).text()
    found = read(quick({"interface": "\N{GRINNING FACE}"}, {"interface": "[0] #"}))
    assert [link.interface for link in found.lab.links] == ["\N{GRINNING FACE}", "[0] #"]


@pytest.mark.parametrize(
    ("via", "own", "there", "found"),
    [
        ("10.0.1.1", None, (), "10.0.1.2/30"),
        ("10.0.1.4", None, (), "10.0.1.5/31"),
        ("10.0.1.1/24", None, (), "10.0.1.2/24"),
        ("10.0.1.5/31", None, (), "10.0.1.4/31"),
        ("10.0.1.1/32", None, (), "10.0.1.2/30"),
        ("10.0.1.1", None, ("192.0.2.1/24", "10.0.1.9/24"), "10.0.1.9/24"),
        ("10.0.1.1", "10.0.1.7/24", ("10.0.1.9/24",), "10.0.1.7/24"),
        ("2001:db8::1", None, ("10.0.1.9/24",), "2001:db8::2/126"),
        (None, None, ("2001:db8::1/64", "10.0.1.9/24"), "10.0.1.9/24"),
    ],
)
def test_own_address_is_the_interface_s_or_the_other_host(
    via: str | None, own: str | None, there: tuple[str, ...], found: str
) -> None:
    gateway = {} if via is None else {"gateway": via.partition("/")[0]}
    assert link_addresses(via, own, there) == {"address": found, **gateway}


def test_link_without_a_router_and_addresses_has_none() -> None:
    assert link_addresses(None, None, ()) == {}
