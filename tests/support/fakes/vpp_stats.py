"""VPP's statistics segment, written byte by byte into shared memory and handed out as VPP does.

The layout is that of src/vlib/stats/shared.h of VPP: a header, a directory of entries of 144 bytes, and
vectors whose length stands 8 bytes before their first element. Pointers are addresses in VPP's own memory.
"""

from __future__ import annotations

import mmap
import os
import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

HEADER, ENTRY = struct.Struct("<QQQQQQ"), struct.Struct("<IxxxxQ128s")
SIMPLE, COMBINED, NAMES, SYMLINK, GAUGE = 2, 3, 4, 6, 9
BASE = 0x7F00_0000_0000
SIZE = 1 << 20

Simple = Sequence[Sequence[int]]
Combined = Sequence[Sequence[tuple[int, int]]]


@dataclass
class Segment:
    """A segment. Each `write` is what VPP has at that moment; the directory's epoch goes on with each."""

    version: int = 2
    epoch: int = 1
    file: int = field(default_factory=lambda: os.memfd_create("stats"))
    at: int = 0

    def __post_init__(self) -> None:
        os.ftruncate(self.file, SIZE)
        self.memory = mmap.mmap(self.file, SIZE)

    def write(
        self,
        *,
        names: Sequence[str | None] = (),
        simple: Mapping[str, Simple] | None = None,
        combined: Mapping[str, Combined] | None = None,
        gauges: Mapping[str, int] | None = None,
        symlinks: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        """Writes all of it. names: of interfaces; None: the place of a removed one."""
        self.at = 4096
        rows: list[tuple[str, int, int]] = []
        texts = [self._vector(f"{name}\0".encode(), 1) if name else 0 for name in names]
        rows.append(("/if/names", NAMES, self._pointers(texts)))
        for path, counted in (simple or {}).items():
            packed = [self._vector(struct.pack(f"<{len(row)}Q", *row), 8) for row in counted]
            rows.append((path, SIMPLE, self._pointers(packed)))
        for path, pairs in (combined or {}).items():
            packed = [self._vector(b"".join(struct.pack("<QQ", *one) for one in row), 16) for row in pairs]
            rows.append((path, COMBINED, self._pointers(packed)))
        rows += [(path, GAUGE, number) for path, number in (gauges or {}).items()]
        places = {path: place for place, (path, _, _) in enumerate(rows)}
        for path, (whole, column) in (symlinks or {}).items():
            rows.append((path, SYMLINK, places[whole] | column << 32))
        entries = b"".join(ENTRY.pack(kind, value, path.encode()) for path, kind, value in rows)
        directory = self._vector(entries, ENTRY.size)
        self.epoch += 1
        self.head(directory)

    def head(self, directory: int, *, in_progress: int = 0) -> None:
        self.directory = directory
        header = HEADER.pack(self.version, BASE, self.epoch, in_progress, directory, 0)
        self.memory[: len(header)] = header

    def hold(self) -> None:
        """VPP begins to change it, and ends before it is done."""
        self.head(self.directory, in_progress=1)

    def _pointers(self, addresses: Sequence[int]) -> int:
        return self._vector(struct.pack(f"<{len(addresses)}Q", *addresses), 8)

    def _vector(self, data: bytes, size: int) -> int:
        """The address of a vector of elements of this size."""
        start = (self.at + 8 + 15) // 16 * 16
        self.memory[start - 8 : start] = struct.pack("<II", len(data) // size, 0)
        self.memory[start : start + len(data)] = data
        self.at = start + len(data)
        return BASE + start


@contextmanager
def serving(segment: Segment, path: Path) -> Iterator[Segment]:
    """Hands out the segment at a socket until the block ends."""
    with suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    listener.listen()

    def accept() -> None:
        with suppress(OSError):
            while True:
                asked, _ = listener.accept()
                with asked:
                    socket.send_fds(asked, [b"\0"], [segment.file])

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield segment
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
