"""Reads the counters of a Linux kernel: its interfaces and its IPv4."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.devices.drivers.driver import Driver, Reached
from netdyno.devices.live import Channel, Live
from netdyno.devices.wiring import LabError, Wiring
from netdyno.values.sample import Sample

# Columns of /proc/net/dev (net/core/net-procfs.c), behind the name.
_COLUMNS = (
    *("rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame", "rx_compressed"),
    *("multicast", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo", "collisions"),
    "tx_carrier",
)
_SETTINGS = ("Forwarding", "DefaultTTL")
IP = "ip"


@dataclass(frozen=True)
class KernelCounters:
    """Counters of the kernel that a process sees, of these interfaces of its network namespace.

    process: its number, or `self`. ours: of a device that netdyno built, whose counters a verdict may use.
    has_own_core: and which works on a core that no worker of the tester is on. queue_drops: frames that
    queueing disciplines dropped, by interface, which its other counters do not have.
    """

    name: str
    process: str
    interfaces: tuple[str, ...]
    ours: bool = False
    has_own_core: bool = False
    period_s: float = 1.0
    queue_drops: Callable[[], Mapping[str, int]] = dict

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """The counters now. Raises LabError."""
        folder = Path("/proc", self.process, "net")
        asked_ns = now()
        try:
            said = folder.joinpath("dev").read_text() + folder.joinpath("snmp").read_text()
        except OSError as error:
            raise LabError(
                f"the counters of `{self.name}` cannot be read: {error.strerror}", code="cannot-read"
            ) from error
        counters = {who: dict(counted) for who, counted in read(said, self.interfaces).items()}
        for who, count in self.queue_drops().items():
            counters[who]["out_queue_drops"] = count
        answered_ns = now()
        return {
            Channel(who, name, "bytes" if name.endswith("_bytes") else "packets", is_counter=True): Sample(
                asked_ns, answered_ns, count
            )
            for who, counted in counters.items()
            for name, count in counted.items()
        }

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> Mapping[str, Any] | None:
        """The counters that moved, of a device that netdyno built; a counter that fell is left out."""
        if not self.ours:
            return None
        found: dict[str, dict[str, int]] = {channel.subject: {} for channel in last}
        for channel, count in last.items():
            if count > first.get(channel, count):
                found[channel.subject][channel.name] = count - first[channel]
        return {
            "name": self.name,
            **({"has_own_core": True} if self.has_own_core else {}),
            "ports": [{"name": who, **counted} for who, counted in found.items() if who != IP],
            IP: found.get(IP, {}),
        }


def read(said: str, interfaces: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """Counters in `dev` and `snmp` of /proc/net, of these interfaces and of IPv4, by the kernel's names."""
    found: dict[str, dict[str, int]] = {}
    names: list[str] = []
    for line in said.splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() in interfaces:
            counted = zip(_COLUMNS, map(int, numbers.split()), strict=False)
            found[name.strip()] = dict(counted)
        elif name == "Ip":
            # Names first, then numbers.
            if not names:
                names = numbers.split()
            else:
                counted = zip(names, map(int, numbers.split()), strict=False)
                found[IP] = {what: count for what, count in counted if what not in _SETTINGS}
    return found


_MAIN = re.compile(r"^Main:\n(?:\t[^\n]{1,40}\n){1,4}?\tPrefixes: +(\d+)$", re.MULTILINE)


def count_ipv4_routes(text: str) -> int:
    """Prefixes of the main table in /proc/net/fib_triestat, other tables aside. Raises ValueError.

    The kernel has the local table in one with it until the first `ip rule` (net/ipv4/fib_frontend.c).
    """
    if (found := _MAIN.search(text)) is None:
        raise ValueError("no main table")
    return int(found[1])


def count_ipv6_routes(text: str) -> int:
    """Entries of all tables in /proc/net/rt6_stats: its fourth number, hexadecimal (net/ipv6/route.c)."""
    return int(text.split()[3], 16)


class ThisKernel(Driver):
    """Reads the interfaces of this machine that are the device's ports."""

    name = "this-kernel"
    title = "the kernel of this machine: its counters of the device's ports, which are interfaces here"

    def reach(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        """The counters of the ports."""
        return nullcontext(Live(wiring, read_by=(KernelCounters(self.name, "self", reached.ports),)))


DRIVER = ThisKernel()
