"""The MTU of a lab that netdyno builds, and the frame sizes that go with it."""

from __future__ import annotations

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases, situation
from netdyno.testers import tables

PLAN = """\
title: MTU
{tester}
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 1Gbps{backend}}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}}
traffic: {{it: {{size: {size}, flows: 4{more}}}}}
matrix: {{{matrix}, direction: [uni]}}
method: {{{method}}}
"""
FRAMES = "throughput: {duration: 1s}"
TCP = "tcp: {duration: 2s}"


def plan_of(
    matrix: str,
    size: str = "mtu",
    method: str = FRAMES,
    kind: str = "linux/bridge",
    backend: str = "",
    more: str = "",
) -> Plan:
    tester = "tester: iperf3" if method is TCP else ""
    text = PLAN.format(
        tester=tester, kind=kind, size=size, matrix=matrix, method=method, backend=backend, more=more
    )
    return parse(text, tables=tables())


def errors_of(**what: str) -> list[tuple[str, int]]:
    with pytest.raises(PlanErrors) as caught:
        plan_of(**what)
    return [(error.code, error.line) for error in caught.value.errors]


@pytest.mark.parametrize(("more", "tags"), [("", 0), (", vlan: 10", 1), (", vlan: [10, 20]", 1)])
def test_size_mtu_is_the_longest_frame_of_each_case(more: str, tags: int) -> None:
    """IEEE 802.3: 14 bytes of header and 4 of FCS. Linux lets in 4 more (is_skb_forwardable): one tag."""
    plan = plan_of("mtu: [1500, 9000]", more=more)
    wirings = [(case, plan.kind.wire(plan.lab.links, case.settings)) for case in cases(plan)]
    found = [situation(case, wiring).mean_size for case, wiring in wirings]
    assert found == [1518 + 4 * tags, 9018 + 4 * tags]


def test_frames_longer_than_the_mtu_are_refused_in_the_cases_that_have_it() -> None:
    assert errors_of(matrix="mtu: [1500, 9000]", size="1519B") == [("out-of-range", 8)]
    assert len(cases(plan_of("mtu: [1500, 9000]", size="1518B"))) == 2


@pytest.mark.parametrize(
    ("what", "code", "line"),
    [
        ({"matrix": "profile: [it]"}, "missing-field", 8),
        ({"matrix": "profile: [it]", "kind": "emulated/router"}, "missing-field", 8),
        ({"matrix": "mtu: [100]"}, "out-of-range", 3),
        ({"matrix": "mtu: [jumbo]", "size": "64B"}, "out-of-range", 3),
        ({"matrix": "mtu: [jumbo]"}, "out-of-range", 3),
        ({"matrix": f"mtu: ['{'9' * 5000}']"}, "out-of-range", 3),
        (
            {"matrix": "mtu: [9000]", "backend": ", backend: af_xdp, attach: native", "size": "64B"},
            "out-of-range",
            3,
        ),
        ({"matrix": "offloads: [off, on]", "size": "64B"}, "unsupported", 9),
        ({"matrix": "mtu: [1500]", "kind": "emulated/router", "size": "64B"}, "unknown-name", 9),
        ({"matrix": "offloads: [some]", "kind": "external", "size": "64B"}, "unknown-name", 9),
        (
            {
                "matrix": "mtu: [1500]",
                "kind": "external",
                "backend": ", backend: memif, socket: /run/x",
                "size": "64B",
            },
            "out-of-range",
            3,
        ),
    ],
)
def test_what_the_lab_cannot_have_is_refused_with_its_place(
    what: dict[str, str], code: str, line: int
) -> None:
    assert (code, line) in errors_of(**what)


def test_offloads_are_an_axis_of_connections() -> None:
    plan = plan_of("mtu: [1500, 9000], offloads: [off, on]", method=TCP, kind="linux/router")
    assert [(case.settings["mtu"], case.settings["offloads"]) for case in cases(plan)] == [
        ("1500", "off"),
        ("1500", "on"),
        ("9000", "off"),
        ("9000", "on"),
    ]
