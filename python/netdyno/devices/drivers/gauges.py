"""Gauges that several systems have: memory, optics, neighbors of routing protocols, sizes of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.devices.drivers.reading import Quantity, Reading, Row, Value
from netdyno.devices.live import Channel

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
    is_up: Callable[[Row], bool]

    def __call__(self, rows: Sequence[Row]) -> Iterator[Value]:
        yield value("neighbors", "neighbors", len(rows), self.protocol)
        yield value("adjacencies", "neighbors", sum(map(self.is_up, rows)), self.protocol)


def neighbors(command: str, protocol: str, is_up: Callable[[Row], bool]) -> Reading:
    """How many neighbors a protocol lists, and how many of them are up."""
    count = _Neighbors(protocol, is_up)
    return Reading(f"{protocol} neighbors", command, 5.0, by_rows=count, subject=protocol)


def is_full(row: Row) -> bool:
    """Whether an OSPF neighbor has the whole database."""
    return row["state"].lower().startswith("full")


def is_established(row: Row) -> bool:
    """Whether a BGP neighbor sends prefixes: a number stands in place of its state."""
    return row["state_or_prefixes"].rstrip("!").isdigit()


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
