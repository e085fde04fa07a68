"""Gauges that several systems have: memory, optics, neighbors of routing protocols, sizes of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from netdyno.devices.drivers.reading import Quantity, Reading, Row, Value
from netdyno.devices.live import Channel
from netdyno.devices.watches.adjacency import Adjacency
from netdyno.devices.watches.by_cli import RoutingDaemon

SLOW_S = 10.0
"""Time between two readings of what changes slowly, s. Each is read before and after every trial as well."""

_POOL = r"^[ \t]*(?P<subject>[A-Za-z][\w/()-]{0,30}(?: [\w/()-]{1,20}){0,2})[ \t]+[0-9A-Fa-f]{6,16}[ \t]+\d+"
"""Name, address and size of a pool: behind them stand used, free, lowest and largest."""
IOS_MEMORY = Reading(
    "memory",
    "show memory statistics",
    SLOW_S,
    (
        Quantity("memory used", "B", rf"{_POOL}[ \t]+(?P<n>\d+)(?:[ \t]+\d+){{3}}[ \t]*$"),
        Quantity("memory free", "B", rf"{_POOL}[ \t]+\d+[ \t]+(?P<n>\d+)(?:[ \t]+\d+){{2}}[ \t]*$"),
    ),
    lines=r"[0-9A-Fa-f]{6,16}(?:[ \t]+\d+){3}",
)
"""Of each pool of IOS and IOS XE."""


def cpu_load(name: str, pattern: str, subject: str, window_s: int = 5) -> Quantity:
    """The load of a processor, per cent, which the device averaged over so many seconds."""
    return Quantity(name, "%", pattern, subject, window_s=window_s)


CONTROL_PLANE, DATA_PLANE = "control-plane CPU", "data-plane CPU"


def value(name: str, unit: str, number: Fraction | int, subject: str = "", scale: int = 0) -> Value:
    """A gauge's value. subject: empty, that of the reading."""
    return Value(Channel(subject[:100], name, unit, scale), Fraction(number))


@dataclass(frozen=True)
class _Neighbors:
    """Counts the neighbors that a protocol lists, and those that are up. A job is sent to another process."""

    protocol: str
    read: Callable[[Row], Adjacency]

    def __call__(self, rows: Sequence[Row]) -> Iterator[Value]:
        yield value("neighbors", "neighbors", len(rows), self.protocol)
        yield value("adjacencies", "neighbors", sum(self.read(row).is_up for row in rows), self.protocol)


def neighbors(command: str, protocol: str, read: Callable[[Row], Adjacency]) -> Reading:
    """How many neighbors a protocol lists, and how many of them are up."""
    count = _Neighbors(protocol, read)
    return Reading(f"{protocol} neighbors", command, 5.0, by_rows=count, subject=protocol)


_ABSENT = (
    # A router without OSPF prints nothing at all, as does an IOS without a neighbor.
    r"\A(?:\s|Load for five secs: [^\n]*|Time source is [^\n]*|\w{3} \w{3} {1,2}\d{1,2} [\d:.]{8,12} \w+)*\Z"
    r"|^% (?:BGP (?:instance \S{1,60} )?not active|None of the requested address families)"
)


def watched(system: str, command: str, protocol: str, read: Callable[[Row], Adjacency]) -> RoutingDaemon:
    """How the same neighbors are watched. system: of `netdyno.devices.outputs`."""
    return RoutingDaemon(protocol, (command,), partial(_read_texts, system, command, read), _ABSENT)


def _read_texts(
    system: str, command: str, read: Callable[[Row], Adjacency], texts: Sequence[str]
) -> tuple[Adjacency, ...]:
    # TextFSM comes with it: plans without such devices start faster.
    from netdyno.devices import outputs

    return tuple(read(row) for text in texts for row in outputs.parse(system, command, text).rows)


def of_ospf(row: Row) -> Adjacency:
    """A neighbor of OSPF. It is up once it has the whole database: `FULL/DR`."""
    state = row["state"].partition("/")[0]
    vrf = f" in VRF {row['vrf']}" if row.get("vrf") else ""
    return Adjacency("OSPF", row["address"] + vrf, state, state.lower() == "full")


def of_ospf3(row: Row) -> Adjacency:
    """The same of OSPFv3, whose tables have no addresses."""
    state = row["state"].partition("/")[0]
    return Adjacency("OSPFv3", f"{row['neighbor_id']} on {row['interface']}", state, state.lower() == "full")


def of_bgp(row: Row) -> Adjacency:
    """A neighbor of BGP. It is up if a number of prefixes stands in place of its state."""
    state = row["state_or_prefixes"].rstrip("!")
    is_up = state.isdigit()
    return Adjacency("BGP", row["neighbor"], "Established" if is_up else state, is_up)


@dataclass(frozen=True)
class _Routes:
    """Counts the routes of a summary's sources. counted: their columns."""

    subject: str
    counted: tuple[str, ...]

    def __call__(self, rows: Sequence[Row]) -> Iterator[Value]:
        # `internal` counts networks that have subnets: no routes.
        of_source = (row[name] for row in rows if row["source"] != "internal" for name in self.counted)
        yield value("routes", "routes", sum(int(number or 0) for number in of_source), self.subject)


def routes(command: str, subject: str, *counted: str) -> Reading:
    """The routes of a table whose summary has a row for each source, in these columns."""
    return Reading(f"{subject} routes", command, SLOW_S, by_rows=_Routes(subject, counted), subject=subject)
