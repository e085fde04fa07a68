"""Lines of the first screen that come of a table of each case: its rows in groups, the first of all lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.finding import Cell, Column

Rows = Sequence[Sequence[Cell]]


def case_lines(
    run: RunView, name: Callable[[CaseView], str], of_case: Callable[[CaseView], Iterator[str]], most: int
) -> tuple[str, ...]:
    """The lines of all cases, the first `most`, then how many more there are.

    name: what tells a case from the others of the run; it stands before its lines, if there are others.
    """
    found = [
        f"{name(case)}, {line}" if len(run.cases) > 1 else line
        for case in run.cases
        for line in of_case(case)
    ]
    more = len(found) - most
    return (*found[:most], f"{more} more lines in the report") if more > 1 else tuple(found)


def grouped_rows(case: CaseView, table: str, columns: Sequence[Column], by: int) -> dict[str, Rows]:
    """The rows of a table by the text in their column `by`; none if the case has no such table."""
    names = [column.name for column in columns]
    found: dict[str, list[Sequence[Cell]]] = {}
    for one in () if case.result is None else case.result.tables:
        if one.name == table and [column.name for column in one.columns] == names:
            for row in one.rows:
                found.setdefault(str(row[by]), []).append(row)
    return dict(found)


def number(cell: Cell) -> Fraction:
    """The number in a cell; 0 where nothing was measured."""
    return cell if isinstance(cell, Fraction) else Fraction(0)
