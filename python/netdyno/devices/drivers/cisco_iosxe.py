"""Cisco IOS XE: ISR 4000, ASR 1000. Its IOS controls; other processes and the QFP forward."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.cisco_ios import (
    CPU,
    CPU_LINES,
    DROPS,
    NAMES,
    NEIGHBORS,
    QUEUES,
    ROUTES,
    SHELL,
    XE_MARK,
)
from netdyno.devices.drivers.counted import CISCO, CISCO_RATES, COUNTED_LINES, STATE, counters
from netdyno.devices.drivers.gauges import (
    CONTROL_PLANE,
    DATA_PLANE,
    IOS_MEMORY,
    SLOW_S,
    cpu_load,
    value,
    watched,
)
from netdyno.devices.drivers.reading import Quantity, Reading, Row, UnknownLineError, Value
from netdyno.devices.live import Channel


def _cores(rows: Sequence[Row]) -> Iterator[Value]:
    """What each core is busy with: its idle time is what is left of all. Memory of each slot.

    Cores have their slot before them where several slots have some: a stack, or a card beside the processor.
    """
    has_several = len({row["slot"] for row in rows if row["cpu"]}) > 1
    for row in rows:
        if row["cpu"]:
            who = f"{row['slot']} core {row['cpu']}" if has_several else f"core {row['cpu']}"
            yield Value(Channel(who, "CPU", "%", 2), 100 - Fraction(row["idle_percent"]))
        if row["memory_used_kb"]:
            yield value("memory used", "kB", int(row["memory_used_kb"]), row["slot"])
            yield value("memory free", "kB", int(row["memory_free_kb"]), row["slot"])


_PROCESSOR = re.compile(r"[ \t]*CPP (\d{1,3}):(?: Subdev (\d{1,3}))? [^\n]*")
_LOAD = re.compile(r"[ \t]*Processing: Load \(pct\)[ \t]+(\d{1,3})(?:[ \t]+\d+){3}[ \t]*")


def read_data_plane(text: str) -> Iterator[Value]:
    """The load of the QFP, or of each of its processors where it has several: the mean of 5 s."""
    loads: dict[str, Fraction] = {}
    processor = ""
    for number, line in enumerate(text.split("\n"), 1):
        if found := _PROCESSOR.fullmatch(line):
            processor = ".".join(one for one in found.groups() if one)
        elif (found := _LOAD.fullmatch(line)) and processor not in loads:
            loads[processor] = Fraction(found[1])
        elif "Processing:" in line:
            raise UnknownLineError(number, line)
    for processor, load in loads.items():
        who = f"QFP {processor}" if len(loads) > 1 else "QFP"
        yield Value(Channel(who, DATA_PLANE, "%"), load, 5 * 10**9)


_OF_CORE = r"^(?P<subject>Core \d{1,3}): CPU utilization for five seconds: (?P<n>\d+)%;"
"""Of a Catalyst 3850 with IOS XE 3."""

_STATE = r"(?:[A-Z][A-Za-z]+(?: [A-Z]+)?|Fan Speed \d+%)"
_SENSOR = rf"^ *(?P<subject>[\w/]{{1,4}} +Temp\S{{0,10}}(?: {{1,4}}\S{{1,10}}){{0,3}}?) {{1,20}}{_STATE}"
"""Slot and name of a sensor of temperature, and its state."""
_IN_STACK = rf"^ *(?P<subject>[A-Z][A-Z0-9 ]{{0,30}}? {{1,20}}\d{{1,2}}) {{2,20}}{_STATE}"
"""The same of a Catalyst: its name and the member of the stack."""
_DEGREES = r" {1,40}(?P<n>-?\d+) {1,10}Celsius"

DRIVER = CliDriver(
    name="cisco_iosxe",
    title="Cisco IOS XE (ISR 4000, ASR 1000), by SSH",
    proof="transcript",
    shell=SHELL,
    version=(
        "show version",
        r"(?:IOS[ -]XE Software|IOS Software \[\w+\])[^\n]{0,200}?, (?:Experimental )?Version (?P<n>[^,\s]+)",
    ),
    mark=f"(?i){XE_MARK}",
    port=("show interfaces {port}", STATE),
    readings=(
        counters(
            "show interfaces {port}", (*CISCO, *DROPS), beside=(*CISCO_RATES, *QUEUES), lines=COUNTED_LINES
        ),
        Reading(
            "CPU",
            "show processes cpu",
            5.0,
            (cpu_load(CONTROL_PLANE, CPU, "IOSd"), cpu_load(CONTROL_PLANE, _OF_CORE, "processor")),
            lines=CPU_LINES,
        ),
        Reading(
            "CPU per core",
            "show platform software status control-processor brief",
            5.0,
            by_rows=_cores,
        ),
        Reading(
            "data plane",
            "show platform hardware qfp active datapath utilization",
            5.0,
            by_text=read_data_plane,
        ),
        IOS_MEMORY,
        *ROUTES,
        Reading(
            "temperature and fans",
            "show environment",
            SLOW_S,
            (
                Quantity("temperature", "C", rf"{_SENSOR}{_DEGREES}"),
                Quantity("temperature", "C", rf"{_IN_STACK}{_DEGREES}"),
                Quantity("fan", "%", r"^ *(?P<subject>\w{1,4} +Temp: FC PWM\d) +Fan Speed (?P<n>\d+)%"),
                Quantity(
                    "fan", "rpm", rf"^ *(?P<subject>\w{{1,4}} +RPM: \S{{1,20}}) +{_STATE} +(?P<n>\d+) +RPM\b"
                ),
            ),
            lines=r"^(?!.*(?:Threshold|TEMPERATURE is))[^\n]*?\d(?: +Celsius| +Degree| +C *$| +RPM)",
        ),
    ),
    daemons=tuple(watched("cisco_iosxe", *one) for one in NEIGHBORS),
    long_names=NAMES,
    static_routes=("ip route {address} {mask} {via}", "ipv6 route {network} {via}"),
)
