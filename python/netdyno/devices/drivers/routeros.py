"""MikroTik RouterOS: CCR1072 and its kin, by SSH."""

from __future__ import annotations

from netdyno.devices.drivers.by_cli import cli_driver
from netdyno.devices.drivers.counted import counters
from netdyno.devices.drivers.reading import Quantity, Reading
from netdyno.devices.drivers.system import System
from netdyno.devices.shell import Configuring, Shell

_NUMBER = r"(?P<n>\d[\d ]*?)(?=\s+[a-z][a-z-]*=|\s*$)"
"""It groups digits by spaces."""

_STATISTICS = (
    ("rx_packets", "rx-packet"),
    ("rx_bytes", "rx-byte"),
    ("in_drops", "rx-drop"),
    ("in_errors", "rx-error"),
    ("tx_packets", "tx-packet"),
    ("tx_bytes", "tx-byte"),
    ("out_drops", "tx-drop"),
    ("tx_dropped", "tx-queue-drop"),
    ("out_errors", "tx-error"),
)
"""Not those of its fast path, `fp-rx-packet`, which are a part of these."""

SYSTEM = System(
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
    port=('/interface print terse where name="{port}"', r"^[ \t]*\d+[ \t]+(?P<n>[A-Z]*)"),
    readings=(
        counters(
            '/interface print stats-detail where name="{port}"',
            ((name, rf"(?<![\w-]){field}={_NUMBER}") for name, field in _STATISTICS),
        ),
        Reading(
            "CPU",
            "/system resource print",
            5.0,
            (Quantity("CPU", "%", r"^[ \t]*cpu-load: (?P<n>\d+)%", "all cores"),),
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
            ),
        ),
    ),
    api="routeros",
)

DRIVER = cli_driver(SYSTEM)
