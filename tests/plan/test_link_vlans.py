"""VLANs of a link: tags of each side, a stream a VLAN, addresses and next hops on each."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse
from netdyno.plan.device_lists import route_lines
from netdyno.plan.matrix import cases, situation
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.units import FrameRate

BRANCH = "vlans: [{vlan: 100-304, address: 10.0.0.2/24, gateway: 10.0.0.1}]"
CORE = "address: 192.0.2.2/30, gateway: 192.0.2.1"
PLAN = """\
title: A router with subinterfaces towards an untagged core
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
    - {{endpoints: ["tester:branch", "dut:a"], rate: 10Gbps, {branch}}}
    - {{endpoints: ["tester:core", "dut:b"], rate: 10Gbps, {core}}}
traffic:
  small: {{size: {size}, flows: {flows}{more}}}
matrix: {{direction: [bidir]}}
method: {{throughput: {{duration: 1s}}}}
"""


FEW = ", addresses: {source: 10.0.0.0/22, destination: 48.0.0.0/32}"
SMALL = "addresses: {source: 10.0.0.0/29, destination: 48.0.0.0/8}}, default: {}}"
CLASS = ", classes: {voice: {rate: 1Mbps, flows: 1, "
HEADERS = (
    ", headers: [{type: ethernet}, {type: ipv4, src: 1.0.0.1, dst: 1.0.0.2}, {type: udp,"
    " sport: {random: {min: 1, max: 60000}}, dport: {random: {min: 1, max: 60000}}}]"
)


def plan_of(
    branch: str = BRANCH,
    core: str = CORE,
    kind: str = "external",
    size: str = "256B",
    flows: int = 205_000,
    more: str = "",
) -> Plan:
    return parse(PLAN.format(branch=branch, core=core, kind=kind, size=size, flows=flows, more=more))


def spec(plan: Plan) -> dict[str, Any]:
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    segment = Segment("traffic", 10**9, FrameRate(10**6), FrameRate(10**6))
    return trial_spec(plan, case, wiring, Trial("t", Frames((segment,))))


def vids(stream: dict[str, Any]) -> list[int]:
    return [header["vid"] for header in stream["headers"] if header["type"] == "vlan"]


def ends(stream: dict[str, Any]) -> tuple[str, str]:
    """The first octets of the lowest source and destination: the /16 of each."""
    (network,) = (header for header in stream["headers"] if header["type"] == "ipv4")
    return tuple(".".join(network[end]["random"]["min"].split(".")[:2]) for end in ("src", "dst"))  # type: ignore[return-value]


def test_each_side_of_a_router_has_its_own_tags_both_ways() -> None:
    streams = spec(plan_of())["streams"]
    assert len(streams) == 410
    there, back = streams[:205], streams[205:]
    assert [vids(stream) for stream in there] == [[vid] for vid in range(100, 305)]
    assert {tuple(vids(stream)) for stream in back} == {()}
    assert [stream["name"] for stream in (there[0], there[204], back[0], back[204])] == [
        "branch-core/100",
        "branch-core/304",
        "core-branch/100",
        "core-branch/304",
    ]
    # Where they arrive tagged otherwise, a bridge must be taught so.
    assert there[7]["arrives_on"] == []
    assert back[7]["arrives_on"] == [{"vid": 107, "tpid": 0x8100}]


def test_next_hop_is_asked_for_on_each_side_as_that_side_is_tagged() -> None:
    found = spec(plan_of())
    there, back = found["streams"][:205], found["streams"][205:]
    assert [stream["destination"] for stream in there[:2]] == [
        {"gateway": "10.0.0.1"},
        {"gateway": "10.0.1.1"},
    ]
    assert {tuple(stream["destination"].items()) for stream in back} == {(("gateway", "192.0.2.1"),)}
    branch, core = found["ports"]
    assert branch["vlans"][204] == {
        "tags": [{"vid": 304, "tpid": 0x8100}],
        "ipv4": "10.0.204.2",
        "gateway": "10.0.204.1",
    }
    assert (branch["gateway"], core["gateway"], core["vlans"]) == (None, "192.0.2.1", [])


def test_each_vlan_has_its_part_of_addresses_and_flows() -> None:
    streams = spec(plan_of())["streams"]
    assert {stream["flows"] for stream in streams} == {1000}
    assert ends(streams[7]) == ("16.7", "48.0")
    assert ends(streams[205 + 7]) == ("48.0", "16.7")


def test_load_of_a_port_is_shared_by_its_vlans() -> None:
    plan = plan_of()
    (case,) = cases(plan)
    at_hand = situation(case, plan.kind.wire(plan.lab.links, case.settings))
    assert sum(place.share for place in at_hand.places) == 2
    assert {place.share for place in at_hand.places} == {Fraction(1, 205)}


def test_emulated_router_refuses_what_it_cannot_have() -> None:
    vlans = "vlans: [{vlan: [{vid: 7, tpid: 0x9300}, 1-4]}]"
    with pytest.raises(PlanErrors) as caught:
        plan_of(vlans, "vlans: []", "emulated/router")
    assert [error.code for error in caught.value.errors] == ["out-of-range"]


def test_classes_with_addresses_of_their_own_are_routed_too() -> None:
    own = ", classes: {voice: {rate: 1Mbps, flows: 9, addresses: rfc2544}, default: {}}"
    lines = list(route_lines(plan_of(more=own)))
    assert "198.18.1.0/24 via 10.0.1.2" in lines
    assert len(lines) == 410


def test_device_gets_a_route_for_each_vlan() -> None:
    lines = list(route_lines(plan_of()))
    assert len(lines) == 205
    assert lines[204] == "16.204.0.0/16 via 10.0.204.2"


def test_qinq_row_and_equal_vlans_pair_up() -> None:
    branch = "vlans: [{vlan: [{vid: 7, tpid: 0x88a8}, 1-4]}]"
    streams = spec(plan_of(branch, "vlans: [{vlan: 11-14}]"))["streams"]
    assert [vids(stream) for stream in streams] == [
        *([7, inner] for inner in range(1, 5)),
        *([outer] for outer in range(11, 15)),
    ]
    assert streams[0]["headers"][1]["tpid"] == 0x88A8
    assert streams[0]["name"] == "branch-core/7.1"
    assert {stream["destination"] for stream in streams} == {"peer"}


def test_known_mac_of_a_next_hop_is_written_and_not_asked_for() -> None:
    found = spec(plan_of("mac: '02:00:00:00:00:99'", "vlans: [{vlan: 5, mac: '02-00-00-00-00-98'}]"))
    assert [stream["destination"] for stream in found["streams"]] == ["written", "written"]
    assert [stream["headers"][0]["dst"] for stream in found["streams"]] == [
        "02:00:00:00:00:99",
        "02:00:00:00:00:98",
    ]
    assert [port["gateway"] for port in found["ports"]] == [None, None]


def test_ipv6_next_hop_as_long_as_a_mac_address_is_asked_for() -> None:
    hop = "2001:db8::1:2:345"
    ours = f"address: '2001:db8::1:2:346/64', gateway: '{hop}'"
    found = spec(plan_of(ours, ours.replace("346", "347"), more=", ip: 6"))
    assert {stream["destination"]["gateway"] for stream in found["streams"]} == {hop}


def test_address_without_gateway_is_answered_for_and_frames_go_to_the_peer() -> None:
    found = spec(plan_of("address: 10.0.0.2/24", "address: 10.0.0.3/24"))
    assert {stream["destination"] for stream in found["streams"]} == {"peer"}
    assert [port["ipv4"] for port in found["ports"]] == ["10.0.0.2", "10.0.0.3"]


def test_profile_with_tags_of_its_own_or_none_keeps_them() -> None:
    for more, tags in ((", vlan: 9", [9]), (", vlan: none", [])):
        streams = spec(plan_of(more=more))["streams"]
        assert [vids(stream) for stream in streams] == [tags, tags]


def test_emulated_router_is_given_both_ends_of_each_vlan() -> None:
    plan = plan_of("vlans: [{vlan: 100-101, shape: 40Mbps L2}]", "vlans: []", "emulated/router")
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    device = wiring.session["devices"][0]
    vlans = device["ports"][0]["vlans"]
    assert [vlan["ipv4"] for vlan in vlans] == ["100.80.0.1/30", "100.80.0.5/30"]
    assert vlans[1]["shape"] == {"rate_bps": 40_000_000, "layer": "l2", "burst_bytes": 20_000}
    assert "vlans" not in device["ports"][1]
    routes = {route["prefix"]: route["via"] for route in device["forwarding"]["routes"]}
    assert (routes["16.0.0.0/9"], routes["16.128.0.0/9"]) == ("100.80.0.2", "100.80.0.6")
    assert routes["48.0.0.0/8"] == "100.64.1.2"


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        ({"branch": "vlans: [{vlan: 1-3}]", "core": "vlans: [{vlan: 1-2}]"}, "conflict", 4),
        ({"size": "64B"}, "frame-too-small", 8),
        ({"more": ", addresses: {source: 10.0.0.0/29, destination: 48.0.0.0/8}"}, "too-many", 8),
        ({"flows": 1020, "more": FEW}, "too-many", 8),
        ({"more": HEADERS}, "conflict", 8),
        ({"kind": "emulated/router"}, "out-of-range", 2),
        ({"branch": "vlans: [{vlan: 5}, {vlan: {vid: 5, tpid: 0x88a8}}]"}, "given-twice", 5),
        ({"branch": "vlans: [{vlan: {vid: {list: [5, 5]}}}]"}, "given-twice", 5),
        ({"branch": "vlans: [{vlan: 5, address: 10.0.0.2/24, gateway: 'fe80::1%a'}]"}, "wrong-format", 5),
        ({"branch": "vlans: [{vlan: 5, shape: 0bps L2}]"}, "out-of-range", 5),
        ({"more": CLASS + "size: 64B}, default: {}}"}, "frame-too-small", 8),
        ({"more": CLASS + SMALL}, "too-many", 8),
        ({"kind": "emulated/bridge", "branch": "vlans: [{vlan: 1}]", "core": "vlans: []"}, "out-of-range", 2),
    ],
)  # fmt: skip
def test_vlans_that_do_not_fit_are_reported(change: dict[str, Any], code: str, line: int) -> None:
    with pytest.raises(PlanErrors) as caught:
        plan_of(**change)
    (error,) = caught.value.errors
    assert (error.code, error.line) == (code, line), error


HAIRPIN = """\
title: A router on a stick
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links:
    - endpoints: ["tester:west", "dut:a"]
      rate: 10Gbps
      vlans: {vlans}
traffic:
  small: {{size: 256B, flows: 1000}}
matrix: {{pattern: [hairpin], direction: [{direction}]}}
method: {{throughput: {{duration: 1s}}}}
"""
TWO = "[{vlan: 10-11, address: 10.0.0.2/24, gateway: 10.0.0.1}]"
THREE = TWO.replace("10-11", "10-12")


@pytest.mark.parametrize(
    ("vlans", "direction", "sent"),
    [
        (TWO, "uni", {"10-11": "1"}),
        (TWO, "uni-reverse", {"11-10": "1"}),
        (TWO, "bidir", {"10-11": "1/2", "11-10": "1/2"}),
        (THREE, "uni", dict.fromkeys(("10-11", "11-12", "12-10"), "1/3")),
    ],
)
def test_hairpin_shares_the_line_of_a_port_among_ways_between_its_vlans(
    vlans: str, direction: str, sent: dict[str, str]
) -> None:
    plan = parse(HAIRPIN.format(vlans=vlans, direction=direction))
    (case,) = cases(plan)
    at_hand = situation(case, plan.kind.wire(plan.lab.links, case.settings))
    assert {place.vlan: place.share for place in at_hand.places} == {
        vlan: Fraction(share) for vlan, share in sent.items()
    }
    # What the port sends it is to receive: its line each way at full load.
    assert {(place.tx, place.rx) for place in at_hand.places} == {(0, 0)}


def test_hairpin_goes_to_the_networks_behind_the_other_vlan() -> None:
    plan = parse(HAIRPIN.format(vlans=TWO, direction="bidir"))
    there, back = spec(plan)["streams"]
    assert (there["name"], back["name"]) == ("west-west/10-11", "west-west/11-10")
    assert (vids(there), vids(back)) == ([10], [11])
    assert (there["arrives_on"], back["arrives_on"]) == (
        [{"vid": 11, "tpid": 0x8100}],
        [{"vid": 10, "tpid": 0x8100}],
    )
    assert (there["destination"], back["destination"]) == ({"gateway": "10.0.0.1"}, {"gateway": "10.0.1.1"})
    assert (ends(there), ends(back)) == (("16.0", "48.128"), ("48.128", "16.0"))
    # The routes of the router agree: halves of both networks behind each VLAN.
    assert {"16.0.0.0/9 via 10.0.0.2", "48.128.0.0/9 via 10.0.1.2"} < set(route_lines(plan))


@pytest.mark.parametrize(
    ("vlans", "code"),
    [
        ("[]", "conflict"),
        ("[{vlan: 10, address: 10.0.0.2/24, gateway: 10.0.0.1}]", "conflict"),
        ("[{vlan: 10-11}]", "missing-field"),
    ],
)
def test_hairpin_without_two_vlans_and_next_hops_is_refused(vlans: str, code: str) -> None:
    with pytest.raises(PlanErrors) as caught:
        parse(HAIRPIN.format(vlans=vlans, direction="uni"))
    assert [(error.code, error.line) for error in caught.value.errors] == [(code, 5)]
