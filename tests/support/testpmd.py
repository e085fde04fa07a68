"""DPDK's testpmd as the device of a test."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

DEADLINE_S = 60


def skip_without() -> None:
    """Skips where it is not to be had, or there is no core for it."""
    if shutil.which("dpdk-testpmd") is None:
        pytest.skip("no dpdk-testpmd: apt-get install dpdk-dev")
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("testpmd takes cores 0 and 1")


@contextmanager
def run_testpmd(command: Sequence[str], runtime: Path) -> Iterator[None]:
    """It runs meanwhile. runtime: where it keeps what it shares with others of its kind."""
    with subprocess.Popen(
        command,
        env={**os.environ, "RUNTIME_DIRECTORY": str(runtime)},
        # At the end of its input it would end.
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as device:
        try:
            yield
        finally:
            device.kill()


def wait_for(socket: Path) -> None:
    """Until somebody listens there."""
    deadline = time.monotonic() + DEADLINE_S
    while not socket.exists():
        assert time.monotonic() < deadline, f"nobody listens at {socket}"
        time.sleep(0.05)
