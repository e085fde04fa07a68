"""What the first screen says of services: what a further rule costs."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from netdyno.reports.model.families import service_cost


def case(service: str, ns: Fraction | None) -> Any:
    time = SimpleNamespace(number=ns)
    result = SimpleNamespace(of_role=lambda role, scope: time if role == "frame time" else None)
    return SimpleNamespace(axes={"service": service}, profile="64b", result=result)


@pytest.mark.parametrize(
    ("rules", "slope"), [((1, 25, 50, 100), "+7.5 ns"), ((25, 25, 25), ""), ((1, 100), "")]
)
def test_further_rule_costs_the_slope_of_one_line(rules: tuple[int, ...], slope: str) -> None:
    """Three different lists at least make a line; a set is looked up at once, and is no part of it."""
    found = [case(f"acl-{count}", Fraction(40) + count * Fraction(15, 2)) for count in rules]
    others = [case("acl-250-set", Fraction(9_000)), case("masquerade", None), case("none", Fraction(5))]
    said = list(service_cost._slopes(SimpleNamespace(cases=[*found, *others])))  # type: ignore[arg-type]
    assert [slope in one for one in said] == [True] * bool(slope)
