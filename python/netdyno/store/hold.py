"""One writer a run: a lock on its folder, which the kernel releases when the process ends."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from netdyno.store.schema import StoreError

PATIENCE_S = 0.5
"""Somebody who only looks whether a run is held has it for an instant: ask again for this long."""


class Hold:
    """Keeps other processes from writing a run, until it is closed or the process ends."""

    def __init__(self, folder: Path) -> None:
        """Raises StoreError if another process writes the run, or there is no such folder."""
        try:
            self._descriptor = _open(folder)
        except OSError as error:
            raise StoreError(
                f"{folder}: {error.strerror}", "`netdyno list` shows the runs", code="no-such-run"
            ) from error
        end = time.monotonic() + PATIENCE_S
        while not _lock(self._descriptor, fcntl.LOCK_EX):
            if time.monotonic() > end:
                self.close()
                raise StoreError(
                    f"{folder}: another process is writing this run",
                    "wait until it has ended, or stop it",
                    code="run-in-use",
                )
            time.sleep(0.02)

    def close(self) -> None:
        """Lets go. May be called again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_held(folder: Path) -> bool:
    """Whether a process is writing the run. True also where the file system has no locks: it is unknown."""
    try:
        descriptor = _open(folder)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks: there the user alone sees to it.
        pass
    return True
