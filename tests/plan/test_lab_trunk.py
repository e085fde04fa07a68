"""The trunk of a lab: what a plan declares of it, and mistakes with their line and column."""

from __future__ import annotations

import pytest
from netdyno.campaign import inside
from netdyno.devices import KINDS
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.values.trunk import Trunk

PLAN = """\
title: Two switches
lab:
  nodes:
    tester: {kind: netdyno}
    dut: {kind: KIND}
  links:
    - {endpoints: ["tester:p1", "dut:Te0/1"], rate: 10Gbps}
    - {endpoints: ["tester:p2", "dut:Te1/1"], rate: 10Gbps}
    - {endpoints: ["tester:p3", "dut:Te0/2"], rate: 10Gbps}
    - {endpoints: ["tester:p4", "dut:Te1/2"], rate: 10Gbps}
  trunk: TRUNK
traffic: {mix: {size: imix/trex}}
method: {throughput: {duration: 10ms}}
"""
NEAR = "{ports: [p1, p3], rate: 20Gbps, adds: 4}"


def plan(trunk: str = NEAR, kind: str = "external") -> str:
    return PLAN.replace("TRUNK", trunk).replace("KIND", kind)


def test_trunk_has_the_numbers_of_its_near_ports() -> None:
    assert parse(plan()).lab.trunk == Trunk(20_000_000_000, (0, 2), 4)


def test_plan_without_a_trunk_has_none() -> None:
    assert parse(plan().replace(f"  trunk: {NEAR}\n", "")).lab.trunk is None


def test_trunk_of_a_case_that_opens_some_ports_has_their_numbers() -> None:
    lab = parse(plan()).lab
    wiring = KINDS["external"].wire(lab.links, {})
    assert inside.trunk(wiring, lab.trunk) == lab.trunk
    some = inside.trunk(wiring.only(["p2", "p3", "p4"]), lab.trunk)
    assert some == Trunk(20_000_000_000, (1,), 4)
    assert inside.trunk(wiring) is None


@pytest.mark.parametrize(
    ("trunk", "code", "at"),
    [
        ("{ports: [p1, p9], rate: 20Gbps, adds: 4}", "unknown-name", "p9"),
        ("{ports: [p3, p1, p3], rate: 20Gbps, adds: 4}", "given-twice", "p3]"),
        ("{ports: [p1, p2, p3, p4], rate: 20Gbps, adds: 4}", "conflict", "ports"),
        ("{ports: [], rate: 20Gbps, adds: 4}", "empty", "[]"),
        ("{ports: [p1], rate: 0Gbps, adds: 4}", "out-of-range", "0Gbps"),
        ("{ports: [p1], rate: 20Gbps, adds: 0}", "out-of-range", "0}"),
        ("{ports: [p1], rate: 20Gbps, adds: 4000}", "out-of-range", "4000"),
        ("{ports: [p1], rate: 20Gbps}", "missing-field", "trunk"),
        ("{ports: [p1], rate: 20Gbps, adds: 4, tags: 1}", "unknown-field", "tags"),
        ("40Gbps", "wrong-type", "40"),
    ],
)
def test_mistake_in_a_trunk_has_its_line_and_column(trunk: str, code: str, at: str) -> None:
    column = f"  trunk: {trunk}".index(at) + 1
    with pytest.raises(PlanErrors) as caught:
        parse(plan(trunk))
    assert [(one.code, one.line, one.column) for one in caught.value.errors] == [(code, 11, column)]


@pytest.mark.parametrize("kind", ["emulated/bridge", "linux/bridge"])
def test_trunk_of_a_device_that_netdyno_builds_is_refused(kind: str) -> None:
    with pytest.raises(PlanErrors) as caught:
        parse(plan(kind=kind))
    assert ("unsupported", 11, 3) in [(one.code, one.line, one.column) for one in caught.value.errors]
