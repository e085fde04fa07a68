"""The figures of the methods' tables as Vega-Lite: a line for each case, over what its method said.

What was not measured (a line rate, what was asked for) is dashed and grey. Colour stands for the case; where
a case has several lines, dash and marker tell them apart, so that nothing depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import log10
from typing import Any

from netdyno.reports.figures import vega
from netdyno.reports.figures.vega import Spec, layer, of
from netdyno.reports.model.table import Line, Table, text
from netdyno.values.finding import Column, Figure

MOST_LINES = 8
"""Of one figure, those of its references not counted: as many as there are colours."""
MOST_REFERENCES = 2
"""Cases up to which each has a reference of its own name and colour."""
COLUMNS = 4
"""Of the legend."""
MARKED = 60
"""Points of a line up to which each has a mark."""
TICKS = 12
"""Frame sizes up to which each has a tick of its own."""
HEIGHT = 300
NUMBERS = ",.6~f"
"""How axes write numbers."""

PREFIXES = ((10**6, "Mpps"), (10**3, "kpps"), (1, "pps"))
BIT_PREFIXES = ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s"), (1, "bit/s"))
TIMES = ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns"))


def drawn(table: Table, key: str) -> list[vega.Figure]:
    """The figures of a table: one, or one for each of its cases where one could not be read."""
    if table.figure is None or not _is_measured(table.lines) or not _spreads(table.lines):
        return []
    # Of a case without a number there is nothing but what the line carries.
    groups = [group for group in _groups(table.lines) if _is_measured(group[1])]
    found = []
    for number, (title, lines) in enumerate(groups, 1):
        name = key if len(groups) == 1 else f"{key}-{number}"
        found.append(vega.Figure(name, title, "", _figure(table, lines, name)))
    return found


def _is_measured(lines: Sequence[Line]) -> bool:
    return any(not line.reference for line in lines)


def _spreads(lines: Sequence[Line]) -> bool:
    """Whether there is more than one place on the axis: over a single one all marks lie on each other."""
    return len({point.x for line in lines for point in line.points}) > 1


def _groups(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """Lines that stand together, and what they have in common.

    Parted by those parts of who they are that make the fewest figures of which none has too many lines.
    """
    parts = range(max(len(line.who) for line in lines))
    ways = [by for count in range(len(parts) + 1) for by in combinations(parts, count)]
    found = [_parted(lines, by) for by in ways]
    readable = [groups for groups in found if all(_whos(group) <= MOST_LINES for _, group in groups)]
    return min(readable or found[-1:], key=len)


def _whos(lines: Sequence[Line]) -> int:
    return len({line.who for line in lines if not line.reference})


def _parted(lines: Sequence[Line], by: Sequence[int]) -> list[tuple[str, list[Line]]]:
    """A group for each combination of these parts; what is of no case is in all of them."""
    common = [line for line in lines if not line.who]
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        if line.who:
            rest = tuple(part for place, part in enumerate(line.who) if place not in by)
            groups.setdefault(tuple(line.who[place] for place in by), []).append(replace(line, who=rest))
    if not groups:
        return [("", common)]
    return [(" / ".join(part for part in own if part), [*group, *common]) for own, group in groups.items()]


class _Axis:
    """One axis: a unit that suits its numbers, and where a number of the table stands on it."""

    def __init__(self, column: Column, numbers: Sequence[Fraction], *, percentiles: bool = False) -> None:
        top = max((abs(number) for number in numbers), default=Fraction(0))
        self.of, self.percentiles = column, percentiles
        self.divisor, self.unit = _scale(column.unit, top)
        self.title = f"{column.name}, {self.unit}" if self.unit else column.name

    def place(self, number: Fraction) -> float:
        """Of a percentile p the tens in 1/(1-p): from 90 to 99 % it is as far as from 99 to 99.9 %."""
        if self.percentiles:
            return log10(1 / (1 - number))
        return float(f"{float(number / self.divisor):.6g}")


def _scale(unit: str, top: Fraction) -> tuple[Fraction, str]:
    match unit:
        case "fps":
            steps: Sequence[tuple[int, str]] = PREFIXES
        case "bps":
            steps = BIT_PREFIXES
        case "ns":
            steps = TIMES
        case "at":
            steps = ((3600 * 10**9, "h"), (10**9, "s")) if top >= 2 * 3600 * 10**9 else ((10**9, "s"),)
        case "share":
            return Fraction(1, 100), "%"
        case "B":
            return Fraction(1), "bytes"
        case _:
            return Fraction(1), unit
    factor, word = next((step for step in steps if top >= step[0]), steps[-1])
    return Fraction(factor), word


PERCENTILE_TICKS = (0, log10(2), 1, 2, 3, 4, 5, 6, 7, 8, 9)
PERCENTILE_LABELS = "format(100 - 100 / pow(10, datum.value), '.7~f')"
"""0, 50, 90, 99, 99.9 %, as an expression of Vega."""


class _Look:
    """Which colour and mark each line has, and what the legend says of it."""

    def __init__(self, lines: Sequence[Line]) -> None:
        measured = [line for line in lines if not line.reference]
        self.whos = list(dict.fromkeys(line.label for line in measured))
        self.ys = list(dict.fromkeys(line.y for line in measured))
        # Both at once: colour is who, dash and marker which column. One alone has all of them.
        self.both = len(self.whos) > 1 and len(self.ys) > 1
        # References of many cases have one name and one colour: their legend would be longer than the figure.
        self.named_once = len({line.label for line in lines if line.reference}) > MOST_REFERENCES
        keys = list(dict.fromkeys(self.key(line) for line in measured))
        references = list(dict.fromkeys(self.key(line) for line in lines if line.reference))
        colours = {key: vega.PALETTE[place % len(vega.PALETTE)] for place, key in enumerate(keys)}
        for line in lines:
            if line.reference:
                own = line.who and not self.named_once
                colours[self.key(line)] = colours.get(line.label, vega.SOFT) if own else vega.SOFT
        # Where lines coincide the later one is thinner, so that each is seen.
        step = min(1.4, 5 / len(keys))
        self.widths = {key: 1.8 + step * (len(keys) - 1 - place) for place, key in enumerate(keys)}
        self.width = of("width:Q", scale=None, legend=None)
        names = [*keys, *references]
        shown = vega.legend(columns=COLUMNS, labelLimit=220) if len(names) > 1 else None
        self.colour = of(
            "line:N", scale={"domain": names, "range": [colours[name] for name in names]}, legend=shown
        )
        if self.both:
            marks = vega.scale(self.ys, vega.SHAPES)
            named = vega.legend(symbolFillColor=vega.SOFT, symbolStrokeWidth=0)
            self.shape = of("column:N", scale=marks, legend=named)
            dashes = vega.scale(self.ys, [list(dash) for dash in vega.DASHES])
            self.dash = of("column:N", scale=dashes, legend=named)
        else:
            wheel = [vega.SHAPES[place % len(vega.SHAPES)] for place in range(len(keys))]
            range_ = [*wheel, *["stroke"] * len(references)]
            self.shape = of("line:N", scale={"domain": names, "range": range_}, legend=shown)
            self.dash = {"value": [1, 0]}

    def key(self, line: Line) -> str:
        """What a line is called by its colour."""
        if line.reference:
            return f"{line.label}: {line.y}" if line.who and not self.named_once else line.y
        if len(self.whos) > 1:
            return line.label
        return line.y


def _figure(table: Table, lines: Sequence[Line], name: str) -> dict[str, Any]:
    figure = table.figure
    assert figure is not None
    columns = {column.name: column for column in table.columns}
    points = [point for line in lines for point in line.points]
    numbers = [point.x for point in points if isinstance(point.x, Fraction)]
    x = _Axis(columns[figure.x], numbers, percentiles=figure.log_x)
    measured = [name for name in figure.ys if name not in figure.reference] or figure.ys
    y = _Axis(columns[measured[0]], [point.most for point in points])
    look = _Look(lines)
    rows = [row for line in lines for row in _rows(line, look, x, y)]
    view = f"{name}_lines".replace("-", "_")
    layers = _layers(table, look, rows, x, y)
    layers[0] = {**layers[0], "name": view}
    return {
        "$schema": vega.SCHEMA,
        "config": vega.CONFIG,
        "params": [vega.zoom(view, [view])],
        "datasets": {
            "measured": [row for row in rows if not row["reference"]],
            "references": [row for row in rows if row["reference"]],
        },
        "width": vega.WIDTH,
        "height": HEIGHT,
        "layer": layers,
    }


def _rows(line: Line, look: _Look, x: _Axis, y: _Axis) -> list[dict[str, Any]]:
    return [
        {
            "line": look.key(line),
            "column": line.y,
            "who": line.label,
            "reference": line.reference,
            "width": look.widths.get(look.key(line)),
            "at": text(point.x, x.of.unit),
            "x": point.x if isinstance(point.x, str) else x.place(point.x),
            "y": y.place(point.y),
            "lo": y.place(point.least),
            "hi": y.place(point.most),
        }
        for point in line.points
        # The hundredth percentile, the most there was, is at no place of such an axis.
        if not (x.percentiles and (isinstance(point.x, str) or point.x >= 1))
    ]


def _layers(table: Table, look: _Look, rows: Sequence[dict[str, Any]], x: _Axis, y: _Axis) -> list[Spec]:
    figure = table.figure
    assert figure is not None
    across, up = _across(figure, rows, x), _up(figure, look, y)
    shown = {"x": across, "y": up, "color": look.colour}
    each = {**shown, "detail": [of("who:N"), of("column:N")]}
    curve = {"clip": True, "strokeJoin": "round"}
    layers = [layer("measured", "line", curve, **each, strokeDash=look.dash, strokeWidth=look.width)]
    if any(row["reference"] for row in rows):
        dashed = {"clip": True, "strokeDash": [6, 4], "strokeWidth": 1.6}
        layers.append(layer("references", "line", dashed, **each))
        if any(line.reference and len(line.points) == 1 for line in table.lines):
            # A line of one point is invisible: a bar stands for it.
            tick = {"shape": "stroke", "size": 900, "strokeWidth": 2, "opacity": 1, "clip": True}
            layers.append(layer("references", "point", tick, **each))
    if any(row["lo"] < row["hi"] for row in rows if not row["reference"]):
        ends = {**shown, "y": of("lo:Q"), "y2": of("hi")}
        layers.append(layer("measured", "rule", {"clip": True, "strokeWidth": 1.5}, **ends))
    if any(len(line.points) <= MARKED for line in table.lines):
        marks = {
            "filled": True,
            "size": 55,
            "opacity": 1,
            "stroke": "white",
            "strokeWidth": 0.7,
            "clip": True,
        }
        layers.append(layer("measured", "point", marks, **shown, shape=look.shape))
    tooltip = [
        *([of("who:N", title="case")] if any(row["who"] for row in rows) else []),
        of("column:N", title="line"),
        of("at:N", title=figure.x),
        of("y:Q", title=y.title or "value"),
    ]
    unseen = {"size": 110, "opacity": 0, "clip": True}
    layers.append(layer("measured", "circle", unseen, **shown, tooltip=tooltip))
    return layers


def _across(figure: Figure, rows: Sequence[dict[str, Any]], x: _Axis) -> Spec:
    places = sorted({row["x"] for row in rows if not isinstance(row["x"], str)})
    if len(places) < len({row["x"] for row in rows}):
        return of("x:N", sort=None, axis={"title": x.title, "labelAngle": 0})
    if x.percentiles:
        most = max(places, default=1)
        axis = {
            "title": x.title,
            "values": [tick for tick in PERCENTILE_TICKS if tick <= most],
            "labelExpr": PERCENTILE_LABELS,
        }
        return of("x:Q", axis=axis, scale={"domain": [0, most], "nice": False, "padding": 8})
    axis = {"title": x.title, "format": NUMBERS}
    if x.unit == "bytes" and len(places) <= TICKS:
        axis |= {"values": places, "labelOverlap": "greedy"}
    return of("x:Q", axis=axis, scale=_span(figure.x_range, x, zero=False))


def _up(figure: Figure, look: _Look, y: _Axis) -> Spec:
    # Of several columns the legend has the names, and the axis what they share.
    title = y.title if len(look.ys) == 1 else y.unit
    axis = {"title": title or None, "format": NUMBERS}
    return of("y:Q", axis=axis, scale=_span(figure.y_range, y, zero=True))


def _span(ends: tuple[Fraction, Fraction] | None, axis: _Axis, *, zero: bool) -> Spec:
    if ends is None:
        return {"zero": zero, "nice": zero, "padding": 0 if zero else 10}
    # Room for the marks at its ends.
    return {"domain": [axis.place(end) for end in ends], "nice": False, "padding": 6}
