"""Header stacks as a plan gives them: the short forms, and the whole list of crates/frame/src/spec.rs."""

from __future__ import annotations

import ipaddress
import itertools
import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from netdyno.errors import Problem, Problems, as_written, suggestion
from netdyno.values.rates import FCS

PROBE = 18
"""Bytes of the probe in the payload: what a 64-byte Ethernet/IPv4/UDP frame has left."""


class Element(BaseModel):
    """A part of a plan: strict types, no unknown fields, never changed afterwards."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True)


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


def _number(value: str | int) -> int:
    """A field's value as a number, for ranges."""
    if isinstance(value, int):
        return value
    return (
        int(value.replace(":", ""), 16)
        if re.fullmatch("(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", value)
        else int(ipaddress.ip_address(value))
    )


def _field(read: Any, bits: int) -> Any:
    """A validator of a field that is constant or differs from flow to flow."""

    def constant_or_vary(value: object) -> Any:
        if not isinstance(value, Mapping):
            return read(value)
        if len(value) != 1 or not isinstance(next(iter(value)), str):
            raise Problem(
                "a field that varies has one of `list`, `step` and `random`",
                "for example `{random: {min: 1, max: 9}}`",
                code="wrong-type",
            )
        name, how = next(iter(value.items()))
        if name == "list":
            return {"list": _list(how, read)}
        if name == "step":
            start, step, count = _parts(
                name, how, {"start": read, "step": _whole(0, 2**63 - 1, "step"), "count": _COUNT}
            )
            if _number(start) + step * (count - 1) >= 2**bits:
                raise Problem(
                    f"the last of {count} values does not fit in {bits} bits",
                    "fewer values or a smaller step",
                    ("step",),
                    code="out-of-range",
                )
            return {"step": {"start": start, "step": step, "count": count}}
        if name == "random":
            seeded = isinstance(how, Mapping) and "seed" in how
            readers = {"min": read, "max": read} | ({"seed": _whole(0, 2**63 - 1, "seed")} if seeded else {})
            low, high, *seed = _parts(name, how, readers)
            if _number(low) > _number(high):
                raise Problem(
                    f"`min` {low} is above `max` {high}", "swap them", ("random",), code="out-of-range"
                )
            return {"random": {"min": low, "max": high} | ({"seed": seed[0]} if seed else {})}
        raise Problem(
            f"unknown way to vary `{name[:40]}`",
            suggestion(name, ("list", "step", "random")),
            (name,),
            code="unknown-name",
        )

    return constant_or_vary


_COUNT = _whole(1, 2**32, "number of values")


def _list(values: object, read: Any) -> list[Any]:
    if not isinstance(values, list) or not 1 <= len(values) <= 65536:
        raise Problem(
            "`list` needs 1 to 65536 values", "for example `{list: [12, 13]}`", ("list",), code="out-of-range"
        )
    return [_at(("list", index), read, value) for index, value in enumerate(values)]


def _parts(name: str, table: object, readers: Mapping[str, Any]) -> list[Any]:
    example = ", ".join(readers)
    if not isinstance(table, Mapping) or set(table) != set(readers):
        raise Problem(
            f"`{name}` needs {example}, and nothing else",
            f"write `{{{name}: {{{example.replace(', ', ': ..., ')}: ...}}}}`",
            (name,),
            code="wrong-type",
        )
    return [_at((name, part), read, table[part]) for part, read in readers.items()]


def _at(place: tuple[str | int, ...], read: Any, value: object) -> Any:
    try:
        return read(value)
    except Problem as problem:
        raise Problem(problem.message, problem.hint, place, code=problem.code) from None


def _vary(read: Any, bits: int, plain: dict[str, Any]) -> Any:
    value = {"type": "object", "minProperties": 1, "maxProperties": 1}
    return Annotated[Any, PlainValidator(_field(read, bits)), WithJsonSchema({"anyOf": [plain, value]})]


def _int_type(bits: int, what: str) -> Any:
    schema = {"type": "integer", "minimum": 0, "maximum": 2**bits - 1}
    return Annotated[int, PlainValidator(_whole(0, 2**bits - 1, what)), WithJsonSchema(schema)]


def _number_field(bits: int, what: str) -> Any:
    return _vary(
        _whole(0, 2**bits - 1, what), bits, {"type": "integer", "minimum": 0, "maximum": 2**bits - 1}
    )


_TEXT = {"type": "string"}
MacAddress: TypeAlias = Annotated[str, PlainValidator(_mac), WithJsonSchema(_TEXT)]
MacField: TypeAlias = _vary(_mac, 48, _TEXT)  # type: ignore[valid-type]
Ipv4Field: TypeAlias = _vary(_ipv4, 32, _TEXT)  # type: ignore[valid-type]
Ipv6Field: TypeAlias = _vary(_ipv6, 128, _TEXT)  # type: ignore[valid-type]
PortField: TypeAlias = _number_field(16, "port")  # type: ignore[valid-type]
VidField: TypeAlias = _vary(  # type: ignore[valid-type]
    _whole(0, 4095, "VLAN"), 12, {"type": "integer", "minimum": 0, "maximum": 4095}
)
Vni: TypeAlias = _number_field(24, "network identifier")  # type: ignore[valid-type]
Label: TypeAlias = _number_field(20, "label")  # type: ignore[valid-type]
Ttl: TypeAlias = _int_type(8, "time to live")  # type: ignore[valid-type]
Dscp: TypeAlias = _int_type(6, "DSCP")  # type: ignore[valid-type]
Three: TypeAlias = _int_type(3, "priority")  # type: ignore[valid-type]


class Ethernet(Element):
    """Ethernet II. Without addresses the lab fills them in: the port's own, and peer or next hop."""

    type: Literal["ethernet"]
    src: MacField | None = None
    dst: MacField | None = None


class Vlan(Element):
    """A VLAN tag: 802.1Q, or 802.1ad with `tpid: 0x88a8`, or any other."""

    type: Literal["vlan"]
    vid: VidField
    tpid: _int_type(16, "TPID") = 0x8100  # type: ignore[valid-type]
    pcp: Three = 0
    dei: bool = False


class Mpls(Element):
    """One MPLS label."""

    type: Literal["mpls"]
    label: Label
    tc: Three = 0
    ttl: Ttl = 64


class Ipv4(Element):
    """IPv4 without options."""

    type: Literal["ipv4"]
    src: Ipv4Field
    dst: Ipv4Field
    dscp: Dscp = 0
    ttl: Ttl = 64


class Ipv6(Element):
    """IPv6 without extension headers."""

    type: Literal["ipv6"]
    src: Ipv6Field
    dst: Ipv6Field
    dscp: Dscp = 0
    flow_label: _int_type(20, "flow label") = 0  # type: ignore[valid-type]
    hop_limit: Ttl = 64


class Udp(Element):
    """UDP."""

    type: Literal["udp"]
    sport: PortField
    dport: PortField
    checksum: bool = True


class Tcp(Element):
    """A stateless TCP segment."""

    type: Literal["tcp"]
    sport: PortField
    dport: PortField
    flags: _int_type(8, "flags") = 0x10  # type: ignore[valid-type]


class Echo(Element):
    """ICMP or ICMPv6 echo request."""

    type: Literal["echo"]
    id: _int_type(16, "identifier") = 0  # type: ignore[valid-type]


class Vxlan(Element):
    """VXLAN; an inner Ethernet header follows."""

    type: Literal["vxlan"]
    vni: Vni


class Gre(Element):
    """GRE, version 0."""

    type: Literal["gre"]
    key: _int_type(32, "key") | None = None  # type: ignore[valid-type]


Header = Annotated[
    Ethernet | Vlan | Mpls | Ipv4 | Ipv6 | Udp | Tcp | Echo | Vxlan | Gre, Field(discriminator="type")
]

_LENGTHS = {
    "ethernet": 14,
    "vlan": 4,
    "mpls": 4,
    "ipv4": 20,
    "ipv6": 40,
    "udp": 8,
    "tcp": 20,
    "echo": 8,
    "vxlan": 8,
    "gre": 4,
}

_AFTER = {
    "ethernet": {"vlan", "mpls", "ipv4", "ipv6"},
    "vlan": {"vlan", "mpls", "ipv4", "ipv6"},
    "mpls": {"mpls", "ipv4", "ipv6"},
    "ipv4": {"udp", "tcp", "echo", "gre", "ipv4", "ipv6"},
    "ipv6": {"udp", "tcp", "echo", "gre", "ipv4", "ipv6"},
    "udp": {"vxlan"},
    "tcp": set[str](),
    "echo": set[str](),
    "vxlan": {"ethernet"},
    "gre": {"ipv4", "ipv6"},
}
"""Which header may follow which."""


def length(headers: Iterable[Any]) -> int:
    """Bytes of a header stack."""
    return sum(
        _LENGTHS[header.type] + (4 if header.type == "gre" and header.key is not None else 0)
        for header in headers
    )


def smallest_frame(headers: Iterable[Any], *, more: int = 0) -> int:
    """Bytes of the smallest frame that holds the headers, so many more, a probe and the FCS; at least 64."""
    return max(64, length(headers) + more + PROBE + FCS)


def check_order(headers: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuses stacks that no parser would read as meant. Raises Problems."""
    problems = []
    if headers and headers[0].type != "ethernet":
        problems.append(
            Problem(
                f"a frame begins with `ethernet`, not `{headers[0].type}`",
                "put `{type: ethernet}` first",
                (0,),
                code="wrong-order",
            )
        )
    for index, (above, below) in enumerate(itertools.pairwise(headers)):
        if below.type not in _AFTER[above.type]:
            follow = ", ".join(sorted(_AFTER[above.type])) or "only the payload"
            problems.append(
                Problem(
                    f"`{below.type}` cannot follow `{above.type}`",
                    f"after `{above.type}` comes {follow}",
                    (index + 1,),
                    code="wrong-order",
                )
            )
    if headers and headers[-1].type not in ("udp", "tcp", "echo"):
        problems.append(
            Problem(
                f"the stack ends with `{headers[-1].type}`",
                "end it with `udp`, `tcp` or `echo`",
                (len(headers) - 1,),
                code="wrong-order",
            )
        )
    if problems:
        raise Problems(problems)
    return headers


def distinct_flows(headers: Iterable[Any]) -> int:
    """How many different header stacks the fields can make.

    Lists and steps walk together with the flow's index, so they repeat after the least common multiple
    of their lengths; random fields are independent.
    """
    walk, drawn = 1, 1
    for header in headers:
        for name in type(header).model_fields:
            value = getattr(header, name)
            if not isinstance(value, Mapping):
                continue
            how, what = next(iter(value.items()))
            if how == "random":
                drawn *= _number(what["max"]) - _number(what["min"]) + 1
            else:
                walk = math.lcm(walk, len(what) if how == "list" else what["count"])
            if walk * drawn >= 2**32:
                return 2**32
    return walk * drawn
