"""What `check` warns of on this machine: interfaces that it has not, or that its own traffic uses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from netdyno.cli.outline import list_failure_warnings, list_interface_warnings, list_load_warnings
from netdyno.plan import parse
from netdyno.ports import nic

PLAN = """\
title: Interfaces
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps, interface: one}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps, interface: two}
traffic: {64b: {size: 64B}}
method: {throughput: {}}
"""


def loopback() -> nic.Nic:
    """The only interface that every machine has, as of no loopback, and without addresses."""
    found = nic.read("lo")
    assert found is not None
    return replace(found, link=replace(found.link, loopback=False), addresses=(), default_route=False)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"default_route": True, "addresses": ("192.0.2.1/24",)}, ["holds-default-route"]),
        ({"addresses": ("192.0.2.1/24",)}, ["has-own-address"]),
        ({"loopback": True}, ["loopback-interface"]),
        ({"carrier": False}, ["line-down"]),
    ],
)
def test_check_warns_of_an_interface_with_other_traffic(
    change: dict[str, object], expected: list[str]
) -> None:
    free = loopback()
    of_link = {name: to for name, to in change.items() if name in ("loopback", "carrier")}
    used = replace(
        free,
        link=replace(free.link, **of_link),
        **{name: to for name, to in change.items() if name not in of_link},
    )
    found = {"one": free, "two": used}
    assert [one.code for one in list_interface_warnings(parse(PLAN), found.get)] == expected


ACCEPTANCE = """\
title: Changes
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router, settings: {routing: bird}}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps}
    - endpoints: ["tester:east", "dut:b"]
      rate: 1Gbps
      routing: {bgp: {own_as: 1, peer_as: 2, routes: 2000, withdraw: 1500}}
traffic: {small: {size: 128B, flows: 1000}}
matrix: {direction: [uni]}
method: {acceptance: {loads: [1kpps, 10kpps], loss_free: 1kpps, rate: RATE}}
"""


@pytest.mark.parametrize(("rate", "expected"), [(1, 0), (10, 1), (100, 1)])
def test_check_warns_of_changes_that_send_more_than_the_loads(rate: int, expected: int) -> None:
    """To 1,000 prefixes."""
    warnings = list(list_load_warnings(parse(ACCEPTANCE.replace("RATE", str(rate)))))
    assert [one.code for one in warnings] == ["changes-above-loads"] * expected


DYING = """\
title: Failures
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps, lag: {interfaces: [e0, e1]}}
traffic: {small: {size: 128B}}
method:
  soak:
    duration: 60s
    part: 0s
    failures: [{member: east.e0, at: 10s, lasts: 10s}, {member: east.e1, by: silence, at: AT, lasts: 5s}]
"""


@pytest.mark.parametrize(
    ("at", "lasts", "expected"),
    [
        ("8s", "5s", ["lag-all-dead"]),
        ("12s", "5s", ["lag-all-dead"]),
        ("4s", "5s", []),
        ("20s", "3s", []),
        ("20s", "2999ms", ["lag-silence-short"]),
    ],
)
def test_check_warns_of_failures_that_show_nothing_of_a_member(
    at: str, lasts: str, expected: list[str]
) -> None:
    """A LAG whose members are all dead; a silence below the short timeout of IEEE 802.1AX."""
    text = DYING.replace("at: AT, lasts: 5s", f"at: {at}, lasts: {lasts}")
    warnings = list(list_failure_warnings(parse(text)))
    assert [one.code for one in warnings] == expected


def test_check_warns_of_an_interface_that_is_not_there() -> None:
    found = {"one": loopback()}
    warnings = list(list_interface_warnings(parse(PLAN), found.get))
    assert [one.code for one in warnings] == ["no-such-interface"]
    assert "`two`" in warnings[0].message
