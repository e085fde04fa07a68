"""What a plan watches: what it means, and each mistake with its place and code."""

from __future__ import annotations

import pytest
from netdyno.devices.watches import Ping, Watch
from netdyno.errors import PlanErrors
from netdyno.plan import parse

PLAN = """\
title: Watched
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
    - {{endpoints: ["tester:west", "dut:p0"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:p1"], rate: 1Gbps}}
traffic: {{it: {{size: 64B}}}}
method: {{ramp: {{warmup: 1s at 1kpps, ramp: 1s to 2kpps, hold: 1s}}}}
{more}
"""
XR = "emulated/asr9006, driver: cisco_iosxr, host: 192.0.2.1"
OSPF = "linux/router, settings: {routing: ospf}"


def watched(kind: str, more: str) -> Watch | None:
    return parse(PLAN.format(kind=kind, more=more)).watch


def mistakes(kind: str, more: str) -> list[tuple[int, str]]:
    """Column and code of each mistake in the line behind the plan."""
    with pytest.raises(PlanErrors) as caught:
        parse(PLAN.format(kind=kind, more=more))
    assert {error.line for error in caught.value.errors} == {9}
    assert all(error.hint for error in caught.value.errors)
    return [(error.column, error.code) for error in caught.value.errors]


def test_plan_without_watch_watches_nothing() -> None:
    assert watched("external", "") is None


def test_pings_are_ten_a_second_unless_it_is_said() -> None:
    found = watched("external", "watch: {ping: [192.0.2.1, {to: '2001:db8::1', interface: eth1, every: 1s}]}")
    assert found == Watch((Ping("192.0.2.1"), Ping("2001:db8::1", "eth1", 10**9)))
    assert Ping("192.0.2.1").every_ns == 10**8


def test_router_with_a_neighbour_has_names_and_adjacencies() -> None:
    found = watched(OSPF, "watch: {ping: [device, neighbour], adjacencies: true}")
    assert found == Watch((Ping("device"), Ping("neighbour")), adjacencies=True)


def test_command_line_of_a_driver_can_be_watched() -> None:
    found = watched("external, driver: cisco_iosxr, host: 192.0.2.1", "watch: {cli: 2s}")
    assert found == Watch(cli_ns=2 * 10**9)


@pytest.mark.parametrize("kind", [XR, XR.replace("emulated/asr9006", "external")])
def test_adjacencies_and_command_line_of_a_driver_can_be_watched(kind: str) -> None:
    """In virtual time as well: the driver asks while the clock stands."""
    assert watched(kind, "watch: {adjacencies: true, cli: 1s}") == Watch(adjacencies=True, cli_ns=10**9)


def test_adjacencies_of_a_linux_router_by_ssh_can_be_watched() -> None:
    found = watched("external, driver: linux, host: 192.0.2.1", "watch: {adjacencies: true}")
    assert found == Watch(adjacencies=True)


@pytest.mark.parametrize(
    ("kind", "more", "found"),
    [
        ("emulated/router", "watch: {ping: [device]}", [(1, "unsupported")]),
        (XR, "watch: {ping: [192.0.2.1], cli: 1s}", [(9, "unsupported")]),
        ("external", "watch: {}", [(1, "missing-field")]),
        ("external", "watch: {adjacencies: false}", [(1, "missing-field")]),
        ("external", "watch: {ping: [x, 224.0.0.1, 0.0.0.0, 255.255.255.255]}", [
            (16, "wrong-format"),
            (19, "out-of-range"),
            (30, "out-of-range"),
            (39, "out-of-range"),
        ]),
        ("external", "watch: {ping: [192.0.2.1, 192.0.2.1]}", [(27, "given-twice")]),
        ("external", "watch: {ping: [{to: 192.0.2.1, every: 1ms}]}", [(39, "out-of-range")]),
        ("external", "watch: {adjacencies: true, cli: 1s}", [(22, "unsupported"), (33, "unsupported")]),
        ("external, driver: this-kernel", "watch: {cli: 1s}", [(14, "unsupported")]),
        ("external, driver: vpp, host: sw", "watch: {adjacencies: true}", [(22, "unsupported")]),
        ("external", "watch: {pings: []}", [(9, "unknown-field")]),
        ("linux/router", "watch: {ping: [device, neighbour]}", [(24, "unknown-name")]),
        ("linux/router", "watch: {adjacencies: true}", [(22, "unsupported")]),
        ("linux/bridge", "watch: {ping: [device]}", [(16, "unknown-name")]),
        (OSPF, "watch: {ping: [192.0.2.1]}", [(16, "unknown-name")]),
        (OSPF, "watch: {ping: [{to: device, interface: eth0}]}", [(29, "unknown-field")]),
        ("external", "goals: ['watch breaks <= 0']", [(9, "missing-field")]),
    ],
)  # fmt: skip
def test_mistake_in_a_watch_is_reported_with_its_place(
    kind: str, more: str, found: list[tuple[int, str]]
) -> None:
    assert mistakes(kind, more) == found


def test_every_case_needs_what_is_watched() -> None:
    matrix = "matrix: {routing: [ospf, static]}\n"
    with pytest.raises(PlanErrors) as caught:
        watched("linux/router", f"{matrix}watch: {{ping: [neighbour], adjacencies: true}}")
    assert [error.code for error in caught.value.errors] == ["unknown-name", "unsupported"]
    both = "matrix: {routing: [ospf, bgp]}\n"
    assert watched("linux/router", f"{both}watch: {{ping: [neighbour], adjacencies: true}}") is not None
