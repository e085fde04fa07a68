"""MikroTik RouterOS: CCR1072 and its kin, by SSH."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import counters
from netdyno.devices.drivers.gauges import SLOW_S, value
from netdyno.devices.drivers.reading import Quantity, Reading, Value
from netdyno.devices.shell import Configuring, Shell

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
    api="routeros",
    static_routes=(
        "/ip route add dst-address={network} gateway={via}",
        "/ipv6 route add dst-address={network} gateway={via}",
    ),
)
