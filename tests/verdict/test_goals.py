"""Goals of methods that say pass or fail, and of ports that send several streams: seen by the exit code."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from kinds import kind
from methodlab import run_here, text
from netdyno.campaign.reasons import REASONS
from netdyno.errors import PlanErrors
from netdyno.methods import METHODS
from netdyno.methods.parts.carrier import CARRIER_LOSSES
from netdyno.methods.reasons.outages import CarrierUnknown
from netdyno.plan import Goal, parse
from netdyno.plan.goals import goal_kinds, parse_goal
from netdyno.reports.model import grid
from netdyno.reports.model.details import details
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.finding import Result, Value
from netdyno.values.situation import Place, Situation
from netdyno.values.units import Load
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence
from netdyno.verdict.goals import judge_goal
from pages import report_text
from words import said

MET, MISSED = 0, 1


def ran(place: Path, method: str, goal: str, **changes: Any) -> tuple[int, str]:
    """The exit code of a run with this goal, and why it was met or missed."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = parse(text(method, **changes) + f'goals: ["{goal}"]\n')
    outcome = run_here(plan, place)
    with open_run(outcome.folder, REASONS) as run:
        (found,) = run.cases[0].goals
    return outcome.exit_code, str(found.reason)


@pytest.mark.parametrize(
    ("cir", "code", "share"),
    [
        # Nothing polices: of 25, 50, 75, 100 % of CIR, above it, and the performance all but that above pass.
        ("100Mbps", MISSED, "83.333 % (5 of 6 steps)"),
        # Above a whole line there is no step.
        ("100%", MET, "100 % (5 of 5 steps)"),
    ],
)
def test_a_service_that_fails_a_step_fails_the_run(tmp_path: Path, cir: str, code: int, share: str) -> None:
    method = f"y1564: {{step: 10ms, performance: 20ms, services: {{all: {{cir: {cir}}}}}}}"
    found, why = ran(tmp_path, method, "steps passed >= 100%", profile="size: 512B")
    assert (found, why) == (code, f"west-east: {share}")


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        # docs/units.md: all and none are said of all and none alone.
        (Fraction(3, 10**10), "0.00000003 % were lost"),
        (1 - Fraction(3, 10**10), "99.999 % were lost"),
        (Fraction(1), "100 % were lost"),
        (Fraction(1, 3), "33.333 % were lost"),
    ],
)
def test_a_share_that_misses_a_goal_is_neither_none_nor_all(lost: Fraction, told: str) -> None:
    """Three frames of ten thousand million miss a goal of no loss, and are no `0 %`."""
    situation = Situation(("a",), Fraction(10**6), Fraction(64))
    value = Value(kind("loss ratio", "share"), "a", lost, note=said("n"))
    goal = Goal("loss", "<=", Load.parse("0%"))
    verdicts = {"a": Verdict("device", said(""))}
    found = judge_goal(goal, Result("soak", (value,), ()), verdicts, Evidence(situation, "virtual", True, ()))
    assert (found.passed, str(found.reason)) == (False, f"a: {told} (n)")


@pytest.mark.parametrize(
    ("size", "goal", "code"),
    [
        # An emulated bridge forwards frames of any length.
        ("1519B", "oversize frames forwarded <= 0%", MISSED),
        ("1518B", "legal frames forwarded >= 100%", MET),
    ],
)
def test_frames_that_are_too_long_fail_the_run(tmp_path: Path, size: str, goal: str, code: int) -> None:
    found, why = ran(
        tmp_path, "errored-frames: {duration: 10ms, loads: [10%]}", goal, profile=f"size: {size}"
    )
    assert found == code, why
    assert why.startswith("west-east: 100 % (")


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("steps passed >= 1kpps", "steps passed is a share, and `1kpps` is a rate"),
        ("oversize frames forwarded <= 1", "has a bound without a unit"),
    ],
)
def test_a_goal_for_a_share_is_in_per_cent(goal: str, told: str) -> None:
    with pytest.raises(PlanErrors) as found:
        parse(text("y1564: {step: 1s}") + f'goals: ["{goal}"]\n')
    (error,) = found.value.errors
    assert told in error.message
    assert error.hint in (
        "write it like `steps passed >= 100%`",
        "write it like `oversize frames forwarded <= 0%`",
    )


def test_a_goal_of_nothing_needs_no_unit() -> None:
    goals = parse(text("soak: {duration: 10s, part: 0s}") + 'goals: ["loss <= 0", "loss <= 0.0"]\n').goals
    assert [str(goal) for goal in goals] == ["loss <= 0%"] * 2


@pytest.mark.parametrize("bound", ["1%", "0.5", "-1", "1kpps", "10000000000"])
def test_a_goal_for_a_count_is_a_whole_number(bound: str) -> None:
    with pytest.raises(PlanErrors) as found:
        parse(text("soak: {duration: 10s, part: 0s}") + f'goals: ["carrier losses <= {bound}"]\n')
    (error,) = found.value.errors
    assert (error.code, error.hint) == ("wrong-unit", "write it like `carrier losses <= 0`")


@pytest.mark.parametrize(
    ("counted", "goal", "passed"),
    [(0, "<= 0", True), (1, "<= 0", False), (1, "< 2", True), (3, ">= 3", True), (None, "<= 0", None)],
)
def test_a_goal_for_a_count_is_judged_under_any_limit(
    counted: int | None, goal: str, passed: bool | None
) -> None:
    """Also of an uncalibrated tester, whose losses may be its own: a count is what was counted."""
    (wanted,) = parse(text("soak: {duration: 10s, part: 0s}") + f'goals: ["carrier losses {goal}"]\n').goals
    number = None if counted is None else Fraction(counted)
    value = Value(CARRIER_LOSSES, "sum", number, note=CarrierUnknown(("east",)) if number is None else None)
    situation = Situation(("west-east",), Fraction(1), Fraction(64))
    result = Result("soak", (value,), (), headlines=())
    found = judge_goal(wanted, result, {}, Evidence(situation, "real", False, ()))
    assert found.passed is passed
    assert found.reason.code == "goal-count"
    assert found.reason.fields()["number"] == counted


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [("5/6", "1", None), ("4/6", "5/6", False), ("1", "1", True)],
)
def test_steps_that_the_tester_did_not_offer_leave_bounds(low: str, high: str, expected: bool | None) -> None:
    value = Value(
        kind("steps passed", "share"), "a", None, Fraction(low), Fraction(high), said("5 of 6 steps")
    )
    situation = Situation(("a",), Fraction(1000), Fraction(64))
    goal = Goal("steps passed", ">=", Load.parse("100%"))
    verdicts = {"a": Verdict("device", said("because"))}
    given = Evidence(situation, "virtual", True, ())
    assert judge_goal(goal, Result("y1564", (value,), ()), verdicts, given).passed is expected


MESH = Situation(
    ("a-b", "a-c", "b-a"),
    Fraction(1000),
    Fraction(64),
    places=(Place(0, 1, Fraction(1, 2)), Place(0, 2, Fraction(1, 2)), Place(1, 0)),
)
"""a sends two streams and b one, each port on a line of 1,000 frames a second."""


@pytest.mark.parametrize(
    ("goal", "load", "expected"),
    [
        ("90%", 900, True),
        ("91%", 900, False),
        ("900pps", 900, True),
        ("901pps", 900, False),
        ("100%", 1000, True),
        ("45%", 900, True),
    ],
)
def test_a_goal_is_of_a_port_and_not_of_one_of_its_streams(goal: str, load: int, expected: bool) -> None:
    """At 90 % of the line each of two streams of a port has 45 %: a user who asks for 90 % has it."""
    values = tuple(
        Value(kind("throughput"), name, load * place.share, load * place.share, searched=True)
        for name, place in zip(MESH.streams, MESH.places, strict=True)
    )
    verdicts = {name: Verdict("device", said("because")) for name in MESH.streams}
    wanted = Goal("throughput", ">=", Load.parse(goal))
    found = judge_goal(
        wanted, Result("throughput", values, ()), verdicts, Evidence(MESH, "virtual", True, ())
    )
    assert found.passed is expected
    if goal == "90%":
        (first, half), _, (last, full) = found.reason.fields()["streams"][:3]
        assert (first, half) == (
            "a-b",
            "450 pps, 90 % of line rate (of the part its port has for this stream)",
        )
        assert (last, full) == ("b-a", "900 pps, 90 % of line rate")


def test_a_full_mesh_that_passes_everything_meets_the_whole_line(tmp_path: Path) -> None:
    code, why = ran(
        tmp_path,
        "throughput: {duration: 10ms, width: 10%}",
        "throughput >= 100%",
        links=3,
        matrix="pattern: [full-mesh]",
    )
    assert code == MET, why


@pytest.mark.parametrize(("largest", "code"), [("1518B", MET), ("any", MISSED)])
def test_frames_that_are_too_long_and_their_control_have_a_goal_each(
    tmp_path: Path, largest: str, code: int
) -> None:
    """Each case is asked for its own: the one of the other kind is neither missed nor left open."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = text("errored-frames: {duration: 10ms, loads: [10%]}", kind="emulated/bridge")
    plan = plan.replace("kind: emulated/bridge", f"kind: emulated/bridge, settings: {{largest: {largest}}}")
    goals = '["oversize frames forwarded <= 0%", "legal frames forwarded >= 100%"]'
    plan = plan.replace("it: {size: 64B, flows: 100}", "{legal: {size: 1518B}, long: {size: 1519B}}")
    plan = plan.replace("profile: [it]", "profile: [legal, long]")
    outcome = run_here(parse(plan + f"goals: {goals}\n"), tmp_path)
    assert outcome.exit_code == code
    with open_run(outcome.folder, REASONS) as run:
        assert [len(case.goals) for case in run.cases] == [1, 1]


def test_every_report_has_the_goals_those_that_were_missed_first(tmp_path: Path) -> None:
    """A device of 100,000 frames a second carries a line of large frames, and little of one of small."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = text(
        "throughput: {duration: 20ms, width: 1%}", kind="emulated/router, settings: {capacity: 100kpps}"
    )
    plan = plan.replace("it: {size: 64B, flows: 100}", "{small: {size: 64B}, large: {size: 1518B}}")
    plan = plan.replace("profile: [it]", "profile: [large, small]")
    asked = parse(plan + 'goals: ["throughput >= 90%"]\n')
    # A plan with such a goal is refused; one is in runs of older versions.
    ndr = parse_goal("NDR >= 1%", goal_kinds(METHODS))
    outcome = run_here(replace(asked, goals=(*asked.goals, ndr)), tmp_path)
    with open_run(outcome.folder, REASONS) as stored:
        run = view(stored)
    assert "Goals: 1 missed, 2 not judged, 1 met." in grid.summary(run)
    (table,) = (one for one in details(run) if one.name == "Goals")
    assert [row[:3] for row in table.rows] == [
        ("small / uni", "throughput >= 90%", "missed"),
        ("large / uni", "NDR >= 1%", "not judged"),
        ("small / uni", "NDR >= 1%", "not judged"),
        ("large / uni", "throughput >= 90%", "met"),
    ]
    for name in ("terminal", "markdown", "csv", "html"):
        page = report_text(name, run)
        assert "not judged" in page, name
        assert "missed" in page, name
    assert outcome.exit_code == MISSED, "whatever became of the other goals"


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("sweep: {loads: [5%, 50%], duration: 100ms}", "were lost (at 50%)"),
        ("frame-loss: {duration: 100ms, maximum: 50%}", "were lost (at 50% of the line)"),
    ],
)
def test_a_goal_of_the_loss_is_of_the_highest_load(tmp_path: Path, method: str, why: str) -> None:
    """Of 100,000 frames a second: what was lost at half a line counts, not that a twentieth passed."""
    code, reason = ran(tmp_path, method, "loss <= 1%", kind="emulated/router, settings: {capacity: 100kpps}")
    assert code == MISSED
    assert reason.endswith(why)


def test_a_goal_of_a_services_loss_is_of_its_performance_test(tmp_path: Path) -> None:
    """A device of 100,000 frames a second: a service of 586,000 loses most, whatever its first step lost."""
    method = "y1564: {step: 100ms, performance: 200ms, steps: [50%], services: {all: {cir: 300Mbps}}}"
    code, reason = ran(tmp_path, method, "loss <= 1%", kind="emulated/router, settings: {capacity: 100kpps}")
    assert code == MISSED
    assert reason.endswith("were lost (in the performance test)")


def test_a_goal_of_a_searchs_loss_says_at_which_load_it_was_judged(tmp_path: Path) -> None:
    code, reason = ran(tmp_path, "throughput: {duration: 10ms, width: 50%}", "loss <= 1%")
    assert code == MET
    assert reason == "west-east: 0 of 14,881 frames lost at 1.48 Mpps"
