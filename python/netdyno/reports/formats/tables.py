"""The methods' tables as CSV, one after the other: exact numbers, units in the column names.

Each begins with a line of its name alone, then its columns, then its rows; an empty line is between two.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fractions import Fraction

from netdyno.reports import Look
from netdyno.reports.model.details import details
from netdyno.reports.model.joined import WORDS
from netdyno.reports.model.view import RunView
from netdyno.values import number as printed
from netdyno.values.finding import Cell, Column
from netdyno.values.printable import printable

CONTRADICTED = "contradicted"
"""The column that names those in which a row is, or stands on, a throughput that later trials contradict."""
PLACES = 12
"""Decimals of a number: enough for any share."""


def render(runs: Sequence[RunView], look: Look) -> bytes:
    """The report on one run."""
    (run,) = runs
    return text(run).encode()


def text(run: RunView) -> str:
    """The tables (RFC 4180, but `\\n` ends a line); a line that says so if there is none."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    found = details(run)
    if not found:
        return "no method of this run made a table\n"
    for number, table in enumerate(found):
        if number:
            writer.writerow([])
        writer.writerow([_field(table.name)])
        # Numbers stay numbers: which of them are marked stands behind them, by their columns.
        marked = [[", ".join(table.marked(place))] if table.marks else [] for place in range(len(table.rows))]
        heading = [*map(_column, table.columns), *([CONTRADICTED] if table.marks else [])]
        writer.writerow(map(_field, heading))
        writer.writerows(
            [*map(_cell, row), *map(_field, marks)] for row, marks in zip(table.rows, marked, strict=True)
        )
    return target.getvalue()


def _column(column: Column) -> str:
    unit = WORDS.get(column.unit, column.unit)
    return f"{column.name} ({unit})" if unit else column.name


def _cell(cell: Cell) -> str:
    return printed.exact(cell, PLACES) if isinstance(cell, Fraction) or cell is None else _field(cell)


def _field(text: str) -> str:
    """One line, which steers no terminal."""
    return printable(text.replace("\n", " "))
