"""From pydantic's findings to sentences at a place: what is wrong, why, and what to write instead."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from netdyno.errors import Problem, Problems, as_written, names, suggestion
from netdyno.plan.source import Path_, Source


def report(
    source: Source, base: Path_, model: type[BaseModel], error: ValidationError, told: tuple[str, ...] = ()
) -> None:
    """Notes every finding of a validation whose value stands at `base`."""
    for finding in error.errors(include_url=False):
        if not finding["loc"][:1] or finding["loc"][0] not in told:
            _report_finding(source, base, model, finding)


def _report_finding(source: Source, base: Path_, model: type[BaseModel], finding: Any) -> None:
    path = (*base, *finding["loc"])
    if path[-1:] == ("[key]",):
        _name(source, path[:-1], finding)
        return
    cause = finding.get("ctx", {}).get("error")
    if isinstance(cause, Problems):
        for problem in cause.problems:
            _problem(source, path, problem)
    elif isinstance(cause, Problem):
        _problem(source, path, cause)
    elif finding["type"] == "extra_forbidden":
        name = str(finding["loc"][-1])
        known = fields_at(model, finding["loc"][:-1])
        source.report_key(
            path,
            f"unknown field `{name[:60]}`",
            suggestion(name, known, "fields") if known else None,
            code="unknown-field",
        )
    elif finding["type"] == "missing":
        known_at = fields_at(model, finding["loc"][:-1], required=True)
        where = source.settle((*base, *finding["loc"][:-1]))
        named = [part for part in where if isinstance(part, str)]
        owner = f" of `{named[-1]}`" if named else ""
        source.report_key(
            where,
            f"`{finding['loc'][-1]}`{owner} is missing",
            f"needed here: {names(known_at)}",
            code="missing-field",
        )
    else:
        code, message, hint = _describe_finding(finding, source, path)
        if finding["type"] in ("model_type", "model_attributes_type"):
            hint = _hint_of_fields(model, finding, hint)
        source.report(path, message, hint, code=code)


def _hint_of_fields(model: type[BaseModel], finding: Any, hint: str | None) -> str | None:
    """What to write in place of a value that has fields: `write `b: {size: 64B}``."""
    *above, name = finding["loc"] or ("",)
    known, needed = fields_at(model, finding["loc"]), fields_at(model, finding["loc"], required=True)
    value = finding["input"]
    if not known or isinstance(value, list | Mapping):
        return hint
    if name in known and name not in fields_at(model, above):
        # A field of what stands here, without the name that it needs.
        return f"write it below a name, as in `any: {{{name}: {as_written(value)}}}`"
    if len(needed) == 1:
        return f"write `{name}: {{{needed[0]}: {as_written(value)}}}`"
    return f"{hint}; fields: {names(known)}"


def _name(source: Source, path: Path_, finding: Any) -> None:
    """A key that cannot be one."""
    cause = finding.get("ctx", {}).get("error")
    if isinstance(cause, Problem):
        source.report_key(path, cause.message, cause.hint, code=cause.code)
    else:
        source.report_key(
            path,
            f"the name {format_value(path[-1])} must be text",
            "put it in quotes",
            code="wrong-type",
        )


def _problem(source: Source, path: Path_, problem: Problem) -> None:
    source.report((*path, *problem.at), problem.message, problem.hint, code=problem.code)


MOST_SHOWN = 3
"""Entries of a list that a message tells."""

_WANTED = {
    "dict_type": ("a mapping", "write fields as `name: value`"),
    "model_type": ("a mapping", "write its fields as `name: value`"),
    "model_attributes_type": ("a mapping", "write its fields as `name: value`"),
    "list_type": ("a list", "write it in brackets"),
    "tuple_type": ("a list", "write it in brackets"),
    "string_type": ("text", "put it in quotes if it is meant as text"),
    "int_type": ("a whole number", "write it in digits, without quotes"),
    "bool_type": ("`true` or `false`", "YAML 1.2 has no other words for it"),
}


def _describe_finding(finding: Any, source: Source, path: Path_) -> tuple[str, str, str | None]:
    """Code, message and hint of a finding."""
    kind, value, context = finding["type"], finding["input"], finding.get("ctx", {})
    settled = source.settle(path)
    name = next((str(part) for part in reversed(settled) if isinstance(part, str)), "the plan")
    if kind in _WANTED:
        wanted, hint = _WANTED[kind]
        if wanted == "a list" and not isinstance(value, Mapping):
            hint = f"write it in brackets: `[{as_written(value)}]`"
        if wanted == "a mapping" and isinstance(value, list):
            hint = f"{hint}, without brackets and dashes"
        if name == "headers" and isinstance(value, str):
            hint = f"write `{{type: {value}}}`, with its fields behind that"
        what = f"an entry of `{name}`" if settled and isinstance(settled[-1], int) else f"`{name}`"
        return "wrong-type", f"{what} must be {wanted}, not {format_value(value)}{_inside(value)}", hint
    if kind in ("too_short", "string_too_short"):
        least = context.get("min_length", 1)
        if least > 1 and value:
            return "out-of-range", f"`{name}` has {len(value)}", f"it has at least {least}"
        return "empty", f"`{name}` is empty", f"give at least {'one' if least == 1 else least}"
    if kind in ("too_long", "string_too_long"):
        return "too-many", f"`{name}` is too long", f"at most {context.get('max_length')}"
    if kind in ("literal_error", "enum"):
        expected = str(context.get("expected", "")).replace("'", "`")
        lower = f"`{value.lower()}`" if isinstance(value, str) else ""
        meant = f"write {lower}: " if lower and lower in expected else ""
        return (
            "out-of-range",
            f"`{name}` cannot be {format_value(value)}",
            f"{meant}it is one of {expected}",
        )
    if kind in ("greater_than_equal", "less_than_equal", "greater_than", "less_than"):
        bound = next(iter(context.values()))
        side = {
            "greater_than_equal": "at least",
            "greater_than": "more than",
            "less_than_equal": "at most",
            "less_than": "less than",
        }[kind]
        return "out-of-range", f"`{name}` cannot be {format_value(value)}", f"it is {side} {bound}"
    if kind == "union_tag_invalid":
        tag = str(context.get("tag", ""))
        known = [part.strip().strip("'") for part in str(context.get("expected_tags", "")).split(",")]
        return "unknown-name", f"unknown {name} type `{tag[:40]}`", suggestion(tag, known)
    if kind == "union_tag_not_found":
        return (
            "missing-field",
            f"an entry of `{name}` does not say its `type`",
            "write it like `{type: vlan, vid: 10}`",
        )
    if kind == "int_parsing":
        wanted, hint = _WANTED["int_type"]
        digits = re.match(r"[0-9]+(?=[^0-9.])", str(value))
        hint = f"write it without a unit: `{digits[0]}`" if digits else hint
        return "wrong-type", f"`{name}` must be {wanted}, not {format_value(value)}", hint
    message = str(finding["msg"])
    return "wrong-format", f"`{name}`: {message[:1].lower()}{message[1:]}", None


def _inside(value: object) -> str:
    """What a list has in it that stands where none is wanted: `, with `a` and `b` in it`."""
    if not isinstance(value, list) or not value:
        return ", which is empty" if isinstance(value, list) else ""
    told = [format_value(one) for one in value[:MOST_SHOWN]]
    more = len(value) - len(told)
    told += [f"{more} more"] if more else []
    return f" of {' and '.join((', '.join(told[:-1]), told[-1])) if len(told) > 1 else told[0]}"


def format_value(value: object) -> str:
    """A value in a message: short, and as YAML would have it."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else f"`{as_written(value)}`"


def fields_at(model: type[BaseModel], loc: Sequence[str | int], *, required: bool = False) -> list[str]:
    """Names of the fields at a place inside a model; none if the place is not a model."""
    places: list[Any] = [model]
    for part in loc:
        found = [inner for place in places for inner in _step(place, part)]
        places = found or places
    return [
        field.alias or name
        for place in places
        if isinstance(place, type) and issubclass(place, BaseModel)
        for name, field in place.model_fields.items()
        if not required or field.is_required()
    ]


def alternatives(annotation: Any) -> list[Any]:
    """The types that an annotation allows, without Annotated, Optional and unions."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        parts = (part for part in get_args(annotation) if part is not type(None))
        return [one for part in parts for one in alternatives(part)]
    return [annotation]


def _step(place: Any, part: str | int) -> list[Any]:
    if isinstance(place, type) and issubclass(place, BaseModel):
        if isinstance(part, str) and part in place.model_fields:
            return alternatives(place.model_fields[part].annotation)
        kind = place.model_fields.get("type")
        # A discriminated union puts the tag into the path: keep the alternative it names.
        return [place] if kind is not None and part in typing.get_args(kind.annotation) else []
    origin, arguments = get_origin(place), get_args(place)
    if origin is dict:
        return alternatives(arguments[1])
    if origin in (list, tuple) and isinstance(part, int):
        return alternatives(arguments[0])
    return []


MODEL = TypeVar("MODEL", bound=BaseModel)


def validate_part(
    model: type[MODEL], raw: Any, source: Source, base: Path_ = (), told: tuple[str, ...] = ()
) -> MODEL | None:
    """A part of a plan as its model has it; None if it is wrong, and then everything wrong is noted.

    told: fields whose mistakes have been noted already.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        report(source, base, model, error, told)
        return None


def read_field(model: type[BaseModel], name: str, value: Any, source: Source, place: Path_) -> Any:
    """A value as a field's own type has it, which stands at `place`; None if it is wrong, which is noted.

    name: of the field, as a plan writes it.
    """
    fields = {field.alias or own: field for own, field in model.model_fields.items()}
    kind: TypeAdapter[Any] = TypeAdapter(fields[name].rebuild_annotation())
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        # Of several types that it may have, the first is the plain one.
        _report_finding(source, place, model, {**error.errors(include_url=False)[0], "loc": ()})
        return None


def salvage_part(model: type[MODEL], raw: Any) -> tuple[MODEL | None, frozenset[str]]:
    """A part of a plan without what is wrong in it, and the fields that lost something by that.

    For the rules on what parts mean together: they look at what is right, so that one slip does not hide
    another. None: what cannot be left out is wrong or missing. Nothing is noted here: what is wrong is
    reported when the whole is read.
    """
    found, lost = salvage_or_error(model, raw)
    return (None if isinstance(found, ValidationError) else found), lost


def salvage_or_error(model: type[MODEL], raw: Any) -> tuple[MODEL | ValidationError, frozenset[str]]:
    """As `salvage_part`, with the error of what cannot be left out."""
    lost: set[str] = set()
    kept = raw
    while True:
        try:
            return model.model_validate(kept), frozenset(lost)
        except ValidationError as error:
            places = {_wrong(kept, finding) for finding in error.errors(include_url=False)}
            if () in places:
                return error, frozenset(lost)
        lost.update(str(place[0]) for place in places)
        kept = _without(kept, places)


def _wrong(raw: Any, finding: Any) -> Path_:
    """The place in a value that a finding is about; of something missing, what it is missing from."""
    place: list[str | int] = []
    value = raw
    for part in finding["loc"]:
        there = range(len(value)) if isinstance(value, list) else value if isinstance(value, Mapping) else ()
        if part not in there:
            continue  # The name of an alternative, which is no part of the text.
        value = value[part]
        place.append(part)
    return tuple(place)


def _without(value: Any, places: set[Path_]) -> Any:
    """A copy of a value without what is at these places."""
    inside: dict[str | int, set[Path_]] = {}
    for place in places:
        inside.setdefault(place[0], set()).add(place[1:])
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    kept = {
        key: _without(part, inside[key]) if key in inside else part
        for key, part in items
        if () not in inside.get(key, ())
    }
    return kept if isinstance(value, Mapping) else list(kept.values())
