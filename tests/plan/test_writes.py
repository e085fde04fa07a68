"""Numbers that a plan writes into frames: how they are read, where they may not be, and where they go."""

from __future__ import annotations

from typing import Any

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse
from netdyno.plan.headers import distinct_flows
from netdyno.plan.matrix import cases
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.units import FrameRate

PLAN = """\
title: Writes
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 1Gbps{links}}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 1Gbps{links}}}
traffic: {{own: {{{profile}}}}}
matrix: {{profile: [own], direction: [bidir]}}
method: {{frame-loss: {{duration: 1s}}}}
"""


def plan_of(profile: str, *, kind: str = "emulated/cross-connect", links: str = "") -> Plan:
    return parse(PLAN.format(profile=profile, kind=kind, links=links))


def mistakes(profile: str) -> list[tuple[str, str, str]]:
    """Place, code and hint of each."""
    with pytest.raises(PlanErrors) as found:
        plan_of(profile)
    return [(one.path.removeprefix("traffic.own."), one.code, one.hint or "") for one in found.value.errors]


@pytest.mark.parametrize(
    ("profile", "place", "code"),
    [
        # Behind 14 + 20 + 8 bytes of headers are the 18 of the probe.
        ("size: 64B, writes: [{at: 42, bytes: 2, value: 1}]", "writes[0].at", "conflict"),
        ("size: 128B, writes: [{at: 59, bytes: 4, value: 1}]", "writes[0].at", "conflict"),
        # The checksums of UDP and IPv4.
        ("size: 64B, writes: [{at: 40, bytes: 2, value: 1}]", "writes[0].at", "conflict"),
        (
            "size: 64B, writes: [{at: 0, bytes: 6, value: 1}, {at: 23, bytes: 2, value: 1}]",
            "writes[1].at",
            "conflict",
        ),
        ("size: 67B, writes: [{at: 60, bytes: 4, value: 1}]", "size", "frame-too-small"),
        ("size: 64B, writes: [{at: 26, bytes: 9, value: 1}]", "writes[0].bytes", "out-of-range"),
        ("size: 64B, writes: [{at: 26, bytes: 1, value: -1}]", "writes[0].value", "out-of-range"),
        ("size: 64B, payload: abc", "payload", "wrong-format"),
    ],
)
def test_write_that_cannot_be_is_refused_at_its_place(profile: str, place: str, code: str) -> None:
    assert [found[:2] for found in mistakes(profile)] == [(place, code)]


def test_frame_without_a_probe_may_be_written_anywhere_but_in_checksums() -> None:
    assert plan_of("size: 64B, probe: false, flows: 1, writes: [{at: 42, bytes: 8, value: 1}]")
    assert mistakes("size: 64B, probe: false, flows: 1, writes: [{at: 57, bytes: 4, value: 1}]") == [
        (
            "size",
            "frame-too-small",
            "headers 42 B, a write up to byte 60, FCS 4 B: give `65B`, or fewer headers",
        )
    ]


UDP = "{{type: udp, sport: {sport}, dport: {dport}}}"
STACK = "[{{type: ethernet}}, {{type: ipv4, src: {src}, dst: 48.0.0.1}}, {udp}]"


@pytest.mark.parametrize(
    ("src", "sport", "dport", "count"),
    [
        # Counted by hand.
        ("{list: [16.0.0.1, 16.0.0.2, 16.0.0.3]}", "1", "{list: [7, 9], every: 3}", 6),
        ("16.0.0.1", "1", "{list: [7, 9], every: 3}", 2),
        ("{list: [16.0.0.1, 16.0.0.2]}", "1", "{list: [7, 9], every: 3}", 4),
        ("{range: {min: 16.0.0.4, max: 16.0.0.9}}", "{step: {start: 9, step: -1, count: 5}}", "1", 30),
        ("{range: {min: 16.0.0.0, max: 16.0.0.9, step: 4}}", "1", "1", 5),
    ],
)
def test_flows_are_as_many_as_fields_at_their_paces_make(
    src: str, sport: str, dport: str, count: int
) -> None:
    stack = STACK.format(src=src, udp=UDP.format(sport=sport, dport=dport))
    plan = plan_of(f"size: 64B, flows: {count}, headers: {stack}")
    assert distinct_flows(plan.profiles["own"].stack) == count
    assert mistakes(f"size: 64B, flows: {count + 1}, headers: {stack}")[0][:2] == ("flows", "too-many")


@pytest.mark.parametrize(
    "field",
    [
        "{range: {min: 9, max: 7}}",
        "{range: {min: 7, max: 9, start: 10}}",
        "{step: {start: 3, step: -1, count: 5}}",
        "{list: [7], every: 0}",
        "{step: {start: 3, step: 1, count: 5, every: 0}}",
    ],
)
def test_field_that_goes_where_no_value_is_is_refused(field: str) -> None:
    stack = STACK.format(src="16.0.0.1", udp=UDP.format(sport=field, dport=1))
    ((place, code, _),) = mistakes(f"size: 64B, flows: 1, headers: {stack}")
    assert (place[:16], code) == ("headers[2].sport", "out-of-range")


def written(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """What each stream writes."""
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    trial = Trial("trial", Frames((Segment("hold", 10**6, FrameRate(1), FrameRate(1)),)))
    return {one["name"]: one["writes"] for one in trial_spec(plan, case, wiring, trial)["streams"]}


def test_writes_go_with_addresses_and_tags() -> None:
    """The third byte of the source, a whole MAC address, one over both addresses, one of the payload."""
    writes = (
        "{at: 28, bytes: 1, value: 1}, {at: 0, bytes: 6, value: 2}, {at: 26, bytes: 8, value: 3, shift: -1},"
        " {at: 64, bytes: 2, value: 4}"
    )
    found = written(plan_of(f"size: 128B, flows: 1, writes: [{writes}]", links=", vlans: [{vlan: 7}]"))
    for name, places in {"west-east": [32, 0, 30, 68], "east-west": [36, 0, 30, 68]}.items():
        (mine,) = (one for stream, one in found.items() if stream.startswith(name))
        assert [one["at"] for one in mine] == places, name
    assert mine[2] == {"at": 30, "bytes": 8, "value": 3, "shift": -1, "add": 0}


def test_headers_walk_on_where_writes_make_the_flows() -> None:
    """254 sources and 3 values that are written make 762 flows, all of them a step on: no combination."""
    source = "{step: {start: 16.0.0.1, step: 1, count: 254}}"
    target = "{step: {start: 48.0.0.1, step: 1, count: 254}}"
    ip = f"{{type: ipv4, src: {source}, dst: {target}}}"
    value = "{at: 64, bytes: 1, value: {list: [1, 2, 3]}}"
    stack = f"[{{type: ethernet}}, {ip}, {{type: udp, sport: 1, dport: 2}}]"
    (case,) = cases(plan_of(f"size: 128B, flows: 762, headers: {stack}, writes: [{value}]"))
    assert case.profile.stack[1].src == {"step": {"start": "16.0.0.1", "step": 1, "count": 254}}
