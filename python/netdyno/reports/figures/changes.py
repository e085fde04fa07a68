"""The first figure of a comparison: each change with its interval, over a line where nothing has changed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from netdyno.reports.figures import vega
from netdyno.reports.figures.vega import Figure, marks, of, short
from netdyno.reports.model.compared import Comparison
from netdyno.reports.model.comparison_screen import change_text, interval_of, name_row
from netdyno.stats.intervals import Interval

MOST = 48
"""Rows."""
COLOURS = {
    "worse": vega.PALETTE[1],
    "better": vega.PALETTE[2],
    "more": vega.PALETTE[0],
    "less": vega.PALETTE[4],
    "no difference shown": vega.AXIS,
}
NOTE = "Dot: the change, per cent of {}. Line: its interval, as in the table."


def figure(found: Comparison, width: int = 420) -> Figure | None:
    """The changes that have an interval; None: there are none."""
    rows: list[dict[str, Any]] = []
    several = len(found.names) > 2
    for row in found.rows:
        for change in row.changes:
            difference = change.difference
            if difference is None or change.why or difference.share is None:
                continue
            # Of the least that a change is there is no interval.
            interval = interval_of(row, change) or Interval(difference.change, difference.change)
            ends = [difference.as_share(end) or Fraction(0) for end in (interval.low, interval.high)]
            name = name_row(found, row)
            rows.append(
                {
                    "case": f"{name}, {found.names[change.side]}" if several else name,
                    "change": short(100 * difference.share),
                    "low": short(100 * ends[0]),
                    "high": short(100 * ends[1]),
                    "outcome": "no difference shown" if change.outcome == "none shown" else change.outcome,
                    "label": change_text(row, change),
                }
            )
    if not rows:
        return None
    # Of too many those that are shown come first.
    many = len(rows)
    if many > MOST:
        rows = sorted(rows, key=lambda row: row["outcome"] == "no difference shown")[:MOST]
    outcomes = [name for name in COLOURS if any(row["outcome"] == name for row in rows)]
    colour = of(
        "outcome:N",
        scale={"domain": outcomes, "range": [COLOURS[name] for name in outcomes]},
        legend=vega.legend(),
    )
    y = of("case:N", sort=None, axis={"title": None, "labelLimit": 280})
    # The room left of a loss of all is no change.
    labels = {"labelExpr": "datum.value < -100 ? '' : datum.label", "labelFlush": False, "tickCount": 8}
    x = of(
        "change:Q",
        axis={"title": "change, %", **labels},
        scale={"zero": True, "nice": True, "padding": 20},
    )
    dot = {"filled": True, "size": 80, "opacity": 1, "tooltip": True}
    live = {
        "$schema": vega.SCHEMA,
        "config": vega.CONFIG,
        "data": {"values": rows},
        "width": width,
        "height": 22 * len(rows) + 10,
        "layer": [
            marks("rule", {"color": vega.INK, "strokeDash": [4, 3]}, x={"datum": 0}),
            marks("rule", {"strokeWidth": 2.5}, x=of("low:Q"), x2=of("high"), y=y, color=colour),
            marks("point", dot, x=x, y=y, color=colour),
        ],
    }
    note = NOTE.format(found.names[0]) + (f" {MOST} of {many}: the table has all." if many > MOST else "")
    return Figure("changes", "Changes", note, live)
