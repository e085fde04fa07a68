"""LAGs of a link: several interfaces of the tester that are one port, in plans and in what methods know."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from netdyno.campaign import inside
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.plan.matrix import cases, count_candidates, own_flows, situation, streams, wire
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.units import Percent

PLAN = """\
title: LAG
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
    - {{endpoints: ["tester:west", "dut:p0"], rate: 10Gbps}}
    - endpoints: ["tester:east", "dut:p1"]
      members: {members}
      rate: 1Gbps
      lag: {{interfaces: [e1, e2, e3, e4]{lag}}}
{link}
traffic: {{some: {{size: 512B, flows: {flows}{traffic}}}}}
matrix: {{direction: [bidir]}}
method: {{sweep: {{loads: [50%], duration: 1s}}}}
{more}
"""
TWICE = '    - {endpoints: ["tester:north", "dut:p9"], rate: 1Gbps, interface: e1}'
MEMBERS = "[p2, p3, p4]"
USUAL = {"kind": "external", "members": MEMBERS, "flows": "64"} | dict.fromkeys(
    ("lag", "link", "traffic", "more"), ""
)


def test_load_in_per_cent_is_of_all_members() -> None:
    plan = parse(PLAN.format(**USUAL))
    (case,) = cases(plan)
    wiring = wire(plan, case)
    # Four members of 1 Gbit/s are the slower side.
    assert wiring.slowest.amount == 4 * 10**9
    sent = streams(case, wiring)
    assert [one.name for one in sent] == ["west-east", *(f"east.e{n}-west" for n in range(1, 5))]
    assert [own_flows(one, wiring, 64) for one in sent] == [64, 16, 16, 16, 16]
    assert [one.place.bundle for one in sent] == [(1, 2, 3, 4), *[()] * 4]
    known = situation(case, wiring)
    assert known.line("sum") == 2 * known.line("west-east") == 8 * known.line("east.e1-west")
    assert known.line_out_fps("west-east") == 4 * known.in_fps("east.e1-west")
    assert known.load_part == 1
    segments = Frames.steady(Percent(Fraction(1, 2)), 10**9, "traffic").segments
    spec = trial_spec(plan, case, wiring, Trial("one", Frames(segments)))
    assert [one["schedule"][0]["from_bps"] for one in spec["streams"]] == [2 * 10**9, *[5 * 10**8] * 4]
    assert [one.get("lag") for one in spec["ports"]] == [None, 1, 1, 1, 1]
    assert not any("bundle" in one for one in spec["ports"])


def test_lag_without_some_members_is_what_is_left_of_it() -> None:
    plan = parse(PLAN.format(**USUAL))
    (case,) = cases(plan)
    whole = wire(plan, case)
    left = whole.without_members({"east.e1", "east.e3"})
    assert whole.without_members(()) == whole
    assert [one.name for one in streams(case, left)] == ["west-east", "east.e2-west", "east.e4-west"]
    assert (left.lags, left.slowest.amount) == (((1, 2),), 2 * 10**9)
    assert [left.in_lab(number) for number in range(3)] == [0, 1, 1]
    assert [one["name"] for one in left.session["ports"]] == ["west", "east.e2", "east.e4"]
    # The device's ports are opposite the tester's interfaces, whichever carry.
    assert inside.device_ports(plan.lab.links, left) == ("p0", "p2", "p4")


def test_few_flows_use_as_many_members() -> None:
    plan = parse(PLAN.format(**USUAL | {"flows": "3"}))
    (case,) = cases(plan)
    assert [one.place.tx for one in streams(case, wire(plan, case))] == [0, 1, 2, 3]


def test_single_flow_has_the_line_of_one_member() -> None:
    plan = parse(PLAN.format(**USUAL | {"flows": "1"}))
    (case,) = cases(plan)
    # 512 bytes and 20 of preamble and gap at 1 Gbit/s.
    assert situation(case, wire(plan, case)).flow_ceiling_fps == Fraction(10**9, 8 * 532)


@pytest.mark.parametrize(
    ("changed", "code", "at"),
    [
        ({"kind": "linux/bridge"}, "unsupported", 9),
        ({"link": "      interface: e1"}, "unsupported", 10),
        ({"link": "      vlans: [{vlan: 10}]"}, "unsupported", 10),
        ({"link": "      backend: memif\n      socket: /tmp/x"}, "unsupported", 10),
        ({"link": TWICE}, "given-twice", 10),
        ({"members": "[p2, p3]"}, "conflict", 7),
        ({"lag": ", mode: quiet"}, "out-of-range", 9),
        ({"more": "groups: {all: [west, east]}"}, "unsupported", 9),
        ({"traffic": ", answers: true"}, "unsupported", 9),
    ],
)
def test_what_a_lag_has_not_is_refused(changed: dict[str, str], code: str, at: int) -> None:
    with pytest.raises(PlanErrors) as refused:
        parse(PLAN.format(**USUAL | changed))
    assert (code, at) in [(one.code, one.line) for one in refused.value.errors]


@pytest.mark.parametrize(
    ("flows", "code"),
    [
        ("{members: even}", None),
        ("{count: 64, members: [3, 1, 0, 4]}", None),
        ("{count: 64, members: [3, 1]}", "out-of-range"),
        ("{count: 3, members: even}", "out-of-range"),
        ("{count: 3, members: [1, 1, 1, 1]}", "out-of-range"),
        ("{count: 8193, members: even}", "out-of-range"),
        ("{count: 64}", "missing-field"),
        ("{count: 64, members: odd}", "wrong-format"),
        ("{count: 64, members: [0, 0, 0, 0]}", "wrong-format"),
        ("{count: 64, member: even}", "unknown-field"),
        ("{count: 64, members: even}, probe: false", "unsupported"),
    ],
)
def test_flows_for_members_are_checked(flows: str, code: str | None) -> None:
    text = PLAN.format(**USUAL | {"flows": flows})
    if code is None:
        (case,) = cases(parse(text))
        assert case.profile.flows == 64
        return
    with pytest.raises(PlanErrors) as found:
        parse(text)
    assert code in {error.code for error in found.value.errors}
    assert {error.line for error in found.value.errors} == {1 + text[: text.index("flows:")].count("\n")}


def test_flows_for_members_need_a_lag_at_an_end() -> None:
    text = PLAN.format(**USUAL | {"flows": "{members: even}"})
    # What the LAG sends has its members' even parts.
    parse(text.replace("bidir", "uni-reverse"))
    without = "\n".join(
        line for line in text.splitlines() if "lag:" not in line and "members: [p2" not in line
    )
    with pytest.raises(PlanErrors) as found:
        parse(without)
    assert [error.code for error in found.value.errors] == ["unsupported"]


def test_candidates_are_as_many_as_headers_make() -> None:
    plan = parse(PLAN.format(**USUAL | {"flows": "{members: even}"}))
    (case,) = cases(plan)
    # The most below 512 in which a device that takes members in turn meets each with all of them.
    assert count_candidates(case, wire(plan, case)) == 509
    headers = """[{type: ethernet}, {type: ipv4, src: 16.0.0.1, dst: {list: [48.0.0.1, 48.0.0.2, 48.0.0.3]}},
      {type: udp, sport: {step: {start: 1025, step: 1, count: 50}}, dport: 12}]"""
    plan = parse(PLAN.format(**USUAL | {"flows": "{members: even}", "traffic": f", headers: {headers}"}))
    (case,) = cases(plan)
    assert count_candidates(case, wire(plan, case)) == 149
    wiring = wire(plan, case)
    picked = {"west-east": (7, 148, 3)}
    load = replace(Frames.steady(Percent(Fraction(1, 2)), 10**9), picked=picked)
    to_lag, *others = trial_spec(plan, case, wiring, Trial("one", load))["streams"]
    assert to_lag["pick"] == [7, 148, 3]
    assert not any("pick" in one for one in others)
