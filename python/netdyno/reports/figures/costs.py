"""The figure of what services cost: a bar for each service, as long as its rate, with the cost beside it."""

from __future__ import annotations

from typing import Any

from netdyno.reports.figures import vega
from netdyno.reports.figures.vega import marks, of, short
from netdyno.reports.model.families import cost_of, text
from netdyno.reports.model.view import RunView

TITLE = "Rate with each service"
NOTE = "Beside each bar: the rate, and by how much it is below the rate without the service."
MOST = 40
"""Bars: two sizes of twenty services."""


def spec(run: RunView, width: int) -> dict[str, Any] | None:
    """Bars of the cases with a rate, in the order of the plan; None: there are none, or too many."""
    rows: list[dict[str, Any]] = []
    for case in run.cases:
        value = case.headline
        if value is None or value.number is None:
            continue
        cost = cost_of(case)
        rows.append(
            {
                "who": case.name,
                "rate": short(value.number / 1000),
                "label": text(case, value) + (f", cost {cost[0]}" if cost else ""),
                "profile": case.profile,
            }
        )
    if not 2 <= len(rows) <= MOST:
        return None
    top = max(row["rate"] for row in rows)
    profiles = list(dict.fromkeys(row["profile"] for row in rows))
    x = of("rate:Q", title="rate, kpps", scale={"domain": [0, 1.4 * top], "nice": False})
    legend = {"title": None, "orient": "top"} if len(profiles) > 1 else None
    colour = of("profile:N", scale=vega.scale(profiles, vega.PALETTE), legend=legend)
    look = {"align": "left", "dx": 5, "font": vega.FONT, "color": vega.INK}
    return {
        "data": {"values": rows},
        "width": width,
        "height": 26 * len(rows),
        "encoding": {"y": of("who:N", sort=None, axis={"title": None, "labelLimit": 220})},
        "layer": [
            marks("bar", {"height": 14}, x=x, color=colour),
            marks("text", look, x=of("rate:Q"), text=of("label")),
        ],
    }
