"""gNMI: counters, processors, memory, power and temperatures as OpenConfig has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial

from netdyno.devices.drivers.counted import port_counter
from netdyno.devices.drivers.reading import Value
from netdyno.devices.live import Channel
from netdyno.devices.telemetry.api import (
    CORES,
    COUNTERS,
    POWER,
    ApiReading,
    ApiSource,
    Connection,
    Target,
)
from netdyno.devices.telemetry.gnmi_target import GnmiTarget, Steps
from netdyno.devices.telemetry.gnmi_values import Leaf, to_number
from netdyno.devices.wiring import LabError

COUNTED = (
    ("rx_packets", "in-pkts"),
    ("rx_bytes", "in-octets"),
    ("in_drops", "in-discards"),
    ("in_errors", "in-errors"),
    ("tx_packets", "out-pkts"),
    ("tx_bytes", "out-octets"),
    ("out_drops", "out-discards"),
    ("out_errors", "out-errors"),
)
"""Counters of a port, and the leaves of openconfig-interfaces."""
CASTS = ("unicast", "broadcast", "multicast")
"""Together all packets, of a target without `in-pkts` and `out-pkts`."""
_COMPONENT = (("components", ""), ("component", "*"))


class Gnmi:
    """A device's gNMI."""

    def __init__(self, target: Target) -> None:
        self._ports = target.ports
        self._gnmi = GnmiTarget(target)

    @property
    def readings(self) -> tuple[ApiReading, ...]:
        """Counters of the lab's ports each second, the rest every five."""
        counted = tuple(partial(self._counters, *port) for port in self._ports)
        system, platform = "openconfig-system", "openconfig-platform"
        state = (*_COMPONENT, ("state", ""))
        supply = (*_COMPONENT, ("power-supply", ""), ("state", ""))
        return (
            ApiReading(COUNTERS, 1.0, counted, is_optional=False),
            self._gauges(CORES, system, (("system", ""), ("cpus", "")), _core),
            self._gauges("memory", platform, (*state, ("memory", "")), _memory),
            self._gauges(POWER, platform, supply, _power),
            self._gauges("temperature", platform, (*state, ("temperature", "")), _temperature),
        )

    def close(self) -> None:
        """Ends the connection; the next question opens another."""
        self._gnmi.close()

    def _counters(self, name: str, own: str) -> Iterator[Value]:
        steps = (("interfaces", ""), ("interface", own), ("state", ""), ("counters", ""))
        leaves = self._gnmi.get("openconfig-interfaces", steps)
        if not leaves:
            raise LabError(
                f"gNMI of `{self._gnmi.host}` has no counters of an interface `{own}`",
                "name the port in full, as OpenConfig does: `TenGigE0/1/0/0`",
                code="no-such-interface",
            )
        found = {leaf.names[-1]: number for leaf in leaves if (number := to_number(leaf.value)) is not None}
        found |= dict(_sums(found))
        values = [Value(port_counter(name, called), found[leaf]) for called, leaf in COUNTED if leaf in found]
        if not values:
            raise LabError(
                f"gNMI of `{self._gnmi.host}` has no counter of `{own}` that is a number",
                "check the version of the device's system",
                code="not-understood",
            )
        yield from values

    def _gauges(
        self, name: str, module: str, steps: Steps, find: Callable[[Leaf], Channel | None]
    ) -> ApiReading:
        def read() -> Iterator[Value]:
            for leaf in self._gnmi.get(module, steps):
                channel, number = find(leaf), to_number(leaf.value)
                if channel is not None and number is not None:
                    yield Value(channel, number)

        return ApiReading(name, 5.0, (read,))


def _sums(found: Mapping[str, Fraction]) -> Iterator[tuple[str, Fraction]]:
    """All packets of each way of which the target has only parts."""
    for way in ("in", "out"):
        parts = [found[one] for cast in CASTS if (one := f"{way}-{cast}-pkts") in found]
        if f"{way}-pkts" not in found and len(parts) == len(CASTS):
            yield f"{way}-pkts", sum(parts, Fraction())


def _core(leaf: Leaf) -> Channel | None:
    if leaf.names[-2:] != ("total", "instant"):
        return None
    return Channel("all cores" if leaf.key == "ALL" else f"core {leaf.key}", "CPU", "%", 2)


def _memory(leaf: Leaf) -> Channel | None:
    return Channel(leaf.key, "memory used", "B") if leaf.names[-1:] == ("utilized",) else None


def _power(leaf: Leaf) -> Channel | None:
    return Channel(leaf.key, "power", "W", 1) if leaf.names[-1:] == ("output-power",) else None


def _temperature(leaf: Leaf) -> Channel | None:
    if leaf.names[-2:] != ("temperature", "instant"):
        return None
    return Channel(leaf.key, "temperature", "C", 1)


def connect(target: Target) -> Connection:
    """A device's gNMI, which is connected when it is first asked."""
    return Gnmi(target)


SOURCE = ApiSource("gNMI", "pygnmi", "gnmi", connect)
