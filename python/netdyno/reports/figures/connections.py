"""The figure of connections: payload and round-trip time of each stream over time."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import Any

from netdyno.reports.figures import vega
from netdyno.reports.figures.vega import marks, of, short
from netdyno.reports.model.view import CaseView, RunView, TrialView
from netdyno.values.outcome import Carried

TITLE = "Payload and round-trip time"
NOTE = (
    "Payload that senders handed to their kernel each second; it first fills the socket buffers, so it may be"
    " more than the line carries. RTT: as the sender's kernel smoothed it, queues on the way in it."
)
MOST_LINES = 12
"""Streams of all cases: more are not told apart, and the first are drawn."""
RTT = "RTT"


def spec(run: RunView, width: int, height: int) -> dict[str, Any] | None:
    """Payload above, RTT below; None where nothing was carried."""
    found = [
        (_name(run, case, one), trial, one)
        for case in run.cases
        for trial in case.resting_trials
        for one in trial.result.carried
    ][:MOST_LINES]
    rows = [row for of in found for row in (*_payload(*of), *_rtt(*of))]
    if not rows:
        return None
    names = list(dict.fromkeys(name for name, _, _ in found))
    key = vega.legend(columns=2) if len(names) > 1 else None
    colour = of("who:N", scale=vega.scale(names, vega.PALETTE), legend=key)
    dash = of("who:N", scale=vega.scale(names, vega.DASHES), legend=key)
    ends = [row["s"] for row in rows]
    x: vega.Spec = of("s:Q", title="time, s", scale={"nice": False, "domain": [0, max(ends)]})
    tooltip = [of("who", title="stream"), of("s", title="time, s")]
    panels = [
        {
            "width": width,
            "height": tall,
            "transform": [{"filter": f"isValid(datum.{name})"}],
            "encoding": {
                "x": x if is_last else x | {"title": None, "axis": {"labels": False, "ticks": False}},
                "y": of(f"{name}:Q", title=title, scale={"zero": True, "nice": True}),
                "color": colour,
                "strokeDash": dash,
                "tooltip": [*tooltip, of(name, title=title)],
            },
            "layer": [marks("line", {"interpolate": curve}), marks("point", {"size": 40, "opacity": 0})],
        }
        for name, title, tall, curve, is_last in (
            # Each is the mean of the time before it.
            (
                "mbps",
                "payload, Mbit/s",
                height * 2 // 3,
                "step-before",
                not any("ms" in row for row in rows),
            ),
            ("ms", "RTT, ms", height // 3, "linear", True),
        )
        if any(name in row for row in rows)
    ]
    return {"data": {"values": rows}, "vconcat": panels, "spacing": 12}


def _name(run: RunView, case: CaseView, one: Carried) -> str:
    if len(run.cases) == 1:
        return one.name
    has_several = any(len(other.streams) > 1 for other in run.cases)
    return f"{run.name_apart(case)}: {one.name}" if has_several else run.name_apart(case)


def _payload(name: str, trial: TrialView, one: Carried) -> list[dict[str, Any]]:
    """A row at the end of each sample, and one where the first begins."""
    ends_ns = list(accumulate((took for _, took in one.samples), initial=trial.omitted_ns))
    rates = [short(Fraction(8000 * sent, max(took, 1))) for sent, took in one.samples]
    return [
        {"who": name, "s": short(Fraction(end, 10**9)), "mbps": rate}
        for end, rate in zip(ends_ns, (*rates[:1], *rates), strict=False)
    ]


def _rtt(name: str, trial: TrialView, one: Carried) -> list[dict[str, Any]]:
    return [
        {"who": name, "s": short(Fraction(at_ns, 10**9)), "ms": short(value)}
        for series in trial.result.series
        if series.subject == one.name and series.name == RTT
        for at_ns, value in zip(series.times_ns, series.numbers, strict=True)
    ]
