"""The tables of results as reports show them: those of several cases with the same name and columns in one.

A column for each axis in which the cases differ stands before the table's own; their figure has a line for
each case, and where it is over the frame size a point for each (RFC 2544 section 26.1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from netdyno.reports.model import tested
from netdyno.reports.model.alike import STREAM, kinds, summed
from netdyno.reports.model.table import SIZE, Line, Point, Table, text, with_bounds
from netdyno.reports.model.view import ALL, CaseView, RunView
from netdyno.values import finding
from netdyno.values.finding import NOT_RUN, Cell, Column, Figure

ABOUT_BOUNDS = "A loss of 0 (≤ x) is at most x at 95 %, 3/N of N frames of which none was lost."


def join_tables(run: RunView) -> tuple[Table, ...]:
    """The tables of a run, in the order they first appear."""
    found: dict[tuple[str, tuple[Column, ...]], list[tuple[CaseView, finding.Table]]] = {}
    for case in run.cases:
        for table in case.result.tables if case.result else ():
            found.setdefault((table.name, table.columns), []).append((case, table))
    return tuple(_join(run, tables) for tables in found.values())


def _join(run: RunView, tables: Sequence[tuple[CaseView, finding.Table]]) -> Table:
    first = tables[0][1]
    axes = _missing_axes(_axes(run, [case for case, _ in tables]), tables)
    if _follows(tables):
        axes.pop("profile", None)
    rows: list[tuple[Cell, ...]] = []
    numbers: list[int | None] = []
    for case, table in tables:
        before = tuple(values[case.number] for values in axes.values())
        rows += [(*before, *row) for row in table.rows]
        numbers += [case.number] * len(table.rows)
    rows, numbers = _told_once(rows, numbers, len(axes), len(tables))
    names = [column.name for column in first.columns]
    figure = next((table.figure for _, table in tables if table.figure is not None), None)
    columns = (*(Column(free(axis, names)) for axis in axes), *first.columns)
    by_number: dict[int | None, CaseView] = {case.number: case for case, _ in tables}
    bounded = any(with_bounds(columns, row) != row for row in rows)
    captions = (table.caption for _, table in tables if table.caption)
    joined = Table(
        name=first.name,
        captions=tuple(dict.fromkeys((*captions, *((ABOUT_BOUNDS,) if bounded else ()), *_tested(tables)))),
        columns=columns,
        rows=tuple(rows),
        cases=tuple(numbers),
        figure=figure,
        lines=() if figure is None else _lines(run, tables, figure),
        marks=frozenset(marks(columns, rows, [by_number.get(number) for number in numbers])),
    )
    return summed(run, joined)


def marks(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], cases: Sequence[CaseView | None]
) -> list[tuple[int, int]]:
    """Row and column of each cell that is, or stands on, a contradicted throughput. cases: each row's."""
    found = []
    names = [column.name for column in columns]
    whose = names.index(STREAM) if STREAM in names else None
    for number, (row, case) in enumerate(zip(rows, cases, strict=True)):
        scope = ALL if whose is None else str(row[whose])
        if case is None or not case.contradiction(scope):
            continue
        for place, column in enumerate(columns):
            if column.lasts and case.is_lasting(scope):
                continue
            if column.at_throughput and row[place] is not None:
                found.append((number, place))
    return found


def _tested(tables: Sequence[tuple[CaseView, finding.Table]]) -> Iterator[str]:
    """What RFC 2544 asks for beside a table over the frame size."""
    what_was_tested = tested.sentence([case for case, _ in tables])
    if what_was_tested and _size_column(tables[0][1]) is not None:
        yield what_was_tested


def _told_once(
    rows: Sequence[tuple[Cell, ...]], numbers: Sequence[int | None], axes: int, cases: int
) -> tuple[list[tuple[Cell, ...]], list[int | None]]:
    """The rows, those of what was not run, where every case has them, told once, of no case, behind the
    others."""
    words = [row[axes:] for row in rows]
    having: dict[tuple[Cell, ...], set[int | None]] = {}
    for own, number in zip(words, numbers, strict=True):
        if cases > 1 and isinstance(own[-1], str) and own[-1].startswith(NOT_RUN):
            having.setdefault(own, set()).add(number)
    everywhere = {row for row, of in having.items() if len(of) == cases}
    kept = [
        (row, number) for row, own, number in zip(rows, words, numbers, strict=True) if own not in everywhere
    ]
    kept += [(("",) * axes + row, None) for row in having if row in everywhere]
    return [row for row, _ in kept], [number for _, number in kept]


def free(axis: str, taken: Collection[str]) -> str:
    """The name of an axis's column, where the table may have one of that name already."""
    return f"{axis} of the case" if axis in taken else axis


def _axes(run: RunView, cases: Sequence[CaseView]) -> dict[str, dict[int, str]]:
    """The axes in which cases differ: name to value of each case, by its number."""
    every = {name: {case.number: case.axes.get(name, "") for case in cases} for name in run.axis_names}
    every["repeat"] = {case.number: str(case.repeat or "") for case in cases}
    return {name: values for name, values in every.items() if len(set(values.values())) > 1}


def _missing_axes(
    axes: dict[str, dict[int, str]], tables: Sequence[tuple[CaseView, finding.Table]]
) -> dict[str, dict[int, str]]:
    """Those that no column of the tables says by itself, under the same name: `routes`."""
    names = [column.name for column in tables[0][1].columns]

    def is_in_tables(axis: str, values: Mapping[int, str]) -> bool:
        if axis not in names:
            return False
        place = names.index(axis)
        return all(str(row[place]) == values[case.number] for case, table in tables for row in table.rows)

    return {axis: values for axis, values in axes.items() if not is_in_tables(axis, values)}


def _size_column(table: finding.Table) -> int | None:
    return next((place for place, column in enumerate(table.columns) if column.unit == SIZE), None)


def _follows(tables: Sequence[tuple[CaseView, finding.Table]]) -> bool:
    """Whether the frame size in the tables tells the profile."""
    place = _size_column(tables[0][1])
    if place is None:
        return False
    profiles: dict[Cell, set[str]] = {}
    for case, table in tables:
        for row in table.rows:
            profiles.setdefault(row[place], set()).add(case.profile)
    return all(size is not None and len(of) == 1 for size, of in profiles.items())


def _one_each(table: finding.Table, by: int | None) -> bool:
    """Whether a table has one point for each of its lines."""
    cells = [None if by is None else row[by] for row in table.rows]
    return len(set(cells)) == len(cells)


def _lines(
    run: RunView, tables: Sequence[tuple[CaseView, finding.Table]], figure: Figure
) -> tuple[Line, ...]:
    names = [column.name for column in tables[0][1].columns]
    x, by = names.index(figure.x), None if figure.by is None else names.index(figure.by)
    unit = {column.name: column.unit for column in tables[0][1].columns}
    axes = _missing_axes(_axes(run, [case for case, _ in tables]), tables)
    if unit[figure.x] == SIZE and _follows(tables) and all(_one_each(table, by) for _, table in tables):
        axes.pop("profile", None)
    # Repeats are not lines of their own: their mean is drawn, with a bar from the least to the most.
    axes.pop("repeat", None)
    points: dict[tuple[tuple[str, ...], str], dict[Fraction | str, list[Fraction]]] = {}
    for case, table in tables:
        who = [values[case.number] for values in axes.values()]
        alike = kinds(case) if figure.by == STREAM else {}
        for row in table.rows:
            own = "" if by is None else text(row[by], unit[figure.by or ""])
            told = who if by is None else [*who, alike.get(own, own)]
            for y in figure.ys:
                at, found = row[x], row[names.index(y)]
                if at is not None and isinstance(found, Fraction):
                    key = (tuple(told), y)
                    points.setdefault(key, {}).setdefault(at, []).append(found)
    lines = [Line(who, y, y in figure.reference, _points(there)) for (who, y), there in points.items()]
    return tuple(_once(lines))


def _points(found: Mapping[Fraction | str, Sequence[Fraction]]) -> tuple[Point, ...]:
    """From left to right; what several trials or repeats found at one place is one point."""
    points = [
        Point(x, sum(every, Fraction(0)) / len(every), min(every), max(every)) for x, every in found.items()
    ]
    numbers = all(isinstance(point.x, Fraction) for point in points)
    return tuple(sorted(points, key=lambda point: point.x) if numbers else points)


def _once(lines: Sequence[Line]) -> Iterator[Line]:
    """What was not measured and is the same in several cases, a line rate say, is drawn once."""
    shared: dict[tuple[str, tuple[Point, ...]], int] = {}
    for line in lines:
        if line.reference:
            shared[line.y, line.points] = shared.get((line.y, line.points), 0) + 1
    drawn = set()
    for line in lines:
        place = (line.y, line.points)
        if shared.get(place, 0) < 2:
            yield line
        elif place not in drawn:
            drawn.add(place)
            yield replace(line, who=())
