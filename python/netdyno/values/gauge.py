"""What a gauge of the device showed over a part of a trial, from readings that are of that part alone."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from netdyno.values.series import Series


def numbers_within(series: Series, begin_ns: int, end_ns: int) -> list[Fraction]:
    """The readings between two times whose whole window lies there, in the series' unit."""
    window_ns = series.window_ns or 0
    return [
        number
        for at_ns, number in zip(series.times_ns, series.numbers, strict=True)
        if begin_ns + window_ns <= at_ns <= end_ns
    ]


def mean_within(series: Series, begin_ns: int, end_ns: int) -> Fraction | None:
    """The mean of the readings between two times, ns from the begin of traffic, in the series' unit.

    A value that the device averaged counts only if its whole window lies between them: one that reaches back
    before is of another load as well. None: no such reading.
    """
    found = numbers_within(series, begin_ns, end_ns)
    return sum(found, Fraction(0)) / len(found) if found else None


def sum_of_means(every: Iterable[Series], begin_ns: int, end_ns: int) -> Fraction | None:
    """The sum of the means of several gauges, such as the supplies of a chassis; None if any is unknown."""
    means = [mean_within(series, begin_ns, end_ns) for series in every]
    known = [mean for mean in means if mean is not None]
    return sum(known, Fraction(0)) if known and len(known) == len(means) else None
