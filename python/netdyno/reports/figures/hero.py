"""*The* figure of a run's first screen, by its method: overlay, bounds, frame sizes, knee, losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import floor, log10
from typing import Any, TypeAlias

from netdyno.errors import counted
from netdyno.reports.figures import classes, connections, costs, figures, services, table_figures, vega
from netdyno.reports.figures.table_figures import TIMES
from netdyno.reports.figures.vega import Figure, marks, of, short
from netdyno.reports.model import grid
from netdyno.reports.model.answer import text
from netdyno.reports.model.details import details
from netdyno.reports.model.shown import records
from netdyno.reports.model.view import RunView
from netdyno.values import number as printed

WIDTH = 560
HEIGHT = 270
WIDE = 1080
"""Of sweeps: their table is too wide to stand beside a figure."""
FEW_PARTS, STRETCHES = 24, 240
"""Parts of a soak of which each is drawn in stretches, and how many these are of all parts together."""
MOST_BARS = 16
MOST_DOTS = 500
"""Dots side by side on the time line of a soak: one a pixel."""
AXES = ((1, 0.2), (2, 0.5), (5, 1), (10, 2), (20, 5), (50, 10), (100, 20), (1000, 200))
"""Shares of the line in per cent: the end of an axis of bars, and its step."""
LIMITS = {
    "line": vega.PALETTE[2],
    "device": vega.PALETTE[1],
    "tester": vega.PALETTE[3],
    "licence": vega.PALETTE[4],
}
"""The colours of limits, as the page has them in its tables."""
LOST = "#b3261e"
"""The colour of lost frames, that of a failed step."""


_Parts: TypeAlias = "dict[Fraction, tuple[Fraction, Fraction, list[Fraction]]]"
"""Frames sent and lost and the longest latencies of each part of a soak, by its begin, ns."""


def hero(run: RunView) -> Figure | None:
    """The figure of the first screen; None where nothing of the run can be drawn."""
    for method in run.methods:
        if method in DRAWN:
            return DRAWN[method](run)
    if run.methods == ("ramp",):
        return _sizes(run) or _overlay(run) or _table(run)
    return _by_class(run) or _sizes(run) or _rates(run) or _overlay(run) or _table(run)


def _hero(title: str, note: str, spec: Mapping[str, Any] | None) -> Figure | None:
    if spec is None:
        return None
    live = {"$schema": vega.SCHEMA, "config": vega.CONFIG, **spec}
    return Figure("hero", title, note, live)


def _overlay(run: RunView) -> Figure | None:
    """Received against offered of the smallest frames, all cases of one direction over each other."""
    sizes = {
        case.profile: case.mean_size
        for case in run.cases
        if case.mean_size is not None and any(trial.state == "done" for trial in case.trials)
    }
    if not sizes:
        return None
    profile = min(sizes, key=lambda name: sizes[name])
    found = figures.overlay(run, profile, "hero", WIDTH - 70)
    if found is None:
        return None
    return Figure("hero", f"{found.title}: received against offered", found.note, found.live)


def _bounds(run: RunView) -> Figure | None:
    """Each goal of a search on a load axis, from the load that passed to the one that did not."""
    rows: list[dict[str, Any]] = []
    for case in run.cases:
        for name in case.result.headlines if case.result else ():
            value = case.value(name)
            if value is None or value.number is None or value.unit != "fps":
                continue
            share = case.share_of_line(value)
            rows.append(
                {
                    "goal": f"{run.name_apart(case)}: {name}" if len(run.cases) > 1 else name,
                    "load": float(value.number),
                    "low": float(value.low if value.low is not None else value.number),
                    "high": float(value.high if value.high is not None else value.number),
                    "label": text(case, value)
                    + ("" if share is None else f", {printed.percent(share)} of line"),
                }
            )
    if not rows:
        return None
    divisor, unit = _prefix(max(row["high"] for row in rows))
    for row in rows:
        row |= {key: float(f"{row[key] / divisor:.7g}") for key in ("load", "low", "high")}
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    room = max((high - low) * 0.5, high * 0.004)
    x = {"scale": {"domain": [max(low - room, 0), high + 3 * room], "nice": False}}
    load, y = of("load:Q", **x), of("goal:N", sort=None, axis={"title": None, "labelLimit": 220})
    bar = {"height": 9, "opacity": 0.35, "color": vega.PALETTE[0]}
    dot = {"filled": True, "size": 90, "opacity": 1, "color": vega.PALETTE[0]}
    label = {"align": "left", "dy": -14, "font": vega.FONT, "color": vega.INK}
    spec = {
        "width": WIDTH - 120,
        "height": min(HEIGHT, 46 * len(rows) + 30),
        "data": {"values": rows},
        "layer": [
            marks("bar", bar, x=of("low:Q", title=f"load, {unit}", **x), x2=of("high"), y=y),
            marks("point", dot, x=load, y=y),
            marks("text", label, x=load, y=y, text=of("label")),
        ],
    }
    note = "Dot: the highest load that passed, or what lasts of it. Bar: up to the one that did not."
    return _hero("Loads of the search goals", note, spec)


def _sizes(run: RunView) -> Figure | None:
    """Throughput in % of line and latency, against the frame size."""
    rows: list[dict[str, Any]] = []
    for case in run.cases:
        value = case.headline
        if value is None or value.unit != "fps" or value.number is None or len(case.sizes) != 1:
            continue
        share, latency = case.share_of_line(value), case.of_role("latency")
        who = " / ".join(part for part in (*case.named_settings, case.direction) if part) or "device"
        rows.append(
            {
                "size": case.sizes[0][0],
                "who": who,
                "share": None if share is None else short(100 * share),
                "latency": None if latency is None or not latency.number else short(latency.number / 1000),
                "rate": text(case, value),
            }
        )
    drawn = [key for key in ("share", "latency") if any(row[key] is not None for row in rows)]
    if len({row["size"] for row in rows}) < 3 or not drawn:
        return None
    name = run.headline_names[0]
    names, merged = _once(rows, lambda row: (row["size"], row["share"], row["latency"]))
    x = of("size:Q", title="frame size, bytes", scale={"zero": False, "nice": False, "padding": 12})
    ups = {
        "share": of("share:Q", title=f"{name}, % of line", scale={"domain": [0, 105], "nice": False}),
        "latency": of("latency:Q", title="mean latency, us", scale={"type": "log"}),
    }
    tooltip = [of("who", title="case"), of("size", title="bytes"), of("rate", title=name)]
    look = {"point": {"size": 50, "filled": True}, "clip": True}
    panels = [
        {
            "width": WIDTH // len(drawn) - 55 * (len(drawn) - 1),
            "height": HEIGHT,
            **marks("line", look, x=x, y=ups[key], color=_colour(names), tooltip=tooltip),
        }
        for key in drawn
    ]
    spec = {"data": {"values": merged}, "hconcat": panels, "spacing": 24}
    what = f"{name[0].upper()}{name[1:]}{' and latency' if 'latency' in drawn else ''}"
    return _hero(f"{what} against frame size", "Lines that coincide are drawn once.", spec)


def _rates(run: RunView) -> Figure | None:
    """A bar for each case, as long as its share of the line; None of one case, or of too many."""
    rows: list[dict[str, Any]] = []
    for case in run.cases:
        value = case.headline
        share = None if value is None else case.share_of_line(value)
        if value is None or value.unit != "fps" or value.number is None or share is None:
            continue
        label = f"{text(case, value)}, {grid.beside(case, value)[1]}"
        rows.append(
            {"who": run.name_apart(case), "share": short(100 * share), "label": label, "limit": case.limit()}
        )
    if not 2 <= len(rows) <= MOST_BARS:
        return None
    # Small shares differ on an axis of their own.
    top, step = next(axis for axis in AXES if axis[0] >= max(row["share"] for row in rows))
    limits = list(dict.fromkeys(row["limit"] for row in rows))
    colours = [LIMITS.get(limit, vega.PALETTE[7]) for limit in limits]
    x = of(
        "share:Q",
        title=f"{run.headline_names[0]}, % of line",
        scale={"domain": [0, 1.4 * top], "nice": False},
        axis={"values": [step * n for n in range(6) if step * n <= top]},
    )
    colour = of("limit:N", scale=vega.scale(limits, colours), legend={"title": None, "orient": "top"})
    label_look = {"align": "left", "dx": 5, "font": vega.FONT, "color": vega.INK}
    spec = {
        "data": {"values": rows},
        "width": WIDTH - 170,
        "height": min(HEIGHT + 90, 34 * len(rows)),
        "encoding": {"y": of("who:N", sort=None, axis={"title": None, "labelLimit": 200})},
        "layer": [
            marks("bar", {"height": 14}, x=x, color=colour),
            marks("text", label_look, x=of("share:Q"), text=of("label")),
        ],
    }
    return _hero("Rate of each case", "The colour is the limit.", spec)


def _draw_latency_by_load(run: RunView) -> Figure | None:
    """Latency against load: mean and maximum of each case, on a logarithmic axis."""
    rows: list[dict[str, Any]] = []
    for case in run.cases:
        found: dict[Fraction, tuple[list[Fraction], list[Fraction]]] = {}
        for record in records(case, "Latency against load"):
            load, mean, most = record["load"], record["mean"], record["max"]
            if isinstance(load, Fraction) and isinstance(mean, Fraction) and isinstance(most, Fraction):
                found.setdefault(load, ([], []))[0].append(mean)
                found[load][1].append(most)
        averages = {load: sum(means, Fraction(0)) / len(means) for load, (means, _) in found.items()}
        # A maximum that coincides with the mean at every load is drawn once.
        apart = any(100 * max(mosts) > 101 * averages[load] for load, (_, mosts) in found.items())
        for load, (_, mosts) in sorted(found.items()):
            for what, ns in (("mean", averages[load]), *([("maximum", max(mosts))] if apart else [])):
                if ns > 0:
                    rows.append(
                        {
                            "who": run.name_apart(case),
                            "what": what,
                            "load": short(100 * load, 6),
                            "us": short(ns / 1000),
                        }
                    )
    if not rows:
        return None
    names = list(dict.fromkeys(row["who"] for row in rows))
    apart_anywhere = any(row["what"] != "mean" for row in rows)
    least, highest = (pick(row["us"] for row in rows) for pick in (min, max))
    dash = of(
        "what:N",
        scale=vega.scale(("mean", "maximum"), ([1, 0], [5, 4])),
        legend=vega.legend(symbolType="stroke", symbolSize=400) if apart_anywhere else None,
    )
    log = {"type": "log", "domain": [least / 1.5, highest * 1.5], "nice": False}
    spec = {
        "data": {"values": rows},
        "width": WIDE - 60,
        "height": HEIGHT,
        "encoding": {
            "x": of(
                "load:Q",
                title="load, % of line rate",
                scale={"zero": False, "nice": False, "padding": 10},
            ),
            "y": of("us:Q", title="latency, us", scale=log),
            "color": _colour(names),
            "tooltip": [of("who", title="case"), of("load"), of("us"), of("what")],
        },
        # Marks of their own: as points of the line they would leave its dashes out of the legend.
        "layer": [
            marks("line", {}, strokeDash=dash),
            {"mark": {"type": "point", "filled": True, "size": 40, "opacity": 1}},
        ],
    }
    return _hero("Latency against load", "The latency axis is logarithmic.", spec)


def _losses(run: RunView) -> Figure | None:
    """The time line of a soak: the share that each of its parts lost, and its longest latency."""
    parts: _Parts = {}
    for case in run.cases:
        for record in records(case, "Parts of the soak"):
            at, sent, lost, most = (record[name] for name in ("from", "sent", "lost", "max"))
            if isinstance(at, Fraction) and isinstance(sent, Fraction) and isinstance(lost, Fraction):
                before = parts.get(at, (Fraction(0), Fraction(0), []))
                times = [*before[2], most] if isinstance(most, Fraction) else before[2]
                parts[at] = (before[0] + sent, before[1] + lost, times)
    if not parts:
        return None
    found = _stretches(run, parts) if len(parts) < FEW_PARTS else parts
    # One part has one longest latency, which is no line over time.
    is_timed = len(parts) > 1 and any(times for _, _, times in parts.values())
    end = max(found)
    factor, unit = (3600 * 10**9, "h") if end >= 7200 * 10**9 else (10**9, "s")
    longest = max((ns for _, _, times in found.values() for ns in times), default=Fraction(1))
    scale, word = next(((step, name) for step, name in TIMES if longest >= step), TIMES[-1])
    rows: list[dict[str, Any]] = [
        {
            "at": short(at / factor, 6),
            "loss": short(100 * lost / sent, 4) if sent and lost > 0 else None,
            "latency": short(max(times) / scale) if times else None,
        }
        for at, (sent, lost, times) in sorted(found.items())
    ]
    x = of("at:Q", title=f"time, {unit}", scale={"nice": False})
    sent = sum((sent for sent, _, _ in parts.values()), Fraction(0))
    shown_x = {**x, "title": None} if is_timed else x
    bars = _lost_bars(
        rows, shown_x, f"no loss in {counted(len(parts), 'part')}: 0 of {printed.grouped(sent)} frames"
    )
    curve = marks("line", {"color": vega.PALETTE[0]}, x=x, y=of("latency:Q", title=f"max latency, {word}"))
    line = {"width": WIDTH - 60, "height": HEIGHT // 3, **curve}
    panels = [bars, line] if is_timed else [bars]
    spec = {"datasets": {"parts": rows}, "data": {"name": "parts"}, "vconcat": panels, "spacing": 16}
    whole = "a stretch" if found is not parts else "parts" if len(rows) > MOST_DOTS else "a part"
    note = f"A dot on the line of 0: {whole} of the soak without loss. Lost frames are a red bar."
    return _hero("Losses over time", note, spec)


def _stretches(run: RunView, parts: _Parts) -> _Parts:
    """The same of stretches of parts: in a few long ones an outage of minutes is all there is to see."""
    most = -(-STRETCHES // len(parts))
    found: _Parts = {}
    for case in run.cases:
        # A part is a trial.
        for at, trial in zip(sorted(parts), case.resting_trials, strict=False):
            tx, arrived, step = (
                trial.result.samples.tx,
                trial.result.samples.arrived,
                trial.result.sample_ns,
            )
            width = max(1, -(-len(tx) // most))
            for first in range(0, len(tx), width):
                sent, came = sum(tx[first : first + width]), sum(arrived[first : first + width])
                before = found.get(at + first * step, (Fraction(0), Fraction(0), []))
                lost = before[1] + max(sent - came, 0)
                found[at + first * step] = (before[0] + sent, lost, parts[at][2])
    return found or parts


def _lost_bars(rows: list[dict[str, Any]], x: Mapping[str, Any], nothing: str) -> dict[str, Any]:
    """The share lost in each part, as a red bar from a line of 0; without any loss that is said above it."""
    lossy = [row["loss"] for row in rows if row["loss"]]
    # A logarithmic axis has no 0: its lowest tick, below the least loss, stands for it.
    base = 10.0 ** (floor(log10(min(lossy))) - 1) if lossy else 0.0
    ticks = [10.0**power for power in range(round(log10(base)), 3)] if lossy else [0, 50, 100]
    every = max(row["at"] for row in rows) / MOST_DOTS
    dotted = -1
    for row in rows:
        row |= {"shown": row["loss"] or base, "base": base}
        # Dots closer than a pixel cannot be told apart, and a month of them takes a second to draw.
        place = floor(row["at"] / every) if len(rows) > MOST_DOTS else dotted + 1
        row["dot"] = row["loss"] is None and place > dotted
        dotted = place if row["dot"] else dotted
    scale = {"type": "log"} if lossy else {}
    y = of(
        "shown:Q",
        title="lost, % (log)" if lossy else "lost, %",
        scale={**scale, "domain": [base, 100], "nice": False},
        axis={"values": ticks, "labelExpr": f"datum.value <= {base!r} ? '0' : format(datum.value, '~g')"},
    )
    layers = [marks("rule", {"color": vega.INK, "strokeWidth": 1.5}, y={"datum": base})]
    # A layer without rows has no extent, of which the page would complain.
    if lossy:
        bar = marks("rule", {"strokeWidth": 3, "color": LOST, "clip": True}, x=x, y=y, y2=of("base"))
        layers.append({**bar, "transform": [{"filter": "datum.loss !== null"}]})
    if len(lossy) < len(rows):
        look = {"filled": True, "size": 16, "opacity": 1, "color": vega.PALETTE[2]}
        layers.append({**marks("point", look, x=x, y=y), "transform": [{"filter": "datum.dot"}]})
    if not lossy:
        look = {"font": vega.FONT, "fontSize": 14, "color": vega.PALETTE[2], "text": nothing}
        look |= {"align": "right", "dx": -8}
        said = marks("text", look, x={"value": "width"}, y={"value": HEIGHT // 6})
        layers.append({"data": {"values": [{}]}, **said})
    return {"width": WIDTH - 60, "height": HEIGHT // 2 if lossy else HEIGHT // 3, "layer": layers}


def _table(run: RunView) -> Figure | None:
    """The first figure that a method's own table has."""
    for table in details(run):
        for drawn in table_figures.drawn(table, "hero"):
            title = " / ".join(part for part in (table.name, drawn.title) if part)
            return Figure("hero", title, "", drawn.live)
    return None


def _by_class(run: RunView) -> Figure | None:
    return _hero(classes.TITLE, classes.NOTE, classes.spec(run, WIDE, HEIGHT))


def _connections(run: RunView) -> Figure | None:
    return _hero(connections.TITLE, connections.NOTE, connections.spec(run, WIDTH, HEIGHT))


def _costs(run: RunView) -> Figure | None:
    return _hero(costs.TITLE, costs.NOTE, costs.spec(run, WIDE - 250))


def _services(run: RunView) -> Figure | None:
    return _hero("Each step of each service", services.NOTE, services.spec(run, WIDTH, HEIGHT))


def _once(
    rows: Sequence[dict[str, Any]], key: Callable[[dict[str, Any]], tuple[Any, ...]]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Rows whose lines differ, those of lines that coincide under both names: `uni, bidir`."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(row["who"], []).append(row)
    shapes: dict[tuple[Any, ...], list[str]] = {}
    for name, own in lines.items():
        shapes.setdefault(tuple(map(key, own)), []).append(name)
    merged = [{**row, "who": ", ".join(names)} for names in shapes.values() for row in lines[names[0]]]
    return [", ".join(names) for names in shapes.values()], merged


def _colour(names: Sequence[str]) -> vega.Spec:
    legend = vega.legend(columns=3) if len(names) > 1 else None
    return of("who:N", scale=vega.scale(names, vega.PALETTE), legend=legend)


def _prefix(top: float) -> tuple[int, str]:
    return next(((factor, word) for factor, word in table_figures.PREFIXES if top >= factor), (1, "pps"))


DRAWN: Mapping[str, Callable[[RunView], Figure | None]] = {
    "acceptance": _table,
    "ndr": _bounds,
    "service-cost": _costs,
    "soak": _losses,
    "tcp": _connections,
    "rfc6349": lambda run: _table(run) or _connections(run),
    "sweep": lambda run: _by_class(run) or _draw_latency_by_load(run),
    "y1564": _services,
}
"""By the method's name. Others are drawn by class, over frame sizes, as an overlay, or by a table."""
