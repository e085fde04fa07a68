# ruff: noqa: E501 (plans and messages are quoted whole, one a line)
"""Patterns of traffic between many ports, and classes of it: who sends what to whom, and what comes of it."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.cli.outline import lines
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases, situation, streams
from netdyno.plan.patterns import PATTERNS
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.testers.netdyno import raw
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate
from pages import report_text


def text(
    links: int,
    matrix: str,
    *,
    kind: str = "emulated/bridge",
    profile: str = "size: 64B, flows: 100",
    method: str = "throughput: {duration: 20ms, width: 1%}",
) -> str:
    cables = "\n".join(f'    - {{endpoints: ["tester:p{n}", "dut:d{n}"], rate: 1Gbps}}' for n in range(links))
    return f"""\
title: Patterns
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
{cables}
traffic:
  it: {{{profile}}}
matrix: {{{matrix}}}
method: {{{method}}}
trial: {{sample: 1ms, settle: 1ms, drain: 100ms}}
"""


def sent(plan: Plan, number: int = 0) -> dict[str, Fraction]:
    """The streams of a case and their shares of their ports' loads."""
    case = cases(plan)[number]
    return {one.name: one.place.share for one in streams(case, plan.kind.wire(plan.lab.links, case.settings))}


def mistakes(plan: str) -> list[str]:
    with pytest.raises(PlanErrors) as found:
        parse(plan)
    return [f"{error.message} | {error.hint}" for error in found.value.errors]


# Who sends to whom.


def test_a_full_mesh_of_six_is_in_the_order_of_rfc_2889() -> None:
    """RFC 2889 section 5.1.3: port 1 sends to 2, 3, 4, 5, 6, port 2 to 3, 4, 5, 6, 1, and so on."""
    found = sent(parse(text(6, "pattern: [full-mesh]")))
    table = ["23456", "34561", "45612", "56123", "61234", "12345"]
    order = {
        port: "".join(str(int(name[4:]) + 1) for name in found if name.startswith(f"p{port}-"))
        for port in range(6)
    }
    assert order == dict(enumerate(table))
    assert set(found.values()) == {Fraction(1, 5)}


def test_half_to_half_of_six_is_in_the_order_of_rfc_2889() -> None:
    """RFC 2889 section 5.4.3: port 1 sends to 4, 5, 6; port 2 to 5, 6, 4; port 3 to 6, 4, 5."""
    found = list(sent(parse(text(6, "pattern: [half-to-half]"))))
    order = {
        port: "".join(str(int(name[4:]) + 1) for name in found if name.startswith(f"p{port}-"))
        for port in range(3)
    }
    assert order == {0: "456", 1: "564", 2: "645"}


def test_congestion_is_that_of_rfc_2889() -> None:
    """RFC 2889 section 5.5.3: the first port half to each of two, the second all to one of them."""
    half = Fraction(1, 2)
    assert sent(parse(text(4, "pattern: [congestion]"))) == {"p0-p2": half, "p0-p3": half, "p1-p3": 1}


@pytest.mark.parametrize(
    ("pattern", "direction", "expected"),
    [
        ("one-to-many", "uni", {"p0-p1": "1/2", "p0-p2": "1/2"}),
        ("one-to-many", "uni-reverse", {"p1-p0": "1", "p2-p0": "1"}),
        ("one-to-many", "bidir", {"p0-p1": "1/2", "p0-p2": "1/2", "p1-p0": "1", "p2-p0": "1"}),
        ("many-to-one", "uni", {"p1-p0": "1", "p2-p0": "1"}),
        ("pairs", "bidir", dict.fromkeys(("p0-p1", "p1-p2", "p2-p0", "p1-p0", "p2-p1", "p0-p2"), "1/2")),
    ],
)
def test_shares_of_three_ports(pattern: str, direction: str, expected: dict[str, str]) -> None:
    found = sent(parse(text(3, f"pattern: [{pattern}], direction: [{direction}]")))
    assert found == {name: Fraction(share) for name, share in expected.items()}


@pytest.mark.parametrize("ports", [2, 3, 8, 9, 64])
def test_no_port_sends_more_than_its_load(ports: int) -> None:
    for pattern in PATTERNS.values():
        if ports not in pattern.ports or pattern.within:
            continue
        for way in pattern.directions:
            if ports == 1 and way != "uni":
                continue
            plan = parse(text(ports, f"pattern: [{pattern.name}], direction: [{way}]"))
            case = cases(plan)[0]
            each: dict[int, Fraction] = {}
            for one in streams(case, plan.kind.wire(plan.lab.links, case.settings)):
                each[one.place.tx] = each.get(one.place.tx, Fraction(0)) + one.place.share
            assert set(each.values()) == {Fraction(1)}, (pattern.name, way)


def test_the_line_of_a_pattern_is_that_of_its_receivers() -> None:
    rest = "}\nskip: [{pattern: full-mesh, direction: uni}, {pattern: many-to-one, direction: bidir}]\n#{"
    plan = parse(text(4, f"pattern: [many-to-one, full-mesh], direction: [uni, bidir]{rest}"))
    line = Fraction(10**9, 672)
    known = {
        case.pattern: situation(case, plan.kind.wire(plan.lab.links, case.settings)) for case in cases(plan)
    }
    one, mesh = known["many-to-one"], known["full-mesh"]
    assert (one.share("sum"), one.line("sum"), one.line("p1-p0")) == (3, line, line)
    assert (mesh.share("sum"), mesh.line("sum"), mesh.line("p1-p0")) == (4, 4 * line, line / 3)


@pytest.mark.parametrize(
    ("links", "matrix", "expected"),
    [
        (3, "pattern: [congestion]", ["`congestion` wants 4 ports, and the lab has 3 | None"]),
        (
            5,
            "pattern: [half-to-half]",
            ["`half-to-half` wants 4 or more ports, an even number, and the lab has 5 | None"],
        ),
        (
            4,
            "pattern: [full-mesh], direction: [uni]",
            [
                "`full-mesh`: there is no direction `uni` | in `full-mesh` every port sends and receives: `bidir`",
            ],
        ),
        (
            4,
            "pattern: [pairs, full-mesh], direction: [uni, bidir]",
            [
                "`full-mesh` has no direction `uni` in case `full-mesh / uni / it`: in `full-mesh` every port"
                " sends and receives | leave it out: `skip: [{pattern: full-mesh, direction: uni}]`",
            ],
        ),
        (
            4,
            "pattern: [mesh]",
            [
                "`pattern` cannot be `mesh` | did you mean `full-mesh`? values: `full-mesh`, `pairs`, `hairpin`, `first-pair`,"
                " `one-to-many`, `many-to-one`, `half-to-half`, `congestion`, `addresses` and `broadcast`",
            ],
        ),
    ],
)
def test_impossible_pattern_is_refused(links: int, matrix: str, expected: list[str]) -> None:
    assert mistakes(text(links, matrix)) == expected


def test_a_check_names_the_streams_of_a_pattern() -> None:
    told = list(lines(parse(text(4, "pattern: [congestion]"))))
    assert told == ["  congestion, uni: p0-p2, p0-p3, p1-p3"]
    (told_mesh,) = lines(parse(text(8, "pattern: [full-mesh]")))
    assert told_mesh.startswith("  full-mesh, bidir: p0-p1, p1-p2, ")
    assert told_mesh.endswith(" and 44 more")


# What comes of it.


def shot(plan: Plan, trial: Trial, number: int = 0) -> Outcome:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    case = cases(plan)[number]
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    with raw(session_spec(wiring)) as session:
        result = read_result(session.trial(trial_spec(plan, case, wiring, trial)))
    assert result.invalid == ()
    return result


def constant(fps: Fraction | int, ns: int) -> tuple[Segment, ...]:
    return (Segment("traffic", ns, FrameRate(fps), FrameRate(fps)),)


MS = 1_000_000
LINE = Fraction(10**9, 672)


@pytest.mark.parametrize(
    ("kind", "ports"), [("emulated/bridge", 4), ("emulated/router", 4), ("emulated/router", 9)]
)
def test_a_full_mesh_at_line_rate_loses_nothing(kind: str, ports: int) -> None:
    """A device without limits forwards all of n full lines, each to n - 1 ports (RFC 2889 section 5.1)."""
    result = shot(
        parse(text(ports, "pattern: [full-mesh]", kind=kind)), Trial("mesh", Frames(constant(LINE, 20 * MS)))
    )
    assert len(result.streams) == ports * (ports - 1)
    assert all((one.lost, one.elsewhere, one.duplicates) == (0, 0, 0) for one in result.streams)
    each = [port.tx_frames - port.own_frames for port in result.ports]
    # 20 ms of 10^9 / 672 frames a second are 29,761.9, and the first frame of each stream leaves at once.
    assert all(29_762 <= count < 29_762 + ports for count in each), each
    # No frame waits for longer than those of the other streams that are due at the same time.
    assert all(one.lag is not None and one.lag.max_ns <= (ports - 1) * 672 for one in result.streams)


def test_a_congested_port_loses_a_third_and_the_other_one_nothing() -> None:
    """RFC 2889 section 5.5: 150 % goes to one port, which carries 100 %: (150 - 100) / 150 are lost, and
    nothing of what goes to the port beside it, if nothing blocks the head of a line."""
    plan = parse(text(4, "pattern: [congestion]"))
    result = shot(plan, Trial("congestion", Frames(constant(LINE, 200 * MS))))
    found = {one.name: one for one in result.streams}
    assert found["p0-p2"].lost == 0
    congested = [found["p0-p3"], found["p1-p3"]]
    offered, lost = sum(one.offered for one in congested), sum(one.lost for one in congested)
    # But for what its queue of 1024 frames and one in service hold when traffic ends.
    assert 0 <= Fraction(offered, 3) - lost <= 1026


def test_a_stream_can_be_silent_or_have_a_load_of_its_own() -> None:
    plan = parse(text(4, "pattern: [congestion]"))
    loads = {"p0-p3": (), "p1-p3": constant(1000, 20 * MS)}
    result = shot(plan, Trial("alone", Frames(constant(LINE / 2, 20 * MS), loads=loads)))
    # Of the first port's half line p0-p2 is asked for half: 7440.5 frames.
    assert [one.intended for one in result.streams] == [7441, 0, 20]
    assert [one.lost for one in result.streams] == [0, 0, 0]


def test_waits_of_a_trial_can_differ_from_the_plans() -> None:
    plan = parse(text(2, "direction: [uni]"))
    asked = Trial("x", Frames(constant(1000, 20 * MS), burst=4), settle_ns=7 * MS, drain_ns=9 * MS)
    result = shot(plan, asked)
    lasted = {phase.name: phase.duration_ns for phase in result.phases}
    assert (lasted["settle"], lasted["drain"]) == (7 * MS, 9 * MS)
    case = cases(plan)[0]
    spec = trial_spec(plan, case, plan.kind.wire(plan.lab.links, case.settings), asked)
    assert [stream["burst"] for stream in spec["streams"]] == [4]


def test_throughput_of_a_full_mesh_is_the_lines_of_all_ports(tmp_path: Path) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    matrix = "pattern: [full-mesh], capacity: [line, 100kpps]"
    outcome = runner.run(parse(text(4, matrix)), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        shown = view(run)
        table = json.loads(report_text("json", shown))
        for name in ("terminal", "markdown", "html"):
            assert "5.952 Mpps" in report_text(name, shown).replace("\N{NO-BREAK SPACE}", " "), name
    full, capped = table["cases"]
    values = {one["scope"]: one for one in full["values"] if one["value"] == "throughput"}
    assert Fraction(values["sum"]["number_pps_exact"]) == 4 * LINE
    assert Fraction(values["p2-p1"]["number_pps_exact"]) == LINE / 3
    assert {one["share_of_line_percent"] for one in values.values()} == {100}
    assert {one["limit"] for one in values.values()} == {"line"}
    assert full["stream_shares"] == ["1/3"] * 12
    values = {one["scope"]: one for one in capped["values"] if one["value"] == "throughput"}
    # 100,000 a second are taken in at each port; what a queue holds beyond that does not last.
    assert 396_000 <= Fraction(values["sum"]["number_pps_exact"]) <= 404_000
    assert {one["limit"] for one in values.values()} == {"device"}


def test_a_full_mesh_of_slow_lines_is_limited_by_these(tmp_path: Path) -> None:
    """Of 7 streams that share a line the last frames are due at once, 8.6 ms before the line has carried
    them: a tester without limits leaves one of 58 unsent, and that is no lower load."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = text(8, "pattern: [full-mesh]", profile="size: 1518B, flows: 1").replace("1Gbps", "10Mbps")
    plan = plan.replace("duration: 20ms", "duration: 500ms")
    outcome = runner.run(parse(plan), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (case,) = json.loads(report_text("json", view(run)))["cases"]
    values = [one for one in case["values"] if one["value"] == "throughput"]
    assert {one["share_of_line_percent"] for one in values} == {100}, values[0]
    assert {one["limit"] for one in values} == {"line"}


# Classes.


def test_every_direction_and_class_is_a_stream() -> None:
    classes = "classes: {voice: {dscp: ef, share: 10%}, video: {dscp: 34, share: 30%}, rest: {}}"
    plan = parse(text(2, "direction: [bidir]", profile=f"size: 128B, flows: 10, {classes}"))
    shares = {"voice": Fraction(1, 10), "video": Fraction(3, 10), "rest": Fraction(6, 10)}
    ways = ("p0-p1", "p1-p0")
    assert sent(plan) == {f"{way}/{name}": share for way in ways for name, share in shares.items()}
    result = shot(plan, Trial("x", Frames(constant(100_000, 20 * MS))))
    assert [one.intended for one in result.streams] == [200, 600, 1200] * 2
    assert all(one.lost == 0 for one in result.streams)
    case = cases(plan)[0]
    spec = trial_spec(
        plan, case, plan.kind.wire(plan.lab.links, case.settings), Trial("x", Frames(constant(1000, MS)))
    )
    marks = [
        header["dscp"] for one in spec["streams"] for header in one["headers"] if header["type"] == "ipv4"
    ]
    assert marks == [46, 34, 0] * 2


def test_a_class_can_be_a_priority_of_the_outer_tag() -> None:
    plan = parse(
        text(
            2,
            "direction: [uni]",
            profile="size: 128B, vlan: [10, 20], classes: {a: {pcp: 5}, b: {pcp: 1, dscp: 8}}",
        )
    )
    case = cases(plan)[0]
    spec = trial_spec(
        plan, case, plan.kind.wire(plan.lab.links, case.settings), Trial("x", Frames(constant(1000, MS)))
    )
    tags = [
        [header["pcp"] for header in one["headers"] if header["type"] == "vlan"] for one in spec["streams"]
    ]
    assert tags == [[5, 0], [1, 0]]


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ("{a: {dscp: 1, share: 60%}, b: {dscp: 2, share: 50%}}", "the shares of the classes make 110%"),
        (
            "{a: {dscp: 1, share: 60%}, b: {dscp: 2, share: 30%}}",
            "the shares of the classes make 90% of the load",
        ),
        (
            "{a: {dscp: 1, share: 100%}, b: {}}",
            "the shares of the classes make 100%, and `b` has none left",
        ),
        ("{a: {dscp: 1, share: 0%}, b: {}}", "a class with no share of the load"),
        ("{a: {dscp: af14}}", "`af14` is no code point"),
    ],
)
def test_impossible_classes_are_refused(classes: str, expected: str) -> None:
    (told,) = mistakes(text(2, "direction: [uni]", profile=f"size: 128B, classes: {classes}"))
    assert told.startswith(f"{expected} | "), told


def test_ports_of_a_mesh_send_to_every_other_once() -> None:
    found = [tuple(name.split("-")) for name in sent(parse(text(5, "pattern: [full-mesh]")))]
    assert sorted(found) == sorted(permutations([f"p{n}" for n in range(5)], 2))
