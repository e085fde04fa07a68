"""`routing` of a link: what a plan may not say, by place and code, and the speakers of a right plan."""

from __future__ import annotations

from fractions import Fraction
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from netdyno.devices.peering import Bgp, Ospf, Speaker
from netdyno.devices.speakers.announced import table_of
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, link_routing, parse
from netdyno.plan.matrix import cases, situation, wire
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.units import FrameRate

PLAN = """\
title: Routing neighbours
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {device}}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps, {west}}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps, {east}, {routing}}}
traffic: {{small: {{size: 128B, flows: 1000, ip: {ip}}}}}
matrix: {{direction: [{direction}]{axes}}}
method: {{soak: {{load: 1kpps, duration: 1s, part: 0s}}}}
"""
BIRD = "linux/router, settings: {routing: bird}"
WEST, EAST = ("address: 192.0.2.2/30, gateway: 192.0.2.1", "address: 192.0.2.6/30, gateway: 192.0.2.5")
VLANS = "vlans: [{vlan: 10-12, address: 10.0.0.2/24, gateway: 10.0.0.1}]"
TABLE = "own_as: 1, routes: 2000"
AT = "lab.links[1].routing"


def parsed(
    routing: str,
    device: str = BIRD,
    west: str = "card: x",
    east: str = "card: x",
    axes: str = "",
    ip: int = 4,
    direction: str = "uni",
) -> Plan:
    given = f"routing: {routing}" if routing else "members: []"
    named = {"device": device, "west": west, "east": east, "axes": axes}
    return parse(PLAN.format(routing=given, ip=ip, direction=direction, **named))


def mistakes(**parts: Any) -> list[tuple[str, str]]:
    with pytest.raises(PlanErrors) as caught:
        parsed(**parts)
    return [(error.path, error.code) for error in caught.value.errors]


@pytest.mark.parametrize(
    ("routing", "place", "code"),
    [
        ("{}", "", "missing-field"),
        ("{ospf: {hello: 10s, dead: 10s}}", ".ospf", "conflict"),
        ("{ospf3: {hello: 4s, dead: 1s}}", ".ospf3", "conflict"),
        ("{ospf: {hello: 500ms}}", ".ospf.hello", "out-of-range"),
        ("{ospf: {area: backbone}}", ".ospf.area", "wrong-format"),
        (f"{{bgp: {{{TABLE}, hold: 2s}}}}", ".bgp.hold", "out-of-range"),
        (f"{{bgp: {{{TABLE}, withdraw: 2001}}}}", ".bgp.withdraw", "out-of-range"),
        (f"{{bgp: {{{TABLE}, withdraw_ipv6: 1}}}}", ".bgp.withdraw_ipv6", "out-of-range"),
        (f"{{bgp: {{{TABLE}, sessions: 3}}}}", ".bgp.sessions", "missing-field"),
        (f"{{bgp: {{{TABLE}, sessions: 3, addresses: [10.0.0.1]}}}}", ".bgp.addresses", "wrong-count"),
        (f"{{bgp: {{{TABLE}, table: rib.mrt}}}}", ".bgp.table", "conflict"),
        ("{bgp: {own_as: 1, table: rib.mrt}}", ".bgp.table", "no-such-file"),
        ("{bgp: {own_as: 1, table: ../rib.mrt}}", ".bgp.table", "not-beside-the-plan"),
        (f"{{bgp: {{{TABLE}, addresses: ['2001:db8::5']}}}}", ".bgp.addresses", "wrong-format"),
        (f"{{bgp: {{{TABLE}, peer: '2001:db8::5'}}}}", ".bgp.peer", "wrong-format"),
        (f"{{bgp: {{{TABLE}, next_hop_ipv6: 192.0.2.9}}}}", ".bgp.next_hop_ipv6", "wrong-format"),
        (f"{{bgp: {{{TABLE}, addresses: [10.0.0.1, 10.0.0.1]}}}}", ".bgp.addresses", "given-twice"),
        # A router that netdyno builds has its own address, and no route to others without OSPF.
        (f"{{bgp: {{{TABLE}, peer: 192.0.2.1}}}}", ".bgp.peer", "unsupported"),
        (f"{{bgp: {{{TABLE}, addresses: [10.0.0.1]}}}}", ".bgp.addresses", "missing-field"),
    ],
)
def test_routing_that_contradicts_itself_is_a_mistake(routing: str, place: str, code: str) -> None:
    assert (AT + place, code) in mistakes(routing=routing)


@pytest.mark.parametrize(
    ("parts", "place", "code"),
    [
        ({"routing": "{ospf: {hello: 1.5s, dead: 4s}}"}, f"{AT}.ospf.hello", "out-of-range"),
        ({"routing": "{bgp: {own_as: one, routes: 9000}}"}, f"{AT}.bgp.own_as", "wrong-type"),
        ({"routing": "{bgp: {own_as: 1, table: rib.mrt}}"}, f"{AT}.bgp.table", "no-such-file"),
        (
            {"device": "linux/router, settings: {routing: bgpd}"},
            "lab.nodes.dut.settings.routing",
            "out-of-range",
        ),
    ],
)
def test_one_wrong_value_of_routing_is_one_mistake(parts: dict[str, str], place: str, code: str) -> None:
    assert mistakes(**{"routing": f"{{bgp: {{{TABLE}}}}}", **parts}) == [(place, code)]


def test_emulated_router_has_the_announced_table() -> None:
    """All of it, and frames go to a part; those to the other port to its usual networks."""
    plan = parsed(f"{{bgp: {{{TABLE}, routes_ipv6: 500}}}}", device="emulated/router", direction="bidir")
    (case,) = cases(plan)
    wiring = wire(plan, case)
    table = table_of(Speaker(bgp=Bgp(own_as=1, peer_as=1, routes=2000, routes_ipv6=500)))
    assert table is not None
    announced = {*table.ipv4.texts(), *table.ipv6.texts()}
    via = {one["prefix"]: one["via"] for one in wiring.session["devices"][0]["forwarding"]["routes"]}
    assert len(announced) == 2500
    assert announced < via.keys()
    east = wiring.ports[1]
    assert {via[one] for one in announced} == {east.ipv4, east.ipv6}
    assert set(wiring.routes[1]) < set(table.ipv4.texts())
    assert situation(case, wiring).behind[1].announced == {4: 2000, 6: 500}


@pytest.mark.parametrize(
    ("parts", "place", "code"),
    [
        ({"device": "emulated/router", "routing": "{ospf3: true}"}, f"{AT}.ospf3", "unsupported"),
        ({"device": "linux/bridge"}, AT, "unsupported"),
        ({"device": "linux/router"}, AT, "missing-field"),
        ({"device": "linux/router, settings: {routing: ospf}"}, AT, "missing-field"),
        ({"axes": ", routing: [bird, static]"}, "matrix.routing[1]", "conflict"),
        ({"axes": ", routes: [16]"}, "matrix.routes", "conflict"),
        ({"axes": ", modifier: [none, routing]"}, "matrix.modifier[1]", "conflict"),
        ({"routing": ""}, "lab.nodes.dut.settings.routing", "missing-field"),
        (
            {"west": "routing: {bgp: {own_as: 2, routes: 10}}"},
            f"{AT}.bgp",
            "conflict",
        ),
        ({"device": "external", "west": WEST}, AT, "missing-field"),
        ({"device": "external", "east": EAST}, "lab.links[0]", "missing-field"),
        (
            {"device": "external", "west": WEST, "east": f"backend: memif, socket: '@x', {EAST}"},
            AT,
            "unsupported",
        ),
        ({"device": "external", "west": WEST, "east": "server: 192.0.2.9"}, AT, "unsupported"),
        (
            {"device": "external", "west": WEST, "east": VLANS, "routing": "{ospf3: true}"},
            f"{AT}.ospf3",
            "unsupported",
        ),
        (
            {
                "device": "external",
                "west": WEST,
                "east": VLANS,
                "routing": f"{{bgp: {{{TABLE}, sessions: 2}}}}",
            },
            f"{AT}.bgp.sessions",
            "conflict",
        ),
        (
            {
                "device": "external",
                "west": WEST,
                "east": VLANS,
                "routing": "{bgp: {own_as: 1, routes_ipv6: 9}}",
            },
            f"{AT}.bgp.routes_ipv6",
            "unsupported",
        ),
        (
            {"device": "external", "west": WEST, "east": EAST, "routing": "{ospf3: true}"},
            f"{AT}.ospf3",
            "unsupported",
        ),
        (
            {
                "device": "external",
                "west": WEST,
                "east": EAST,
                "routing": f"{{bgp: {{{TABLE}, routes_ipv6: 9}}}}",
            },
            f"{AT}.bgp.routes_ipv6",
            "missing-field",
        ),
    ],
)
def test_lab_that_has_no_such_neighbour_is_a_mistake(parts: dict[str, str], place: str, code: str) -> None:
    assert (place, code) in mistakes(**{"routing": f"{{bgp: {{{TABLE}}}}}", **parts})


def test_external_device_has_other_addresses_than_the_links() -> None:
    bgp = f"{TABLE}, peer: 198.51.100.1, addresses: [198.51.100.2]"
    plan = parsed(f"{{bgp: {{{bgp}}}}}", device="external", west=WEST, east=EAST)
    assert plan.lab.links[1].speaker == Speaker(
        Bgp(1, 1, routes=2000, addresses=("198.51.100.2",), peer="198.51.100.1")
    )


def test_vlans_of_a_link_have_ospf() -> None:
    plan = parsed("{ospf: true}", device="external", east=VLANS)
    assert plan.lab.links[1].speaker == Speaker(ospf=Ospf("0.0.0.0", 10, 40))


def test_vlans_of_a_link_have_a_session_each() -> None:
    plan = parsed(f"{{bgp: {{{TABLE}}}}}", device="external", west=WEST, east=VLANS)
    wired = plan.kind.wire(plan.lab.links, plan.lab.settings).ports[1].speaker
    assert wired is not None
    assert wired.sessions(1) == ("10.0.0.2", "10.0.1.2", "10.0.2.2")
    assert wired.peers == ("10.0.0.1", "10.0.1.1", "10.0.2.1")


def test_whole_plan_becomes_speakers_with_addresses() -> None:
    bgp = (
        "own_as: 64513, peer_as: 64512, sessions: 2, routes: 3000, routes_ipv6: 500, seed: 7, withdraw: 100,"
        " next_hop_ipv6: '2001:db8::9', md5: true, backup: true, graceful_restart: true"
    )
    routing = f"{{bgp: {{{bgp}}}, ospf: {{area: 5, hello: 1s, dead: 4s}}, ospf3: true}}"
    plan = parsed(routing)
    speaker = Speaker(
        Bgp(
            *(64513, 64512, 2, 3000, 500),
            withdraw=100,
            seed=7,
            next_hop_ipv6="2001:db8::9",
            has_password=True,
            is_backup=True,
            restarts=True,
        ),
        Ospf("0.0.0.5", 1, 4),
        Ospf("0.0.0.0", 10, 40, 3),
    )
    assert [link.speaker for link in plan.lab.links] == [None, speaker]
    wired = plan.kind.wire(plan.lab.links, plan.lab.settings).ports[1].speaker
    assert wired is not None
    assert (len(wired.networks), len(wired.peers)) == (2, 2)
    # Each session is from an address of its own, which no session of another port has.
    assert len({*wired.sessions(0), *wired.sessions(1)}) == 4


@pytest.mark.parametrize(("version", "withdrawn"), [(4, 900), (6, 300)])
def test_frames_go_to_announced_prefixes_of_their_ip_version(version: int, withdrawn: int) -> None:
    both = f"{TABLE}, withdraw: 900, routes_ipv6: 1000, withdraw_ipv6: 300"
    plan = parsed(f"{{bgp: {{{both}}}}}", ip=version, direction="bidir")
    (case,) = cases(plan)
    wiring = wire(plan, case)
    known = situation(case, wiring)
    assert [one.withdrawn for one in known.behind] == [0, withdrawn]
    trial = Trial("it", Frames.steady(FrameRate(Fraction(1000)), 10**9))
    east, west = (
        one["headers"][1]["dst"]["list"] for one in trial_spec(plan, case, wiring, trial)["streams"]
    )
    speaker = plan.lab.links[1].speaker
    assert speaker is not None
    table = table_of(speaker)
    assert table is not None
    whole, part = (table.ipv4, table.withdrawn) if version == 4 else (table.ipv6, table.withdrawn_ipv6)
    networks = [ip_network(text) for text in (*whole.texts(), *part.texts())]
    # Each of them is in one prefix alone, which is among those that are withdrawn.
    of = [[one for one in networks if ip_address(text) in one] for text in east]
    assert all(len(found) == 1 for found in of)
    assert {str(found[0]) for found in of} <= set(part.texts())
    assert len(east) == len(west) == known.prefixes[0] > 100
    behind_west = ip_network({4: "16.0.0.0/8", 6: "2001:2::/49"}[version])
    assert all(ip_address(text) in behind_west for text in west)


def test_ipv6_frames_need_a_next_hop_at_each_port_that_they_go_to() -> None:
    hop = f"{{bgp: {{{TABLE}, routes_ipv6: 900, next_hop_ipv6: '2001:db8::2'}}}}"
    given = {"routing": hop, "device": "external", "west": WEST, "east": EAST, "ip": 6}
    assert parsed(**given).lab.links[1].speaker
    assert mistakes(**given, direction="bidir") == [("lab.links[0]", "missing-field")]
    without = {**given, "routing": f"{{bgp: {{{TABLE}}}}}"}
    assert ("traffic.small.ip", "conflict") in mistakes(**without)


def test_table_beside_the_plan_is_found(tmp_path: Path) -> None:
    (tmp_path / "rib.mrt").touch()
    given = link_routing.LinkRouting.model_validate({"bgp": {"own_as": 9, "table": "rib.mrt"}})
    assert not list(link_routing.problems(given, tmp_path))
    assert link_routing.speaker_of(given, tmp_path).bgp == Bgp(9, 9, table=str(tmp_path / "rib.mrt"))
    with_ipv6 = {"own_as": 9, "table": "rib.mrt", "next_hop_ipv6": "2001:db8::9"}
    given = link_routing.LinkRouting.model_validate({"bgp": with_ipv6})
    assert link_routing.speaker_of(given, tmp_path).has_ipv6
