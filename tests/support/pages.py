"""Reports as text."""

from __future__ import annotations

from netdyno.reports import FORMATS, Look
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.view import RunView

OF_RUNS = tuple(name for name, one in FORMATS.items() if not one.is_of_a_case)
"""Formats that show a run of any kind and number of cases."""


def report_text(name: str, *runs: RunView) -> str:
    """The report of that name on the runs, 100 columns wide and without colour."""
    return FORMATS[name].render(RunSet(runs), Look()).decode()
