"""A straight line through points, by least squares, and how well its slope is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import linear_regression

from netdyno.stats.intervals import CONFIDENCE, student_quantile

LEAST_POINTS = 3
"""Through two points every line passes."""


@dataclass(frozen=True)
class Line:
    """A line. reach: how far its slope may be off, each way, with `CONFIDENCE`: Student's t, n - 2 degrees of
    freedom."""

    slope: float
    intercept: float
    reach: float

    def at(self, x: Fraction | int) -> float:
        """Its height."""
        return self.intercept + self.slope * float(x)


def fit_line(points: Sequence[tuple[int, Fraction]]) -> Line | None:
    """The line that is nearest to the points; None: fewer than three different places."""
    xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
    if len(set(xs)) < LEAST_POINTS:
        return None
    slope, intercept = linear_regression(xs, ys)
    mean, df = sum(xs) / len(xs), len(xs) - 2
    off = sum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    error = math.sqrt(off / df / sum((x - mean) ** 2 for x in xs))
    return Line(slope, intercept, student_quantile((1 + CONFIDENCE) / 2, df) * error)
