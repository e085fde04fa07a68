"""The shared memory with the statistics of a VPP on this machine, as vpp_papi reads it."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any, TypeVar

from netdyno.devices.wiring import LabError

T = TypeVar("T")

SOCKET = "/run/vpp/stats.sock"
CONNECT_S = 1.0
ANSWER_S = 2.0
SYMLINK = 6
"""The type of an entry that is a column of another one."""


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


class VppSegment:
    """The segment of a VPP: it is opened before each reading."""

    def __init__(self, path: str) -> None:
        self._path = path or SOCKET
        self._stats: Any = None
        self._segment = (0, 0)

    def close(self) -> None:
        """Lets go of the memory."""
        held, self._stats = self._stats, None
        if held is not None:
            held.disconnect()

    def find_index(self, own: str) -> int:
        """The index of an interface. Raises LabError `no-such-interface`.

        The library leaves out the places of interfaces that were removed: its list has other indexes.
        """
        from vpp_papi.vpp_stats import StatsVector, get_string

        def look(stats: Any) -> int | None:
            places = enumerate(StatsVector(stats, stats.directory["/if/names"].value, "P"))
            return next((at for at, (name,) in places if name and get_string(stats, name) == own), None)

        index = self._within("/if/names", look)
        if index is None:
            raise LabError(
                f"VPP has no interface `{own}`",
                "`vppctl show interface` lists them",
                code="no-such-interface",
            )
        return index

    def list_paths(self) -> tuple[str, ...]:
        """Everything that the segment has."""
        return tuple(self._stats.directory)

    def read(self, path: str, use: Callable[[Any], T]) -> T | None:
        """What `use` makes of what the segment has at a path; None: it has no such path. Raises LabError."""

        def look(stats: Any) -> T | None:
            entry = stats.directory.get(path)
            return None if entry is None else use(entry.get_counter(stats))

        return self._within(path, look)

    def read_error(self, path: str, vectors: dict[str, Any]) -> int:
        """A counter of `/err/` over all workers. Raises LabError.

        vectors: those read so far. A path is a column of one, and the library would read all of it each time.
        """

        def look(stats: Any) -> int:
            entry = stats.directory[path]
            if entry.type != SYMLINK:
                return sum(sum(row) for row in entry.get_counter(stats))
            number, column = struct.unpack("II", struct.pack("Q", entry.value))
            whole = stats.directory_by_idx[number]
            if whole not in vectors:
                vectors[whole] = stats.directory[whole].get_counter(stats)
            return sum(row[column] for row in vectors[whole] if column < len(row))

        return self._within(path, look)

    def _within(self, path: str, look: Callable[[Any], T]) -> T:
        """What is found when VPP does not change the segment meanwhile. Raises LabError."""
        stats = self._stats
        stats.lock.until = time.monotonic() + ANSWER_S
        try:
            while True:
                with suppress(OSError):
                    if stats.last_epoch != stats.epoch:
                        stats.refresh()
                    with stats.lock:
                        return look(stats)
        except _LateError:
            self.close()
            raise LabError(
                f"the statistics of VPP do not come to rest within {ANSWER_S:.0f} s",
                "see whether VPP runs: `vppctl show version`",
                code="device-silent",
            ) from None
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError, struct.error) as error:
            self.close()
            raise LabError(
                f"the statistics of VPP have no `{path}` that can be read: {type(error).__name__}",
                "check whether `vpp_papi` fits the version of VPP",
                code="not-understood",
            ) from None

    def open(self) -> None:
        """Maps the segment, unless it is mapped: a VPP that was restarted has another. Raises LabError."""
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
