"""What a run is made with: the program, its engine, and the machine."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from netdyno.ports.processor import read_processor
from netdyno.store import SQLITE_VERSION

if TYPE_CHECKING:
    from netdyno.testers import TesterEntry


def versions(tester: TesterEntry) -> dict[str, str]:
    """What a run was made with."""
    try:
        own = version("netdyno")
    except PackageNotFoundError:
        own = "unknown (not installed)"
    return {
        "netdyno": own,
        **tester.load().versions(),
        "python": platform.python_version(),
        "sqlite": SQLITE_VERSION,
        "kernel": platform.release(),
        "cpu": read_processor()[0],
    }
