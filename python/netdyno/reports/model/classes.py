"""Classes of traffic on the first screen: what each lost as the load rose, and its latency."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.classes import CLASS, COLUMNS, HIGH, LOAD, LOSS, TABLE
from netdyno.values.finding import Cell

MOST = 8
"""Lines on the first screen."""


def class_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`llq, voice: no loss up to 60%; p99 106 to 107 us`, a line for each case and class; the first `MOST`.

    name: what tells a case from the others of the run.
    """
    found = [line for case in run.cases for line in _of_case(case, name(case) if len(run.cases) > 1 else "")]
    more = len(found) - MOST
    return (*found[:MOST], f"{more} more lines in the report") if more > 1 else tuple(found)


def _of_case(case: CaseView, name: str) -> Iterator[str]:
    tables = () if case.result is None else case.result.tables
    table = next((one for one in tables if one.name == TABLE), None)
    if table is None or [column.name for column in table.columns] != [column.name for column in COLUMNS]:
        return
    places = {column.name: place for place, column in enumerate(COLUMNS)}
    rows: dict[str, list[Sequence[Cell]]] = {}
    for row in table.rows:
        rows.setdefault(str(row[places[CLASS]]), []).append(row)
    where = f"{name}, " if name else ""
    for traffic, theirs in rows.items():
        yield f"{where}{traffic}: {_losses(theirs, places)}{_latencies(theirs, places)}"


def _losses(rows: Sequence[Sequence[Cell]], places: Mapping[str, int]) -> str:
    """What a class lost: at which load first, and at most."""
    by_load = sorted(rows, key=lambda row: _number(row[places[LOAD]]))
    lossy = [row for row in by_load if _number(row[places[LOSS]])]
    if not lossy:
        return "no loss" if len(rows) == 1 else f"no loss up to {by_load[-1][0]}"
    most = max(lossy, key=lambda row: _number(row[places[LOSS]]))
    share = printed.percent(_number(most[places[LOSS]]))
    if len(rows) == 1:
        return f"{share} lost"
    return f"loss from {lossy[0][0]} on, at most {share} ({most[0]})"


def _latencies(rows: Sequence[Sequence[Cell]], places: Mapping[str, int]) -> str:
    """The 99th percentiles of a class, the least and the highest."""
    found = sorted(_number(row[places[HIGH]]) for row in rows if row[places[HIGH]] is not None)
    if not found:
        return ""
    low, high = (printed.latency(one) for one in (found[0], found[-1]))
    return f"; p99 {low}" if low == high else f"; p99 {low} to {high}"


def _number(cell: Cell) -> Fraction:
    return cell if isinstance(cell, Fraction) else Fraction(0)
