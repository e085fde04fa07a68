"""The figures of a report as Vega-Lite: one per profile, received against offered, loss below.

The tests check the specs; nothing here draws. Colour stands for the first setting that varies,
dash and marker for the others, so that lines can be told apart without colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from netdyno.reports.figures import series, vega
from netdyno.reports.figures.vega import AXIS, DASHES, PALETTE, SHAPES, Figure, Spec, layer, of
from netdyno.reports.model import grid
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.load import Segment

BUCKETS = 60
DOTS = 16
"""Buckets from one dot of a line to its next."""
HEADROOM = 1.5
"""What was received fills at least this part of the height (as a divisor), however much more was offered."""
LINE_IN_SIGHT = 1.5
"""A line rate is drawn if it is at most this many times the load: else the data is a dot in a corner."""
LEAST_LOSS = 0.01
"""Per cent, where the logarithmic axis of loss begins; no loss stands there, too."""
THRESHOLD = 0.1
"""Per cent of loss that a knee is usually judged by, drawn across the axis."""
ONE_LOAD = 1.05
"""Loads of which the highest is less than this many times the lowest are one load, and no figure over it."""
WIDTHS = {1: vega.WIDTH, 2: 440}
"""Of a panel, by the number of panels beside each other."""


@dataclass(frozen=True)
class _Line:
    """A case as a line of a panel. Rates are in units of `unit`, over all its streams."""

    case: CaseView
    colour: str
    dash: str
    points: tuple[series.Point, ...]

    @property
    def has_several_loads(self) -> bool:
        """Whether its loads are far enough apart for a line over the load."""
        loads = [point.offered_fps for point in self.points]
        return bool(loads) and max(loads) >= ONE_LOAD * min(loads)

    @cached_property
    def hold(self) -> series.Stretch | None:
        """The hold phase of the case; None where it has none."""
        found = (series.stretch(trial, "hold") for trial in self.case.resting_trials)
        return next((stretch for stretch in found if stretch is not None), None)

    @cached_property
    def most_received(self) -> float:
        """The most drawn of the rates received: means of buckets and of the hold; 1 where all are 0."""
        held = [] if self.hold is None else [float(self.hold.rx_mean_fps)]
        return max([1.0, *(point.rx_fps for point in self.points), *held])

    @cached_property
    def top(self) -> float:
        """The most the axes must show: what was offered, or received after a pause, on average."""
        hold = self.hold
        held = [] if hold is None else [hold.offered * 10**9 / hold.duration_ns]
        return max([self.most_received, *(point.offered_fps for point in self.points), *held])


def figures(run: RunView) -> Iterator[Figure]:
    """The figures of a run, one per profile that has anything to draw, in the plan's order.

    One at a time: each has thousands of rows.
    """
    drawn = 0
    for profile in run.profiles:
        lines = [line for case in run.cases if case.profile == profile and (line := _line(run, case)).points]
        if any(line.has_several_loads for line in lines):
            drawn += 1
            yield _figure(run, profile, lines, f"figure-{drawn}")


def overlay(run: RunView, profile: str, key: str, width: int) -> Figure | None:
    """The figure of one profile in its last direction, as wide as told; None: there is nothing to draw."""
    lines = [line for case in run.cases if case.profile == profile and (line := _line(run, case)).points]
    directions = [line.case.direction for line in lines]
    if not any(line.has_several_loads for line in lines):
        return None
    chosen = [line for line in lines if line.case.direction == directions[-1]]
    return _figure(run, profile, chosen, key, width)


def _line(run: RunView, case: CaseView) -> _Line:
    varied = run.varied_settings
    first = case.settings.get(varied[0], "") if varied else (case.device_title or "device")
    rest = " / ".join(case.settings.get(name, "") for name in varied[1:])
    return _Line(case, first, rest, tuple(_points(case)))


def _points(case: CaseView) -> list[series.Point]:
    """The rising stretch of a ramp, or a point a trial where loads are constant."""
    found: list[series.Point] = []
    # Parts of a soak that counted the same have one outcome, and the same points.
    known: dict[tuple[int, tuple[Segment, ...]], list[series.Point]] = {}
    for trial in case.trials:
        if trial.state != "done" or not trial.is_load:
            continue
        key = id(trial.result), trial.segments
        if key not in known:
            rising = [segment.name for segment in trial.segments if not segment.is_constant]
            known[key] = [point for name in rising for point in series.points(trial, name, BUCKETS)]
            known[key] += [] if rising else series.points(trial, None, 1)
        found += known[key]
    return sorted((p for p in found if p.offered_fps > 0), key=lambda p: p.offered_fps)


def _figure(run: RunView, profile: str, every: list[_Line], key: str, wide: int | None = None) -> Figure:
    lines, also = _drawn_once(every, run.name_apart)
    directions = [d for d in run.directions if any(line.case.direction == d for line in lines)]
    width = wide or WIDTHS.get(len(directions), 300)
    scale, unit = (10**6, "Mpps") if max(line.top for line in lines) >= 10**6 else (10**3, "kpps")
    scales = _Scales(lines, scale, unit)
    names = [f"{key}-{number}".replace("-", "_") for number in range(len(directions))]
    panels = [
        _panel([line for line in lines if line.case.direction == direction], direction, scales, width, name)
        for direction, name in zip(directions, names, strict=True)
    ]
    live = {
        "$schema": vega.SCHEMA,
        "config": vega.CONFIG,
        "params": [vega.zoom(name, (f"{name}_received", f"{name}_lost")) for name in names],
        "datasets": scales.datasets,
        "hconcat": panels,
        "spacing": 36,
    }
    note = "The grey diagonal is what a perfect device would return."
    if any(point.rx_min_fps < point.rx_max_fps for line in lines for point in line.points):
        note += " The pale band is from the least to the most received in a sample near that load."
    if also:
        note += f" Drawn once where lines coincide: {'; '.join(also)}."
    if any(_lines_in_sight([line for line in lines if line.case.direction == d]) for d in directions):
        note += " A dotted vertical is a line rate."
    if any(case.of_role("knee") for case in run.cases):
        note += " A large marker is the knee: the highest load before loss; its bar is one step of the ramp."
    if any(line.hold for line in lines):
        note += " A small open mark is the hold phase: mean, with a bar from least to most."
    size = next((printed.size(line.case.sizes) for line in lines if line.case.sizes), "")
    title = " · ".join(part for part in (profile, size) if part)
    return Figure(key, title, note, live, profile)


def _drawn_once(lines: list[_Line], name: Callable[[CaseView], str]) -> tuple[list[_Line], list[str]]:
    """The lines without those that lie on another one, and which these are."""
    first: dict[tuple[object, ...], _Line] = {}
    also: dict[str, list[str]] = {}
    scale = max((point.offered_fps for line in lines for point in line.points), default=0.0) / 500
    scale = scale or 1.0
    for line in lines:
        shape = (
            line.case.direction,
            *((round(point.offered_fps / scale), round(point.rx_fps / scale)) for point in line.points),
        )
        known = first.setdefault(shape, line)
        if known is not line:
            also.setdefault(name(known.case), []).append(name(line.case))
    sentences = [f"{', '.join(names)} as {name}" for name, names in also.items()]
    return list(first.values()), sentences


class _Scales:
    """What the panels of a figure share."""

    def __init__(self, lines: list[_Line], divisor: int, unit: str) -> None:
        self.divisor, self.unit = divisor, unit
        self.datasets: dict[str, list[dict[str, Any]]] = {}
        colours = list(dict.fromkeys(line.colour for line in lines))
        dashes = list(dict.fromkeys(line.dash for line in lines))

        self.colour = of("colour:N", scale=vega.scale(colours, PALETTE), legend=vega.legend())
        # Where lines coincide the later one is thinner, and their dots take turns, so that each is seen.
        self.widths = {name: 1.8 + 1.4 * (len(colours) - 1 - i) for i, name in enumerate(colours)}
        self.width = of("width:Q", scale=None, legend=None)
        # Vega-Lite draws the legend of a lone nameless dash as an empty entry.
        shown = vega.legend(symbolType="stroke", symbolSize=400) if dashes != [""] else None
        self.dash = of("dash:N", scale=vega.scale(dashes, [list(dash) for dash in DASHES]), legend=shown)
        # The rows name their marker: a second scale's legend would be merged with that of the dashes.
        self.markers = {name: SHAPES[i % len(SHAPES)] for i, name in enumerate(dashes)}
        self.shape = of("marker:N", scale=None, legend=None)

    def data(self, rows: list[dict[str, Any]]) -> str:
        """The name of rows that layers share: inline they would be repeated in every layer."""
        name = f"rows{len(self.datasets)}"
        self.datasets[name] = rows
        return name


def _panel(lines: list[_Line], direction: str, scales: _Scales, width: int, name: str) -> dict[str, Any]:
    in_sight = _lines_in_sight(lines)
    offered = max(line.top for line in lines) / scales.divisor
    top = max(offered, *(float(rate / scales.divisor) for rate in in_sight), 0.0)
    best = max(line.most_received for line in lines) / scales.divisor
    heading = grid.direction_title(direction)
    if direction == "bidir":
        heading += ", both directions together"
    elif any(len(line.case.streams) > 1 for line in lines):
        heading += ", all streams together"
    table = [_rows(line, scales) for line in lines]
    height = min(1.02 * top, HEADROOM * best)
    end = min(offered, height)
    rows = scales.data([row for rows in table for row in rows])
    x = {"scale": {"domain": [0, 1.02 * top], "nice": False}}
    quiet_x = of("x:Q", axis={"labels": False, "ticks": False, "title": None, "tickCount": 6}, **x)
    named_x = of("x:Q", axis={"title": f"offered, {scales.unit}", "tickCount": 6}, **x)
    received = {"title": f"received, {scales.unit}"}
    y = of("y:Q", scale={"domain": [0, height], "nice": False}, axis=received)
    colour, each = scales.colour, [of("case:N")]
    curve = {"clip": True, "strokeJoin": "round"}
    ideal = scales.data([{"x": 0, "y": 0}, {"x": end, "y": end}])
    grey = {"color": "#cbd2d9", "strokeWidth": 1.5, "clip": True}
    band = {"x": quiet_x, "y": of("lo:Q"), "y2": of("hi"), "color": colour, "detail": each}
    styled = {"strokeDash": scales.dash, "strokeWidth": scales.width}
    layers = [
        {**layer(ideal, "line", grey, x=quiet_x, y=y), "name": f"{name}_received"},
        layer(rows, "area", {"opacity": 0.16, "clip": True}, **band),
        layer(rows, "line", curve, x=quiet_x, y=y, color=colour, detail=each, **styled),
    ]
    layers += _line_marks(in_sight, scales, quiet_x)
    if len(lines) > 1:
        layers.append(_dots(table, scales, quiet_x, y))
    layers += _hold_marks(lines, scales, quiet_x, height)
    layers += _knee_marks(lines, scales, quiet_x)
    layers.append(_hover(rows, quiet_x, y, scales))
    loss_y = of(
        "loss:Q",
        scale={"type": "log", "domain": [LEAST_LOSS, 100], "nice": False, "clamp": True},
        axis={"title": "lost, % (log)", "values": [0.01, 0.1, 1, 10, 100]},
    )
    lost = layer(rows, "line", curve, x=named_x, y=loss_y, color=colour, **styled, detail=each)
    loss = [{**lost, "name": f"{name}_lost"}]
    if len(lines) > 1:
        loss.append(_dots(table, scales, named_x, loss_y))
    threshold = scales.data([{"threshold": THRESHOLD}])
    loss.append(layer(threshold, "rule", {"strokeDash": [4, 3], "color": AXIS}, y=of("threshold:Q")))
    loss.append(_hover(rows, named_x, loss_y, scales))
    return {
        "resolve": {"scale": {"x": "shared"}},
        "spacing": 10,
        "vconcat": [
            {"title": heading, "width": width, "height": 270, "layer": layers},
            {"width": width, "height": 90, "layer": loss},
        ],
    }


def _rows(line: _Line, scales: _Scales) -> list[dict[str, Any]]:
    name = line.case.name

    def shown(rate: float) -> float:
        return float(f"{rate / scales.divisor:.5g}")

    return [
        {
            "case": name,
            "colour": line.colour,
            "dash": line.dash,
            "x": shown(point.offered_fps),
            "y": shown(point.rx_fps),
            "lo": shown(point.rx_min_fps),
            "hi": shown(point.rx_max_fps),
            "width": scales.widths[line.colour],
            "marker": scales.markers[line.dash],
            "loss": None if point.loss is None else float(f"{100 * point.loss:.4g}"),
        }
        for point in line.points
    ]


def _dots(table: list[list[dict[str, Any]]], scales: _Scales, x: Spec, y: Spec) -> Spec:
    """A mark on every so manyth point of each line, no two lines on the same points."""
    rows = [
        row
        for number, points in enumerate(table)
        for row in points[DOTS * (2 * number + 1) // (2 * len(table)) :: DOTS]
    ]
    look = {"size": 34, "filled": True, "opacity": 1, "stroke": "white", "strokeWidth": 0.6, "clip": True}
    return layer(scales.data(rows), "point", look, x=x, y=y, color=scales.colour, shape=scales.shape)


def _lines_in_sight(lines: list[_Line]) -> list[Fraction]:
    """The line rates of a panel that are near enough to the data to be drawn, each once."""
    reach = LINE_IN_SIGHT * max((line.top for line in lines), default=0.0)
    rates = {rate for line in lines if (rate := line.case.line("sum")) is not None and rate <= reach}
    return sorted(rates)


def _line_marks(rates: list[Fraction], scales: _Scales, x: Spec) -> list[Spec]:
    if not rates:
        return []
    rows = scales.data([{"x": float(rate / scales.divisor)} for rate in rates])
    return [layer(rows, "rule", {"strokeDash": [2, 3], "color": AXIS, "strokeWidth": 1, "clip": True}, x=x)]


def _hover(rows: str, x: Spec, y: Spec, scales: _Scales) -> Spec:
    """Points nobody sees, which say under the pointer what they are."""
    tooltip = [
        of("case:N", title="case"),
        of("x:Q", title=f"offered, {scales.unit}"),
        of("y:Q", title=f"received, {scales.unit}"),
        of("loss:Q", title="lost, %"),
    ]
    shown = {"x": x, "y": y, "color": scales.colour, "detail": [of("case:N")], "tooltip": tooltip}
    return layer(rows, "circle", {"size": 90, "opacity": 0, "clip": True}, **shown)


def _knee_marks(lines: list[_Line], scales: _Scales, x: Spec) -> list[Spec]:
    rows = []
    for line in lines:
        value = line.case.of_role("knee")
        if value is None or value.number is None or value.unit != "fps":
            continue
        low, high = value.low or value.number, value.high or value.number
        knee = float(value.number / scales.divisor)
        rows.append(
            {
                "case": line.case.name,
                "colour": line.colour,
                "marker": scales.markers[line.dash],
                "x": knee,
                "y": knee,
                "low": float(low / scales.divisor),
                "high": float(high / scales.divisor),
                "limit": line.case.limit(value.scope),
            }
        )
    if not rows:
        return []
    data, y = scales.data(rows), of("y:Q")
    ends = {"x": of("low:Q"), "x2": of("high"), "y": y, "color": scales.colour}
    bar = layer(data, "rule", {"strokeWidth": 3, "clip": True}, **ends)
    tooltip = [
        of("case:N", title="knee of"),
        of("x:Q", title=f"offered, {scales.unit}", format=".4~f"),
        of("limit:N", title="limit"),
    ]
    look = {"size": 95, "filled": True, "stroke": "white", "strokeWidth": 1.2, "opacity": 1, "clip": True}
    shown = {"x": x, "y": y, "color": scales.colour, "shape": scales.shape, "tooltip": tooltip}
    return [bar, layer(data, "point", look, **shown)]


def _hold_marks(lines: list[_Line], scales: _Scales, x: Spec, height: float) -> list[Spec]:
    rows = []
    for line in lines:
        hold = line.hold
        if hold is None:
            continue
        seconds = Fraction(hold.duration_ns, 10**9)
        rows.append(
            {
                "case": line.case.name,
                "colour": line.colour,
                "marker": scales.markers[line.dash],
                "x": float(hold.offered / seconds / scales.divisor),
                "y": float(hold.rx_mean_fps / scales.divisor),
                "lo": float(hold.rx_min_fps / scales.divisor),
                "hi": float(hold.rx_max_fps / scales.divisor),
                # SVG does not clip a line without any width.
                "end": min(float(hold.rx_max_fps / scales.divisor), height),
            }
        )
    if not rows:
        return []
    data = scales.data(rows)
    ends = {"x": x, "y": of("lo:Q"), "y2": of("end"), "color": scales.colour}
    bar = layer(data, "rule", {"strokeWidth": 1.5, "clip": True}, **ends)
    tooltip = [
        of("case:N", title="hold of"),
        of("y:Q", title=f"received, {scales.unit}", format=".4~f"),
        of("lo:Q", title="least", format=".4~f"),
        of("hi:Q", title="most", format=".4~f"),
    ]
    look = {"size": 45, "filled": False, "strokeWidth": 1.6, "fill": "white", "opacity": 1, "clip": True}
    shown = {"x": x, "y": of("y:Q"), "color": scales.colour, "shape": scales.shape, "tooltip": tooltip}
    return [bar, layer(data, "point", look, **shown)]
