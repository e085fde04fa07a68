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


ASKED = "tcp: {duration: 2s, congestion: cubic}"


@pytest.mark.parametrize(
    ("asked", "code", "place", "hint"),
    [
        ("tcp: {omit: 61s}", "out-of-range", "method.tcp.omit", "`60s`"),
        ("tcp: {duration: 25h}", "out-of-range", "method.tcp.duration", "`86400s`"),
        ("rfc6349: {duration: 25h}", "out-of-range", "method.rfc6349.duration", "`86400s`"),
        ("tcp: {congestion: Cubic}", "wrong-format", "method.tcp.congestion", "`cubic`"),
        ("rfc6349: {congestion: BBR}", "wrong-format", "method.rfc6349.congestion", "`bbr`"),
        ("tcp: {congestion: a b}", "wrong-format", "method.tcp.congestion", "`cubic`"),
        ("tcp: {mss: 1461}", "out-of-range", "method.tcp.mss", "`1460`"),
        ("tcp: {mss: 1448B}", "wrong-type", "method.tcp.mss", "`1448`"),
        ("rfc6349: {windows: [100%, 0%]}", "out-of-range", "method.rfc6349.windows[1]", "`0%`"),
        ("rfc6349: {windows: [1001%]}", "out-of-range", "method.rfc6349.windows[0]", "`1000%`"),
    ],
)
def test_parameter_that_iperf3_cannot_take_has_its_bound(
    asked: str, code: str, place: str, hint: str
) -> None:
    assert ASKED in PLAN
    with pytest.raises(PlanErrors) as refused:
        parse(PLAN.replace(ASKED, asked), tables=tables())
    (error,) = refused.value.errors
    assert (error.code, error.path) == (code, place)
    assert hint in (error.hint or "")


def test_parameter_at_the_bound_of_iperf3_is_accepted() -> None:
    for asked in ("tcp: {omit: 60s, mss: 1460, congestion: bbr}", "rfc6349: {windows: [1%, 1000%]}"):
        assert parse(PLAN.replace(ASKED, asked), tables=tables()).method in asked


@pytest.mark.parametrize("asked", ["tcp: {}", "rfc6349: {}"])
def test_goal_for_lost_frames_of_connections_is_refused(asked: str) -> None:
    plan = PLAN.replace(ASKED, asked)
    assert parse(f"{plan}\ngoals: [tcp >= 90Mbps]\n", tables=tables()).goals
    with pytest.raises(PlanErrors) as refused:
        parse(f"{plan}\ngoals: [loss <= 0.1%]\n", tables=tables())
    assert [(one.code, one.path) for one in refused.value.errors] == [("goal-not-of-method", "goals[0]")]


def test_segment_longer_than_a_frame_is_named_in_its_axis() -> None:
    axis = PLAN.replace("  direction: [uni, bidir]", "  mss: [536, 9000]")
    with pytest.raises(PlanErrors) as refused:
        parse(axis, tables=tables())
    assert [(error.code, error.path) for error in refused.value.errors] == [("out-of-range", "matrix.mss[1]")]
    assert parse(axis.replace("1518B", "9058B"), tables=tables()).method == "tcp"
