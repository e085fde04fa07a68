"""The VLANs of a link on the first screen: how many lost frames, from which load on, and the extremes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Cell
from netdyno.values.vlans import COLUMNS, FREE, FREE_AT, TABLE, VLAN, WAY, WORST

MOST = 6
"""Lines on the first screen."""
_PLACES = {column.name: place for place, column in enumerate(COLUMNS)}


def vlan_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`branch-core: 1 of 205 VLANs lost frames, 65.1 % at most; ...`, for each case and direction.

    name: what tells a case from the others of the run.
    """
    found = [line for case in run.cases for line in _of_case(case, name(case) if len(run.cases) > 1 else "")]
    more = len(found) - MOST
    return (*found[:MOST], f"{more} more lines in the report") if more > 1 else tuple(found)


def _of_case(case: CaseView, name: str) -> Iterator[str]:
    tables = () if case.result is None else case.result.tables
    table = next((one for one in tables if one.name == TABLE), None)
    if table is None or [column.name for column in table.columns] != list(_PLACES):
        return
    ways: dict[str, list[Sequence[Cell]]] = {}
    for row in table.rows:
        ways.setdefault(str(row[_PLACES[WAY]]), []).append(row)
    where = f"{name}, " if name else ""
    for way, rows in ways.items():
        yield f"{where}{way}: {_in_words(rows)}"


def _in_words(rows: Sequence[Sequence[Cell]]) -> str:
    lossy = [row for row in rows if _number(row[_PLACES[WORST]])]
    if not lossy:
        return f"no loss on {len(rows)} VLANs"
    lossy.sort(key=lambda row: _number(row[_PLACES[FREE]]))
    first = lossy[0]
    shares = [_number(row[_PLACES[WORST]]) for row in lossy]
    low, high = printed.percent(min(shares)), printed.percent(max(shares))
    span = high if low == high else f"{low} to {high}"
    free = f"loss-free up to {first[_PLACES[FREE_AT]]}" if first[_PLACES[FREE_AT]] else "never loss-free"
    alike = sum(row[_PLACES[FREE]] == first[_PLACES[FREE]] for row in lossy)
    others = f" and {alike - 1} more" if alike > 1 else ""
    named = f"first {first[_PLACES[VLAN]]}{others}, {free}"
    return f"{len(lossy)} of {len(rows)} VLANs lost frames, {span} at most; {named}"


def _number(cell: Cell) -> Fraction:
    return cell if isinstance(cell, Fraction) else Fraction(0)
