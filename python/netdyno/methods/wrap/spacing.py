"""Any method with frames that do not leave evenly: how far apart they arrived, as a distribution.

Gaps of a Poisson process are exponential: of these a share p is at most -mean * ln(1 - p), a straight line
where the axis of p is in tens of 1/(1-p).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from netdyno.methods.parts.procedure import record_trials
from netdyno.stats.histogram import percentiles
from netdyno.values.finding import Cell, Figure, Table, columns
from netdyno.values.method import Method
from netdyno.values.outcome import Latency, Outcome
from netdyno.values.situation import Situation

SHARES = tuple(Fraction(share) for share in ("0.05", "0.25", "0.5", "0.75", "0.9", "0.99", "0.999", "0.9999"))
MOST = 8
"""Streams that are shown."""
SHARE, GAP, DRAWN = "percentile", "time between arrivals", "of a Poisson process"
TABLE = "Times between arrivals"
COLUMNS = columns(f"trial | load: fps | stream | {SHARE}: share | {GAP}: ns | {DRAWN}: ns")
CAPTION = (
    "Of streams whose frames do not leave evenly, at the receiving port, in the trial with most frames that"
    " lost none of those that the result rests on. Beside it the times of a Poisson process with as many"
    " arrivals: what comes from a line is no closer than the line lets it."
)

REAL = (
    " The tester stamps frames as it reads them, several at once: shorter times than its rounds are its own."
)


def with_spacing(method: Method, situation: Situation, uneven: Mapping[str, str], *, is_real: bool) -> Method:
    """The same method; its result has a table of the times between arrivals.

    uneven: the kind of arrivals of each stream that has some. is_real: frames are stamped as the tester reads
    them.
    """
    result, every = yield from record_trials(method)
    known = {number: one for number, one in every.items() if any(_spacings(one[1], uneven))}
    rests = result.resting(result.headlines[0]) if result.headlines else result.trials
    resting = [number for number in rests if number in known]
    if not known:
        return result
    # A search rests on a trial that failed, too: what arrived there is the device's pace.
    whole = [number for number in resting or known if known[number][1].lost <= 0]
    frames = {number: sum(one.count for _, one in _spacings(known[number][1], uneven)) for number in known}
    most = max(whole or resting or known, key=frames.__getitem__)
    trial, outcome = known[most]
    load = max((situation.fps(one.from_rate) for one in trial.segments), default=None)
    rows = tuple(
        (trial.name, load, name, *row)
        for name, spacing in _spacings(outcome, uneven)
        for row in _rows(spacing, is_drawn=uneven[name] == "poisson")
    )
    caption = (
        CAPTION
        + (REAL if is_real else "")
        + (f" The first {MOST} of {len(uneven)} streams." if len(uneven) > MOST else "")
    )
    figure = Figure(SHARE, (GAP, DRAWN), reference=(DRAWN,), log_x=True, by="stream")
    return replace(result, tables=(*result.tables, Table(TABLE, COLUMNS, rows, caption, figure)))


def _spacings(outcome: Outcome, uneven: Mapping[str, str]) -> Iterator[tuple[str, Latency]]:
    found = (one for one in (*outcome.streams, *outcome.beside) if one.name in uneven)
    for stream in islice(found, MOST):
        if stream.spacing is not None and stream.spacing.count:
            yield stream.name, stream.spacing


def _rows(spacing: Latency, *, is_drawn: bool) -> Iterator[tuple[Cell, ...]]:
    mean = Fraction(spacing.sum_ns, spacing.count)
    for share, found in zip(SHARES, percentiles(spacing, SHARES), strict=True):
        if found is not None:
            drawn = Fraction(round(-float(mean) * math.log1p(-float(share)))) if is_drawn else None
            yield share, Fraction(found), drawn
