"""What the device's own kernel has counted: its interfaces, and what its IPv4 did with packets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from netdyno.devices.linux import device as dut

Counts: TypeAlias = Mapping[str, Mapping[str, int]]
"""By whom, an interface or `ip`, and by the kernel's own names."""

COMMAND = "cat /proc/net/dev /proc/net/snmp"

# Columns of /proc/net/dev (net/core/net-procfs.c), behind the name.
_COLUMNS = (
    *("rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame", "rx_compressed"),
    *("multicast", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo", "collisions"),
    "tx_carrier",
)
_SETTINGS = ("Forwarding", "DefaultTTL")
IP = "ip"


def counting(device: dut.Device, ports: int) -> Callable[[], Counts]:
    """What `Wiring.counted` is for a device that was built with so many ports."""
    return lambda: read(device.do(COMMAND), dut.PORTS[:ports])


def read(said: str, ports: Sequence[str]) -> Counts:
    """Of what these files have, the ports and IPv4."""
    found: dict[str, dict[str, int]] = {}
    names: list[str] = []
    for line in said.splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() in ports:
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


def moved(before: Counts, after: Counts) -> dict[str, Any]:
    """What moved in between, as `Outcome.devices` has a device; a counter that fell is left out."""
    found = {
        who: {
            name: count - before[who][name]
            for name, count in counted.items()
            if count > before.get(who, {}).get(name, count)
        }
        for who, counted in after.items()
    }
    return {
        "name": "the device's kernel",
        "ports": [{"name": who, **counted} for who, counted in found.items() if who != IP],
        IP: found.get(IP, {}),
    }
