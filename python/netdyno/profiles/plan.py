"""A plan of the streams of T-Rex's ports, as text with comments."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.plan.quick import QuickPort, flow, quoted
from netdyno.profiles.mapping import Mapped, map_stream
from netdyno.profiles.streams import CONTINUOUS, OwnRate, Stream
from netdyno.values.printable import printable

WIDTH = 108
WIRE = 20
"""Bytes of a frame on the line beside those with FCS: preamble and gap."""
UNITS = {"pps": "pps", "bps_L1": "bps", "bps_L2": "bps L2", "percentage": "%"}
BOTH, FIRST, SECOND = "bidir", "uni", "uni-reverse"
MOST_OF_ONE = 10
"""Per cent of the line: the rate of a burst of one frame, which has no effect."""
IDLE = "idle"
"""The class that has the method's load where frames of bursts alone are only counted."""


@dataclass(frozen=True)
class Multiplier:
    """T-Rex's `-m`. load: as a plan has it; None: so many times the profile's own rates."""

    factor: Fraction = Fraction(1)
    load: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What becomes of a profile. title: of the plan. source: what it was made of, for its first line.

    ports: T-Rex's ports that send, 0 and 1. links: the tester's. exact: as T-Rex's frames byte by byte.
    """

    title: str
    source: str
    links: tuple[QuickPort, QuickPort]
    multiplier: Multiplier = Multiplier()
    duration: str = "60s"
    ports: tuple[int, ...] = (0, 1)
    exact: bool = False
    comments: tuple[str, ...] = ()


@dataclass
class _Profile:
    name: str
    direction: str
    streams: list[Mapped]
    fields: dict[str, Any] = field(default_factory=dict)
    classes: dict[str, tuple[Mapped | None, dict[str, Any]]] = field(default_factory=dict)
    load: str = ""
    notes: list[str] = field(default_factory=list)


def plan_text(ports: Sequence[Sequence[Stream]], wanted: Wanted) -> str:
    """The plan of the streams of T-Rex's ports 0 and 1. Raises NetdynoError."""
    mapped = {
        port: [map_stream(stream, exact=wanted.exact) for stream in ports[port]] for port in wanted.ports
    }
    profiles, notes = _profiles(mapped)
    for one in profiles:
        _fill(one, wanted.multiplier)
    loads = {one.load for one in profiles}
    if len(loads) > 1:
        raise NetdynoError(
            f"the streams of T-Rex's ports make different loads: {', '.join(sorted(loads))}",
            "`-m 10kpps` or `-m 50%`: the same load of both",
            code="unsupported",
        )
    return "".join(f"{line}\n" for line in _lines(profiles, notes, wanted))


def _profiles(mapped: Mapping[int, list[Mapped]]) -> tuple[list[_Profile], list[str]]:
    """One profile both ways if what the second port sends is what comes back of the first; else one each."""
    back = {port: [one.swapped() for one in streams] for port, streams in mapped.items()}
    if set(mapped) == {0, 1}:
        if _come_back(mapped[0], mapped[1], back[0]):
            return [_Profile("trex", BOTH, mapped[0])], []
        why = "T-Rex's ports send frames of other sizes or at other rates at once: here one way at a time"
        return [_Profile("port-0", FIRST, mapped[0]), _Profile("port-1", SECOND, back[1])], [why]
    (port,) = mapped
    return [_Profile("trex", SECOND if port else FIRST, back[1] if port else mapped[0])], []


def _come_back(sent: Sequence[Mapped], other: Sequence[Mapped], back: Sequence[Mapped]) -> bool:
    """Says in the streams of one port what the other port sends, where addresses swapped are not all.

    False if that cannot be said: other streams, sizes, rates or flows. back: what comes back by itself.
    """
    if len(sent) != len(other):
        return False
    own = ("headers", "writes", "payload")
    rest = [[{k: v for k, v in one.same().items() if k not in own} for one in way] for way in (sent, other)]
    if rest[0] != rest[1]:
        return False
    for one, theirs, swapped in zip(sent, other, back, strict=True):
        if theirs.same() != swapped.same():
            found = {name: theirs.fields[name] for name in own if name in theirs.fields}
            if found.get("payload", "") == one.fields.get("payload", ""):
                found.pop("payload", None)
            else:
                found.setdefault("payload", "")
            one.fields["back"] = found
        one.notes += [note for note in theirs.notes if note not in one.notes]
    return True


def _fill(profile: _Profile, multiplier: Multiplier) -> None:
    """The fields of a profile, its classes, and the load of the method."""
    steady = [one for one in profile.streams if one.stream.mode == CONTINUOUS]
    fixed = [one for one in steady if one.stream.rule == "latency"]
    if len(fixed) < len(steady):
        steady = [one for one in steady if one not in fixed]
    else:
        steady, fixed = fixed, []
    bursts = [one for one in profile.streams if one.stream.mode != CONTINUOUS]
    # A soak takes bursts alone; methods that only count want a load.
    needs_load = not steady and not all(one.has_probe for one in bursts)
    if needs_load:
        profile.load = "1pps"
        profile.notes.append("bursts alone: `idle` has the load of the method, 1 frame a second")
    elif steady:
        profile.load = multiplier.load or _rate(_sum(steady), multiplier.factor)
    if bursts and multiplier.load is not None:
        raise NetdynoError(
            f"-m {multiplier.load}: bursts have rates of their own",
            "a factor of these: `-m 2`",
            code="unsupported",
        )
    names = _names(profile.streams)
    first = (steady or bursts)[0]
    if len(profile.streams) == 1 and steady:
        profile.fields = dict(first.fields)
        profile.notes += first.notes
        return
    profile.fields = {"size": first.fields["size"], "flows": first.fields["flows"]}
    for one in profile.streams:
        fields = dict(one.fields)
        if one in bursts:
            own = _rate(one.stream.rate, multiplier.factor)
            fields = {
                "rate": f"{MOST_OF_ONE}%" if one.is_single else own,
                **fields,
                **_chain(one.stream, profile.streams, names),
            }
        elif one in fixed or not fixed:
            fields = {"rate": _rate(one.stream.rate, Fraction(1)), **fields}
        elif len(steady) > 1:
            fields = {**_share(one, steady), **fields}
        profile.classes[names[id(one)]] = (one, fields)
    if needs_load:
        profile.classes = {IDLE: (None, {}), **profile.classes}


def _names(streams: Sequence[Mapped]) -> dict[int, str]:
    """Names of classes: those of the streams where a plan takes them."""
    found: dict[int, str] = {}
    for one in streams:
        own = one.stream.name
        name = own if re.fullmatch("[A-Za-z][A-Za-z0-9._+-]{0,40}", own) else f"s{own or one.stream.index}"
        if not re.fullmatch("[A-Za-z][A-Za-z0-9._+-]{0,40}", name) or name in (*found.values(), IDLE):
            name = f"stream-{one.stream.index}"
        found[id(one)] = name
    return found


def _chain(stream: Stream, streams: Sequence[Mapped], names: Mapping[int, str]) -> dict[str, Any]:
    found: dict[str, Any] = {} if stream.self_start else {"starts": False}
    if not stream.next:
        return found
    target = next((names[id(one)] for one in streams if one.stream.name == stream.next), None)
    if target is None:
        stream.refuse(f"the next stream, `{printable(stream.next[:80])}`, does not exist")
    return {**found, "then": target, **({"loops": stream.action_count} if stream.action_count else {})}


def _sum(streams: Sequence[Mapped]) -> OwnRate:
    """The sum of the rates of streams, in their unit or in L1 bits. Raises NetdynoError."""
    unit = streams[0].stream.rate.unit
    if all(one.stream.rate.unit == unit for one in streams):
        return OwnRate(unit, sum((one.stream.rate.value for one in streams), Fraction(0)))
    return OwnRate("bps_L1", sum((_l1(one) for one in streams), Fraction(0)))


def _l1(one: Mapped) -> Fraction:
    rate = one.stream.rate
    if rate.unit == "percentage":
        one.stream.refuse("a rate in per cent beside others", "all rates in per cent, or none")
    bits = {"pps": 8 * (one.mean + WIRE), "bps_L1": Fraction(1), "bps_L2": (one.mean + WIRE) / one.mean}
    return rate.value * bits[rate.unit]


def _share(one: Mapped, steady: Sequence[Mapped]) -> dict[str, Any]:
    if one is steady[-1]:
        return {}
    is_percent = all(each.stream.rate.unit == "percentage" for each in steady)
    parts = {id(each): each.stream.rate.value if is_percent else _l1(each) for each in steady}
    return {"share": f"{_decimal(100 * parts[id(one)] / sum(parts.values()), 6)}%"}


def _rate(rate: OwnRate, factor: Fraction) -> str:
    return f"{_decimal(rate.value * factor, 9)}{UNITS[rate.unit]}"


def _decimal(value: Fraction, places: int) -> str:
    text = f"{Decimal(round(value * 10**places)).scaleb(-places):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# Text.


def _lines(profiles: Sequence[_Profile], notes: Sequence[str], wanted: Wanted) -> Iterator[str]:
    yield from _comment(wanted.source, "")
    for text in (*wanted.comments, *notes):
        yield from _comment(text, "")
    yield f"title: {quoted(printable(wanted.title))}"
    yield from ("lab:", "  nodes:", "    tester: {kind: netdyno}", "    dut: {kind: external}", "  links:")
    for port, end in zip(wanted.links, ("a", "b"), strict=True):
        rate = str(port.rate).removesuffix(" L1")
        link = {"endpoints": [f"tester:{port.name}", f"dut:{end}"], "rate": rate, **port.options}
        yield f"    - {flow(link)}"
    yield "traffic:"
    for one in profiles:
        yield f"  {one.name}:"
        for text in one.notes:
            yield from _comment(text, "    ")
        yield from _entries(one.fields, "    ")
        if one.classes:
            yield "    classes:"
        for name, (mapped, fields) in one.classes.items():
            for text in () if mapped is None else mapped.notes:
                yield from _comment(text, "      ")
            if not fields:
                yield f"      {name}: {{}}"
                continue
            yield f"      {name}:"
            yield from _entries(fields, "        ")
    directions = [one.direction for one in profiles]
    yield f"matrix: {flow({'profile': [one.name for one in profiles], 'direction': directions})}"
    if len(profiles) > 1:
        yield "only:"
        for one in profiles:
            yield f"  - {flow({'profile': one.name, 'direction': one.direction})}"
    yield from _method(profiles, wanted)


def _method(profiles: Sequence[_Profile], wanted: Wanted) -> Iterator[str]:
    load, length = profiles[0].load, wanted.duration
    if all(one.has_probe for profile in profiles for one in profile.streams):
        held = {"load": load} if load else {}
        yield f"method: {flow({'soak': {**held, 'duration': length, 'part': '0s', 'interval': '1s'}})}"
        yield "trial: {settle: 100ms, drain: 1s, sample: 100ms}"
        return
    yield from _comment(
        "frames without a probe are only counted: loss at this load, and lower while some is lost", ""
    )
    yield f"method: {flow({'frame-loss': {'maximum': load, 'duration': length}})}"
    yield "trial: {settle: 100ms, drain: 1s}"


def _comment(text: str, indent: str) -> Iterator[str]:
    for line in textwrap.wrap(printable(text), WIDTH - len(indent)):
        yield f"{indent}# {line}"


def _entries(fields: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in fields.items():
        if name in ("headers", "writes"):
            yield f"{indent}{name}:"
            for one in value:
                yield f"{indent}  - {flow(one)}"
        elif name == "back":
            yield f"{indent}back:"
            yield from _entries(value, indent + "  ")
        else:
            yield f"{indent}{name}: {flow(value)}"
