"""Cisco IOS XE: ISR 4000, ASR 1000. Its IOS controls; other processes and the QFP forward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.cisco_ios import CPU, DROPS, NAMES, QUEUES, ROUTES, SHELL
from netdyno.devices.drivers.counted import CISCO, CISCO_RATES, STATE, counters
from netdyno.devices.drivers.gauges import CONTROL_PLANE, DATA_PLANE, IOS_MEMORY, SLOW_S, cpu_load, value
from netdyno.devices.drivers.reading import ByRow, Quantity, Reading, Value
from netdyno.devices.live import Channel


def _core(row: Mapping[str, str]) -> Iterator[Value]:
    """What a core is busy with: its idle time is what is left of all. Memory of the processor it is of."""
    if row.get("cpu"):
        busy = 100 - Fraction(row["idle_percent"])
        yield Value(Channel(f"core {row['cpu']}", "CPU", "%", 2), busy)
    if row.get("memory_used_kb"):
        yield value("memory used", "kB", int(row["memory_used_kb"]), row["slot"])
        yield value("memory free", "kB", int(row["memory_free_kb"]), row["slot"])


_SENSOR = r"^ *(?P<subject>\w{1,4} +Temp\S{0,10}(?: \S{1,10}){0,3}) {2,20}(?:[A-Z][a-z]+|Fan Speed \d+%)"
"""Slot and name of a sensor of temperature, and its state."""

DRIVER = CliDriver(
    name="cisco_iosxe",
    title="Cisco IOS XE (ISR 4000, ASR 1000), by SSH",
    proof="transcript",
    shell=SHELL,
    version=("show version", r"IOS[ -]XE Software[^\n]{0,200}?, Version (?P<n>[^,\s]+)"),
    port=("show interfaces {port}", STATE),
    readings=(
        counters("show interfaces {port}", (*CISCO, *DROPS), beside=(*CISCO_RATES, *QUEUES)),
        Reading("CPU", "show processes cpu", 5.0, (cpu_load(CONTROL_PLANE, CPU, "IOSd"),)),
        Reading(
            "CPU per core",
            "show platform software status control-processor brief",
            5.0,
            by_rows=ByRow(_core),
        ),
        Reading(
            "data plane",
            "show platform hardware qfp active datapath utilization",
            5.0,
            (cpu_load(DATA_PLANE, r"^[ \t]*Processing: Load \(pct\)\s+(?P<n>\d+)", "QFP"),),
        ),
        IOS_MEMORY,
        ROUTES,
        Reading(
            "temperature and fans",
            "show environment",
            SLOW_S,
            (
                Quantity("temperature", "C", rf"{_SENSOR} {{1,40}}(?P<n>-?\d+) Celsius"),
                Quantity("fan", "%", r"^ *(?P<subject>\w{1,4} +Temp: FC PWM\d) +Fan Speed (?P<n>\d+)%"),
            ),
        ),
    ),
    long_names=NAMES,
    static_routes=("ip route {address} {mask} {via}", "ipv6 route {network} {via}"),
)
