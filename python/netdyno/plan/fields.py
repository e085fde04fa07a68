"""Fields of headers as a plan gives them: constants, or lists, steps and random draws from flow to flow."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, ConfigDict, PlainValidator, WithJsonSchema

from netdyno.devices.wiring import is_mac
from netdyno.errors import Problem, as_written, suggestion
from netdyno.values.described import Described


class Element(Described):
    """A part of a plan: strict types, no unknown fields, never changed afterwards."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True)


@dataclass(frozen=True)
class OrShort:
    """In a schema: a model, or a short form that stands for one."""

    short: Mapping[str, Any]

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"anyOf": [self.short, handler.resolve_ref_schema(handler(schema))]}


def _whole(low: int, high: int, what: str) -> Any:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Problem(
                f"`{as_written(value)}` is not a {what}",
                f"a whole number from {low} to {high}",
                code="wrong-type",
            )
        if not low <= value <= high:
            raise Problem(f"`{value}` is no {what}", f"it goes from {low} to {high}", code="out-of-range")
        return value

    return read


def _mac(value: object) -> str:
    digits = re.sub("[:.-]", "", value) if isinstance(value, str) else ""
    if not re.fullmatch("[0-9a-fA-F]{12}", digits):
        raise Problem(
            f"`{as_written(value)}` is not a MAC address",
            "write it like `02:00:00:00:00:01`",
            code="wrong-format",
        )
    return ":".join(digits[i : i + 2] for i in range(0, 12, 2)).lower()


def _ipv4(value: object) -> str:
    try:
        return str(ipaddress.IPv4Address(value if isinstance(value, str) else "not"))
    except ValueError:
        raise Problem(
            f"`{as_written(value)}` is not an IPv4 address", "write it like `16.0.0.1`", code="wrong-format"
        ) from None


def _ipv6(value: object) -> str:
    try:
        if isinstance(value, str) and "%" not in value:
            return str(ipaddress.IPv6Address(value))
    except ValueError:
        pass
    raise Problem(
        f"`{as_written(value)}` is not an IPv6 address", "write it like `2001:2::1`", code="wrong-format"
    ) from None


def as_number(value: str | int) -> int:
    """A field's value as a number, for ranges."""
    if isinstance(value, int):
        return value
    return int(value.replace(":", ""), 16) if is_mac(value) else int(ipaddress.ip_address(value))


def add(value: str | int, more: int) -> str | int:
    """A field's value so many further on, written as it was."""
    number = as_number(value) + more
    if isinstance(value, int):
        return number
    if is_mac(value):
        return number.to_bytes(6, "big").hex(":")
    return str(type(ipaddress.ip_address(value))(number))


def _field(read: Any, bits: int) -> Any:
    """A validator of a field that is constant or differs from flow to flow."""

    def constant_or_vary(value: object) -> Any:
        if not isinstance(value, Mapping):
            return read(value)
        if "list" in value and set(value) <= {"list", "every"}:
            every = _at(("every",), _EVERY, value["every"]) if "every" in value else 1
            return _slow({"list": _list(value["list"], read)}, every)
        if len(value) != 1 or not isinstance(next(iter(value)), str):
            raise Problem(
                "a field that varies has one of `list`, `step`, `range` and `random`",
                "for example `{random: {min: 1, max: 9}}`",
                code="wrong-type",
            )
        name, how = next(iter(value.items()))
        if name == "step":
            parts = {"start": read, "step": _STEP, "count": _COUNT}
            start, step, count, every = _parts(name, how, parts, {"every": (_EVERY, 1)})
            if not 0 <= as_number(start) + step * (count - 1) < 2**bits:
                raise Problem(
                    f"the last of {count} values does not fit in {bits} bits",
                    "fewer values or a smaller step",
                    ("step",),
                    code="out-of-range",
                )
            return _slow({"step": {"start": start, "step": step, "count": count}}, every)
        if name == "range":
            usual = {"step": (_STEP, 1), "start": (read, None), "every": (_EVERY, 1)}
            low, high, step, start, every = _parts(name, how, {"min": read, "max": read}, usual)
            start = low if start is None else start
            if not as_number(low) <= as_number(start) <= as_number(high):
                message = f"`min` {low} is above `max` {high}"
                if as_number(low) <= as_number(high):
                    message = f"`start` {start} is outside {low} to {high}"
                hint = "`min`, then `start`, then `max`"
                raise Problem(message, hint, ("range",), code="out-of-range")
            if as_number(high) - as_number(low) >= 2**32:
                raise Problem(
                    "a range of more than 2^32 values",
                    "a smaller one, or `step`",
                    ("range",),
                    code="too-many",
                )
            return _slow({"range": {"min": low, "max": high, "step": step, "start": start}}, every)
        if name == "random":
            seeded = isinstance(how, Mapping) and "seed" in how
            readers = {"min": read, "max": read} | ({"seed": _whole(0, 2**63 - 1, "seed")} if seeded else {})
            low, high, *seed = _parts(name, how, readers, {})
            if as_number(low) > as_number(high):
                raise Problem(
                    f"`min` {low} is above `max` {high}", "swap them", ("random",), code="out-of-range"
                )
            return {"random": {"min": low, "max": high} | ({"seed": seed[0]} if seed else {})}
        raise Problem(
            f"unknown way to vary `{name[:40]}`",
            suggestion(name, ("list", "step", "range", "random")),
            (name,),
            code="unknown-name",
        )

    return constant_or_vary


_COUNT = _whole(1, 2**32, "number of values")
_STEP = _whole(-(2**63), 2**63 - 1, "step")
_EVERY = _whole(1, 2**32 - 1, "number of flows")


def _slow(field: dict[str, Any], every: int) -> dict[str, Any]:
    """A field of which each value stays for `every` flows."""
    (how, what), more = next(iter(field.items())), {} if every == 1 else {"every": every}
    return {how: what} | more if how == "list" else {how: {**what, **more}}


def is_walking(field: object) -> bool:
    """Whether a field goes from value to value with the flow's index: a list, a step or a range."""
    return isinstance(field, Mapping) and "random" not in field


def stays(field: Mapping[str, Any]) -> int:
    """The number of flows for which a walking field keeps each value."""
    what = field if "list" in field else next(iter(field.values()))
    every: int = what.get("every", 1)
    return every


def slow_down(field: Mapping[str, Any], every: int) -> dict[str, Any]:
    """A walking field that changes so many times more slowly."""
    return _slow(dict(field), every * stays(field))


def count_values(field: Mapping[str, Any]) -> int:
    """The number of values that a walking field goes through before the first comes again."""
    match field:
        case {"list": values}:
            return len(values)
        case {"range": {"min": low, "max": high, "step": step}}:
            size = as_number(high) - as_number(low) + 1
            return size // math.gcd(size, step)
        case _:
            count: int = field["step"]["count"]
            return count


def values(field: Mapping[str, Any]) -> Iterator[Any]:
    """The values of a walking field, one after the other, until the first comes again."""
    match field:
        case {"list": listed}:
            yield from listed
        case {"range": {"min": low, "max": high, "step": step, "start": start}}:
            size, first = as_number(high) - as_number(low) + 1, as_number(start) - as_number(low)
            for number in range(count_values(field)):
                yield add(low, (first + step * number) % size)
        case {"step": {"start": start, "step": step, "count": count}}:
            for number in range(count):
                yield add(start, step * number)


def ends(field: Any) -> list[Any]:
    """The values of a field that stand for all: of a list each, of others the smallest and the largest."""
    match field:
        case {"list": listed}:
            return list(listed)
        case {"random": {"min": low, "max": high}} | {"range": {"min": low, "max": high}}:
            return [low, high]
        case {"step": {"start": start, "step": step, "count": count}}:
            return sorted([start, add(start, step * (count - 1))], key=as_number)
        case _:
            return [] if field is None else [field]


def _list(values: object, read: Any) -> list[Any]:
    if not isinstance(values, list) or not 1 <= len(values) <= 65536:
        raise Problem(
            "`list` needs 1 to 65536 values", "for example `{list: [12, 13]}`", ("list",), code="out-of-range"
        )
    return [_at(("list", index), read, value) for index, value in enumerate(values)]


def _parts(
    name: str, table: object, readers: Mapping[str, Any], usual: Mapping[str, tuple[Any, Any]]
) -> list[Any]:
    """The parts of a way to vary, in order. usual: those that may be left out, and what they are then."""
    example = ", ".join(readers)
    if not isinstance(table, Mapping) or not set(readers) <= set(table) <= {*readers, *usual}:
        more = f", may have {', '.join(usual)}," if usual else ","
        raise Problem(
            f"`{name}` needs {example}{more} and nothing else",
            f"write `{{{name}: {{{example.replace(', ', ': ..., ')}: ...}}}}`",
            (name,),
            code="wrong-type",
        )
    found = [_at((name, part), read, table[part]) for part, read in readers.items()]
    for part, (read, left_out) in usual.items():
        found.append(_at((name, part), read, table[part]) if part in table else left_out)
    return found


def _at(place: tuple[str | int, ...], read: Any, value: object) -> Any:
    try:
        return read(value)
    except Problem as problem:
        raise Problem(problem.message, problem.hint, place, code=problem.code) from None


def _vary(read: Any, bits: int, plain: dict[str, Any]) -> Any:
    value = {"type": "object", "minProperties": 1, "maxProperties": 2}
    return Annotated[Any, PlainValidator(_field(read, bits)), WithJsonSchema({"anyOf": [plain, value]})]


def int_type(bits: int, what: str) -> Any:
    schema = {"type": "integer", "minimum": 0, "maximum": 2**bits - 1}
    return Annotated[int, PlainValidator(_whole(0, 2**bits - 1, what)), WithJsonSchema(schema)]


def _number_field(bits: int, what: str) -> Any:
    return _vary(
        _whole(0, 2**bits - 1, what), bits, {"type": "integer", "minimum": 0, "maximum": 2**bits - 1}
    )


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Problem(f"`{as_written(value)}` is not a flag", "`true` or `false`", code="wrong-type")
    return value


def _ethertype(value: object) -> int:
    number: int = _whole(0, 0xFFFF, "Ethernet type")(value)
    if number < 0x0600:
        raise Problem(
            f"{number:#06x} is a length, not an Ethernet type", "0x0600 to 0xffff", code="out-of-range"
        )
    return number


def _offset(value: object) -> int:
    number: int = _whole(0, 65528, "fragment offset")(value)
    if number % 8:
        raise Problem(f"`{number}` is no fragment offset", "bytes, a multiple of 8", code="out-of-range")
    return number


def _hex(value: object) -> str:
    digits = re.sub("[ :.]", "", value) if isinstance(value, str) else "not"
    if not re.fullmatch("(?:[0-9a-fA-F]{2})*", digits):
        raise Problem(
            f"`{as_written(value)}` is not pairs of hexadecimal digits",
            'write bytes like `"0102 0a0b"`',
            code="wrong-format",
        )
    return digits.lower()


_TEXT = {"type": "string"}
MacAddress: TypeAlias = Annotated[str, PlainValidator(_mac), WithJsonSchema(_TEXT)]
MacField: TypeAlias = _vary(_mac, 48, _TEXT)  # type: ignore[valid-type]
Ipv4Field: TypeAlias = _vary(_ipv4, 32, _TEXT)  # type: ignore[valid-type]
Ipv6Field: TypeAlias = _vary(_ipv6, 128, _TEXT)  # type: ignore[valid-type]
Ipv6Address: TypeAlias = Annotated[str, PlainValidator(_ipv6), WithJsonSchema(_TEXT)]
PortField: TypeAlias = _number_field(16, "port")  # type: ignore[valid-type]
Number64Field: TypeAlias = _number_field(64, "number of 64 bits")  # type: ignore[valid-type]
VidField: TypeAlias = _vary(  # type: ignore[valid-type]
    _whole(0, 4094, "VLAN"), 12, {"type": "integer", "minimum": 0, "maximum": 4094}
)
VniField: TypeAlias = _number_field(24, "network identifier")  # type: ignore[valid-type]
LabelField: TypeAlias = _number_field(20, "label")  # type: ignore[valid-type]
TtlField: TypeAlias = _number_field(8, "time to live")  # type: ignore[valid-type]
DscpField: TypeAlias = _number_field(6, "DSCP")  # type: ignore[valid-type]
Id16Field: TypeAlias = _number_field(16, "identification")  # type: ignore[valid-type]
Id32Field: TypeAlias = _number_field(32, "identification")  # type: ignore[valid-type]
FlagField: TypeAlias = _vary(_flag, 1, {"type": "boolean"})  # type: ignore[valid-type]
Ttl: TypeAlias = int_type(8, "time to live")  # type: ignore[valid-type]
Three: TypeAlias = int_type(3, "priority")  # type: ignore[valid-type]
Protocol: TypeAlias = int_type(8, "protocol number")  # type: ignore[valid-type]
Ethertype: TypeAlias = Annotated[
    int, PlainValidator(_ethertype), WithJsonSchema({"type": "integer", "minimum": 0x0600, "maximum": 0xFFFF})
]
Offset: TypeAlias = Annotated[
    int,
    PlainValidator(_offset),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 65528, "multipleOf": 8}),
]
Hex: TypeAlias = Annotated[str, PlainValidator(_hex), WithJsonSchema(_TEXT)]

NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"
"""Names of nodes, profiles and axes. No `/` and no space: they are joined with ` / ` into a case's name."""


def _name(value: str) -> str:
    if not re.fullmatch(NAME, value):
        word, brace, _ = value.partition(" {")
        is_open = brace and re.fullmatch(NAME, word)
        hint = f"write `{word}:`" if is_open else "letters, digits, `.`, `_`, `+` and `-`, up to 64"
        raise Problem(f"`{value[:40]}` is not a name", hint, code="wrong-format")
    return value


Name: TypeAlias = Annotated[
    str, AfterValidator(_name), WithJsonSchema({"type": "string", "pattern": f"^{NAME}$"})
]
