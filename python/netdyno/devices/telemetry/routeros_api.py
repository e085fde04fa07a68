"""The API of RouterOS: counters, drops, processors, memory and health, by librouteros."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from netdyno.devices.drivers import routeros
from netdyno.devices.drivers.counted import port_counter
from netdyno.devices.drivers.reading import Value
from netdyno.devices.live import Channel
from netdyno.devices.telemetry.api import CORES, COUNTERS, CPU, ApiReading, ApiSource, Target
from netdyno.devices.telemetry.routeros_target import Router, not_understood, shorten
from netdyno.devices.wiring import LabError

STATISTICS = tuple(one for one in routeros.STATISTICS if one[1] != "tx-queue-drop")
"""Counters of a port, and the fields of `/interface/print`."""
HEALTH = "power and temperature"

_NUMBER = re.compile(r"(-?\d{1,18}(?:\.\d{1,9})?) ?[A-Za-z%]{0,4}")


class RouterOsApi:
    """What is read of a router."""

    def __init__(self, target: Target) -> None:
        self._ports = target.ports
        self._router = Router(target)

    @property
    def readings(self) -> tuple[ApiReading, ...]:
        """Counters of the lab's ports each second, the rest every five."""
        counted = tuple(partial(self._counters, *port) for port in self._ports)
        return (
            ApiReading(COUNTERS, 1.0, counted, is_optional=False),
            ApiReading(CPU, 5.0, (self._load,)),
            ApiReading("memory", 5.0, (self._memory,)),
            ApiReading(CORES, 5.0, (self._cores,)),
            ApiReading(HEALTH, 5.0, (self._health,)),
        )

    def close(self) -> None:
        """Ends the connection; the next question opens another."""
        self._router.close()

    def _counters(self, name: str, own: str) -> Iterator[Value]:
        rows = self._router.ask("/interface/print", "=stats=detail", f"?name={own}")
        row = next((one for one in rows if one.get("name") == own), None)
        if row is None:
            raise LabError(
                f"the device `{self._router.host}` has no interface `{own}`",
                "`/interface print` lists them",
                code="no-such-interface",
            )
        found = 0
        for called, field in STATISTICS:
            if field in row:
                yield Value(port_counter(name, called), _whole(row[field], field))
                found += 1
        if not found:
            raise not_understood("/interface/print", "no counter")

    def _load(self) -> Iterator[Value]:
        for row in self._router.ask("/system/resource/print"):
            if "cpu-load" in row:
                yield Value(Channel("all cores", "CPU", "%"), _whole(row["cpu-load"], "cpu-load"))

    def _memory(self) -> Iterator[Value]:
        for row in self._router.ask("/system/resource/print"):
            if {"total-memory", "free-memory"} <= set(row):
                total, free = (_whole(row[name], name) for name in ("total-memory", "free-memory"))
                yield Value(Channel("memory", "memory used", "B"), total - free)
                yield Value(Channel("memory", "memory free", "B"), free)

    def _cores(self) -> Iterator[Value]:
        for row in self._router.ask("/system/resource/cpu/print"):
            if "load" in row:
                yield Value(Channel(shorten(row.get("cpu")), "CPU", "%"), _whole(row["load"], "load"))

    def _health(self) -> Iterator[Value]:
        for row in self._router.ask("/system/health/print"):
            # A row for each quantity since version 7; one row of all of them before.
            named = {row["name"]: row.get("value")} if "name" in row else row
            for name, value in named.items():
                channel = _health_channel(shorten(name))
                if channel is not None:
                    yield Value(channel, _number(value, shorten(name)))


def _health_channel(name: str) -> Channel | None:
    """The quantity of a field of `/system/health/print`; None: it is not read."""
    if name == "power-consumption":
        return Channel("device", "power", "W", 1)
    if name.endswith("temperature"):
        return Channel(name, "temperature", "C")
    if name.startswith("fan") and name.endswith("speed"):
        return Channel(name, "fan", "rpm")
    return None


def _whole(value: object, field: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int):
        raise not_understood(field, shorten(value))
    return Fraction(value)


def _number(value: object, field: str) -> Fraction:
    found = _NUMBER.fullmatch(shorten(value))
    if found is None:
        raise not_understood(field, shorten(value))
    return Fraction(found[1])


SOURCE = ApiSource("RouterOS API", RouterOsApi)
