"""A check of a calibration in one line, for the terminal."""

from __future__ import annotations

from netdyno.calibration.document import Check
from netdyno.errors import counted
from netdyno.values.printable import printable

SHORT = 60
"""Characters of a check's result that are printed while it runs."""
MARKS = {"pass": "pass", "warn": "WARN", "fail": "FAIL", "n/a": "n/a "}


def mark(check: Check) -> str:
    """One line on how a check ended, with its value if that is short."""
    found = f": {check.value}" if check.value and len(check.value) <= SHORT else ""
    return printable(f"{MARKS[check.mark]}  {format_title(check)}{found}")


def format_title(check: Check, *, workers: bool = False) -> str:
    """Its number, title and scope. workers: with how many workers it was made, too."""
    title = f"{check.name} {check.title}" + (f" ({check.scope})" if check.scope else "")
    if workers and check.workers is not None:
        title += f", {counted(check.workers, 'worker')}"
    return title
