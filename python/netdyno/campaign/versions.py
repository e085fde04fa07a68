"""What a run is made with: the program, its engine, and the machine."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from netdyno.ports.processor import read_processor
from netdyno.store import SQLITE_VERSION
from netdyno.testers import TESTERS

if TYPE_CHECKING:
    from netdyno.plan import Plan
    from netdyno.testers import TesterEntry


def versions(tester: TesterEntry, plan: Plan | None = None) -> dict[str, str]:
    """What a run was made with. plan: other hosts may have all its ports, and the programs of its tester.

    Raises TesterMissingError.
    """
    if plan and plan.lab.hosts and all(link.host or link.server for link in plan.lab.links):
        # The engine joins here what hosts counted.
        tester = TESTERS["netdyno"]
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
