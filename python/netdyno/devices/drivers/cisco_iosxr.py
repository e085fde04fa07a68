"""Cisco IOS XR: ASR 9000 and its kin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from netdyno.devices.drivers.reading import Quantity, Reading, Value
from netdyno.devices.drivers.shell import Configuring, Shell
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Channel

SHELL = Shell(
    netmiko="cisco_xr",
    refused=(
        r"^% (?:Invalid|Incomplete|Ambiguous|Unknown)[^\n]*",
        r"^% Failed to commit[^\n]*",
        r"^!!% [^\n]*",
        r"^% ?Error[^\n]*",
    ),
    running="show running-config",
    volatile=(
        r"^\w{3} \w{3} +\d{1,2} \d\d:\d\d:\d\d\.\d+ \w+$",
        r"^Building configuration",
        r"^!! (?:IOS XR Configuration|Last configuration change)",
    ),
    unpaged=("terminal length 0",),
    configuring=Configuring(
        commit="commit",
        confirmed="commit confirmed {seconds}",
        abort="abort",
    ),
    grammar="cisco_xr",
)


def _supply(row: Mapping[str, str]) -> Iterator[Value]:
    for name, unit, scale in (("power", "W", 1), ("voltage", "V", 1), ("current", "A", 1)):
        yield Value(Channel(row["supply"], name, unit, scale), Fraction(row[name]))


_COUNTED = (
    ("rx_packets", "packets", r"^\s*(?P<n>\d+) packets input, \d+ bytes"),
    ("rx_bytes", "bytes", r"^\s*\d+ packets input, (?P<n>\d+) bytes"),
    ("in_drops", "packets", r"bytes, (?P<n>\d+) total input drops"),
    ("in_errors", "packets", r"^\s*(?P<n>\d+) input errors,"),
    ("tx_packets", "packets", r"^\s*(?P<n>\d+) packets output, \d+ bytes"),
    ("tx_bytes", "bytes", r"^\s*\d+ packets output, (?P<n>\d+) bytes"),
    ("out_drops", "packets", r"bytes, (?P<n>\d+) total output drops"),
    ("out_errors", "packets", r"^\s*(?P<n>\d+) output errors,"),
)

DRIVER = System(
    name="cisco_iosxr",
    title="Cisco IOS XR (ASR 9000), by SSH",
    proof="transcript",
    shell=SHELL,
    version=("show version", r"Cisco IOS XR Software, Version (?P<n>\S+?)(?:\[\w+\])?$"),
    port=(
        "show interfaces {port}",
        r"^\S+ is (?P<n>[\w -]+?), line protocol is (?:administratively )?\w+",
    ),
    readings=(
        Reading(
            "counters and drops",
            "show interfaces {port}",
            1.0,
            tuple(
                Quantity(
                    name,
                    unit,
                    pattern,
                    is_counter=True,
                    counts_traffic=name in ("rx_packets", "tx_packets"),
                    bits=64,
                )
                for name, unit, pattern in _COUNTED
            ),
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
).driver()
