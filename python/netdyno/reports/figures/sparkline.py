"""A small drawing of a whole trial: what was offered (grey) and received (blue) over time, phases below."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from html import escape

from netdyno.reports.figures import series
from netdyno.reports.model.view import TrialView
from netdyno.values import number as printed

BUCKETS = 64
WIDTH, HEIGHT, TOP, FOOT, LEGEND = 720, 84, 6, 18, 16
LETTER = 6.5
"""About the width of a letter of a label."""


def svg(trial: TrialView) -> str:
    """The drawing as SVG; empty if there is nothing to draw."""
    points = series.points(trial, None, BUCKETS)
    most = max((max(p.offered_fps, p.rx_max_fps) for p in points), default=0.0)
    if len(points) < 3 or most == 0:
        return ""
    along, up = WIDTH / trial.duration_ns, (HEIGHT - TOP) / most

    # In whole pixels: there may be hundreds of these in a page.
    across = [f"{p.at_ns * along:.0f}" for p in points]

    def line(rates: Iterable[float]) -> list[str]:
        return [f"{x},{HEIGHT - rate * up:.0f}" for x, rate in zip(across, rates, strict=True)]

    offered = " ".join(line(p.offered_fps for p in points))
    upper, lower = line(p.rx_max_fps for p in points), line(p.rx_min_fps for p in points)
    mean = " ".join(line(p.rx_fps for p in points))
    # Up, as it is a bound, but not for what a float is off by.
    limit = printed.rate(math.ceil(round(most, 3)), "pps", "at most")
    parts = [
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT + FOOT + LEGEND}" role="img" aria-label="'
        f'{escape(trial.name)}: offered and received over time, at most {limit}">',
        f'<polyline class="spark-offered" points="{offered}"/>',
        f'<polygon class="spark-range" points="{" ".join(upper + lower[::-1])}"/>' if upper != lower else "",
        f'<polyline class="spark-received" points="{mean}"/>',
        f'<line class="spark-axis" x1="0" y1="{HEIGHT}" x2="{WIDTH}" y2="{HEIGHT}"/>',
    ]
    start = 0
    for segment in trial.segments:
        left, right = (
            float(Fraction(ns, trial.duration_ns) * WIDTH) for ns in (start, start + segment.duration_ns)
        )
        start += segment.duration_ns
        parts.append(
            f'<line class="spark-axis" x1="{left:.1f}" y1="{TOP}" x2="{left:.1f}" y2="{HEIGHT + 4}"/>'
        )
        label = f"{segment.name}, {printed.duration(segment.duration_ns)}"
        if right - left > LETTER * len(label) + 8:
            parts.append(f'<text x="{left + 4:.1f}" y="{HEIGHT + 14}">{escape(label)}</text>')
    band = "" if upper == lower else "; pale: least to most"
    legend = f"received (line{band}) of offered (dashed), up to {limit}"
    parts.append(f'<text x="{WIDTH}" y="{HEIGHT + FOOT + LEGEND - 4}" text-anchor="end">{legend}</text>')
    parts.append("</svg>")
    return "".join(parts)
