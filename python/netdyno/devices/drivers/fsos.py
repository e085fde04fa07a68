"""FS FSOS: S5860 switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import CISCO, CISCO_RATES, COUNTED_LINES, REFUSED, STATE, counters
from netdyno.devices.drivers.gauges import SLOW_S, neighbors, of_ospf, of_ospf3, value, watched
from netdyno.devices.drivers.reading import ByRow, Reading, Row, Value
from netdyno.devices.live import Channel
from netdyno.devices.shell import Configuring, Shell


def _core(row: Mapping[str, str]) -> Iterator[Value]:
    window_ns = 5 * 10**9
    number = Fraction(row["cpu_5_seconds_percent"])
    yield Value(Channel(f"core {row['core']}", "CPU", "%", 2), number, window_ns)


def _optics(row: Row) -> Iterator[Value]:
    for name, unit, field in (
        ("optical power received", "dBm", "rx_power_dbm"),
        ("optical power sent", "dBm", "tx_power_dbm"),
        ("optics temperature", "C", "temperature_c"),
    ):
        yield value(name, unit, Fraction(row[field]), scale=2)


def _addresses(rows: Sequence[Row]) -> Iterator[Value]:
    yield value("MAC addresses", "addresses", sum(int(row["count"]) for row in rows))


def _routes(rows: Sequence[Row]) -> Iterator[Value]:
    """Prefixes: each next hop of one has a row."""
    yield value("routes", "routes", len({row["prefix"] for row in rows}), "IPv4")


_NEIGHBORS = (("show ip ospf neighbor", "OSPF", of_ospf), ("show ipv6 ospf neighbor", "OSPFv3", of_ospf3))

DRIVER = CliDriver(
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
        user_mode=">",
    ),
    version=("show version", r"(?:System software version|Software version) *: *(?P<n>[^\n]+)"),
    mark=r"(?i)FSOS|RGOS|^(?:System software|Software) version *:",
    port=("show interfaces {port}", STATE),
    readings=(
        counters(
            "show interfaces {port}",
            (
                *CISCO,
                ("in_drops", r"packets input, [^\n]*?(?P<n>\d+) dropped"),
                ("out_drops", r"packets output, [^\n]*?(?P<n>\d+) dropped"),
            ),
            beside=CISCO_RATES,
            lines=COUNTED_LINES,
        ),
        Reading("CPU per core", "show cpu core", 5.0, by_rows=ByRow(_core)),
        Reading("optics", "show interfaces {port} transceiver", SLOW_S, by_rows=ByRow(_optics)),
        Reading("MAC table", "show mac-address-table count", SLOW_S, by_rows=_addresses),
        Reading("IPv4 routes", "show ip route", SLOW_S, by_rows=_routes),
        *(neighbors(*one) for one in _NEIGHBORS),
    ),
    daemons=tuple(watched("fsos", *one) for one in _NEIGHBORS),
    long_names=(
        ("Te", "TenGigabitEthernet "),
        ("Tf", "TFGigabitEthernet "),
        ("Fo", "FortyGigabitEthernet "),
        ("Hu", "HundredGigabitEthernet "),
        ("Ag", "AggregatePort "),
    ),
    static_routes=("ip route {address} {mask} {via}", "ipv6 route {network} {via}"),
)
