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

COMPARISONS = ("terminal", "html", "markdown", "json")
"""A module each."""


def render(found: Comparison, name: str, look: Look) -> bytes:
    """A comparison as a report. name: one of COMPARISONS."""
    module = f"netdyno.reports.comparisons.{name}"
    page: bytes = load_entry(module, "render", FunctionType)(found, look)
    return page
