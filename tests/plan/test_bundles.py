"""Links over which a device spreads frames: from the plan to the engine, and what cannot be one bundle."""

from __future__ import annotations

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.plan.matrix import cases, streams
from netdyno.testers import tables
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.units import FrameRate

PLAN = """\
title: One source, two ports of an ECMP group
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:t0", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:t1", "dut:d1"], rate: 1Gbps, bundle: far}
    - {endpoints: ["tester:t2", "dut:d2"], rate: 1Gbps, bundle: far}
traffic: {it: {size: 128B, flows: 4}}
matrix: {pattern: [one-to-many], direction: [bidir]}
method: {throughput: {duration: 1s}}
"""


def test_frames_for_a_port_may_come_by_any_of_its_bundle() -> None:
    plan = parse(PLAN)
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    assert {one.name: one.place.bundle for one in streams(case, wiring)} == {
        "t0-t1": (1, 2),
        "t0-t2": (1, 2),
        "t1-t0": (),
        "t2-t0": (),
    }
    spec = trial_spec(plan, case, wiring, Trial("t", Frames.steady(FrameRate(1), 10**9)))
    assert [port.get("bundle") for port in spec["ports"]] == [None, 1, 1]
    # Of the ports that a case opens.
    assert wiring.only(["t1", "t2"]).bundled_with(1) == (0, 1)


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ('d2"], rate: 1Gbps, bundle: far', 'd2"], rate: 1Gbps', "conflict", 6),
        ('d2"], rate: 1Gbps', 'd2"], rate: 10Gbps', "conflict", 6),
        ("external", "emulated/router", "conflict", 6),
        ("far", "two words", "wrong-format", 6),
        ("flows: 4", "flows: 4, answers: true", "unsupported", 6),
        (
            "method: {throughput: {duration: 1s}}",
            "tester: iperf3\nmethod: {tcp: {duration: 1s}}",
            "unsupported",
            6,
        ),
    ],
)
def test_links_that_cannot_be_a_bundle_are_refused(old: str, new: str, code: str, line: int) -> None:
    with pytest.raises(PlanErrors) as caught:
        parse(PLAN.replace(old, new), tables=tables())
    assert (code, line) in [(error.code, error.line) for error in caught.value.errors]
