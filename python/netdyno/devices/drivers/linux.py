"""A Linux router or bridge that somebody else runs, by SSH; FRR and BIRD on it are its routing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction

from netdyno.devices.configure.ipprinted import RUNNING
from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import ECHO, NO_COMMAND, counters
from netdyno.devices.drivers.gauges import SLOW_S, value
from netdyno.devices.drivers.kernel import count_ipv4_routes, count_ipv6_routes
from netdyno.devices.drivers.reading import Quantity, Reading, Value
from netdyno.devices.live import Channel
from netdyno.devices.shell import Configuring, Shell
from netdyno.devices.watches.bird import BIRD
from netdyno.devices.watches.frr import FRR

SENSORS = " ".join(
    (
        "grep -sH .",
        *(
            f"/sys/class/hwmon/hwmon*/{name}"
            for name in ("name", "temp*_label", "fan*_label", "power*_label")
        ),
        *(f"/sys/class/hwmon/hwmon*/{name}_input" for name in ("temp*", "fan*", "power*")),
        "/sys/class/hwmon/hwmon*/power*_average",
        "/sys/class/thermal/thermal_zone*/type",
        "/sys/class/thermal/thermal_zone*/temp",
    )
)
_SENSOR = re.compile(
    r"^/sys/class/(?:hwmon|thermal)/([\w.-]{1,40})/([\w.-]{1,40}):([^\n]{1,100})$", re.MULTILINE
)
_INPUT = re.compile(r"((temp|fan|power)\d{1,3})_(?:input|average)|(temp)")
_QUANTITIES = {"temp": ("temperature", "C", 1000), "fan": ("fan", "rpm", 1), "power": ("power", "W", 10**6)}
"""Name and unit of each kind of sensor, and what one of it is (Documentation/hwmon/sysfs-interface.rst)."""


_CORE = re.compile(r"^cpu(\d{0,4}) +((?:\d{1,20} ){7,11}\d{1,20})$", re.MULTILINE)
_WAITS = (3, 4)
"""Columns of /proc/stat in which a core does nothing: idle, and iowait (proc_stat(5))."""
_GUESTS = 8
"""Columns from here on are in those before already."""


def read_busy(earlier: str, later: str) -> Iterator[Value]:
    """The share of the time in which each core, and all together, worked, soft interrupts among it."""
    before = _read_ticks(earlier)
    for core, ticks in _read_ticks(later).items():
        # iowait may fall.
        grown = [max(now - then, 0) for now, then in zip(ticks, before.get(core, ticks), strict=False)]
        if sum(grown):
            busy = 1 - Fraction(sum(grown[one] for one in _WAITS), sum(grown))
            yield value("CPU", "%", 100 * busy, f"cpu{core}" if core else "all cores", 2)


def _read_ticks(text: str) -> dict[str, list[int]]:
    return {one[1]: list(map(int, one[2].split()[:_GUESTS])) for one in _CORE.finditer(text)}


def read_memory(text: str) -> Iterator[Value]:
    """Memory in use and available, of /proc/meminfo."""
    kib = {name: int(rest.split()[0]) for name, _, rest in (one.partition(":") for one in text.splitlines())}
    available = kib["MemAvailable"]
    yield value("memory used", "B", (kib["MemTotal"] - available) * 1024, "memory")
    yield value("memory free", "B", available * 1024, "memory")


def read_sensors(text: str) -> Iterator[Value]:
    """Temperatures, fans and power of hwmon and of thermal zones, by their labels."""
    files = {(one[1], one[2]): one[3].strip() for one in _SENSOR.finditer(text)}
    for (chip, file), number in files.items():
        found = _INPUT.fullmatch(file)
        if found is None or not re.fullmatch(r"-?\d{1,15}", number):
            continue
        kind = found[2] or found[3]
        name, unit, one = _QUANTITIES[kind]
        own = files.get((chip, f"{found[1]}_label"), found[1] or "")
        who = files.get((chip, "name")) or files.get((chip, "type")) or ""
        yield value(
            name,
            unit,
            Fraction(int(number), one),
            " ".join(f"{chip} {who} {own}".split()),
            0 if kind == "fan" else 3,
        )


_FULL_ONLY = {"pfifo", "pfifo_fast", "bfifo", "fq", "fq_codel", "mq", "noqueue"}
"""Queueing disciplines that drop frames for want of room. Others, as `netem`, or `htb` by its filters, count
frames among these that the load is not the cause of."""
_HOOKS = {"ingress", "clsact"}
"""No queues: their filters' drops are no root's."""


def read_queues(text: str) -> Iterator[Value]:
    """Of a port's queueing discipline at its root, `tc -s -j qdisc`: frames that wait, and those dropped.

    Where the root has children, as `mq` has, it counts theirs: `queue_drops` if all of them drop for want of
    room alone, else `queue_policy_drops`.
    """
    every = json.loads(text)
    is_full_only = {one.get("kind") for one in every} - _HOOKS <= _FULL_ONLY
    name = "queue_drops" if is_full_only else "queue_policy_drops"
    for one in every:
        if one.get("root"):
            yield value("queue depth", "packets", int(one["qlen"]))
            yield value("queue depth, bytes", "B", int(one["backlog"]))
            drops = Channel("", name, "packets", is_counter=True, bits=32)
            yield Value(drops, Fraction(int(one["drops"])))


def read_ipv4_routes(text: str) -> Iterator[Value]:
    """Prefixes of the main routing table."""
    yield value("routes", "routes", count_ipv4_routes(text), "IPv4")


def read_ipv6_routes(text: str) -> Iterator[Value]:
    """Entries of all IPv6 routing tables."""
    yield value("routes", "routes", count_ipv6_routes(text), "IPv6")


_DBM = r"[\d.]+ mW / (?P<n>-?[\d.]+|-inf) dBm"
"""Of no light at all it prints `-inf`."""

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

_LANE = r" ?\(Channel (?P<lane>\d{1,2})\) +"
OPTICS = (
    Quantity(
        "optical power received",
        "dBm",
        rf"^\s*(?:Receiver signal average|Rcvr signal avg) optical power(?:{_LANE}| +): {_DBM}",
        scale=2,
    ),
    Quantity(
        "optical power sent",
        "dBm",
        rf"^\s*(?:Laser output power +|Transmit avg optical power{_LANE}): {_DBM}",
        scale=2,
    ),
    Quantity("optics temperature", "C", r"^\s*Module temperature +: (?P<n>-?[\d.]+) degrees C", scale=2),
)
"""Of a module, or of each of its lanes (ethtool's sff-common.c and qsfp.c)."""

DRIVER = CliDriver(
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
    mark=r"^Linux\b",
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
            between=read_busy,
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
        Reading(
            "IPv6 routes of FRR",
            "vtysh -c 'show ipv6 route summary json'",
            5.0,
            (
                Quantity("routes", "routes", r'"routesTotal": ?(?P<n>\d+)', "IPv6 RIB"),
                Quantity("routes", "routes", r'"routesTotalFib": ?(?P<n>\d+)', "IPv6 FIB"),
            ),
        ),
        Reading("queues", "tc -s -j qdisc show dev {port}", 1.0, by_text=read_queues),
        Reading("memory", "cat /proc/meminfo", SLOW_S, by_text=read_memory),
        Reading("sensors", SENSORS, SLOW_S, by_text=read_sensors),
        Reading("IPv4 routes", "cat /proc/net/fib_triestat", SLOW_S, by_text=read_ipv4_routes),
        Reading("IPv6 routes", "cat /proc/net/rt6_stats", SLOW_S, by_text=read_ipv6_routes),
        Reading(
            "MAC table",
            "bridge fdb show | grep -vc permanent",
            SLOW_S,
            (Quantity("MAC addresses", "addresses", r"^(?P<n>\d+)$", "bridge"),),
        ),
        Reading(
            "optics",
            "ethtool -m {port}",
            SLOW_S,
            OPTICS,
            lines=r"^(?![^\n]*threshold)[^\n]* dBm|^\s*Module temperature +:",
        ),
    ),
    daemons=(FRR, BIRD),
    static_routes=("ip route add {network} via {via}", "ip -6 route add {network} via {via}"),
)
