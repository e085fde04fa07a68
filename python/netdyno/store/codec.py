"""From values to JSON and back, by their types: what a type says is all that is read or written.

The record may come from a stranger. A field that is unknown or of another type is refused, and so is a number
that a few characters make endless. What `__post_init__` refuses is refused here too. A field with a default
may be missing, as in records from before there was such a field, and then has it: the default of a new field
says that nothing is known. A field that the type marks `unstored` is not written, and refused where it is
found; one that it marks `was` may have that name, as it had before. What got lost is for the seals to find.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter
from pydantic_core import SchemaSerializer, SchemaValidator, ValidationError, core_schema

from netdyno.store.contents import compress, decompress
from netdyno.values import reason as reasons
from netdyno.values.reason import CODE, Codes, Reason, UnknownReason
from netdyno.values.units import FrameRate, L1Rate, L2Rate, Percent, Rate

T = TypeVar("T")

MOST_TEXT = 20_000
"""Characters of one text in a reason."""

MOST_ITEMS = 10_000
"""Items of one list in a reason."""

MOST_DEPTH = 30
"""Lists and objects inside each other in the JSON of a reason."""

_NUMBER = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?", re.ASCII)


def exact(text: str) -> Fraction:
    """The number that `7/3` or `14880952` is. ValueError otherwise: exponents, which a few characters make
    endless, are refused."""
    if not isinstance(text, str):
        raise ValueError(f"`{str(text)[:40]}` is not an exact number")
    return _exact(text)


@lru_cache(4096)
def _exact(text: str) -> Fraction:
    """Numbers repeat: of 86,000 in the tables of a soak of a month nine in ten were read before."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is not an exact number")
    try:
        over, _, under = text.partition("/")
        return Fraction(int(over), int(under)) if under else Fraction(int(over))
    except ZeroDivisionError as error:
        raise ValueError(f"`{text[:40]}` divides by zero") from error


class Codec(Generic[T]):
    """Writes and reads values of one type."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def encode(self, value: T) -> str:
        """The value as JSON."""
        return _compile(self._kind)[1].to_json(value).decode()

    def decode(self, text: str | bytes, known: Codes) -> T:
        """What `encode` wrote. Raises ValueError that says where it is not that.

        known: classes of reasons by code; those it does not have are read as `UnknownReason`.
        """
        try:
            value: T = _compile(self._kind)[0].validate_json(text, strict=True, context=known)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error
        return value

    def pack(self, value: T) -> bytes:
        """The value as compressed JSON. ValueError if it is more than a reader takes."""
        return compress(_compile(self._kind)[1].to_json(value))

    def unpack(self, data: bytes, known: Codes) -> T:
        """What `pack` wrote. A record from elsewhere cannot make it unpack more than `MOST_BYTES`."""
        return self.decode(decompress(data), known)


@cache
def _compile(kind: Any) -> tuple[SchemaValidator, SchemaSerializer]:
    """Made when first needed: `netdyno --help` needs none."""
    schema = _strict(TypeAdapter(kind).core_schema)
    return SchemaValidator(schema), SchemaSerializer(schema)


def _strict(schema: Any) -> Any:
    """A schema of pydantic's with this module's rules in place of pydantic's own."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if isinstance(schema, tuple):
        return tuple(_strict(one) for one in schema)
    if not isinstance(schema, dict):
        return schema
    rule: Callable[[dict[str, Any]], Any] | None = _RULES.get(schema.get("type", ""))
    found = schema if rule is None else rule(schema)
    if found is not schema:
        return found
    return {key: value if key in _OPAQUE else _strict(value) for key, value in schema.items()}


_OPAQUE = ("default", "metadata", "expected", "cls", "function")
"""Keys of a schema whose values are no schemas."""


def _fraction(_: dict[str, Any]) -> Any:
    return core_schema.no_info_plain_validator_function(
        exact, serialization=core_schema.plain_serializer_function_ser_schema(str, when_used="unless-none")
    )


def _union(schema: dict[str, Any]) -> Any:
    """A cell of a table is a number or a text, and both are text in JSON: a text is `{"text": ...}`.

    So is a load (`Rate`): of frames per second, once the only ones, a text; else `{"l1_bps": ...}`.
    """
    kinds = {one.get("type") for one in schema["choices"] if isinstance(one, dict)}
    if kinds == {"function-plain"}:
        return _convert_by(_to_rate, _from_rate)
    return _convert_by(_to_cell, _from_cell) if kinds == {"fraction", "str"} else schema


def _convert_by(read: Callable[[Any], Any], write: Callable[[Any], Any]) -> Any:
    written = core_schema.plain_serializer_function_ser_schema(write)
    return core_schema.no_info_plain_validator_function(read, serialization=written)


def _to_cell(found: Any) -> Fraction | str:
    if isinstance(found, dict):
        if list(found) != ["text"] or not isinstance(found["text"], str):
            raise ValueError("a cell that is neither a number nor a text")
        return str(found["text"])
    return exact(found)


def _from_cell(cell: Any) -> Any:
    return {"text": cell} if isinstance(cell, str) else str(cell)


_UNITS: Mapping[str, type[L1Rate | L2Rate | Percent]] = {"l1_bps": L1Rate, "l2_bps": L2Rate, "share": Percent}


def _to_rate(found: Any) -> Rate:
    if not isinstance(found, dict):
        return FrameRate(exact(found))
    if len(found) != 1 or not found.keys() <= _UNITS.keys():
        raise ValueError("a rate that has no unit")
    ((unit, amount),) = found.items()
    return _UNITS[unit](exact(amount))


def _from_rate(rate: Rate) -> Any:
    amount = str(rate.amount)
    return next(({unit: amount} for unit, kind in _UNITS.items() if isinstance(rate, kind)), amount)


def decode_reason(found: object, known: Codes, wanted: type[Reason] = Reason) -> Reason:
    """The reason that a parsed `{"code": ..., "fields": {...}}` is: of the class that has its code.

    A code that is not in `known` gives an `UnknownReason`. ValueError, one line, if it is no reason, is no
    `wanted`, has a field too few, too many or of another type, or is larger than any reason.
    """
    _check_bounds(found, 0)
    if not isinstance(found, dict) or set(found) != {"code", "fields"}:
        raise ValueError(f"`{_shown(found)}` is no reason: it wants `code` and `fields`")
    code, values = found["code"], found["fields"]
    if not isinstance(code, str) or not CODE.fullmatch(code) or not isinstance(values, dict):
        raise ValueError(f"`{_shown(found)}` is no reason: its code is no code, or its fields no object")
    kind: Any = known.get(code)
    if kind is None:
        reason: Reason = UnknownReason(code, values)
    else:
        try:
            reason = kind(**_fields_of(kind).validate_python(values, context=known)[0])
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            why = first.get("ctx", {}).get("error", first["msg"])
            raise ValueError(f"`{where}` of the reason `{code}`: {why}") from error
    if not isinstance(reason, wanted):
        raise ValueError(f"the reason `{code}` is no {wanted.__name__}")
    return reason


@cache
def _fields_of(kind: Any) -> SchemaValidator:
    """Reads the fields of a class of reasons. Made when first needed: a run has a few of all classes."""
    schema: Any = TypeAdapter(kind).core_schema
    inside = schema["schema"] if schema["type"] == "definitions" else schema
    arguments = {**_arguments(inside), "extra_behavior": "forbid"}
    if inside is not schema:
        arguments = {**schema, "schema": arguments, "definitions": _strict(schema["definitions"])}
    return SchemaValidator(arguments, core_schema.CoreConfig(strict=True))


def _check_bounds(found: object, depth: int) -> None:
    """ValueError if JSON is larger than any reason, or has a number that none has."""
    if depth > MOST_DEPTH:
        raise ValueError("a reason is nested too deeply")
    if isinstance(found, dict | list):
        if len(found) > MOST_ITEMS:
            raise ValueError("a reason has too many parts")
        for one in found.values() if isinstance(found, dict) else found:
            _check_bounds(one, depth + 1)
    elif isinstance(found, float) or (isinstance(found, str) and len(found) > MOST_TEXT):
        raise ValueError(f"a reason holds `{_shown(found)}`")


def _shown(found: object) -> str:
    """At most 40 characters of something, in one line."""
    return " ".join(str(found)[:40].split())


def _dataclass(schema: dict[str, Any]) -> Any:
    """A class is read by its fields, a reason by its code."""
    kind = schema["cls"]
    if issubclass(kind, Reason):
        return core_schema.with_info_plain_validator_function(
            lambda found, info: decode_reason(found, info.context, kind),
            serialization=core_schema.plain_serializer_function_ser_schema(reasons.encode),
            ref=schema.get("ref"),
        )
    arguments = _arguments(schema)
    return {
        **schema,
        "schema": arguments,
        "fields": [one["name"] for one in arguments["fields"]],
        "config": {**schema.get("config", {}), "extra_fields_behavior": "forbid", "strict": True},
    }


def _arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """No field more than the class has, and each that has no default."""
    was = {one.name: one.metadata["was"] for one in fields(schema["cls"]) if "was" in one.metadata}
    unstored = {one.name for one in fields(schema["cls"]) if one.metadata.get("unstored")}
    return {
        **schema["schema"],
        "fields": [
            {
                **one,
                "schema": _strict(one["schema"]),
                **({"validation_alias": [[one["name"]], [was[one["name"]]]]} if one["name"] in was else {}),
            }
            for one in schema["schema"]["fields"]
            if one["name"] not in unstored
        ],
    }


def _tuple(schema: dict[str, Any]) -> Any:
    """A list, which is what a tuple is in JSON."""
    return {**schema, "items_schema": _strict(schema["items_schema"]), "strict": False}


def _any(schema: dict[str, Any]) -> Any:
    return core_schema.no_info_after_validator_function(_plain, {**schema})


def _plain(found: Any) -> Any:
    """JSON as it is. ValueError for numbers that JSON has no words for."""
    if isinstance(found, float) and not math.isfinite(found):
        raise ValueError(f"`{found}` is not a number")
    for one in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        _plain(one)
    return found


def _float(schema: dict[str, Any]) -> Any:
    return schema if schema.get("allow_inf_nan") is False else {**schema, "allow_inf_nan": False}


_RULES: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "fraction": _fraction,
    "union": _union,
    "dataclass": _dataclass,
    "tuple": _tuple,
    "any": _any,
    "float": _float,
}
