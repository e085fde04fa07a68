"""The statistics segment of a VPP on this machine: shared memory that vpp_papi reads. VPP is not asked."""

from __future__ import annotations

import os
import re
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from functools import partial
from typing import Any

from netdyno.devices.drivers.counted import port_counter
from netdyno.devices.drivers.reading import Value
from netdyno.devices.live import Channel
from netdyno.devices.telemetry.api import COUNTERS, ApiReading, ApiSource, Connection, Target
from netdyno.devices.wiring import LabError

SOCKET = "/run/vpp/stats.sock"
CONNECT_S = 1.0
ANSWER_S = 2.0
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


class _LateError(Exception):
    """The segment does not come to rest in time."""


class _Lock:
    """In place of the library's lock, which waits for ever while VPP, or a VPP that died, holds it."""

    def __init__(self, stats: Any) -> None:
        self._stats = stats
        self._epoch = 0
        self.until = 0.0

    def __enter__(self) -> _Lock:
        self._epoch = self._stats.epoch
        while self._stats.in_progress:
            self._check()
            time.sleep(0.0001)
        return self

    def __exit__(self, *_: object) -> None:
        # The library tries again after an OSError, also of a segment that is damaged.
        self._check()
        if self._stats.in_progress or self._stats.epoch != self._epoch:
            raise OSError("it was changed meanwhile")

    def _check(self) -> None:
        if time.monotonic() > self.until:
            raise _LateError


class VppStats:
    """The statistics of a VPP. It may be restarted: each reading first looks whether it is the same."""

    def __init__(self, target: Target) -> None:
        self._path = target.api.socket or SOCKET
        self._ports = target.ports
        self._stats: Any = None
        self._segment = (0, 0)
        self._counted: set[str] = set()

    @property
    def readings(self) -> tuple[ApiReading, ...]:
        """Counters of the lab's ports and rates of the workers each second, the rest every five."""
        counted = tuple(partial(self._counters, *port) for port in self._ports)
        return (
            ApiReading(COUNTERS, 1.0, counted, is_optional=False),
            ApiReading("vector rate", 1.0, (self._rates,)),
            ApiReading("buffers", 5.0, (self._buffers,)),
            ApiReading("error counters", 5.0, (self._errors,)),
        )

    def close(self) -> None:
        """Lets go of the memory."""
        held, self._stats = self._stats, None
        if held is not None:
            held.disconnect()

    def _counters(self, name: str, own: str) -> Iterator[Value]:
        names = self._read("/if/names")
        if own not in names:
            raise LabError(
                f"VPP has no interface `{own}`",
                "`vppctl show interface` lists them",
                code="no-such-interface",
            )
        index = names.index(own)
        for frames, octets, path in COMBINED:
            of_workers = [row[index] for row in self._read(path) if index < len(row)]
            yield Value(port_counter(name, frames), Fraction(sum(one[0] for one in of_workers)))
            yield Value(port_counter(name, octets), Fraction(sum(one[1] for one in of_workers)))
        for called, path in SIMPLE:
            if path in self._stats.directory:
                rows = self._read(path)
                total = sum(row[index] for row in rows if index < len(row))
                yield Value(port_counter(name, called), Fraction(total))

    def _rates(self) -> Iterator[Value]:
        """Frames of a vector: how busy a worker is, 256 at most."""
        for row in self._read(RATES, [])[:1]:
            for number, rate in enumerate(row):
                yield Value(Channel(f"worker {number}", "vector rate", "packets"), Fraction(rate))

    def _buffers(self) -> Iterator[Value]:
        for path in self._paths():
            found = POOLS.fullmatch(path)
            if found is not None:
                used = Fraction(self._read(path, 0))
                yield Value(Channel(found[1], "buffers used", "buffers"), used)

    def _errors(self) -> Iterator[Value]:
        """Those that counted something, and those of the lab's ports: their first one is then seen.

        Many are no errors; so none has the name of a drop.
        """
        ports = tuple(f"{own}-" for _, own in self._ports)
        for path in self._paths():
            found = ERRORS.fullmatch(path)
            if found is None:
                continue
            total = sum(map(_total, self._read(path, [])))
            if total or found[1].startswith(ports):
                self._counted.add(path)
            if path in self._counted and len(self._counted) <= MOST_ERRORS:
                channel = Channel(found[1], "counted", "packets", is_counter=True, bits=64)
                yield Value(channel, Fraction(total))

    def _paths(self) -> tuple[str, ...]:
        self._connect()
        return tuple(self._stats.directory)

    def _read(self, path: str, default: Any = None) -> Any:
        """What the segment has at a path. Raises LabError."""
        self._connect()
        try:
            self._stats.lock.until = time.monotonic() + ANSWER_S
            if path not in self._stats.directory and default is not None:
                return default
            return self._stats[path]
        except _LateError:
            self.close()
            raise LabError(
                f"the statistics of VPP do not come to rest within {ANSWER_S:.0f} s",
                "see whether VPP runs: `vppctl show version`",
                code="device-silent",
            ) from None
        except (LookupError, ValueError, TypeError, AttributeError, struct.error) as error:
            self.close()
            raise LabError(
                f"the statistics of VPP have no `{path}` that can be read: {type(error).__name__}",
                "check whether `vpp_papi` fits the version of VPP",
                code="not-understood",
            ) from None

    def _connect(self) -> None:
        """Maps the segment, if it is not the one that is mapped. Raises LabError."""
        segment = self._find_segment()
        if self._stats is not None and segment == self._segment:
            return
        self.close()
        from vpp_papi.vpp_stats import VPPStats

        stats = VPPStats(self._path)
        stats.lock = _Lock(stats)
        stats.lock.until = time.monotonic() + ANSWER_S
        try:
            stats.connect()
        except Exception as error:
            # The library raises Exception itself for a version that it does not know.
            raise LabError(
                f"the statistics of VPP at `{self._path}` cannot be read: {str(error)[:100] or 'too late'}",
                "check whether `vpp_papi` fits the version of VPP",
                code="not-understood",
            ) from None
        self._stats, self._segment = stats, segment

    def _find_segment(self) -> tuple[int, int]:
        """Which memory VPP hands out. Raises LabError `device-unreachable`.

        Memory of a VPP that has ended stays readable, and its counters stand still.
        """
        try:
            with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as asked:
                asked.settimeout(CONNECT_S)
                asked.connect(self._path)
                _, files, _, _ = socket.recv_fds(asked, 1, 1)
            found = [os.fstat(file) for file in files]
            for file in files:
                os.close(file)
            return found[0].st_dev, found[0].st_ino
        except (OSError, LookupError) as error:
            why = getattr(error, "strerror", None) or "it hands out no memory"
            raise LabError(
                f"VPP's socket of statistics `{self._path}` cannot be used: {why}",
                "check that VPP runs, `api: {socket: ...}`, and that you are in the group `vpp`",
                code="device-unreachable",
            ) from None


def _total(row: Any) -> int:
    return sum(row) if isinstance(row, list) else int(row)


def connect(target: Target) -> Connection:
    """The statistics of a VPP, mapped when they are first read."""
    return VppStats(target)


SOURCE = ApiSource("statistics segment of VPP", "vpp_papi", "vpp", connect, is_local=True)
