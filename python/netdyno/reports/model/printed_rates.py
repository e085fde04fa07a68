"""Rates that the device printed, as a table: each with what the tester's traffic predicts over its window."""

from __future__ import annotations

from collections import Counter

from netdyno.errors import counted
from netdyno.reports.model import device
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed

COLUMNS = ("Port", "Trial", "Way", "Window", "Device printed", "Tester predicts", "Answer")
TITLE = "Rates the device printed"
MOST_ROWS = 40
"""Of a search with many trials the first ones."""


def caption(case: CaseView) -> str:
    """Why averages that the device printed are not compared, once for each reason; empty: all are."""
    left = Counter(str(one.answer) for _, one in device.printed_rates(case) if one.predicted is None)
    return " ".join(f"Not compared: {counted(many, 'average')}, {why}." for why, many in left.items())


def rows(case: CaseView) -> list[tuple[str, ...]]:
    """A row for each rate that could be compared; empty: none could, or the device printed none."""
    found = []
    compared = [(trial, one) for trial, one in device.printed_rates(case) if one.predicted is not None]
    for trial, one in compared[:MOST_ROWS]:
        unit = "pps" if one.is_of_frames else "bit/s"
        numbers = ("" if rate is None else printed.rate(rate, unit) for rate in (one.rate, one.predicted))
        window = printed.duration(one.window_ns)
        found.append((one.port, trial.name, one.way, window, *numbers, str(one.answer)))
    return found
