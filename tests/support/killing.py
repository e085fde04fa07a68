"""Runs a step in a child process that is killed at a chosen moment: between operations, or within a write."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Moments:
    """Counts what a child does, and kills it at one of these moments. at: from 1; 0: never."""

    at: int
    count: int = 0

    def step(self, _what: str) -> None:
        """A moment between two operations."""
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch_writes(self) -> None:
        """Counts writes of files as well: before, in the middle, and before and after the disk has them."""
        write, fsync = os.write, os.fsync

        def torn_write(file: int, data: bytes) -> int:
            self.step("write")
            self.count += 1
            if self.count == self.at:
                write(file, data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return write(file, data)

        def counted_fsync(file: int) -> None:
            self.step("fsync")
            fsync(file)
            self.step("on disk")

        # Only in a child that never returns.
        os.write, os.fsync = torn_write, counted_fsync  # type: ignore[assignment]


def run_in_child(work: Callable[[Moments], None], at: int = 0) -> tuple[bool, int]:
    """Whether a child was killed, and the number of moments that it counted if it was not."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            moments = Moments(at)
            plain_write = os.write
            moments.watch_writes()
            work(moments)
            plain_write(writing, str(moments.count).encode())
        except BaseException as error:
            plain_write(writing, f"!{error!r}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    if said.startswith("!"):
        raise AssertionError(said)
    return os.WIFSIGNALED(status), int(said or 0)
