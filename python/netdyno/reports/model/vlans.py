"""The VLANs of a link on the first screen: how many lost frames, from which load on, and the extremes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from netdyno.reports.model.case_lines import Rows, case_lines, grouped_rows, number
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.vlans import COLUMNS, FREE, FREE_AT, TABLE, VLAN, WAY, WORST

MOST = 6
"""Lines on the first screen."""
_PLACES = {column.name: place for place, column in enumerate(COLUMNS)}


def vlan_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`branch-core: 1 of 205 VLANs lost frames, 65.1 % at most; ...`, for each case and direction.

    name: what tells a case from the others of the run.
    """
    return case_lines(run, name, _of_case, MOST)


def _of_case(case: CaseView) -> Iterator[str]:
    for way, rows in grouped_rows(case, TABLE, COLUMNS, _PLACES[WAY]).items():
        yield f"{way}: {_in_words(rows)}"


def _in_words(rows: Rows) -> str:
    lossy = [row for row in rows if number(row[_PLACES[WORST]])]
    if not lossy:
        return f"no loss on {len(rows)} VLANs"
    lossy.sort(key=lambda row: number(row[_PLACES[FREE]]))
    first = lossy[0]
    shares = [number(row[_PLACES[WORST]]) for row in lossy]
    low, high = printed.percent(min(shares)), printed.percent(max(shares))
    span = high if low == high else f"{low} to {high}"
    at, own = str(first[_PLACES[FREE_AT]]), printed.rate(number(first[_PLACES[FREE]]), "pps")
    # The trials of a search have names that say nothing of their loads.
    free = f"loss-free up to {at if at.endswith('%') else own}" if at else "never loss-free"
    alike = sum(row[_PLACES[FREE]] == first[_PLACES[FREE]] for row in lossy)
    others = f" and {alike - 1} more" if alike > 1 else ""
    named = f"first {first[_PLACES[VLAN]]}{others}, {free}"
    return f"{len(lossy)} of {len(rows)} VLANs lost frames, {span} at most; {named}"
