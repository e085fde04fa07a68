"""The statistics segment of a VPP on this machine: shared memory that vpp_papi reads. VPP is not asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from netdyno.devices.drivers.counted import port_counter
from netdyno.devices.drivers.reading import Value
from netdyno.devices.live import Channel
from netdyno.devices.telemetry.api import COUNTERS, ApiReading, ApiSource, Connection, Target
from netdyno.devices.telemetry.vpp_segment import VppSegment

COMBINED = (("rx_packets", "rx_bytes", "/if/rx"), ("tx_packets", "tx_bytes", "/if/tx"))
"""Counters of frames and of bytes, by worker and interface."""
SIMPLE = (
    ("in_drops", "/if/drops"),
    ("punted", "/if/punt"),
    ("rx_miss_drops", "/if/rx-miss"),
    ("in_errors", "/if/rx-error"),
    ("out_errors", "/if/tx-error"),
)
"""Counters of frames, by worker and interface; the names are those of the command line's reading."""
RATES = "/sys/vector_rate_per_worker"
POOLS = re.compile(r"/buffer-pools/([^/]{1,80})/used")
ERRORS = re.compile(r"/err/([^/].{0,98})")
MOST_ERRORS = 512
"""Reasons that are read at a time; of most a VPP never counts one."""


class VppStats:
    """The statistics of a VPP."""

    def __init__(self, target: Target) -> None:
        self._ports = target.ports
        self._segment = VppSegment(target.api.socket)
        self._counted: set[str] = set()

    @property
    def readings(self) -> tuple[ApiReading, ...]:
        """Counters of the lab's ports and rates of the workers each second, the rest every five."""
        counted = tuple(partial(self._counters, *port) for port in self._ports)
        return (
            ApiReading(COUNTERS, 1.0, counted, is_optional=False),
            ApiReading("vector rate", 1.0, (self._rates,)),
            ApiReading("buffers", 5.0, (self._buffers,)),
            ApiReading("error counters", 5.0, (self._errors,), may_be_empty=True),
        )

    def close(self) -> None:
        """Lets go of the memory."""
        self._segment.close()

    def _counters(self, name: str, own: str) -> Iterator[Value]:
        self._segment.open()
        index = self._segment.find_index(own)
        for frames, octets, path in COMBINED:
            pair = self._segment.read(path, partial(_sum_pairs, index))
            for called, count in zip((frames, octets), pair or (), strict=False):
                yield Value(port_counter(name, called), Fraction(count))
        for called, path in SIMPLE:
            total = self._segment.read(path, partial(_sum_column, index))
            if total is not None:
                yield Value(port_counter(name, called), Fraction(total))

    def _rates(self) -> Iterator[Value]:
        """Frames of a vector: how busy a worker is, 256 at most."""
        self._segment.open()
        for number, rate in enumerate(self._segment.read(RATES, _first_row) or ()):
            yield Value(Channel(f"worker {number}", "vector rate", "packets"), Fraction(rate))

    def _buffers(self) -> Iterator[Value]:
        self._segment.open()
        for path in self._segment.list_paths():
            found = POOLS.fullmatch(path)
            used = None if found is None else self._segment.read(path, int)
            if found is not None and used is not None:
                yield Value(Channel(found[1], "buffers used", "buffers"), Fraction(used))

    def _errors(self) -> Iterator[Value]:
        """Those that counted something, and those of the lab's ports: their first one is then seen.

        Many are no errors; so none has the name of a drop.
        """
        self._segment.open()
        ports = tuple(f"{own}-" for _, own in self._ports)
        vectors: dict[str, Any] = {}
        for path in self._segment.list_paths():
            found = ERRORS.fullmatch(path)
            if found is None:
                continue
            total = self._segment.read_error(path, vectors)
            if (total or found[1].startswith(ports)) and len(self._counted) < MOST_ERRORS:
                self._counted.add(path)
            if path in self._counted:
                channel = Channel(found[1], "counted", "packets", is_counter=True, bits=64)
                yield Value(channel, Fraction(total))


def _sum_pairs(index: int, rows: Any) -> tuple[int, int]:
    """Frames and bytes of an interface, over the workers."""
    found = [row[index] for row in rows if index < len(row)]
    return sum(one[0] for one in found), sum(one[1] for one in found)


def _sum_column(index: int, rows: Any) -> int:
    """Frames of an interface, over the workers."""
    return sum(int(row[index]) for row in rows if index < len(row))


def _first_row(rows: Any) -> tuple[int, ...]:
    return tuple(map(int, next(iter(rows), ())))


def connect(target: Target) -> Connection:
    """The statistics of a VPP, mapped when they are first read."""
    return VppStats(target)


SOURCE = ApiSource("VPP statistics", "vpp_papi", "vpp", connect, is_local=True)
