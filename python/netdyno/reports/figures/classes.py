"""The figure of classes of traffic: what each lost and how long it took, as the load rises."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from netdyno.reports.figures import vega
from netdyno.reports.figures.vega import marks, of, short
from netdyno.reports.model.shown import records
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.classes import CLASS, HIGH, LOAD, LOSS, TABLE

TITLE = "Loss and latency of each class against load"
NOTE = "All directions together; of a latency the worst."
MOST_LINES = 12
"""Of classes times cases: more are not told apart."""
DASHES = ([1, 0], [5, 4], [1, 3], [8, 3, 2, 3])


def spec(run: RunView, width: int, height: int) -> dict[str, Any] | None:
    """Loss beside latency, over the load; None without classes, or at one load only.

    Colour is the class, dash and mark are the case.
    """
    rows = [row for case in run.cases for row in _rows(run, case)]
    classes = list(dict.fromkeys(row["who"] for row in rows))
    cases = list(dict.fromkeys(row["case"] for row in rows))
    loads = {row["load"] for row in rows}
    if len(classes) < 2 or len(loads) < 2 or len(classes) * len(cases) > MOST_LINES:
        return None
    x = of("load:Q", title="load of a port, % of line", scale={"zero": False, "nice": False, "padding": 10})
    latencies = [row["us"] for row in rows if row["us"]] or [1.0, 10.0]
    log = {"type": "log", "domain": [min(latencies) / 1.5, max(latencies) * 1.5], "nice": False}
    ups = {
        "loss": of("loss:Q", title="lost, %", scale={"domainMin": 0}),
        "us": of("us:Q", title="latency p99, us (log)", scale=log),
    }
    drawn = [key for key in ups if any(row[key] for row in rows) or key == "loss"]
    colour = of("who:N", scale=vega.scale(classes, vega.PALETTE), legend=vega.legend(columns=4))
    named = vega.legend(symbolType="stroke", symbolSize=400) if len(cases) > 1 else None
    dash = of("case:N", scale=vega.scale(cases, DASHES), legend=named)
    tooltip = [
        of("case"),
        of("who", title="class"),
        of("load", title="load, % of line"),
        of("loss", title="lost, %"),
        of("us", title="latency p99, us"),
    ]
    panels = [
        {
            "width": width // len(drawn) - 55 * (len(drawn) - 1),
            "height": height,
            "transform": [{"filter": f"datum.{key} !== null"}],
            "encoding": {"x": x, "y": ups[key], "color": colour, "tooltip": tooltip},
            "layer": [
                marks("line", {}, strokeDash=dash),
                {"mark": {"type": "point", "filled": True, "size": 40, "opacity": 1}},
            ],
        }
        for key in drawn
    ]
    return {"data": {"values": rows}, "hconcat": panels, "spacing": 24}


def _rows(run: RunView, case: CaseView) -> list[dict[str, Any]]:
    found = []
    part = case.situation.load_part if case.situation else Fraction(1)
    line_fps = None if case.line_fps is None else case.line_fps * part
    for record in records(case, TABLE):
        load, loss, high = (record[name] for name in (LOAD, LOSS, HIGH))
        if not isinstance(load, Fraction) or not isinstance(loss, Fraction) or not line_fps:
            continue
        found.append(
            {
                "case": run.name_apart(case),
                "who": record[CLASS],
                "load": short(100 * load / line_fps),
                "loss": short(100 * max(loss, Fraction(0))),
                "us": short(high / 1000) if isinstance(high, Fraction) and high else None,
            }
        )
    return found
