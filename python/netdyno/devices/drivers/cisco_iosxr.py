"""Cisco IOS XR: ASR 9000 and its kin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from netdyno.devices.drivers.by_cli import cli_driver
from netdyno.devices.drivers.counted import CISCO, CISCO_RATES, REFUSED, STATE, counters
from netdyno.devices.drivers.reading import Quantity, Reading, Value
from netdyno.devices.drivers.system import System
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


SYSTEM = System(
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
            rates=CISCO_RATES,
        ),
        Reading(
            "CPU",
            "show processes cpu",
            5.0,
            (
                Quantity(
                    "control-plane CPU",
                    "%",
                    r"CPU utilization for one minute: (?P<n>\d+)%",
                    "route processor",
                    window_s=60,
                ),
            ),
        ),
        Reading("power", "admin show environment power-supply", 5.0, by_rows=_supply),
    ),
    long_names=(
        ("Te", "TenGigE"),
        ("Gi", "GigabitEthernet"),
        ("Hu", "HundredGigE"),
        ("Fo", "FortyGigE"),
        ("BE", "Bundle-Ether"),
    ),
)

DRIVER = cli_driver(SYSTEM)
