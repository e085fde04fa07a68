"""What stands under `method:` and `goals:`, read from the models: for `netdyno methods` and the docs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from netdyno.methods import METHODS
from netdyno.methods.parts.procedure import Parameters, Shape
from netdyno.plan.goals import goal_kinds
from netdyno.values.described import describe_fields
from netdyno.values.kind import ValueKind
from netdyno.values.units import Load, Quantity


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method."""

    method: str
    name: str
    kind: str
    """What it is, with its unit in an example: "duration, `120s`"."""
    default: str
    meaning: str


@dataclass(frozen=True)
class GoalKind:
    """A value that a goal can be set for, as some methods find it."""

    value: str
    methods: tuple[str, ...]
    """Which; empty: all that find no value for the goal themselves."""
    meaning: str
    example: str


@dataclass(frozen=True)
class Found:
    """A value that methods find."""

    value: str
    unit: str
    methods: tuple[str, ...]
    meaning: str


def parameters() -> Iterator[Parameter]:
    """Every parameter of every method, in the order of `METHODS`."""
    for name, procedure in METHODS.items():
        for field, info in procedure.parameters.model_fields.items():
            yield Parameter(
                method=name,
                name=info.alias or field,
                kind=_kind(info),
                default=_default(info),
                meaning=describe_fields(procedure.parameters).get(field, "").replace("`null`", "null"),
            )


def goals() -> Iterator[GoalKind]:
    """Every value that a goal can be set for, once for each meaning that it has."""
    for value, kinds in goal_kinds(METHODS).items():
        for kind in kinds:
            yield GoalKind(value, _find_methods(kind), kind.meaning, kind.goal or "")


def values() -> Iterator[Found]:
    """Every value that methods find, in their order."""
    for kind in dict.fromkeys(kind for method in METHODS.values() for kind in method.values):
        unit = "pps" if kind.unit == "fps" else kind.unit
        yield Found(kind.display_name, unit, _find_methods(kind), kind.meaning)


def _find_methods(kind: ValueKind) -> tuple[str, ...]:
    """The methods that find a value, by name."""
    return tuple(name for name, method in METHODS.items() if kind in method.values)


def _types(annotation: Any) -> tuple[Any, ...]:
    """The alternatives of a field, without `null`."""
    union = get_origin(annotation) in (Union, UnionType)
    return tuple(kind for kind in (get_args(annotation) if union else (annotation,)) if kind is not NoneType)


def _kind(info: FieldInfo) -> str:
    if info.examples:
        return " or ".join(f"`{example}`" for example in info.examples)
    words = []
    for kind in _types(info.annotation):
        if get_origin(kind) is Literal:
            words.append(" or ".join(f"`{value}`" for value in get_args(kind)))
        elif get_origin(kind) is dict:
            (shape,) = _types(get_args(kind)[1])
            words.append(f"a mapping of names to {' or '.join(f'`{one}`' for one in shape.short_examples)}")
        elif kind is bool:
            words.append("`true` or `false`")
        elif get_origin(kind) is list:
            words.append("a list of them")
        elif kind is int:
            words.append("whole number")
        elif issubclass(kind, Load):
            words.append("load, " + " or ".join(f"`{example}`" for example in kind.examples[:3]))
        elif issubclass(kind, Quantity):
            words.append(f"{kind.what}, `{kind.examples[0]}`")
        elif issubclass(kind, Shape):
            words.append(" or ".join(f"`{example}`" for example in kind.short_examples))
        elif issubclass(kind, Parameters):
            words.append(f"parameters as of `{_owner(kind)}`")
        else:
            words.append(kind.__name__)
    if NoneType in get_args(info.annotation):
        words.append("`null`")
    return " or ".join(words)


def _owner(kind: type[Parameters]) -> str:
    """The method whose parameters these are, or a part of them."""
    return next(name for name, procedure in METHODS.items() if issubclass(procedure.parameters, kind))


def _default(info: FieldInfo) -> str:
    """The default as a plan would write it."""
    if info.is_required():
        return "needed"
    return "`null`" if info.default is None else f"`{_write_yaml(info.default)}`"


def _write_yaml(value: Any) -> str:
    """A value as YAML has it on one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_write_yaml, value))}]"
    if isinstance(value, Parameters):
        # What is not as it is by itself.
        own = type(value)()
        changed = {
            info.alias or name: getattr(value, name)
            for name, info in type(value).model_fields.items()
            if getattr(value, name) != getattr(own, name)
        }
        return f"{{{', '.join(f'{name}: {_write_yaml(one)}' for name, one in changed.items())}}}"
    if isinstance(value, Shape):
        # The short form is for reading only: the one of its examples that means the default stands for it.
        for example in value.short_examples:
            if type(value).model_validate(example) == value:
                return example
        return str(value.model_dump(mode="json", by_alias=True))
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in sorted(value.model_fields_set)}
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_write_yaml(one)}' for name, one in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else str(value)
