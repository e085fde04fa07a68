"""Port groups: who is opened and loaded how much, and which resource explains the limit of known devices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from methodlab import run_here
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.errors import PlanErrors
from netdyno.methods import METHODS
from netdyno.methods.reasons.ramps import Knee
from netdyno.methods.reasons.searches import EndedByOthers
from netdyno.modifiers import MODIFIERS
from netdyno.plan import Plan, check_groups, parse
from netdyno.plan.matrix import cases, situation, streams, wire_groups
from netdyno.reports.model.from_store import view
from netdyno.reports.model.together import ALONE, GROUPS, Family, families, tables
from netdyno.reports.model.view import RunView
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import session_spec, trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.units import FrameRate
from pages import OF_RUNS, report_text
from words import has_code

EXAMPLE = Path(__file__).parents[2] / "examples" / "asr9006-at-once.yaml"
MS = 1_000_000
LINE_FPS = Fraction(10**9, 84 * 8)
"""Frames of 64 bytes a second on 1 Gbit/s: 20 bytes of preamble and gap (IEEE 802.3)."""

# Of two cards; `far` has lines twice as fast as the others.
LAB = """\
title: Groups
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}{settings}}}}}
  links:
    - {{endpoints: ["tester:a", "dut:a"], rate: 1Gbps, card: "1"}}
    - {{endpoints: ["tester:b", "dut:b"], rate: 1Gbps, card: "1"}}
    - {{endpoints: ["tester:c", "dut:c"], rate: 1Gbps, card: "1"}}
    - {{endpoints: ["tester:d", "dut:d"], rate: 1Gbps, card: "1"}}
    - {{endpoints: ["tester:e", "dut:e"], rate: 2Gbps, card: "2"}}
    - {{endpoints: ["tester:f", "dut:f"], rate: 2Gbps, card: "2"}}
groups: {groups}
traffic: {{64b: {{size: 64B, flows: {flows}}}}}
matrix: {{{matrix}}}
method: {{{method}}}
trial: {{settle: 1ms, drain: 100ms, sample: 1ms}}
"""
THREE = "{one: [a, b], two: [c, d], far: [e, f]}"
RAMP = "ramp: {warmup: null, ramp: 60ms to 100%, hold: 20ms}"
SEARCH = "throughput: {duration: 20ms, width: 0.5%}"


def text(
    method: str = RAMP,
    *,
    kind: str = "emulated/router",
    settings: str = "",
    groups: str = THREE,
    matrix: str = "direction: [bidir]",
    flows: int = 256,
) -> str:
    return LAB.format(
        kind=kind,
        settings=f", settings: {{{settings}}}" if settings else "",
        groups=groups,
        matrix=matrix,
        method=method,
        flows=flows,
    )


@cache
def ran(plan: str) -> RunView:
    """A plan that was run whole."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = run_here(parse(plan), Path(mkdtemp()))
    with open_run(outcome.folder, REASONS) as run:
        found = view(run)
    assert all(case.error is None for case in found.cases)
    return found


def answers(run: RunView, axis: str = "shared") -> Mapping[str, Family]:
    return {family.axes.get(axis, ""): family for family in families(run)}


def rows(run: RunView, name: str) -> list[dict[str, object]]:
    (table,) = (table for table in tables(run) if table.name == name)
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


# Plans.


def test_each_group_alone_and_then_all_unless_the_axis_says_which() -> None:
    assert dict(parse(text()).axes)["group"] == ("one", "two", "far", "one+two+far")
    some = parse(text(matrix="group: [one, far+two]"))
    assert [(case.name, [group.name for group in case.groups]) for case in cases(some)] == [
        ("one / 64b / uni", ["one"]),
        ("one / 64b / bidir", ["one"]),
        ("far+two / 64b / uni", ["two", "far"]),
        ("far+two / 64b / bidir", ["two", "far"]),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"groups": "{one: [a, x]}"},
            r"^plan.yaml:11:19: `x` is not a port of the tester\n  hint: ports: `a`, .*$",
        ),
        ({"groups": "{one: [a, b], two: [b, c]}"}, r"`b` is in the group `one` already"),
        ({"groups": "{one: [a, a]}"}, r"`a` is in the same group already"),
        ({"groups": "{a+b: [a, b]}"}, r"`a\+b` cannot be the name of a group"),
        ({"groups": "{sum: [a, b]}"}, r"`sum` cannot be the name of a group"),
        ({"groups": "{one: []}"}, r"`ports`|`one` is empty"),
        ({"groups": "{one: {ports: [a, b], card: x}}"}, r"`a` is on the card `1` by its link, here on `x`"),
        ({"groups": "{}", "matrix": "group: [one]"}, r"the plan has no `groups`"),
        ({"matrix": "group: [one+three]"}, r"`three` is not a group of the plan"),
        ({"matrix": "group: [one+one]"}, r"`one\+one` names a group twice"),
        ({"matrix": "group: [one+two, two+one]"}, r"`two\+one` loads the same groups as `one\+two`"),
        (
            {"method": "back-to-back: {}"},
            r"`back-to-back` is not measured in groups: it sends bursts .*\n"
            r"  hint: the same plan without `groups`.*`ramp`",
        ),
        (
            {"kind": "emulated/bridge", "method": "address-caching: {}"},
            r"`address-caching` is not measured in groups: it fills the device's one table of addresses",
        ),
        (
            {"method": "order: {}"},
            r"`order` is not measured in groups: what it finds is of all streams together",
        ),
        ({"matrix": "pattern: [half-to-half]"}, r"`half-to-half` wants 4 or more ports, an even number"),
        (
            {"kind": "emulated/bridge", "matrix": "pattern: [broadcast]"},
            r"uses the whole lab, not one group|wants 3",
        ),
        (
            {"matrix": "modifier: [none, broadcast]"},
            r"the modifier `broadcast` acts on the whole lab, not on one group: its broadcasts reach the"
            r" ports of all groups.*\n"
            r"  hint: the same plan without `groups`.*; or this plan without the modifier",
        ),
        (
            {"matrix": "modifier: [filters-25]", "kind": "emulated/router"},
            r"the modifier `filters-25` acts on the whole lab, not on one group: filters are configured for",
        ),
    ],
)
def test_mistake_in_groups_is_reported_with_its_place(change: dict[str, str], said: str) -> None:
    method = change.pop("method", RAMP)
    with pytest.raises(PlanErrors, match=said):
        parse(text(method, **change))


def test_each_method_and_modifier_that_is_of_no_group_says_why() -> None:
    """Which methods are follows from their declarations."""
    refused = {name for name, method in METHODS.items() if not method.groups}
    assert set(check_groups._WHY_NOT) <= refused
    for name in MODIFIERS:
        assert name == "none" or any(name.startswith(begin) for begin in check_groups._MODIFIERS)


def test_a_memif_is_of_no_group_and_a_single_flow_of_no_unlike_members() -> None:
    memifs = text(kind="external").replace("card:", "backend: memif, socket: /x, card:")
    for number, end in enumerate("abcdef"):
        memifs = memifs.replace(f'"tester:{end}"', f'"tester:{end}"').replace(
            f'dut:{end}"], rate', f'dut:{end}"], id: {number}, rate'
        )
    with pytest.raises(PlanErrors, check=has_code("unsupported")):
        parse(memifs)
    with pytest.raises(PlanErrors, check=has_code("unsupported")):
        parse(EXAMPLE.read_text().replace("flows: 65536", "flows: 1"))


def test_groups_have_their_own_sizes_and_patterns() -> None:
    """Two groups of three in a full mesh: 3 x 2 streams each, each port's line shared out among two."""
    mesh = parse(text(groups="{one: [a, b, c], two: [d, e, f]}", matrix="pattern: [full-mesh]"))
    case = cases(mesh)[-1]
    wiring = wire_groups(case, mesh.kind.wire(mesh.lab.links, case.settings))
    found = streams(case, wiring)
    assert len(found) == 12
    assert {one.name for one in found if one.place.group == "one"} == {
        f"one/{tx}-{rx}" for tx in "abc" for rx in "abc" if tx != rx
    }
    # The slowest line of each group is 1 Gbit/s.
    assert {one.place.share for one in found} == {Fraction(1, 2)}


# What is opened, and how much each port is asked for.


def test_only_the_ports_of_a_case_are_opened_and_the_lab_stays_the_same() -> None:
    plan = parse(text())
    alone = {case.name: case for case in cases(plan)}["bidir / 64b / far"]
    every = plan.kind.wire(plan.lab.links, alone.settings)
    wiring = wire_groups(alone, every)
    session = session_spec(wiring, alone)
    assert [port["name"] for port in session["ports"]] == ["e", "f"]
    assert [(link["port"], link["device_port"]) for link in session["links"]] == [(0, 4), (1, 5)]
    assert session["devices"] == every.session["devices"]
    together = cases(plan)[-1]
    assert [port["name"] for port in session_spec(wire_groups(together, every), together)["ports"]] == list(
        "abcdef"
    )
    # Frames of a group have the same addresses alone and together: those of its places in the lab.
    trial = Trial("it", Frames.steady(FrameRate(LINE_FPS), MS))
    of_far = trial_spec(plan, alone, wiring, trial)["streams"][0]
    of_all = trial_spec(plan, together, wire_groups(together, every), trial)["streams"][4]
    assert of_far["name"] == of_all["name"] == "far/e-f"
    assert of_far["headers"] == of_all["headers"]
    assert (of_far["headers"][1]["src"]["random"]["min"], of_far["headers"][1]["dst"]["random"]["min"]) == (
        "16.128.0.1",
        "48.160.0.1",
    )


def test_a_load_is_the_same_share_of_each_line() -> None:
    """40 % of 1 Gbit/s and of 2 Gbit/s, L1, as the engine gets it."""
    plan = parse(text())
    case = cases(plan)[-1]
    wiring = wire_groups(case, plan.kind.wire(plan.lab.links, case.settings))
    load = LINE_FPS * Fraction(40, 100)
    told = trial_spec(plan, case, wiring, Trial("it", Frames.steady(FrameRate(load), MS)))["streams"]
    assert {stream["name"]: stream["schedule"][0]["from_bps"] for stream in told} == {
        **dict.fromkeys(("one/a-b", "one/b-a", "two/c-d", "two/d-c"), 400_000_000),
        **dict.fromkeys(("far/e-f", "far/f-e"), 800_000_000),
    }
    known = situation(case, wiring)
    assert (known.line_fps, known.groups) == (LINE_FPS, ("one", "two", "far"))
    assert {scope: known.line(scope) / LINE_FPS for scope in ("one/a-b", "far/e-f", "one", "far", "sum")} == {
        "one/a-b": 1,
        "far/e-f": 2,
        "one": 2,
        "far": 4,
        "sum": 8,
    }


HELD = {
    "throughput": "throughput: {duration: 10ms, width: 5%}",
    "bisection": "bisection: {duration: 10ms, width: 5%}",
    "ndr": "ndr: {goals: {NDR: {loss: 0%, exceed: 0%, duration: 10ms, sum: 10ms, initial: 10ms, width: 5%}}}",
    "sweep": "sweep: {loads: [50%, 100%], duration: 10ms}",
    "soak": "soak: {load: 50%, duration: 20ms, part: 10ms}",
    "latency": "latency: {throughput: 50%, repeats: 1, duration: 10ms, after: 1ms}",
    "frame-loss": "frame-loss: {duration: 10ms}",
    "ramp": RAMP,
}


def test_each_method_of_groups_is_tried_here() -> None:
    assert set(HELD) == {name for name, method in METHODS.items() if method.groups}


@pytest.mark.parametrize("method", HELD)
def test_a_method_offers_each_group_as_much_of_its_line(method: str) -> None:
    """Nothing is lost by a device without limits, and a line of twice the rate carries twice as much."""
    run = ran(text(HELD[method], matrix="direction: [uni], group: [one+far]"))
    (case,) = run.cases
    assert case.result is not None
    assert case.streams == ("one/a-b", "far/e-f")
    for trial in case.trials:
        slow, fast = (stream.offered for stream in trial.result.streams)
        assert abs(fast - 2 * slow) <= 2, trial.name
        assert trial.result.lost == 0
    rates = {
        value.scope: value.number
        for value in case.result.values
        if value.name in ("throughput", "NDR", "loss-free load", "ramp max Rx")
    }
    if rates:
        assert rates["one/a-b"] == rates["one"]
        assert rates["far/e-f"] == rates["far"] == 2 * rates["one"]
        assert rates["sum"] == 3 * rates["one"]
        assert rates["one"] == pytest.approx(LINE_FPS, rel=0.001)
        assert case.verdicts["far"].limit == case.verdicts["sum"].limit == "line"


# Which resource explains the limit.


@cache
def three_devices(method: str) -> RunView:
    """1 Mpps taken in by each port, each card, the box."""
    groups = "group: [one, two, far, one+two+far]"
    matrix = f"shared: [port, card, box], direction: [bidir], {groups}"
    return ran(text(method, settings="capacity: 1Mpps", matrix=matrix))


def test_ramps_distinguish_port_card_and_device_limits() -> None:
    found = answers(three_devices(RAMP))
    assert {shared: family.answer.resource for shared, family in found.items()} == {
        "port": "port",
        "card": "card",
        "box": "box",
    }
    assert found["card"].answer.cards == ("1",)
    assert "the card `1` passed 1.00 Mpps, no more than in `one` and `two`" in found["card"].answer.reason
    sums = {
        (row["shared"], row["card"]): row["together"]
        for row in rows(three_devices(RAMP), ALONE)
        if row["port"] == row["group"] == "all"
    }
    # In frames a second, as the devices were made: each port; each card; the box.
    assert [sums["port", card] for card in ("1", "2", "all")] == [4_000_000, 2_000_000, 6_000_000]
    assert [sums["card", card] for card in ("1", "2", "all")] == [1_000_000, 1_000_000, 2_000_000]
    assert sums["box", "all"] == 1_000_000


def test_the_ramp_gives_each_group_and_stream_its_own_knee_and_best_rate() -> None:
    """A queue of 1024 hides loss: the knee is seen sqrt(2 q slope) above 1 Mpps, the best rate is not."""
    case = next(
        case
        for case in three_devices(RAMP).cases
        if case.settings == {"shared": "port", "group": "one+two+far"}
    )
    assert case.result is not None
    found = {(value.name, value.scope): value for value in case.result.values}
    for stream in case.streams:
        assert found["ramp max Rx", stream].number == 1_000_000
        slope = float(LINE_FPS) / 0.06 * (2 if stream.startswith("far") else 1)
        above = (2 * 1024 * slope) ** 0.5
        knee = found["knee", stream]
        step = slope / 1000
        assert knee.number == 1_000_000, "shown no higher than the best rate"
        assert isinstance(knee.note, Knee)
        assert knee.note.hidden_pps is not None
        assert abs(float(knee.note.hidden_pps) - 1_000_000 - above) <= 2 * step
    for group in ("one", "two", "far"):
        assert found["ramp max Rx", group].number == 2_000_000
    shown = {
        (row["shared"], row["group"]): (row["rate"], row["limit"])
        for row in rows(three_devices(RAMP), GROUPS)
    }
    assert shown["port", "far"] == (2_000_000, "device")
    assert shown["card", "all"] == (2_000_000, "device")


def test_searches_distinguish_the_device_from_separate_ports() -> None:
    """`far` takes in 1 Mpps a port at 33.6 % of its line, the others at 67.2 %: all can have the first."""
    found = answers(three_devices(SEARCH))
    assert found["port"].answer.resource == "port"
    assert "as far as the weakest" in found["port"].answer.reason
    assert found["box"].answer.resource == "box"


def test_a_table_of_rfc_2544_names_the_lines_of_all_groups() -> None:
    """`far` has lines of 2 Gbit/s, the others of 1, and a case that loads all has both."""
    page = report_text("markdown", three_devices(SEARCH))
    (told,) = (line for line in page.splitlines() if line.startswith("Protocol, data stream and media: "))
    lines = {media.partition("lines of ")[2].rstrip(".") for media in told.split("emulated Ethernet ")[1:]}
    named = {rates.partition("; ")[0] for rates in lines}
    assert named == {"1.00 Gbit/s", "2.00 Gbit/s", "1.00 Gbit/s and 2.00 Gbit/s"}


def test_a_search_finds_the_card_that_holds_all_back() -> None:
    """Two groups have 1 Mpps of their card, and so has each of them alone."""
    plan = text(SEARCH, settings="capacity: 1Mpps, shared: card").replace("rate: 2Gbps", "rate: 1Gbps")
    (family,) = families(ran(plan))
    assert (family.answer.resource, family.answer.cards) == ("card", ("1",))


def test_a_device_without_limits_fills_all_lines() -> None:
    (family,) = families(ran(text()))
    assert family.answer.resource == "port"
    assert "all lines were full" in family.answer.reason


def test_every_report_has_the_answer() -> None:
    run = ran(text(settings="capacity: 1Mpps, shared: card"))
    for name in OF_RUNS:
        page = report_text(name, run)
        assert page
        if name in ("markdown", "html", "terminal"):
            assert ALONE in page
            assert "Which resource explains the limit?" in page
            assert "A card" in page
    told = json.loads(report_text("json", run))["port_groups"]
    assert [(one["cases"], one["resource"], one["cards"]) for one in told] == [([0, 1, 2, 3], "card", ["1"])]


def test_repeats_are_one_answer() -> None:
    plan = text(settings="capacity: 1Mpps, shared: box") + "repeat: 2\n"
    (family,) = families(ran(plan))
    assert (family.answer.resource, len(family.cases)) == ("box", 4)


def at_once(scale: str) -> Plan:
    sampled = f"scale: {scale}\ntrial: {{sample: 4s, drain: 100ms}}"
    return parse(EXAMPLE.read_text().replace("scale: 1/200", sampled), name=EXAMPLE.name)


def test_the_example_of_three_services_at_once_is_limited_by_each_port(tmp_path: Path) -> None:
    """The article: 17.67 + 17.02 + 24.43 = 59.12 Mpps at 64 bytes; at 256 full lines, 4.53 Mpps a port.

    The model has the capacities of the article's other tests (docs/labs.md), nothing of this one.
    """
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = runner.run(at_once("1/2000"), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        found = view(run)
    explained = answers(found, "profile")
    assert {profile: one.answer.resource for profile, one in explained.items()} == {
        "64b": "port",
        "256b": "port",
    }
    assert "all lines were full" in explained["256b"].answer.reason
    together = {
        (str(row["profile"]), str(row["group"])): row["together"]
        for row in rows(found, ALONE)
        if row["port"] == "all" and row["card"] in ("", "all")
    }
    assert float(together["64b", "all"]) == pytest.approx(59.12e6, rel=0.02)  # type: ignore[arg-type]
    assert float(together["64b", "xconnect"]) == pytest.approx(17.67e6, rel=0.03)  # type: ignore[arg-type]
    assert float(together["256b", "all"]) == pytest.approx(8 * 4.53e6, rel=0.005)  # type: ignore[arg-type]


# A queue of 1024 frames is little of what 300 ms of a load at 100 kpps are.
FINE = {
    "throughput": "throughput: {duration: 300ms, width: 0.1%}",
    "bisection": "bisection: {duration: 300ms, width: 0.1%, repeats: 1}",
    "ndr": (
        "ndr: {goals: {NDR: {loss: 0%, exceed: 50%, duration: 300ms, sum: 900ms,"
        " initial: 300ms, width: 0.1%}}}"
    ),
}


@pytest.mark.parametrize(
    ("method", "name"), [("throughput", "throughput"), ("bisection", "NDR"), ("ndr", "NDR")]
)
def test_group_without_loss_where_the_search_ended_has_a_lower_bound(method: str, name: str) -> None:
    """`far` has a twentieth of the others' share of its line; they lost nothing, and nobody limited them."""
    fine = FINE[method]
    run = ran(text(fine, settings="capacity: 100kpps").replace("rate: 1Gbps", "rate: 100Mbps"))
    (case,) = (one for one in run.cases if one.settings == {"group": "one+two+far"})
    assert case.result is not None
    for scope in ("one", "one/a-b", "two/d-c"):
        value = case.result.value(name, scope)
        assert value is not None
        assert value.number
        assert value.high is None
        assert isinstance(value.note, EndedByOthers)
    ended = case.result.value(name, "far/e-f")
    assert ended is not None
    assert ended.high is not None
    found = [verdict.limit for scope in ("one", "far", "sum") if (verdict := case.verdict(scope))]
    assert found == ["inconclusive", "device", "device"]
    verdict = case.verdict("one/a-b")
    assert verdict is not None
    assert verdict.reason.code == "incomplete"
    shown = {row["group"]: row["ratio"] for row in rows(run, "Alone and together") if row["port"] == "all"}
    assert shown["one"] is None
    assert float(shown["far"]) == pytest.approx(1, abs=0.001), "the width of the search"  # type: ignore[arg-type]
    (family,) = families(run)
    assert family.answer.resource == "port"
