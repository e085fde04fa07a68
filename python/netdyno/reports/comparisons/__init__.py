"""Formats of comparisons of runs, one file each, and their table.

Adding one is a file with `render(found: Comparison, look: Look) -> bytes` and a line in `COMPARISONS`.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

from netdyno.reports import Look
from netdyno.values.table import load_entry

if TYPE_CHECKING:
    from netdyno.reports.model.compared import Comparison

COMPARISONS = {
    "terminal": "one screen: each case on every side, the change, its interval, and whether it is shown",
    "html": "one self-contained page with the table and figures of all runs; works offline, prints to PDF",
    "markdown": "the table, for a pull request or a wiki",
    "json": "all numbers, intervals and chances, for a program",
}
"""What each is, by its name, in the order `--help` lists them."""


def render(found: Comparison, name: str, look: Look | None = None) -> bytes:
    """A comparison as a report. Raises KeyError for a name that is not in COMPARISONS."""
    if name not in COMPARISONS:
        raise KeyError(name)
    module = f"netdyno.reports.comparisons.{name}"
    page: bytes = load_entry(module, "render", FunctionType)(found, look or Look())
    return page
