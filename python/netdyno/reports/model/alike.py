"""Streams that are alike, of one direction and class: where there are many, reports show them as one.

A router with 205 VLANs has 410 streams. A row for each of them in each trial is megabytes that nobody reads;
the least and the most of them are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from netdyno.errors import counted
from netdyno.reports.model import grid
from netdyno.reports.model.table import SIZE, Table, text
from netdyno.reports.model.view import CaseView, RunView, once_a_case
from netdyno.values.finding import Cell, Column, Value
from netdyno.values.situation import Place
from netdyno.values.vlans import name_way

T = TypeVar("T")

STREAM = "stream"
"""The column that says whose a row's numbers are; a table without one is of all streams together."""
MOST_STREAMS = 32
"""Streams of a case up to which each stands by itself."""
CAPTION = (
    "Streams that are alike are one row: frames are their sum, other numbers the least and the most of them;"
    " `netdyno report RUN --as tables` has each."
)

_WAYS: tuple[Callable[[str, Place], str], ...] = (
    name_way,
    lambda _, place: ", ".join(filter(None, (place.group, place.traffic))) or "each pair of ports",
)
"""What streams have in common: direction and class; of the ports of a mesh, whose directions are as many as
its streams, group and class."""


@once_a_case
def kinds(case: CaseView) -> Mapping[str, str]:
    """What each stream is shown as, `branch-core`; empty where the streams are few, and each is itself."""
    if len(case.streams) <= MOST_STREAMS or len(case.places) != len(case.streams):
        return {}
    found: dict[str, str] = {}
    for way in _WAYS:
        names = map(way, case.streams, case.places)
        found = dict(zip(case.streams, names, strict=True))
        if len(set(found.values())) <= MOST_STREAMS:
            return found
    return found


def group(case: CaseView, each: Iterable[T], stream: Callable[[T], str]) -> dict[str, list[T]]:
    """Whatever each stream has, by what the stream is shown as; of no kind: by its own name."""
    of, found = kinds(case), dict[str, list[T]]()
    for one in each:
        name = stream(one)
        found.setdefault(of.get(name, name), []).append(one)
    return found


def group_values(case: CaseView, values: Iterable[Value]) -> dict[tuple[str, str], list[Value]]:
    """Values by their name and what their stream is shown as."""
    of, found = kinds(case), dict[tuple[str, str], list[Value]]()
    for value in values:
        found.setdefault((value.name, of.get(value.scope, value.scope)), []).append(value)
    return found


def ends(values: Sequence[Value]) -> tuple[Value, Value]:
    """The least and the most of some values; those without a number only where none has one."""
    known = [value for value in values if value.number is not None] or values

    def place(value: Value) -> Fraction:
        return next((one for one in (value.number, value.low, value.high) if one is not None), Fraction(0))

    return min(known, key=place), max(known, key=place)


def name_kind(kind: str, streams: int) -> str:
    """`branch-core, 205 streams`; the name alone of a single one."""
    return kind if streams == 1 else f"{kind}, {counted(streams, 'stream')}"


def summed(run: RunView, table: Table) -> Table:
    """A table in which streams that are alike are one row for each load and trial; `whole` has each. A table
    without such streams, or in which this saves no row, is as it was."""
    names = [column.name for column in table.columns]
    cases = {case.number: kinds(case) for case in run.cases}
    if STREAM not in names or not any(cases.values()):
        return table
    place = names.index(STREAM)
    named = [one for one, column in enumerate(table.columns) if one != place and _is_name(table, column)]
    groups: dict[tuple[int | None, str, tuple[Cell, ...]], list[int]] = {}
    for number, (row, case) in enumerate(zip(table.rows, table.cases, strict=True)):
        stream = str(row[place])
        kind = cases.get(case if case is not None else -1, {}).get(stream, stream)
        # What is said of a row in words is what it is, too: a remark on one of 205 streams is not lost.
        said = tuple(
            cell for one, cell in enumerate(row) if one in named or (isinstance(cell, str) and one != place)
        )
        groups.setdefault((case, kind, said), []).append(number)
    if len(groups) == len(table.rows):
        return table
    rows, marks = [], set[tuple[int, int]]()
    for number, ((_, kind, _), members) in enumerate(groups.items()):
        cells = [
            _sum_up(column, [table.rows[one][at] for one in members])
            for at, column in enumerate(table.columns)
        ]
        cells[place] = name_kind(kind, len({table.rows[one][place] for one in members}))
        rows.append(tuple(cells))
        marks |= {(number, at) for one in members for at in range(len(names)) if (one, at) in table.marks}
    return replace(
        table,
        captions=(*table.captions, CAPTION),
        rows=tuple(rows),
        cases=tuple(case for case, _, _ in groups),
        marks=frozenset(marks),
        whole=table,
    )


def _is_name(table: Table, column: Column) -> bool:
    """Whether the numbers of a column say which row it is, as a load does, and not what was found there."""
    return column.unit == SIZE or (table.figure is not None and column.name == table.figure.x)


def _sum_up(column: Column, cells: Sequence[Cell]) -> Cell:
    known = [cell for cell in cells if isinstance(cell, Fraction)]
    if not known:
        return cells[0]
    least, most = min(known), max(known)
    if column.unit == "frames" and len(known) == len(cells):
        return sum(known, Fraction(0))
    if least == most and len(known) == len(cells):
        return least
    span = grid.span(text(least, column.unit), text(most, column.unit))
    return span if len(known) == len(cells) else f"{span}, n/a of {len(cells) - len(known):,}"
