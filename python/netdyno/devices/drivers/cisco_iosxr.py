"""Cisco IOS XR: ASR 9000 and its kin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import CISCO, CISCO_RATES, COUNTED_LINES, REFUSED, STATE, counters
from netdyno.devices.drivers.gauges import (
    CONTROL_PLANE,
    SLOW_S,
    cpu_load,
    neighbors,
    of_bgp,
    of_ospf,
    of_ospf3,
    routes,
    value,
    watched,
)
from netdyno.devices.drivers.reading import ByRow, Quantity, Reading, UnknownLineError, Value
from netdyno.devices.live import Channel
from netdyno.devices.shell import Configuring, Shell

SHELL = Shell(
    netmiko="cisco_xr",
    refused=(*REFUSED, r"^% Failed to commit[^\n]*", r"^!!% [^\n]*"),
    running="show running-config",
    volatile=(
        r"^\w{3} \w{3} +\d{1,2} \d\d:\d\d:\d\d\.\d+ \w+$",
        r"^Building configuration",
        r"^!! (?:IOS XR Configuration|Last configuration change)",
    ),
    configuring=Configuring(commit="commit", confirmed="commit confirmed {seconds}", abort="abort"),
    grammar="cisco_xr",
)


def _supply(row: Mapping[str, str]) -> Iterator[Value]:
    for name, unit in (("power", "W"), ("voltage", "V"), ("current", "A")):
        yield Value(Channel(row["location"], name, unit, 1), Fraction(row[f"{name}_{unit.lower()}"]))


def _fans(text: str) -> Iterator[Value]:
    """Each fan of `show environment fan`: a tray's speeds are on the line of its place and on those below."""
    place, number = "", 0
    for at, line in enumerate(text.split("\n"), 1):
        found = (
            re.fullmatch(r"(\d+/\w+) +\S+((?: +\d+)+) *", line)
            or re.fullmatch(r"(\d+/\w+(?:/\*)?)()[ \t]*", line)
            or re.fullmatch(r"([ \t]+)((?:\d+[ \t]*)+)", line)
        )
        if found is None:
            if re.match(r"\d+/\w", line):
                raise UnknownLineError(at, line)
            place = "" if line.strip() else place
            continue
        if found[1].strip():
            place, number = found[1], 0
        for speed in found[2].split() if place else ():
            yield value("fan", "rpm", int(speed), f"{place} fan {number}")
            number += 1


_RULE = re.compile(
    r"(?:=+|-+|R/S/I .*|Location +TEMPERATURE .*|[ \t]+Sensor +\(deg C\).*|\w{3} \w{3} +\d.*)[ \t]*"
)
_SENSOR = re.compile(
    r"[ \t!]{2,20}(?:host[ \t]+)?([A-Z]\S{0,30}(?: \S{1,20}){0,3})[ \t]{2,40}(-?\d{1,4}(?:\.\d)?)"
    r"(?:[ \t]+(?:-?\d+|NA)){0,6}[ \t]*"
)


def read_temperatures(text: str) -> Iterator[Value]:
    """Each sensor of `show environment temperatures`, with its place where there are several."""
    found: list[tuple[str, str, Fraction]] = []
    place = ""
    for number, line in enumerate(text.split("\n"), 1):
        if sensor := _SENSOR.fullmatch(line):
            found.append((place, sensor[1], Fraction(sensor[2])))
        elif begun := re.fullmatch(r"[ \t]*(\d+/\w+)(?:/\*)?[ \t]*", line):
            place = begun[1]
        elif line.strip() and not _RULE.fullmatch(line):
            raise UnknownLineError(number, line)
    has_several = len({place for place, _, _ in found}) > 1
    for place, name, degrees in found:
        yield value("temperature", "C", degrees, f"{place} {name}" if has_several else name, 1)


_POWER = r"\d+\.\d+ mW \(<?{} dBm\)"
_ANY_POWER = _POWER.format(r"-?\d+\.\d+")
_DBM = _POWER.format(r"(?P<n>-?\d+\.\d+)")
_OF_LANE = r"^[ \t]*(?P<lane>\d{1,2})[ \t]+(?:N/A|-?\d+\.\d+(?: C)?)[ \t]+\d+\.\d+ mAmps[ \t]+"
"""A row of a module with several lanes, up to the power sent; the power received is behind it."""

_NEIGHBORS = (
    ("show ospf neighbor", "OSPF", of_ospf),
    ("show ospfv3 neighbor", "OSPFv3", of_ospf3),
    ("show bgp ipv4 unicast summary", "BGP IPv4", of_bgp),
    ("show bgp ipv6 unicast summary", "BGP IPv6", of_bgp),
)

DRIVER = CliDriver(
    name="cisco_iosxr",
    title="Cisco IOS XR (ASR 9000), by SSH",
    proof="transcript",
    shell=SHELL,
    version=("show version", r"Cisco IOS XR Software, Version (?P<n>\S+?)(?:\[\w+\])?(?: LNT)?[ \t]*$"),
    mark=r"(?i)\bIOS[ -]?XR\b",
    port=("show interfaces {port}", STATE),
    readings=(
        counters(
            "show interfaces {port}",
            (
                *CISCO,
                ("in_drops", r"bytes, (?P<n>\d+) total input drops"),
                ("out_drops", r"bytes, (?P<n>\d+) total output drops"),
            ),
            beside=CISCO_RATES,
            lines=COUNTED_LINES,
        ),
        Reading(
            "CPU",
            "show processes cpu",
            5.0,
            (
                cpu_load(
                    CONTROL_PLANE,
                    r"CPU utilization for one minute: (?P<n>\d+)%",
                    "route processor",
                    window_s=60,
                ),
            ),
            lines="CPU utilization",
        ),
        Reading("power", "admin show environment power-supply", 5.0, by_rows=ByRow(_supply)),
        Reading(
            "memory",
            "show memory summary",
            SLOW_S,
            (
                Quantity(
                    "memory free",
                    "B",
                    r"^\s*Physical Memory: \d+M total \((?P<n>\d+)M available\)",
                    "route processor",
                    factor=2**20,
                ),
            ),
            lines="Physical Memory",
        ),
        routes("show route summary", "IPv4", "routes"),
        routes("show route ipv6 summary", "IPv6", "routes"),
        *(neighbors(*one) for one in _NEIGHBORS),
        Reading("temperature", "admin show environment temperatures", SLOW_S, by_text=read_temperatures),
        Reading("fans", "admin show environment fan", SLOW_S, by_text=_fans),
        Reading(
            "optics",
            "show controllers {port} phy",
            SLOW_S,
            (
                Quantity("optical power received", "dBm", rf"^[ \t]*Rx Power: +{_DBM}", scale=2),
                Quantity(
                    "optical power received",
                    "dBm",
                    rf"{_OF_LANE}{_ANY_POWER}[ \t]+{_DBM}",
                    scale=2,
                ),
                Quantity("optical power sent", "dBm", rf"^[ \t]*Tx Power: +{_DBM}", scale=2),
                Quantity("optical power sent", "dBm", rf"{_OF_LANE}{_DBM}[ \t]+{_ANY_POWER}", scale=2),
                Quantity(
                    "optics temperature", "C", r"^[ \t]*Temperature: \+?(?P<n>-?\d+\.\d+)(?: C)? *$", scale=1
                ),
            ),
            lines=r"^(?![ \t]*(?:Transmit|Receive) Power:)[^\n]*dBm",
        ),
    ),
    long_names=(
        ("Te", "TenGigE"),
        ("Gi", "GigabitEthernet"),
        ("Hu", "HundredGigE"),
        ("Fo", "FortyGigE"),
        ("BE", "Bundle-Ether"),
    ),
    daemons=tuple(watched("cisco_iosxr", *one) for one in _NEIGHBORS),
    static_routes=(
        "router static address-family ipv4 unicast {network} {via}",
        "router static address-family ipv6 unicast {network} {via}",
    ),
)
