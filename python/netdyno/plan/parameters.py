"""Parameters of a plan's method that are axes of its matrix: each case has a value of its own."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_origin

from pydantic import BaseModel, ValidationError

from netdyno.methods.parts.procedure import Parameters
from netdyno.plan import Chosen, Tables, problems, suites
from netdyno.plan.source import Path_, Source
from netdyno.values.quantities import PlanValue
from netdyno.values.units import Load, Percent

Values: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Of each axis that is a parameter its right values as the plan writes them, by their text."""


def scalars(model: type[BaseModel]) -> tuple[str, ...]:
    """The parameters that may be axes, as a plan calls them: a word, a number or a quantity is a value."""
    return tuple(
        field.alias or name
        for name, field in model.model_fields.items()
        if any(map(_is_scalar, problems.alternatives(field.annotation)))
    )


def _is_scalar(kind: Any) -> bool:
    return get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, str | int | PlanValue))


def find_method(raw: Mapping[str, Any], tables: Tables) -> Any | None:
    """The method of a plan, if it names one that there is."""
    named = raw.get("method")
    known = [name for name in named if name in tables.methods] if isinstance(named, dict) else []
    return tables.methods[known[0]] if isinstance(named, dict) and len(known) == len(named) == 1 else None


def list_known(raw: Mapping[str, Any], tables: Tables) -> dict[str, None]:
    """The parameters that may be axes of a plan: of all methods, where its own is unknown."""
    method = find_method(raw, tables)
    methods = tables.methods.values() if method is None else [method]
    return {name: None for one in methods for name in scalars(one.parameters)}


def read_values(source: Source, raw: Mapping[str, Any], tables: Tables, others: Collection[str]) -> Values:
    """The values of the axes that are parameters; mistakes are noted.

    others: axes that are none, though a parameter may be called so.
    """
    method, matrix = find_method(raw, tables), raw.get("matrix")
    if method is None or not isinstance(matrix, dict):
        return {}
    given = raw["method"][method.name]
    own = set(scalars(method.parameters)) - set(others)
    found: dict[str, dict[str, Any]] = {}
    for axis, values in matrix.items():
        if axis not in own or not isinstance(values, list):
            continue
        if isinstance(given, dict) and axis in given:
            source.report_key(
                ("matrix", axis),
                f"`{axis}` is an axis of the matrix, and `{method.name}` has a value for it",
                f"remove one of the two: `{axis}` of the matrix, or of `{suites.key(source)}`",
                code="conflict",
            )
        right = _read_axis(source, method.parameters, axis, values)
        if right:
            found[axis] = right
    return found


def _read_axis(source: Source, model: type[BaseModel], axis: str, values: list[Any]) -> dict[str, Any]:
    """The right values of an axis by their text; no two mean the same."""
    found: dict[str, Any] = {}
    meant: list[Any] = []
    for index, value in enumerate(values):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        # What is no text or number, and what stands twice in the same words, is reported with the matrix.
        if not isinstance(value, str | int) or text in found:
            continue
        place = ("matrix", axis, index)
        typed = problems.read_field(model, axis, value, source, place)
        if typed is None:
            continue
        if isinstance(typed, Load):
            report_above_line(source, place, typed)
        if typed in meant:
            same = list(found)[meant.index(typed)]
            message = f"`{text[:40]}` is `{same[:40]}`, which the axis `{axis}` has already"
            source.report(place, message, "remove one of the two", code="given-twice")
        meant.append(typed)
        found[text] = value
    return found


def report_above_line(source: Source, place: Path_, load: Load) -> None:
    """Notes a load of more than 100 %."""
    if isinstance(load.amount, Percent) and load.amount.amount > 1:
        source.report(
            place,
            f"a load of {load} is more than the line carries",
            "give a percentage up to 100, or a rate such as `9.5Gbps`",
            code="load-above-line",
        )


@dataclass(frozen=True)
class Variants:
    """A method's parameters for each combination of the axes that are parameters; without any, for `()`.

    refused: why a combination makes no sense. lost: fields that are wrong, which have their defaults.
    """

    right: Mapping[Chosen, Any]
    refused: Mapping[Chosen, ValidationError]
    lost: frozenset[str]


def read_parameters(
    source: Source, place: Path_, model: type[Parameters], given: Mapping[str, Any], values: Values
) -> Variants:
    """The parameters that stand at `place`, with those of axes; mistakes are noted."""
    right: dict[Chosen, Any] = {}
    refused: dict[Chosen, ValidationError] = {}
    lost: frozenset[str] = frozenset()
    for texts in itertools.product(*values.values()):
        chosen = tuple(zip(values, texts, strict=True))
        whole = {**given, **{axis: values[axis][text] for axis, text in chosen}}
        made, lost = problems.salvage_or_error(model, whole)
        if isinstance(made, ValidationError):
            refused[chosen] = made
        else:
            right[chosen] = made
    try:
        model.model_validate({**given, **{axis: next(iter(of.values())) for axis, of in values.items()}})
    except ValidationError as error:
        # Values that make no sense together are reported with the cases that have them, if others do.
        is_of_field = any(finding["loc"] for finding in error.errors(include_url=False))
        if is_of_field or not (values and right):
            problems.report(source, place, model, error)
    for path, load in next(iter(right.values())).loads() if right else ():
        if path[0] not in values:
            report_above_line(source, (*place, *path), load)
    # What is no parameter at all has no default in its place.
    return Variants(right, refused, lost & frozenset(problems.fields_at(model, ())))
