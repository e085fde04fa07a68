"""Plans of connections: what a profile, a modifier and a tester can be beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.plan.matrix import cases, list_servers
from netdyno.testers import tables

PLAN = (Path(__file__).parents[2] / "examples" / "linux-tcp.yaml").read_text()
FIVE = "{size: 1518B, flows: 5}"


@pytest.mark.parametrize(
    ("written", "instead", "code"),
    [
        (FIVE, "{size: imix/bench, flows: 5}", "unsupported"),
        (FIVE, "{size: 1518B, flows: 5, burst: 3}", "unsupported"),
        (FIVE, "{size: 1518B}", "missing-field"),
        (FIVE, "{size: 1518B, flows: 129}", "out-of-range"),
        ("  direction: [uni, bidir]", "  direction: [uni]\n  modifier: [none, broadcast]", "unsupported"),
        ("tester: iperf3", "tester: netdyno", "unsupported"),
    ],
)
def test_plan_of_connections_with_what_only_frames_have_is_refused(
    written: str, instead: str, code: str
) -> None:
    assert written in PLAN
    with pytest.raises(PlanErrors) as refused:
        parse(PLAN.replace(written, instead), tables=tables())
    assert [error.code for error in refused.value.errors] == [code]


def test_plan_of_connections_beside_filters_is_accepted() -> None:
    plan = PLAN.replace("  direction: [uni, bidir]", "  direction: [uni]\n  modifier: [none, filters-25]")
    assert parse(plan, tables=tables()).tester == "iperf3"


def test_licence_that_a_lab_declares_is_bits_a_second() -> None:
    declared = PLAN.replace("  links:\n", "  licence: 50Mbps\n  links:\n")
    assert parse(declared, tables=tables()).lab.licence_bps == 50_000_000
    with pytest.raises(PlanErrors) as refused:
        parse(declared.replace("50Mbps", "extended"), tables=tables())
    assert [error.code for error in refused.value.errors] == ["wrong-format"]


FAR = """\
title: TCP to a server behind a router
tester: iperf3
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:near", "dut:a"], rate: 1Gbps, address: 10.0.1.2/24, gateway: 10.0.1.1}
    - {endpoints: ["tester:far", "dut:b"], rate: 1Gbps, server: 192.0.2.20}
traffic: {it: {size: 1518B, flows: 5}}
matrix: {direction: [uni, uni-reverse, bidir]}
method: {tcp: {duration: 1s}}
"""


def test_streams_to_a_server_have_its_ports_one_after_the_other() -> None:
    plan = parse(FAR.replace("192.0.2.20", "192.0.2.20:5301"), tables=tables())
    wiring = plan.kind.wire(plan.lab.links, {})
    found = {case.direction: list_servers(case, wiring) for case in cases(plan)}
    assert found == {
        "uni": {"near-far": "192.0.2.20:5301"},
        "uni-reverse": {"far-near": "192.0.2.20:5301"},
        "bidir": {"near-far": "192.0.2.20:5301", "far-near": "192.0.2.20:5302"},
    }


@pytest.mark.parametrize(
    ("written", "instead", "code", "place"),
    [
        ("192.0.2.20", "server.example", "wrong-format", "lab.links[1].server"),
        ("192.0.2.20", "192.0.2.20:0", "wrong-format", "lab.links[1].server"),
        ("192.0.2.20", "192.0.2.20, interface: eth1", "conflict", "lab.links[1].interface"),
        ("kind: external", "kind: emulated/path", "unsupported", "lab.links[1].server"),
        ("tester: iperf3", "tester: netdyno", "unsupported", "lab.links[1].server"),
        (", address: 10.0.1.2/24, gateway: 10.0.1.1", "", "missing-field", "lab.links[0]"),
        ("address: 10.0.1.2/24, gateway: 10.0.1.1", "server: 10.0.1.2", "conflict", "lab.links[1].server"),
        ("duration: 1s", "duration: 1s, receive_buffer: 64KiB", "unsupported", "method.tcp.receive_buffer"),
        ("duration: 1s", "duration: 1s, send_buffer: 64KiB", "unsupported", "method.tcp.send_buffer"),
        ("tcp: {duration: 1s}", "rfc6349: {}", "unsupported", "method.rfc6349"),
    ],
)
def test_plan_with_a_server_that_cannot_be_so_names_the_field(
    written: str, instead: str, code: str, place: str
) -> None:
    assert written in FAR
    with pytest.raises(PlanErrors) as refused:
        parse(FAR.replace(written, instead), tables=tables())
    assert (code, place) in {(error.code, error.path) for error in refused.value.errors}
