"""A Linux router or bridge that somebody else runs, by SSH; FRR and BIRD on it are its routing."""

from __future__ import annotations

from netdyno.devices.configure.ipprinted import RUNNING
from netdyno.devices.drivers.counted import ECHO, NO_COMMAND, counters
from netdyno.devices.drivers.gauges import SLOW_S
from netdyno.devices.drivers.linux_texts import (
    SENSORS,
    read_ipv6_routes,
    read_memory,
    read_queues,
    read_sensors,
)
from netdyno.devices.drivers.reading import Quantity, Reading
from netdyno.devices.drivers.system import System
from netdyno.devices.shell import Configuring, Shell
from netdyno.devices.watches.bird import BIRD
from netdyno.devices.watches.frr import FRR

_DBM = r"[\d.]+ mW / (?P<n>-?[\d.]+) dBm"

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

OPTICS = (
    Quantity(
        "optical power received", "dBm", rf"^\s*Receiver signal average optical power +: {_DBM}", scale=2
    ),
    Quantity("optical power sent", "dBm", rf"^\s*Laser output power +: {_DBM}", scale=2),
    Quantity("optics temperature", "C", r"^\s*Module temperature +: (?P<n>-?[\d.]+) degrees C", scale=2),
)
"""Of a module with one lane."""

DRIVER = System(
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
        Reading("queues", "tc -s -j qdisc show dev {port}", 1.0, by_text=read_queues),
        Reading("memory", "cat /proc/meminfo", SLOW_S, by_text=read_memory),
        Reading("sensors", SENSORS, SLOW_S, by_text=read_sensors),
        Reading(
            "IPv4 routes",
            "cat /proc/net/fib_triestat",
            SLOW_S,
            (
                Quantity(
                    "routes", "routes", r"^Main:\n(?:\t[^\n]{1,40}\n){1,4}?\tPrefixes: +(?P<n>\d+)$", "IPv4"
                ),
            ),
        ),
        Reading("IPv6 routes", "cat /proc/net/rt6_stats", SLOW_S, by_text=read_ipv6_routes),
        Reading(
            "MAC table",
            "bridge fdb show | grep -vc permanent",
            SLOW_S,
            (Quantity("MAC addresses", "addresses", r"^(?P<n>\d+)$", "bridge"),),
        ),
        Reading("optics", "ethtool -m {port}", SLOW_S, OPTICS),
    ),
    daemons=(FRR, BIRD),
)
