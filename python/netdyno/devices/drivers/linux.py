"""A Linux router or bridge that somebody else runs, by SSH; FRR and BIRD on it are its routing."""

from __future__ import annotations

from netdyno.devices.configure.ipprinted import RUNNING
from netdyno.devices.drivers.by_cli import cli_driver
from netdyno.devices.drivers.counted import ECHO, NO_COMMAND, counters
from netdyno.devices.drivers.reading import Quantity, Reading
from netdyno.devices.drivers.system import System
from netdyno.devices.shell import Configuring, Shell
from netdyno.devices.watches.bird import BIRD
from netdyno.devices.watches.frr import FRR

_STATISTICS = (
    ("rx_packets", "rx_packets"),
    ("rx_bytes", "rx_bytes"),
    ("in_drops", "rx_dropped"),
    ("in_errors", "rx_errors"),
    ("tx_packets", "tx_packets"),
    ("tx_bytes", "tx_bytes"),
    ("out_drops", "tx_dropped"),
    ("out_errors", "tx_errors"),
)

SYSTEM = System(
    name="linux",
    title="Linux (with FRR or BIRD), by SSH",
    proof="real",
    shell=Shell(
        netmiko="linux",
        refused=(
            *NO_COMMAND,
            r"^(?:RTNETLINK answers|Error|Cannot find device|sysctl|cat|grep): ?[^\n]*",
        ),
        running=RUNNING,
        configuring=Configuring(enter="", leave=""),
        comment="#",
        echo=ECHO,
    ),
    version=("uname -sr", r"^(?P<n>Linux \S+)"),
    port=("cat /sys/class/net/{port}/operstate", r"^(?P<n>\w+)$"),
    readings=(
        counters(
            "grep -H . /sys/class/net/{port}/statistics/*",
            ((name, rf"/statistics/{file}:(?P<n>\d+)$") for name, file in _STATISTICS),
        ),
        Reading(
            "CPU per core",
            "cat /proc/stat",
            1.0,
            (
                Quantity(
                    "idle ticks",
                    "ticks",
                    r"^(?P<subject>cpu\d+)(?: \d+){3} (?P<n>\d+) ",
                    is_counter=True,
                ),
                Quantity(
                    "softirq ticks",
                    "ticks",
                    r"^(?P<subject>cpu\d+)(?: \d+){6} (?P<n>\d+)",
                    is_counter=True,
                ),
            ),
        ),
        Reading(
            "routes of FRR",
            "vtysh -c 'show ip route summary json'",
            5.0,
            (
                Quantity("routes", "routes", r'"routesTotal": ?(?P<n>\d+)', "RIB"),
                Quantity("routes", "routes", r'"routesTotalFib": ?(?P<n>\d+)', "FIB"),
            ),
        ),
    ),
    daemons=(FRR, BIRD),
)

DRIVER = cli_driver(SYSTEM)
