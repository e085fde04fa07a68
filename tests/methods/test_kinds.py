"""Every value that a method finds is of a kind that its file declares; nothing else knows values by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import netdyno
import pytest
from kinds import assert_declared
from methodlab import text
from netdyno.errors import PlanErrors
from netdyno.methods import METHODS
from netdyno.plan import Tables, json_schema, parse
from netdyno.values.finding import Result, Value
from netdyno.values.kind import TRIAL_LOSS, ValueKind, group_by_goal
from netdyno.values.situation import Situation
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, judge_goal
from tendevices import drive, wall
from words import said

PACKAGE = Path(netdyno.__file__).parent
BOTH = Situation(("west-east", "east-west"), Fraction(10_000_000), Fraction(64))
OF_BOTH = [
    name
    for name, method in METHODS.items()
    if method.pattern is None and (method.fits is None or method.fits(method.parameters(), BOTH) is None)
]
"""Methods of a lab with one stream each way; the truth table has the others."""


@pytest.mark.parametrize("name", OF_BOTH)
def test_method_finds_only_kinds_that_it_declares(name: str) -> None:
    method = METHODS[name]
    result, _ = drive(method.start(method.parameters(), BOTH), wall(5_000_000), BOTH)
    assert result.headlines
    assert_declared(result)


def test_undeclared_value_is_found_by_the_check() -> None:
    speed = Value(ValueKind("speed of light", "fps", "too fast"), "sum", Fraction(1))
    with pytest.raises(AssertionError, match="speed of light"):
        assert_declared(Result("ramp", (speed,), (0,)))


@pytest.mark.parametrize(
    ("method", "parameters", "name"),
    [
        ("ndr", {"goals": {"NDR": "csit-ndr", "mine": "csit-pdr"}}, "mine"),
        ("ramp", {"then": {"goals": {"PDR": "csit-pdr", "PDR 0.1%": "csit-pdr"}}}, "PDR 0.1%"),
    ],
)
def test_search_goal_of_a_user_makes_a_kind_of_its_own(
    method: str, parameters: dict[str, object], name: str
) -> None:
    procedure = METHODS[method]
    given = procedure.parameters.model_validate(parameters)
    result, _ = drive(procedure.start(given, BOTH), wall(5_000_000), BOTH)
    assert_declared(result, user_named=(name,))
    found = result.kinds[name]
    assert (found.unit, found.goal) == ("fps", None)
    assert "0.5 %" in found.meaning


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("ndr", {"goals": {"NDR": "csit-ndr", "throughput": "csit-pdr"}}),
        ("ramp", {"then": {"goals": {"NDR": "csit-ndr", "knee": "csit-pdr"}}}),
        (
            "sweep",
            {"loads": ["50% of NDR"], "search": {"goals": {"NDR": "csit-ndr", "loss-free load": "csit-pdr"}}},
        ),
    ],
)
def test_search_goal_called_like_another_value_is_refused(method: str, parameters: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="a goal cannot be called"):
        METHODS[method].parameters.model_validate(parameters)


def test_kinds_of_one_goal_are_all_shares_or_all_rates() -> None:
    every = [kind for method in METHODS.values() for kind in method.values]
    for name, kinds in group_by_goal(every).items():
        assert len({kind.is_share for kind in kinds}) == 1, name
        assert {kind.goal for kind in kinds} == {kinds[0].goal}, name
    assert TRIAL_LOSS.is_share


@pytest.mark.parametrize("name", METHODS)
def test_method_declares_one_kind_for_each_name(name: str) -> None:
    kinds = METHODS[name].values
    names = [kind.name for kind in kinds]
    assert kinds
    assert len(set(names)) == len(names)
    assert all(not kind.instead or kind.instead in names for kind in kinds)


def test_suite_declares_the_kinds_of_its_parts() -> None:
    parts = ("throughput", "latency", "frame-loss", "back-to-back", "recovery", "reset")
    wanted = {kind for part in parts for kind in METHODS[part].values if kind.about != "plan"}
    assert set(METHODS["rfc2544"].values) == wanted


@pytest.mark.parametrize(
    ("name", "unit", "goal"),
    [
        ("", "fps", None),
        ("rate", "fps", "rate"),
        ("rate", "fps", ">= 95%"),
        # No plan can write a bound for a number of frames.
        ("burst", "frames", "burst >= 10"),
    ],
)
def test_kind_that_cannot_be_named_or_asked_for_is_refused(name: str, unit: str, goal: str | None) -> None:
    with pytest.raises(ValueError, match="kind"):
        ValueKind(name, unit, "what it is", goal=goal)


def test_result_with_two_kinds_of_one_name_or_an_empty_headline_is_refused() -> None:
    values = [Value(ValueKind("it", "fps", meaning), "sum", Fraction(1)) for meaning in ("one", "other")]
    with pytest.raises(ValueError, match="two kinds"):
        Result("m", tuple(values), ())
    with pytest.raises(ValueError, match="has no value"):
        Result("m", (values[0],), (), headlines=("that",))


def test_new_method_brings_the_goal_of_what_it_finds() -> None:
    """A table with the method is all that plan, listings and verdict need."""
    light = ValueKind("light", "share", "how much light came", goal="light >= 50%")
    lamp = replace(METHODS["soak"], name="lamp", values=(light,))
    tables = replace(Tables.real(), methods={**METHODS, "lamp": lamp})
    written = text("lamp: {load: 10%, duration: 1s}") + 'goals: ["light >= 60%"]\n'
    with pytest.raises(PlanErrors, match="no value `light`"):
        parse(written.replace("lamp:", "soak:"))
    (goal,) = parse(written, tables=tables).goals
    assert "light >= 50%" in json_schema(tables)["properties"]["goals"]["items"]["examples"]
    for number, passed in ((Fraction(3, 5), True), (Fraction(1, 2), False)):
        result = Result("lamp", (Value(light, "a", number),), (0,), headlines=("light",))
        verdicts = {"a": Verdict("device", said("because"))}
        given = Evidence(Situation(("a",), Fraction(10), Fraction(64)), "virtual", True, ())
        assert judge_goal(goal, result, verdicts, given).passed is passed


def by_name(tree: ast.AST) -> Iterator[int]:
    """Lines that look for a value by a name written there: `.value("knee")`, `value.name == "knee"`."""
    names = {kind.name for method in METHODS.values() for kind in method.values}

    def is_name(node: ast.AST) -> bool:
        inner = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
        return any(isinstance(one, ast.Constant) and one.value in names for one in inner)

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "value" and any(map(is_name, node.args)):
                yield node.lineno
        elif isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            is_of_value = any(
                isinstance(one, ast.Attribute) and one.attr in ("name", "value") for one in sides
            )
            if is_of_value and any(map(is_name, sides)):
                yield node.lineno


def test_no_code_outside_the_methods_looks_for_a_value_by_its_name() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "methods"
        for line in by_name(ast.parse(path.read_text()))
    ]
    assert not found


@pytest.mark.parametrize(
    "text", ['case.value("knee")', 'one.name == "throughput"', 'value.name in ("latency", "x")']
)
def test_search_by_name_is_found(text: str) -> None:
    assert list(by_name(ast.parse(text))) == [1]
