"""Any method with frames that do not leave evenly: how far apart they arrived, as a distribution.

Gaps of a Poisson process are exponential: of these a share p is at most -mean * ln(1 - p), a straight line
where the axis of p is in tens of 1/(1-p).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from netdyno.methods.parts.procedure import record_trials
from netdyno.stats.histogram import percentiles
from netdyno.values.finding import Cell, Column, Figure, Result, Table
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Latency, Outcome

SHARES = tuple(Fraction(share) for share in ("0.05", "0.25", "0.5", "0.75", "0.9", "0.99", "0.999", "0.9999"))
MOST = 8
"""Streams that are shown."""
SHARE, GAP, DRAWN = "percentile", "time between arrivals", "of a Poisson process"
TABLE = "Times between arrivals"
COLUMNS = (Column("trial"), Column("stream"), Column(SHARE, "share"), Column(GAP, "ns"), Column(DRAWN, "ns"))
CAPTION = (
    "At the receiving port, in the trial with most frames of those that the result rests on. Of a Poisson"
    " process with as many arrivals the times are exponential."
)


def with_spacing(method: Method) -> Method:
    """The same method; its result has a table of the times between arrivals."""
    result, every = yield from record_trials(method)
    known = {number: one for number, one in enumerate(every) if any(_spacings(one[1]))}
    resting = [number for number in _resting(result) if number in known]
    if not known:
        return result
    trial, outcome = known[max(resting or known, key=lambda number: _frames(known[number][1]))]
    rows = tuple(row for name, spacing in _spacings(outcome) for row in _rows(trial, name, spacing))
    count = len(outcome.streams) + len(outcome.beside)
    caption = CAPTION + (f" The first {MOST} of {count} streams." if count > MOST else "")
    figure = Figure(SHARE, (GAP, DRAWN), reference=(DRAWN,), log_x=True, by="stream")
    return replace(result, tables=(*result.tables, Table(TABLE, COLUMNS, rows, caption, figure)))


def _resting(result: Result) -> tuple[int, ...]:
    return result.resting(result.headlines[0]) if result.headlines else result.trials


def _frames(outcome: Outcome) -> int:
    return sum(spacing.count for _, spacing in _spacings(outcome))


def _spacings(outcome: Outcome) -> Iterator[tuple[str, Latency]]:
    for stream in (*outcome.streams, *outcome.beside)[:MOST]:
        if stream.spacing is not None and stream.spacing.count:
            yield stream.name, stream.spacing


def _rows(trial: Trial, name: str, spacing: Latency) -> Iterator[tuple[Cell, ...]]:
    mean = Fraction(spacing.sum_ns, spacing.count)
    for share, found in zip(SHARES, percentiles(spacing, SHARES), strict=True):
        if found is not None:
            drawn = round(-float(mean) * math.log1p(-float(share)))
            yield trial.name, name, share, Fraction(found), Fraction(drawn)
