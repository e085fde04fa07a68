"""What a router of the user's is given so that it becomes a routing neighbour of the tester.

FRR and BIRD take theirs in `tests/real/test_neighbours_real.py`. No device has taken the others: the golden
texts are the templates' own, read line by line beside MikroTik's page on BGP, Juniper's on graceful restart,
Cisco's on prefix limits of IOS XR, and published configurations. They show what a change changes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import said
from netdyno.devices.own_router import ROUTERS, find_of_driver
from netdyno.plan import Plan, parse
from netdyno.plan.device_neighbours import neighbour_lines

GOLDEN = Path(__file__).parents[1] / "golden" / "neighbours"
PLAN = """\
title: A router with a full table
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external%s}}
  links:
    - endpoints: ["tester:west", "dut:%s"]
      rate: 1Gbps
      address: 100.64.0.2/30
      gateway: 100.64.0.1
      routing: {bgp: {own_as: 64512, routes: 1000, graceful_restart: true, peer: 192.0.2.1}}
    - endpoints: ["tester:east", "dut:%s"]
      rate: 1Gbps
      address: 100.64.1.2/30
      gateway: 100.64.1.1
      routing:
        ospf: {area: 7, hello: 1s, dead: 4s}
        bgp:
          {own_as: 64513, peer_as: 64512, sessions: 2, routes: 900000, routes_ipv6: 143000,
           next_hop_ipv6: "2001:db8::2", md5: true}
traffic: {it: {size: 128B, flows: 1000}}
matrix: {direction: [uni]}
method: {soak: {load: 2kpps, duration: 1s, part: 0s}}
"""
PRINTED = [name for name, one in ROUTERS.items() if not one.lacks and name != "ios-xe"]
"""IOS XE has the words of IOS, and other names of interfaces."""


def plan_for(router: str, driver: str = "") -> Plan:
    return parse(PLAN % (driver, *map(ROUTERS[router].plan_name, ROUTERS[router].ports)))


@pytest.mark.parametrize("router", PRINTED)
def test_neighbours_of_each_router_are_the_text_that_was_read(
    router: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETDYNO_BGP_PASSWORD", "only-for-tests")
    printed = "\n".join(neighbour_lines(plan_for(router), ROUTERS[router])) + "\n"
    assert printed == (GOLDEN / f"{router}.txt").read_text()
    assert "only-for-tests" not in printed


@pytest.mark.parametrize("router", ["asa", "fsos", "vpp", "linux"])
def test_router_without_words_for_routing_is_refused_by_name(router: str) -> None:
    with pytest.raises(ValueError, match=ROUTERS[router].title.partition(" (")[0]):
        list(neighbour_lines(plan_for(router), ROUTERS[router]))


def test_words_are_those_of_the_driver_or_as_asked(tmp_path: Path) -> None:
    driver = ", driver: cisco_iosxr, host: 192.0.2.1"
    (tmp_path / "plan.yaml").write_text(PLAN % (driver, "Te0/0/0/0", "Te0/0/0/1"))
    own = said("routes", "plan.yaml", cwd=tmp_path)
    assert own.stdout == (GOLDEN / "ios-xr.txt").read_text()
    asked = said("routes", "plan.yaml", "--router", "vpp", cwd=tmp_path)
    assert (asked.returncode, asked.stdout) == (2, "")
    # A driver that reads many systems is of none of them.
    assert find_of_driver("snmp") == find_of_driver("") == ROUTERS["other"]


def of_vlans(routing: str, router: str) -> list[str]:
    vlans = f"vlans: [{{vlan: 10-12, address: 10.0.0.2/24, gateway: 10.0.0.1}}], routing: {{{routing}}}"
    port = ROUTERS[router].plan_name(ROUTERS[router].ports[0])
    links = f"""\
    - {{endpoints: ["tester:west", "dut:{port}"], rate: 1Gbps, {vlans}}}
    - {{endpoints: ["tester:east", "dut:z"], rate: 1Gbps, address: 10.9.0.2/24, gateway: 10.9.0.1}}
"""
    head, tail = PLAN.split("    - endpoints", 1)[0], PLAN.partition("traffic:")[2]
    return list(neighbour_lines(parse(head % "" + links + "traffic:" + tail), ROUTERS[router]))


def test_ospf_on_vlans_is_on_each_subinterface() -> None:
    lines = of_vlans("ospf: true", "ios")
    assert [line for line in lines if line.startswith("interface")] == [
        f"interface GigabitEthernet0/0.{vid}" for vid in (10, 11, 12)
    ]
    assert not [line for line in lines if "bgp" in line or "route-map" in line]


def test_bgp_on_vlans_is_a_session_from_each_subinterface() -> None:
    lines = of_vlans("ospf: true, bgp: {own_as: 64513, peer_as: 64512, routes: 3000}", "bird")
    assert [line.split()[1:3] for line in lines if line.startswith("protocol")] == [
        ["ospf", "v2"],
        *[["bgp", f"netdyno_bgp_1_{vid}_1"] for vid in (10, 11, 12)],
    ]
    ends = [(line.split()[1].rstrip(";")) for line in lines if line.startswith(("  local", "  neighbor"))]
    assert ends == ["10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2", "10.0.2.1", "10.0.2.2"]
    # A tenth and 100 above a third of the routes.
    assert sum("import limit 1200 " in line for line in lines) == 3
