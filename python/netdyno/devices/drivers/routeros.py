"""MikroTik RouterOS: CCR1072 and its kin, by SSH."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import counters
from netdyno.devices.drivers.gauges import SLOW_S, value
from netdyno.devices.drivers.reading import Quantity, Reading, UnknownLineError, Value
from netdyno.devices.shell import Configuring, Shell
from netdyno.devices.watches.adjacency import Adjacency
from netdyno.devices.watches.by_cli import RoutingDaemon

_NUMBER = r"(?P<n>\d[\d ]*?)(?=\s+[a-z][a-z-]*=|\s*$)"
"""It groups digits by spaces."""

_ROW = r"^[ \t]*\d{1,3}[ \t]+(?:[A-Z]+[ \t]+)?"
"""The begin of a row of a table."""

STATISTICS = (
    ("rx_packets", "rx-packet"),
    ("rx_bytes", "rx-byte"),
    ("in_drops", "rx-drop"),
    ("in_errors", "rx-error"),
    ("tx_packets", "tx-packet"),
    ("tx_bytes", "tx-byte"),
    ("out_drops", "tx-drop"),
    ("out_queue_drops", "tx-queue-drop"),
    ("out_errors", "tx-error"),
)
"""Not those of its fast path, `fp-rx-packet`, which are a part of these."""

_BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_MEMORY = re.compile(r"^[ \t]*(free|total)-memory: (\d+(?:\.\d+)?)([KMG]?i?B)[ \t\r]*$", re.MULTILINE)


def _memory(text: str) -> Iterator[Value]:
    found = {name: Fraction(number) * _BYTES[unit] for name, number, unit in _MEMORY.findall(text)}
    yield value("memory used", "B", round(found["total"] - found["free"]), "memory")
    yield value("memory free", "B", round(found["free"]), "memory")


_NO_ROWS = r"\A\s*(?:Flags:[^\n]*\s*)*\Z"
_LEGEND = re.compile(r"\s*(?:(?:Flags|Columns):[^\n]*)?")
_ITEM = re.compile(r"[ \t]*\d{1,6}[ \t]+(?:([A-Za-z]{1,6})[ \t]+)?(?=;;;|[a-z][\w.-]*=)")
_FIELD = re.compile(r'(?<![^\s])([a-z][\w.-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]\S*|(?=\s|$)))')


def read_items(text: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Flags and fields of each item of a list, whose fields may go on in further lines.

    Raises UnknownLineError for a line before the first item that explains none.
    """
    items: list[tuple[str, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if begun := _ITEM.match(line):
            items.append((begun[1] or "", line[begun.end() :]))
        elif items:
            items[-1] = items[-1][0], f"{items[-1][1]} {line.strip()}"
        elif not _LEGEND.fullmatch(line):
            raise UnknownLineError(number, line)
    for flags, fields in items:
        yield flags, {name: quoted or plain for name, quoted, plain in _FIELD.findall(fields)}


def _daemon(name: str, command: str, read: Callable[[str, Mapping[str, str]], Adjacency]) -> RoutingDaemon:
    return RoutingDaemon(name, (command,), partial(_read_texts, command, read), _NO_ROWS)


def _read_texts(
    command: str, read: Callable[[str, Mapping[str, str]], Adjacency], texts: Sequence[str]
) -> tuple[Adjacency, ...]:
    # TextFSM comes with it: plans without such devices start faster.
    from netdyno.devices.outputs.refused import not_understood

    try:
        return tuple(read(flags, fields) for text in texts for flags, fields in read_items(text))
    except UnknownLineError as error:
        raise not_understood(command, error.number, error.line, _HINT) from None
    except LookupError as error:
        raise not_understood(command, None, f"no field {error}", _HINT) from None


_HINT = "enter the command by hand; another version of RouterOS may print it in another way"


def _ospf(flags: str, fields: Mapping[str, str]) -> Adjacency:
    return Adjacency("OSPF", fields["address"], fields["state"], fields["state"] == "Full")


def _session(flags: str, fields: Mapping[str, str]) -> Adjacency:
    """Of version 7. One that is lost stays for some time, without its flag."""
    is_up = "E" in flags
    return Adjacency("BGP", fields["remote.address"], "Established" if is_up else "lost", is_up)


def _peer(flags: str, fields: Mapping[str, str]) -> Adjacency:
    """Of version 6. A peer that is disabled has no state."""
    state = "disabled" if "X" in flags else fields["state"]
    return Adjacency("BGP", fields["remote-address"], state, state == "established")


def _active(menu: str, version: str) -> Reading:
    """The routes that a table forwards by."""
    return Reading(
        f"{version} routes",
        f"{menu} print count-only where active",
        SLOW_S,
        (Quantity("routes", "routes", r"^[ \t]*(?P<n>\d[\d ]*?)\s*$", version),),
        lines=r"\S",
    )


DRIVER = CliDriver(
    name="routeros",
    title="MikroTik RouterOS (CCR1072), by SSH",
    proof="written",
    shell=Shell(
        netmiko="mikrotik_routeros",
        refused=(
            r"^(?:bad command name|syntax error|expected |input does not match|no such item|failure: )[^\n]*",
            r"^(?:value of \S+ |invalid value |ambiguous value )[^\n]*",
        ),
        running="/export verbose",
        configuring=Configuring(enter="", leave=""),
        volatile=(r"^# [a-z]{3}/\d\d/\d{4} [^\n]*", r"^# \d{4}-\d\d-\d\d [^\n]*"),
        comment="#",
    ),
    version=("/system resource print", r"^[ \t]*version: (?P<n>\S+)"),
    mark=r"^[ \t]*(?:version|board-name|architecture-name): ",
    port=('/interface print terse where name="{port}"', r"^[ \t]*\d+[ \t]+(?P<n>[A-Z]*)"),
    readings=(
        counters(
            '/interface print stats-detail where name="{port}"',
            ((name, rf"(?<![\w-]){field}={_NUMBER}") for name, field in STATISTICS),
            # A number that is broken in two.
            lines=r"^(?P<broken>[ \t]{4,}\d)",
        ),
        Reading(
            "CPU",
            "/system resource print",
            5.0,
            (Quantity("CPU", "%", r"^[ \t]*cpu-load: (?P<n>\d+)%", "all cores"),),
            lines="cpu-load",
        ),
        Reading(
            "CPU per core",
            "/system resource cpu print",
            5.0,
            (Quantity("CPU", "%", r"^[ \t]*\d+\s+(?P<subject>cpu\d+)\s+(?P<n>\d+)%"),),
        ),
        Reading(
            "power and temperature",
            "/system health print",
            5.0,
            (
                Quantity("power", "W", r"^[ \t]*power-consumption: (?P<n>[\d.]+)W", "device", scale=1),
                Quantity("temperature", "C", r"^[ \t]*(?P<subject>[\w-]*temperature): (?P<n>\d+)C"),
                Quantity("fan", "rpm", r"^[ \t]*(?P<subject>fan\d-speed): (?P<n>\d+)RPM"),
                # RouterOS 7 has a table.
                Quantity("power", "W", rf"{_ROW}power-consumption +(?P<n>[\d.]+) +W\s*$", "device", scale=1),
                Quantity(
                    "temperature",
                    "C",
                    rf"{_ROW}(?P<subject>[\w-]{{0,40}}temperature\d?) +(?P<n>-?\d+) +C\s*$",
                ),
                Quantity("fan", "rpm", rf"{_ROW}(?P<subject>fan\d-speed) +(?P<n>\d+) +RPM\s*$"),
            ),
            lines=r"(?:temperature\d?|power-consumption|fan\d?-speed):? +-?\d",
        ),
        Reading("memory", "/system resource print", SLOW_S, by_text=_memory),
        _active("/ip route", "IPv4"),
        _active("/ipv6 route", "IPv6"),
        Reading(
            "optics",
            '/interface ethernet monitor "{port}" once',
            SLOW_S,
            (
                Quantity(
                    "optical power received", "dBm", r"^[ \t]*sfp-rx-power: (?P<n>-?[\d.]+)dBm", scale=3
                ),
                Quantity("optical power sent", "dBm", r"^[ \t]*sfp-tx-power: (?P<n>-?[\d.]+)dBm", scale=3),
                Quantity("optics temperature", "C", r"^[ \t]*sfp-temperature: (?P<n>-?\d+)C"),
            ),
            lines=r"-power: .*dBm|-temperature: +-?\d",
        ),
    ),
    daemons=(
        _daemon("OSPF", "/routing ospf neighbor print detail", _ospf),
        _daemon("BGP of version 7", "/routing bgp session print detail", _session),
        _daemon("BGP of version 6", "/routing bgp peer print status", _peer),
    ),
    api="routeros",
    static_routes=(
        "/ip route add dst-address={network} gateway={via}",
        "/ipv6 route add dst-address={network} gateway={via}",
    ),
)
