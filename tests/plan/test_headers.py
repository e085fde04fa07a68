"""Header stacks of a plan: what may follow what, what fits, and where a mistake is reported."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse
from netdyno.plan.headers import LAYERS, PROBE, Header, length, smallest_frame, type_name
from pydantic import TypeAdapter

DOCUMENT = (Path(__file__).parents[2] / "docs" / "plan.md").read_text()

ETHERNET: dict[str, Any] = {"type": "ethernet"}
IPV4 = {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"}
IPV6 = {"type": "ipv6", "src": "2001:2::1", "dst": "2001:2::2"}
UDP = {"type": "udp", "sport": 1, "dport": 2}
MPLS = {"type": "mpls", "label": 16}
WORD = {"type": "control_word"}
PPPOE = {"type": "pppoe", "session": 1}
PPP = {"type": "ppp"}
SRH = {"type": "srh", "segments": ["2001:2::2", "2001:2::3"]}
GTPU = {"type": "gtpu", "teid": 1}
HOP = {"type": "hop_by_hop"}
RAW = {"type": "raw", "bytes": "0102"}


def plan_of(*stack: dict[str, Any], size: int = 256, flows: int = 1) -> Plan:
    """A plan of frames with these headers behind Ethernet."""
    headers = json.dumps([ETHERNET, *stack] if stack[0]["type"] != "ethernet" else list(stack))
    return parse(
        f"""\
title: Headers
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/cross-connect}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}}
traffic: {{own: {{size: {size}B, flows: {flows}, headers: {headers}}}}}
matrix: {{profile: [own], direction: [uni]}}
method: {{throughput: {{duration: 1s}}}}
"""
    )


def refused(*stack: dict[str, Any], size: int = 256) -> list[tuple[str, str]]:
    """Code and place of each mistake, from the profile on."""
    with pytest.raises(PlanErrors) as found:
        plan_of(*stack, size=size)
    assert all(error.hint for error in found.value.errors)
    places = [re.sub(r"\[(\d+)\]", r".\1", error.path) for error in found.value.errors]
    codes = [error.code for error in found.value.errors]
    return [(code, place.removeprefix("traffic.own.")) for code, place in zip(codes, places, strict=True)]


GOOD: dict[str, tuple[int, list[dict[str, Any]]]] = {
    "eompls": (14 + 4 + 14 + 20 + 8, [MPLS, ETHERNET, IPV4, UDP]),
    "control word": (14 + 8 + 4 + 14 + 20 + 8, [MPLS, MPLS, WORD, ETHERNET, IPV4, UDP]),
    "pppoe": (14 + 4 + 6 + 2 + 20 + 8, [{"type": "vlan", "vid": 7}, PPPOE, PPP, IPV4, UDP]),
    "options": (14 + 40 + 8 + 24 + 8, [IPV6, HOP, {"type": "destination_options", "size": 24}, UDP]),
    "routing": (14 + 40 + 24 + 8, [IPV6, {"type": "routing", "addresses": ["2001:2::3"]}, UDP]),
    "srv6": (14 + 40 + 40 + 20 + 8, [IPV6, SRH, IPV4, UDP]),
    "srv6 ethernet": (14 + 40 + 40 + 14, [IPV6, SRH, {"type": "ethernet", "ethertype": 0x88B5}]),
    "gtpu": (14 + 20 + 8 + 16 + 40 + 8, [IPV4, UDP, {**GTPU, "qfi": 9}, IPV6, UDP]),
    "fragment": (14 + 40 + 8, [IPV6, {"type": "fragment", "offset": 8, "protocol": 17}]),
    "later fragment": (14 + 20, [{**IPV4, "offset": 1480}]),
    "no ip": (14, [{"type": "ethernet", "ethertype": 0x88B5}]),
    "raw": (14 + 2, [RAW]),
    "raw between": (14 + 2 + 20 + 8, [RAW, IPV4, UDP]),
}


@pytest.mark.parametrize("name", GOOD)
def test_stack_in_order_is_accepted_with_its_length(name: str) -> None:
    bytes_, stack = GOOD[name]
    plan = plan_of(*stack)
    headers = plan.profiles["own"].stack
    assert length(headers) == bytes_
    assert smallest_frame(headers) == max(64, bytes_ + PROBE + 4)


@pytest.mark.parametrize(
    ("stack", "place"),
    [
        ([WORD, ETHERNET, IPV4, UDP], 1),
        ([MPLS, WORD, IPV4, UDP], 3),
        ([PPPOE, IPV4, UDP], 2),
        ([PPPOE, PPP], 2),
        ([IPV4, HOP, UDP], 2),
        ([IPV6, HOP, HOP, UDP], 3),
        ([IPV4, SRH, UDP], 2),
        ([IPV4, UDP, GTPU, ETHERNET, IPV4, UDP], 4),
        ([IPV4, UDP, GTPU], 3),
        ([{**IPV4, "protocol": 17}, UDP], 2),
        ([{**IPV4, "offset": 8}, UDP], 2),
        ([{"type": "ethernet", "ethertype": 0x88B5}, IPV4, UDP], 1),
        ([{"type": "vlan", "vid": 1}], 1),
        ([IPV6, SRH], 2),
    ],
)
def test_header_out_of_order_is_refused_at_its_place(stack: list[dict[str, Any]], place: int) -> None:
    assert refused(*stack) == [("wrong-order", f"headers.{place}")]


@pytest.mark.parametrize(
    ("stack", "place", "code"),
    [
        ([{**IPV4, "offset": 9}], "1.offset", "out-of-range"),
        ([{"type": "ethernet", "ethertype": 0x0800}], "0.ethertype", "conflict"),
        ([{"type": "vlan", "vid": 1, "tpid": 0x0800}, IPV4, UDP], "1.tpid", "out-of-range"),
        ([IPV6, {**UDP, "checksum": False}], "2.checksum", "conflict"),
        ([{"type": "ethernet", "src": "01:00:00:00:00:01"}, IPV4, UDP], "0.src", "out-of-range"),
        (
            [
                {
                    "type": "ethernet",
                    "src": {"random": {"min": "02:00:00:00:00:00", "max": "04:00:00:00:00:00"}},
                },
                IPV4,
                UDP,
            ],
            "0.src",
            "out-of-range",
        ),
        ([{**IPV4, "ttl": 256}, UDP], "1.ttl", "out-of-range"),
        ([{**IPV4, "dscp": {"list": [1, 64]}}, UDP], "1.dscp.list.1", "out-of-range"),
        ([{**IPV4, "df": 1}, UDP], "1.df", "wrong-type"),
        ([{"type": "ethernet", "ethertype": 1500}], "0.ethertype", "out-of-range"),
        ([{"type": "raw", "bytes": "010"}], "1.bytes", "wrong-format"),
        ([{"type": "raw", "bytes": "010203"}], "1.bytes", "out-of-range"),
        ([IPV6, {"type": "hop_by_hop", "size": 12}, UDP], "2.size", "out-of-range"),
        ([IPV6, {"type": "routing", "segments_left": 1}, UDP], "2.segments_left", "out-of-range"),
        ([IPV6, {**SRH, "segments_left": 3}, UDP], "2.segments_left", "out-of-range"),
        ([IPV4, UDP, {**GTPU, "qfi": 64}, IPV4, UDP], "3.qfi", "out-of-range"),
    ],
)
def test_value_out_of_range_is_refused_at_its_field(
    stack: list[dict[str, Any]], place: str, code: str
) -> None:
    assert refused(*stack) == [(code, f"headers.{place}")]


def test_fragment_of_no_multiple_of_eight_bytes_is_refused() -> None:
    first = [{**IPV4, "more": True}, UDP]
    assert plan_of(*first, size=1518)
    assert refused(*first, size=1514) == [("out-of-range", "headers.1.more")]


def test_frame_smaller_than_new_headers_is_refused() -> None:
    assert refused(IPV6, SRH, IPV4, UDP, size=143) == [("frame-too-small", "size")]
    assert plan_of(IPV6, SRH, IPV4, UDP, size=144)


def test_stack_of_too_many_headers_is_refused() -> None:
    assert plan_of(*[MPLS] * 13, IPV4, UDP)
    assert [code for code, _ in refused(*[MPLS] * 14, IPV4, UDP)] == ["too-many"]


def test_fields_that_vary_make_flows() -> None:
    varied = {**IPV4, "dscp": {"list": [0, 46]}, "ttl": {"step": {"start": 1, "step": 1, "count": 3}}}
    plan = plan_of({**varied, "df": {"random": {"min": False, "max": True}}}, UDP, flows=12)
    assert plan.profiles["own"].flows == 12


def test_headers_are_all_documented_with_their_fields() -> None:
    for layer in LAYERS:
        assert f"`{type_name(layer)}`" in DOCUMENT
        for name in layer.model_fields:
            assert name == "type" or f"`{name}`" in DOCUMENT, (type_name(layer), name)


def test_headers_of_the_union_are_those_of_the_table() -> None:
    schema = TypeAdapter(Header).json_schema()
    assert set(schema["discriminator"]["mapping"]) == {type_name(layer) for layer in LAYERS}


def steps(**how: Any) -> dict[str, Any]:
    return {"step": how}


@pytest.mark.parametrize(
    ("src", "sport", "dport", "flows"),
    [
        # Of 2 addresses and 1024 ports: together they come again after 1024.
        (steps(start="192.0.2.1", step=1, count=2), steps(start=1025, step=1, count=1024), 12, 2048),
        (steps(start="192.0.2.255", step=3, count=4), {"list": [7, 9]}, steps(start=5, step=2, count=6), 48),
        ({"list": ["192.0.2.1", "10.0.0.1"]}, {"list": [1, 2]}, {"list": [3, 4]}, 8),
    ],
)
def test_fields_are_combined_where_walking_together_makes_too_few_flows(
    src: Any, sport: Any, dport: Any, flows: int
) -> None:
    plan = plan_of({**IPV4, "src": src}, {"type": "udp", "sport": sport, "dport": dport}, flows=flows)
    (_, ip, udp) = plan.profiles["own"].stack

    found = {(nth(ip.src, flow), nth(udp.sport, flow), nth(udp.dport, flow)) for flow in range(flows)}
    assert len(found) == flows


def nth(field: Any, flow: int) -> Any:
    """The place of a field's value in flow `flow`, as docs/plan.md defines it; of a constant itself."""
    if not isinstance(field, dict):
        return field
    what = field.get("step", field)
    count = what["count"] if "step" in field else len(what["list"])
    return flow // what.get("every", 1) % count


def test_last_of_all_combinations_is_the_last_value_of_each_field() -> None:
    source = steps(start="192.0.2.255", step=3, count=4)
    plan = plan_of({**IPV4, "src": source}, {**UDP, "sport": steps(start=5, step=2, count=6)}, flows=24)
    (_, ip, udp) = plan.profiles["own"].stack
    assert [(nth(ip.src, flow), nth(udp.sport, flow)) for flow in (0, 5, 6, 23)] == [
        (0, 0),
        (0, 5),
        (1, 0),
        (3, 5),
    ]
    with pytest.raises(PlanErrors):
        plan_of({**IPV4, "src": source}, {**UDP, "sport": steps(start=5, step=2, count=6)}, flows=25)


def test_protocol_0_is_a_protocol() -> None:
    assert plan_of({**IPV4, "protocol": 0}).profiles["own"].stack[1].protocol == 0


MEMIF = """\
title: Headers
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps, backend: memif, socket: {a: 1}, id: 0}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps, backend: memif, socket: /tmp/x, id: [2]}
traffic: {own: {size: 64B}}
method: {frame-loss: {duration: 1s}}
"""


def test_mapping_in_place_of_a_memifs_number_is_reported() -> None:
    with pytest.raises(PlanErrors) as found:
        parse(MEMIF)
    assert [(one.path, one.code) for one in found.value.errors] == [
        ("lab.links[0].socket", "wrong-type"),
        ("lab.links[1].id", "wrong-type"),
    ]


def test_group_address_as_a_next_hop_is_reported() -> None:
    link = 'interface: eth1, mac: "01:00:5e:00:00:01"'
    plan = MEMIF.replace("backend: memif, socket: {a: 1}, id: 0", link)
    plan = plan.replace("backend: memif, socket: /tmp/x, id: [2]", "interface: eth2")
    with pytest.raises(PlanErrors) as found:
        parse(plan)
    assert [(one.path, one.code) for one in found.value.errors] == [("lab.links[0].mac", "conflict")]
