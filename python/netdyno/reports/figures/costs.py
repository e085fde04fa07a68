"""The figure of what services cost: a bar for each service, as long as its rate, with the cost beside it."""

from __future__ import annotations

from typing import Any

from netdyno.reports.figures import vega
from netdyno.reports.figures.vega import marks, of, short
from netdyno.reports.model.answer import text
from netdyno.reports.model.families.service_cost import cost_of, time_of
from netdyno.reports.model.view import ALL, CaseView, RunView

TITLE = "Rate with each service"
NOTE = "The rate, and its cost; beside it, where measured, how much longer a core works for a frame."
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
        is_shown = cost.value is not None and cost.would is None
        rows.append(
            {
                "who": run.name_apart(case),
                "rate": short(value.number / 1000),
                "label": text(case, value) + (f", cost {cost.text}" if is_shown else ""),
                "profile": case.profile,
                **_time(case),
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
    # A panel leaves out what it has no number of, unless the names are given.
    names = {"domain": [row["who"] for row in rows]}
    y = of("who:N", scale=names, axis={"title": None, "labelLimit": 220})
    rates = [
        marks("bar", {"height": 14}, x=x, color=colour),
        marks("text", look, x=of("rate:Q"), text=of("label")),
    ]
    height = 26 * len(rows)
    if not any("ns" in row for row in rows):
        return {
            "data": {"values": rows},
            "width": width,
            "height": height,
            "encoding": {"y": y},
            "layer": rates,
        }
    most = max(1, *(row["high"] for row in rows if "ns" in row))
    ns = of("ns:Q", title="a frame more, ns", scale={"domain": [0, 1.5 * most], "nice": False, "clamp": True})
    times = [
        marks("bar", {"height": 14, "opacity": 0.8}, x=ns, color=colour),
        marks("rule", {"strokeWidth": 2, "color": vega.INK}, x=of("low:Q"), x2=of("high")),
        marks("text", look, x=of("high:Q"), text=of("time")),
    ]
    bare = of("who:N", scale=names, axis=None)
    panels = ((y, rates), (bare, times))
    return {
        "data": {"values": rows},
        "spacing": 10,
        "hconcat": [
            {"width": width // 2, "height": height, "encoding": {"y": of_names}, "layer": layer}
            for of_names, layer in panels
        ],
    }


def _time(case: CaseView) -> dict[str, Any]:
    """The time of a frame with its interval; nothing where it was not measured."""
    time = None if case.result is None else case.result.of_role("frame time", ALL)
    if time is None or time.number is None or time.low is None or time.high is None:
        return {}
    ends = {"ns": time.number, "low": time.low, "high": time.high}
    return {**{key: short(ns) for key, ns in ends.items()}, "time": time_of(time)}
