"""Cisco IOS XR: ASR 9000 and its kin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import CISCO, CISCO_RATES, REFUSED, STATE, counters
from netdyno.devices.drivers.gauges import (
    CONTROL_PLANE,
    SLOW_S,
    cpu_load,
    is_established,
    is_full,
    neighbors,
    routes,
    value,
)
from netdyno.devices.drivers.reading import ByRow, Quantity, Reading, Value
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
    for line in text.splitlines():
        found = re.fullmatch(r"(\d+/\w+) +\S+((?: +\d+)+) *", line) or re.fullmatch(r"( +)((?:\d+ *)+)", line)
        if found is None:
            place = "" if line.strip() else place
            continue
        if found[1].strip():
            place, number = found[1], 0
        for speed in found[2].split() if place else ():
            yield value("fan", "rpm", int(speed), f"{place} fan {number}")
            number += 1


_DBM = r"\(<?(?P<n>-?\d+\.\d+) dBm\)"

DRIVER = CliDriver(
    name="cisco_iosxr",
    title="Cisco IOS XR (ASR 9000), by SSH",
    proof="transcript",
    shell=SHELL,
    version=("show version", r"Cisco IOS XR Software, Version (?P<n>\S+?)(?:\[\w+\])?$"),
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
        ),
        routes("show route summary", "IPv4", "routes"),
        neighbors("show ospf neighbor", "OSPF", is_full),
        neighbors("show ospfv3 neighbor", "OSPFv3", is_full),
        neighbors("show bgp ipv4 unicast summary", "BGP IPv4", is_established),
        neighbors("show bgp ipv6 unicast summary", "BGP IPv6", is_established),
        Reading(
            "temperature",
            "admin show environment temperatures",
            SLOW_S,
            (
                Quantity(
                    "temperature",
                    "C",
                    r"^[ !]{2,20}(?P<subject>[A-Z]\S{0,30}(?: \S{1,20}){0,3}) {2,40}"
                    r"(?P<n>-?\d+)(?: +-?\d+){6} *$",
                ),
            ),
        ),
        Reading("fans", "admin show environment fan", SLOW_S, by_text=_fans),
        Reading(
            "optics",
            "show controllers {port} phy",
            SLOW_S,
            (
                Quantity("optical power received", "dBm", rf"^[ \t]*Rx Power: +\d+\.\d+ mW {_DBM}", scale=2),
                Quantity("optical power sent", "dBm", rf"^[ \t]*Tx Power: +\d+\.\d+ mW {_DBM}", scale=2),
                Quantity(
                    "optics temperature", "C", r"^[ \t]*Temperature: \+?(?P<n>-?\d+\.\d+)(?: C)? *$", scale=1
                ),
            ),
        ),
    ),
    long_names=(
        ("Te", "TenGigE"),
        ("Gi", "GigabitEthernet"),
        ("Hu", "HundredGigE"),
        ("Fo", "FortyGigE"),
        ("BE", "Bundle-Ether"),
    ),
    static_routes=(
        "router static address-family ipv4 unicast {network} {via}",
        "router static address-family ipv6 unicast {network} {via}",
    ),
)
