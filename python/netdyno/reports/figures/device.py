"""The device under the traffic of a case: received frames, and below them CPU, power and drops, on one axis.

A reading that was missed leaves a gap. The axis of what the device averaged says over which time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

from netdyno.reports.figures import vega
from netdyno.reports.figures.vega import Figure, Spec, layer, of
from netdyno.reports.model.device import lines
from netdyno.reports.model.device_table import describe_average
from netdyno.reports.model.view import CaseView, TrialView
from netdyno.values.counter import Counter, Resets, find_resets
from netdyno.values.series import Series

MOST_POINTS = 120
"""Of a line."""
MOST_LINES = 4
"""Of a panel, those with the highest values: a chassis has dozens of sensors."""
TOP, SMALL = 110, 56
"""Heights of the panel of the traffic and of those below it, px."""
WIDTH = 780
SECOND_NS = 10**9
GAPS = "break-paths-show-path-domains"
"""How Vega-Lite draws a line with values missing: not across them."""
DROPS = ("_drops", "_errors", "_dropped")
"""How names of counters end that say what was lost."""
SHOWN = (("CPU", "%"), ("power", "W"))
"""Gauges that are drawn: how their names end, and their units."""

Point: TypeAlias = tuple[int, float | None]
"""Time, ns from the begin of traffic, and value; None: a gap."""


def figure(case: CaseView) -> Figure | None:
    """The device in the trial that received most of those that drivers read; None: they read no gauge, no
    drop."""
    most = sum((line.frames for line in lines(case)), Fraction(0)) or None
    drawn = [(trial, panels) for trial in case.resting_trials if (panels := _panels(trial, most))]
    if not drawn:
        return None
    trial, panels = max(drawn, key=lambda one: sum(one[0].result.samples.rx))
    rate, unit = _traffic(trial)
    views = [_view(0, f"traffic, {unit}", TOP, is_last=False)]
    views += [
        _view(number, title, SMALL, is_last=number == len(panels)) for number, title in enumerate(panels, 1)
    ]
    rows = {"p0": _rows(rate)} | {f"p{n}": _rows(lines) for n, lines in enumerate(panels.values(), 1)}
    spec = {
        "$schema": vega.SCHEMA,
        "config": vega.CONFIG,
        "datasets": rows,
        "vconcat": views,
        "resolve": {"scale": {"x": "shared", "color": "independent", "strokeDash": "independent"}},
        "spacing": 8,
    }
    gaps = any(one.missed for one in trial.result.series if one.values)
    note = f"Trial `{trial.name}`." + (" A gap is a reading that was missed." if gaps else "")
    return Figure(f"device-{case.number}", "Device under this traffic", note, spec)


def _panels(trial: TrialView, line_per_s: Fraction | None) -> Mapping[str, Mapping[str, Sequence[Point]]]:
    """Lines by the title of their panel and by their own names. line_per_s: frames on all links together."""
    found: dict[str, dict[str, Sequence[Point]]] = {}
    for end, unit in SHOWN:
        for series in trial.result.series:
            if series.is_counter or series.unit != unit or not series.name.endswith(end):
                continue
            found.setdefault(_title(series), {})[series.subject] = _thinned(_of_gauge(series))
    resets = find_resets(trial.result.series)
    drops: dict[str, list[Series]] = {}
    for series in trial.result.series:
        is_drop = series.is_counter and series.window_ns is None and series.name.endswith(DROPS)
        if is_drop and len(set(series.values)) > 1:
            drops.setdefault(series.name, []).append(series)
    drawn = {name: _thinned(list(_dropped(every, line_per_s, resets))) for name, every in drops.items()}
    most = max((y for points in drawn.values() for _, y in points if y is not None), default=0.0)
    scale, unit = _scale(most)
    if drawn:
        found[f"drops, {unit}"] = {
            name: [(at_ns, None if y is None else y / scale) for at_ns, y in points]
            for name, points in drawn.items()
        }
    return {title: _highest(every) for title, every in found.items() if any(every.values())}


def _title(series: Series) -> str:
    """`CPU, % (1 min average)`."""
    unit = "°C" if series.unit == "C" else series.unit
    average = "" if series.window_ns is None else f" ({describe_average(series.window_ns)})"
    return f"{series.name}, {unit}{average}"


def _of_gauge(series: Series) -> list[Point]:
    values = zip(series.times_ns, map(float, series.numbers), strict=True)
    missed: list[Point] = [(one.at_ns, None) for one in series.missed]
    return sorted((*values, *missed), key=lambda point: point[0])


def _dropped(every: Sequence[Series], line_per_s: Fraction | None, resets: Resets) -> Iterator[Point]:
    """Frames a second of counters together, between readings of all of them; unknown growth is a gap."""
    counters = [Counter(one, line_per_s, resets.of(one.subject)) for one in every]
    places = [{at_ns: place for place, at_ns in enumerate(one.at)} for one in counters]
    missed = [one.at_ns for series in every for one in series.missed]
    for begin_ns, end_ns in pairwise(sorted(set(places[0]).intersection(*places[1:]))):
        steps = [
            counter.grown_through(own[begin_ns], own[end_ns])
            for counter, own in zip(counters, places, strict=True)
        ]
        known = [
            Fraction(step, 10**one.scale)
            for step, one in zip(steps, every, strict=True)
            if isinstance(step, int)
        ]
        is_gap = len(known) < len(steps) or any(begin_ns < one < end_ns for one in missed)
        rate = sum(known, Fraction(0)) * SECOND_NS / (end_ns - begin_ns)
        yield (begin_ns + end_ns) // 2, None if is_gap else float(rate)


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """At most so many: means of neighbours; a gap among them stays."""
    wide = -(-len(points) // MOST_POINTS)
    if wide <= 1:
        return points
    found: list[Point] = []
    for first in range(0, len(points), wide):
        part = points[first : first + wide]
        known = [y for _, y in part if y is not None]
        mean = sum(known) / len(known) if len(known) == len(part) else None
        found.append(((part[0][0] + part[-1][0]) // 2, mean))
    return found


def _highest(lines: Mapping[str, Sequence[Point]]) -> Mapping[str, Sequence[Point]]:
    most = sorted(lines, key=lambda name: -max((y for _, y in lines[name] if y is not None), default=0.0))
    return {name: lines[name] for name in lines if name in most[:MOST_LINES]}


def _traffic(trial: TrialView) -> tuple[Mapping[str, Sequence[Point]], str]:
    """Frames a second offered and received, or the payload of connections, and their unit."""
    if trial.result.carried:
        return _payload(trial), "Mbit/s"
    step = trial.result.sample_ns
    rates = {"offered": trial.result.samples.tx, "received": trial.result.samples.rx}
    most = max((max(counts, default=0) for counts in rates.values()), default=0) * SECOND_NS / step
    scale, unit = _scale(most)
    return {
        name: _thinned(
            [
                ((2 * place + 1) * step // 2, count * SECOND_NS / step / scale)
                for place, count in enumerate(counts)
            ]
        )
        for name, counts in rates.items()
    }, unit


def _payload(trial: TrialView) -> Mapping[str, Sequence[Point]]:
    found: dict[str, Sequence[Point]] = {}
    for one in trial.result.carried:
        ends = accumulate((took for _, took in one.samples), initial=trial.omitted_ns)
        rates = (8000 * sent / max(took, 1) for sent, took in one.samples)
        found[one.name] = _thinned(
            [((begin + end) // 2, rate) for (begin, end), rate in zip(pairwise(ends), rates, strict=True)]
        )
    return found


def _scale(most: float) -> tuple[int, str]:
    return (10**6, "Mpps") if most >= 10**6 else (10**3, "kpps") if most >= 10**3 else (1, "pps")


def _rows(lines: Mapping[str, Sequence[Point]]) -> list[dict[str, Any]]:
    return [
        {"line": name, "x": float(f"{at_ns / SECOND_NS:.5g}"), "y": y}
        for name, points in lines.items()
        for at_ns, y in _bent([(at_ns, None if y is None else float(f"{y:.4g}")) for at_ns, y in points])
    ]


def _bent(points: Sequence[Point]) -> Iterator[Point]:
    """The points without those between two of the same value, where the line is straight all the same."""
    for place, point in enumerate(points):
        around = points[max(place - 1, 0) : place + 2]
        if len(around) < 3 or point[1] is None or any(y != point[1] for _, y in around):
            yield point


def _view(number: int, title: str, height: int, *, is_last: bool) -> Spec:
    """A panel over time. Its spec names no data of the case, so that cases alike share it."""
    named: Spec = {"title": "time, s", "tickCount": 8}
    x = of("x:Q", axis=named if is_last else {"labels": False, "title": None}, scale={"nice": False})
    ticks = 4 if height == TOP else 3
    y = of("y:Q", axis={"title": title.split(", ", 1), "tickCount": ticks}, scale={"zero": True})
    legend = vega.legend(orient="right", symbolType="stroke", labelLimit=120, padding=0, columns=1)
    colours = [vega.AXIS, vega.PALETTE[0]] if number == 0 else list(vega.PALETTE[:MOST_LINES])
    colour = of("line:N", sort=None, scale={"range": colours}, legend=legend)
    curve = {"clip": True, "strokeJoin": "round", "strokeWidth": 1.6, "invalid": GAPS}
    tooltip = [of("line:N", title="what"), of("x:Q", title="s"), of("y:Q", title=title)]
    unseen = {"size": 60, "opacity": 0, "clip": True}
    dash = of("line:N", sort=None, scale={"range": list(map(list, vega.DASHES))}, legend=None)
    data = f"p{number}"
    return {
        "width": WIDTH,
        "height": height,
        "layer": [
            layer(data, "line", curve, x=x, y=y, color=colour, strokeDash=dash),
            layer(data, "circle", unseen, x=x, y=y, color=colour, tooltip=tooltip),
        ],
    }
