"""The figure of a service activation test (ITU-T Y.1564): which step of which service passed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from netdyno.reports.figures import vega
from netdyno.reports.figures.vega import marks, of
from netdyno.reports.model.shown import records
from netdyno.reports.model.view import RunView
from netdyno.values import number as printed

NOTE = "Below each word: the rate received, L2, and of a failed step the bound that it broke."
RESULTS = ("fail", "not known", "pass")
"""Of a step of a service, the worst first."""
WORDS = {"fail": "FAIL", "not known": "?", "pass": "pass"}
TILES = {"fail": "#b3261e", "not known": "#e4e7eb", "pass": "#c5e8da"}
NO_LINES = {"domain": False, "ticks": False, "grid": False}


def spec(run: RunView, width: int, height: int) -> dict[str, Any] | None:
    """A tile for each step of each service: passed or not, and what a failed one found."""
    tiles: dict[tuple[str, str], dict[str, Any]] = {}
    for case in run.cases:
        steps = [*records(case, "Service configuration"), *records(case, "Service performance")]
        for record in steps:
            service = str(record["service"])
            who = f"{run.name_apart(case)}: {service}" if len(run.cases) > 1 else service
            step = str(record.get("step", "performance"))
            result = str(record["result"])
            result = result if result in RESULTS else "not known"
            tile = {"who": who, "step": step, "result": result, "found": _found(record)}
            known = tiles.setdefault((who, step), tile)
            if RESULTS.index(tile["result"]) < RESULTS.index(known["result"]):
                known |= tile
    rows = [{**tile, "word": WORDS[tile["result"]]} for tile in tiles.values()]
    if not rows:
        return None
    names, steps = (list(dict.fromkeys(row[key] for row in rows)) for key in ("who", "step"))
    x_axis = {"title": None, "orient": "top", "labelAngle": 0, "labelLimit": 90, **NO_LINES}
    y_axis = {"title": None, "labelFontSize": 13, "labelLimit": 200, **NO_LINES}
    colours = [TILES[result] for result in RESULTS]
    colour = of("result:N", scale=vega.scale(RESULTS, colours), legend=None)
    look = {"font": vega.FONT, "fontSize": 12}
    failed = {"condition": {"test": "datum.result === 'fail'", "value": "white"}, "value": vega.INK}
    below = {"dy": 5, "lineBreak": "\n", **look, "fontSize": 9.5}
    return {
        # Narrower tiles could not hold their numbers.
        "usermeta": {"keepWidth": True},
        "width": max(width - 60, 76 * len(steps)),
        "height": min(2 * height, 62 * len(names)),
        "data": {"values": rows},
        "encoding": {
            "x": of("step:N", sort=None, scale={"paddingInner": 0.04}, axis=x_axis),
            "y": of("who:N", sort=None, scale={"paddingInner": 0.08}, axis=y_axis),
            "tooltip": [of("who", title="service"), of("step"), of("result"), of("found")],
        },
        "layer": [
            marks("rect", {"cornerRadius": 3}, color=colour),
            marks("text", {"fontWeight": "bold", "dy": -12, **look}, text=of("word"), color=failed),
            marks("text", below, text=of("found"), color=failed),
        ],
    }


def _found(record: Mapping[str, Any]) -> str:
    """The rate, `100 Mbit/s`; of a failed step in a line of its own the bound that it broke: `> 151.5`."""
    rate = record["IR, L2"]
    if not isinstance(rate, Fraction):
        return ""
    number, unit = _short(rate)
    if record["result"] == "fail":
        for sign, bound in ((">", record.get("IR at most, L2")), ("<", record.get("IR at least, L2"))):
            if isinstance(bound, Fraction) and (rate > bound if sign == ">" else rate < bound):
                limit, of = _short(bound)
                return f"{number} {unit}\n{sign} {limit}{'' if unit == of else f' {of}'}"
    return f"{number} {unit}"


def _short(rate: Fraction) -> tuple[str, str]:
    number, unit = printed.rate(rate, "bit/s").split(" ")
    return number.rstrip("0").rstrip(".") if "." in number else number, unit
