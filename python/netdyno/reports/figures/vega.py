"""How every figure looks, and the parts of Vega-Lite specs that figures have in common.

The palette is that of Okabe and Ito, chosen for readers who are colour-blind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]
"""A part of a figure, as Vega-Lite has it. The tests hold whole figures against its schema."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
TYPES = {"Q": "quantitative", "N": "nominal"}

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F3C8D", "#4D4D4D")
DASHES = ((1, 0), (7, 4), (2, 2.5), (10, 3, 2, 3))
SHAPES = ("circle", "square", "diamond", "triangle-up")
WIDTH = 860
"""Of a figure as wide as the page."""
FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"
INK, SOFT, AXIS, GRID = "#1f2933", "#52606d", "#9aa5b1", "#e4e7eb"
CONFIG = {
    "background": "white",
    "padding": 4,
    "view": {"stroke": None},
    "title": {
        "font": FONT,
        "fontSize": 12.5,
        "fontWeight": "bold",
        "color": INK,
        "anchor": "start",
        "offset": 8,
    },
    "legend": {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "labelColor": INK,
        "columnPadding": 18,
    },
    "axis": {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 11,
        "titleFontSize": 11.5,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelColor": SOFT,
        "titleColor": SOFT,
        "gridColor": GRID,
        "domainColor": AXIS,
        "tickColor": AXIS,
    },
}


@dataclass(frozen=True)
class Figure:
    """A figure of a report. live: the spec the page draws. profile: of its cases; empty: of several."""

    key: str
    title: str
    note: str
    live: Spec
    profile: str = ""


def legend(**more: Any) -> Spec:
    """A legend above the figure, as all of them have it."""
    usual = {
        "title": None,
        "orient": "top",
        "symbolStrokeWidth": 2.5,
        "symbolOpacity": 1,
        "symbolSize": 110,
        "padding": 6,
        "labelLimit": 320,
    }
    return {**usual, **more}


def scale(domain: Sequence[str], marks: Sequence[Any]) -> Spec:
    """Each name its mark, in turns if there are more names than marks."""
    wheel = list(marks)
    return {"domain": list(domain), "range": [wheel[i % len(wheel)] for i in range(len(domain))]}


def of(column: str, **more: Any) -> Spec:
    """A column and its type: `x:Q` is a quantity, `case:N` a name."""
    field, _, kind = column.partition(":")
    return {"field": field, **({"type": TYPES[kind]} if kind else {}), **more}


def layer(data: str, mark: str, look: Spec, **encoding: Any) -> Spec:
    """Marks of one sort over named rows. look: of the marks. encoding: what stands for which column."""
    return {"data": {"name": data}, **marks(mark, look, **encoding)}


def marks(mark: str, look: Spec, **encoding: Any) -> Spec:
    """Marks of one sort over the rows of the whole figure."""
    return {"mark": {"type": mark, **look}, "encoding": encoding}


def short(number: Fraction, digits: int = 5) -> float:
    """A number of a row, as exact as it is drawn."""
    return float(f"{float(number):.{digits}g}")


def zoom(name: str, views: Sequence[str]) -> dict[str, Any]:
    """These views move together. A plain wheel turns the page; with shift it zooms."""
    select = {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.shiftKey]"}
    return {"name": f"zoom_{name}", "select": select, "bind": "scales", "views": list(views)}


def still(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec without what only moves: no zoom, no points nobody sees, which would be most of its bytes."""
    found: dict[str, Any] = _without_hover({key: part for key, part in spec.items() if key != "params"})
    return found


def _without_hover(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {key: part if key == "datasets" else _without_hover(part) for key, part in spec.items()}
    if isinstance(spec, list):
        return [_without_hover(part) for part in spec if not _unseen(part)]
    return spec


def _unseen(part: Any) -> bool:
    mark = part.get("mark") if isinstance(part, dict) else None
    return isinstance(mark, dict) and mark.get("opacity") == 0
