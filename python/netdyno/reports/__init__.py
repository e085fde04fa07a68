"""Renderings of a stored run, one file each, and their table. They measure nothing and write no store.

`render(run, "html")` gives the text of a report. Adding a rendering is one file with
`render(view: RunView) -> str` and one line in `REPORTS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netdyno.reports.model.view import RunView
    from netdyno.store import StoredRun


@dataclass(frozen=True)
class Report:
    """A rendering."""

    name: str
    """What `--as` calls it; the module of this package that renders it."""
    suffix: str
    """Of a file that holds it."""
    help: str

    def render(self, view: RunView) -> str:
        """The report as text. The module is imported only here: figures are slow to import."""
        text: str = import_module(f"netdyno.reports.formats.{self.name.replace('-', '_')}").render(view)
        return text


REPORTS: dict[str, Report] = {
    report.name: report
    for report in (
        Report(
            "terminal", ".txt", "tables for a terminal: every number, its share of line rate and its limit"
        ),
        Report("summary", ".summary.txt", "one screen, as `netdyno run` ends: headline numbers and limits"),
        Report("brief", ".brief.txt", "one line: the range of the headline numbers, and the limits"),
        Report(
            "html", ".html", "one self-contained page with zoomable figures; works offline, prints to PDF"
        ),
        Report("markdown", ".md", "the tables, for an article or a wiki"),
        Report("csv", ".csv", "one row a value, exact counts, units in the column names; not the tables"),
        Report(
            "tables", ".tables.csv", "the tables of the methods and of modifiers as CSV, one after the other"
        ),
        Report("json", ".json", "everything but the series: settings, values, counts, phases, health"),
        Report(
            "json-small",
            ".small.json",
            "the results alone: plain numbers with their unit in the key, and exact",
        ),
    )
}
"""In the order `--help` lists them."""


def render(run: StoredRun, name: str) -> str:
    """A stored run as a report. Raises KeyError for a name that is not in REPORTS."""
    from netdyno.reports.model.from_store import view

    return REPORTS[name].render(view(run))
