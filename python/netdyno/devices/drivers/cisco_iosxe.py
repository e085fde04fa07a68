"""Cisco IOS XE: ISR 4000, ASR 1000. Its IOS controls; other processes and the QFP forward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from netdyno.devices.drivers.by_cli import cli_driver
from netdyno.devices.drivers.cisco_ios import CPU, DROPS, NAMES, SHELL
from netdyno.devices.drivers.counted import CISCO, CISCO_RATES, STATE, counters
from netdyno.devices.drivers.reading import Quantity, Reading, Value
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Channel


def _core(row: Mapping[str, str]) -> Iterator[Value]:
    """What a core is busy with: its idle time is what is left of all."""
    if row.get("cpu"):
        busy = 100 - Fraction(row["idle_percent"])
        yield Value(Channel(f"core {row['cpu']}", "CPU", "%", 2), busy)


SYSTEM = System(
    name="cisco_iosxe",
    title="Cisco IOS XE (ISR 4000, ASR 1000), by SSH",
    proof="transcript",
    shell=SHELL,
    version=("show version", r"IOS[ -]XE Software[^\n]{0,200}?, Version (?P<n>[^,\s]+)"),
    port=("show interfaces {port}", STATE),
    readings=(
        counters("show interfaces {port}", (*CISCO, *DROPS), rates=CISCO_RATES),
        Reading(
            "CPU",
            "show processes cpu",
            5.0,
            (Quantity("control-plane CPU", "%", CPU, "IOSd", window_s=5),),
        ),
        Reading(
            "CPU per core",
            "show platform software status control-processor brief",
            5.0,
            by_rows=_core,
        ),
        Reading(
            "data plane",
            "show platform hardware qfp active datapath utilization",
            5.0,
            (
                Quantity(
                    "data-plane CPU",
                    "%",
                    r"^[ \t]*Processing: Load \(pct\)\s+(?P<n>\d+)",
                    "QFP",
                    window_s=5,
                ),
            ),
        ),
    ),
    long_names=NAMES,
)

DRIVER = cli_driver(SYSTEM)
