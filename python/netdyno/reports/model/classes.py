"""Classes of traffic on the first screen: what each lost as the load rose, and its latency."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from netdyno.reports.model.case_lines import Rows, case_lines, grouped_rows, number
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.classes import CLASS, COLUMNS, HIGH, LOAD, LOSS, TABLE

MOST = 8
"""Lines on the first screen."""
_PLACES = {column.name: place for place, column in enumerate(COLUMNS)}


def class_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`llq, voice: no loss up to 60%; p99 106 to 107 us`, a line for each case and class.

    name: what tells a case from the others of the run.
    """
    return case_lines(run, name, _of_case, MOST)


def _of_case(case: CaseView) -> Iterator[str]:
    for traffic, rows in grouped_rows(case, TABLE, COLUMNS, _PLACES[CLASS]).items():
        yield f"{traffic}: {_losses(rows)}{_latencies(rows)}"


def _losses(rows: Rows) -> str:
    """What a class lost: at which load first, and at most."""
    by_load = sorted(rows, key=lambda row: number(row[_PLACES[LOAD]]))
    lossy = [row for row in by_load if number(row[_PLACES[LOSS]])]
    if not lossy:
        return "no loss" if len(rows) == 1 else f"no loss up to {by_load[-1][0]}"
    most = max(lossy, key=lambda row: number(row[_PLACES[LOSS]]))
    share = printed.percent(number(most[_PLACES[LOSS]]))
    if len(rows) == 1:
        return f"{share} lost"
    return f"loses from {lossy[0][0]} on, up to {share} at {most[0]}"


def _latencies(rows: Rows) -> str:
    """The 99th percentiles of a class, the least and the highest."""
    found = sorted(number(row[_PLACES[HIGH]]) for row in rows if row[_PLACES[HIGH]] is not None)
    if not found:
        return ""
    low, high = (printed.latency(one) for one in (found[0], found[-1]))
    return f"; p99 {low}" if low == high else f"; p99 {low} to {high}"
