"""FS FSOS: S5860 switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from netdyno.devices.drivers.by_cli import cli_driver
from netdyno.devices.drivers.counted import CISCO, CISCO_RATES, REFUSED, STATE, counters
from netdyno.devices.drivers.reading import Reading, Value
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Channel
from netdyno.devices.shell import Configuring, Shell


def _core(row: Mapping[str, str]) -> Iterator[Value]:
    window_ns = 5 * 10**9
    number = Fraction(row["cpu_5_seconds_percent"])
    yield Value(Channel(f"core {row['core']}", "CPU", "%", 2), number, window_ns)


SYSTEM = System(
    name="fsos",
    title="FS FSOS (S5860), by SSH",
    proof="transcript",
    shell=Shell(
        netmiko="fiberstore_fsosv2",
        refused=REFUSED,
        running="show running-config",
        volatile=(r"^Building configuration", r"^Current configuration *: *\d+ bytes"),
        configuring=Configuring(),
        grammar="fs_os",
    ),
    version=("show version", r"(?:System software version|Software version) *: *(?P<n>[^\n]+)"),
    port=("show interfaces {port}", STATE),
    readings=(
        counters(
            "show interfaces {port}",
            (
                *CISCO,
                ("in_drops", r"packets input, [^\n]*?(?P<n>\d+) dropped"),
                ("out_drops", r"packets output, [^\n]*?(?P<n>\d+) dropped"),
            ),
            rates=CISCO_RATES,
        ),
        Reading("CPU per core", "show cpu core", 5.0, by_rows=_core),
    ),
    long_names=(
        ("Te", "TenGigabitEthernet "),
        ("Tf", "TFGigabitEthernet "),
        ("Fo", "FortyGigabitEthernet "),
        ("Hu", "HundredGigabitEthernet "),
        ("Ag", "AggregatePort "),
    ),
)

DRIVER = cli_driver(SYSTEM)
