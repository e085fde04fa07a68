"""Packet filters, RFC 2544 section 11.4: one rule lets the test frames through, alone or among 25.

Of 25 it is the last by the text of section 11.4, and the 13th by the list of section 11.4.1: both are here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from netdyno.devices import filters
from netdyno.devices.wiring import Trait
from netdyno.errors import Problem
from netdyno.modifiers.modifier import Asked, Modifier, Profile
from netdyno.values.finding import Result, Table, columns
from netdyno.values.outcome import Outcome
from netdyno.values.way import Way

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring

COLUMNS = columns("port | line | filter")
MOST_ROWS = 100
"""Lines of filters that a case shows: 64 ports of 1,000 rules each would be a table of each case's own."""


def _problem(asked: Asked) -> Problem | None:
    profile, ways, kind = asked.profile, asked.ways, asked.kind
    if filters.SETTING not in kind.settings:
        return Problem(
            f"`{kind.name}` has no packet filter",
            "a router: `emulated/router`, `linux/router`, `external`",
            code="unsupported",
        )
    if any(part.headers is not None for part in profile.parts):
        return Problem(
            "the packet filter permits one destination network, and `headers` may have several",
            "use a profile with `addresses` instead of `headers`",
            code="unsupported",
        )
    if len({way.tx for way in ways}) < len(ways):
        return Problem(
            "the packet filter permits one destination network, and a port sends to several",
            "`pattern: [pairs]`, or `direction: [uni]`",
            code="unsupported",
        )
    return None


def _settings(count: int, place: int, profile: Profile, ways: Sequence[Way], ports: int) -> Mapping[str, str]:
    if any(part.headers is not None for part in profile.parts) or len({way.tx for way in ways}) < len(ways):
        return {}  # Which `_problem` reports.
    try:
        permitted = {way.tx: _ends(profile, way, ports) for way in ways}
    except ValueError:
        return {}  # Networks too small for so many ports: reported with the traffic.
    return {filters.SETTING: filters.text(count, place, permitted)}


def _ends(profile: Profile, way: Way, ports: int) -> tuple[str, str]:
    """The narrowest networks that hold source and destination of all frames of a way."""
    ends = (way.rx, way.tx) if way.reverse else (way.tx, way.rx)
    stack = profile.between(*ends, ports=ports, reverse=way.reverse)
    header = next(header for header in stack if header.type in ("ipv4", "ipv6"))
    source, destination = profile.pool.source, profile.pool.destination
    if way.reverse:
        source, destination = destination, source
    return _network(header.src, source), _network(header.dst, destination)


def _network(field: object, prefix: str) -> str:
    """A host alone, or all that frames are drawn from."""
    if isinstance(field, str):
        host = ipaddress.ip_address(field)
        return f"{host}/{host.max_prefixlen}"
    if isinstance(field, Mapping) and "random" in field:
        # Of a part of the profile's network, where each port has one.
        low, high = (int(ipaddress.ip_address(field["random"][end])) for end in ("min", "max"))
        network = ipaddress.ip_network(prefix)
        bits = (low ^ high).bit_length()
        kind = type(network.network_address)
        return f"{kind(low >> bits << bits)}/{network.max_prefixlen - bits}"
    return prefix


def _with_table(result: Result, wiring: Wiring, _trials: Sequence[Outcome]) -> Result:
    rows = tuple(
        (port.name, Fraction(number), line)
        for port, lines in zip(wiring.ports, wiring.filters, strict=True)
        for number, line in enumerate(lines, 1)
    )
    whose = (
        "as RFC 2544 section 11.4 has it: whether the external device has them was not checked"
        if wiring.clock != "virtual" and Trait.CAN_BE_ASKED not in wiring.traits
        else "as they were configured, RFC 2544 section 11.4"
    )
    caption = f"Filters on what comes in from each tester port, {whose}."
    if len(rows) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(rows):,} lines; `netdyno filters` prints all."
    return replace(result, tables=(*result.tables, Table("Filters", COLUMNS, rows[:MOST_ROWS], caption)))


def _modifier(name: str, count: int, place: int, doc: str) -> Modifier:
    return Modifier(
        name=name,
        doc=doc,
        section="11.4",
        settings=lambda profile, ways, ports: _settings(count, place, profile, ways, ports),
        problem=_problem,
        conclude=_with_table,
    )


MODIFIER = (
    _modifier("filters-1", 1, 1, "a filter of one rule, which lets the test frames through"),
    _modifier("filters-25", 25, 25, "a filter of 25 rules, of which the last one does (11.4)"),
    _modifier("filters-25-13th", 25, 13, "the same, of which the 13th does (11.4.1)"),
    _modifier("filters-250", 250, 250, "a filter of 250 rules, of which the last one does: ten times 11.4"),
)
