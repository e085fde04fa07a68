"""Kinds of values by name, for results made by hand; and whether a method declares what it finds."""

from __future__ import annotations

from dataclasses import replace

from netdyno.methods import METHODS
from netdyno.values.finding import Result
from netdyno.values.kind import ValueKind


def kind(name: str, unit: str = "fps") -> ValueKind:
    """The kind that a method declares by that name and unit; another name makes a kind of its own."""
    declared = (one for method in METHODS.values() for one in method.values)
    return next(
        (one for one in declared if (one.name, one.unit) == (name, unit)), ValueKind(name, unit, "what it is")
    )


def assert_declared(result: Result, *, user_named: tuple[str, ...] = ()) -> None:
    """Every value of a result is of a kind that its method declares. Goals of searches have their attributes
    in the meaning; user_named: those that no method can declare."""
    declared = {replace(one, meaning="") for one in METHODS[result.method].values}
    for name, found in result.kinds.items():
        assert name in user_named or replace(found, meaning="") in declared, (result.method, found)
        assert found.meaning
