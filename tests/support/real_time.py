"""Refuses real time and network namespaces to tests outside of tests/real, which run in parallel."""

from __future__ import annotations

import os
import sys

EVENTS = {
    "netdyno.real_time": "opens a session in real time",
    "netdyno.namespace": "builds a network namespace",
}
"""Audit events of netdyno (sys.audit), and what a test that raises one does."""

REFUSED: list[str] = []
"""What was refused in this process since somebody looked."""


def refuse(event: str, _arguments: object) -> None:
    """Raises RuntimeError for what a test outside of tests/real may not do."""
    if event not in EVENTS:
        return
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if test and not test.startswith("tests/real/"):
        why = f"{test} {EVENTS[event]}: such tests run alone, move it to tests/real/"
        REFUSED.append(why)
        raise RuntimeError(why)


def forbid_real_time() -> None:
    """From now on, in this process; nothing takes it away."""
    sys.addaudithook(refuse)
