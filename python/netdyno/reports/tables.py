"""The methods' tables as CSV, one after the other: exact numbers, units in the column names.

Each begins with a line of its name alone, then its columns, then its rows; an empty line is between two.
"""

from __future__ import annotations

import csv
import io
from fractions import Fraction

from netdyno.printable import printable
from netdyno.reports import quantity
from netdyno.reports.details import details
from netdyno.reports.view import RunView
from netdyno.trial import Cell, Column

PLACES = 12
"""Decimals of a number: enough for any share."""


def render(run: RunView) -> str:
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
        writer.writerow([_field(_column(column)) for column in table.columns])
        writer.writerows([_cell(cell) for cell in row] for row in table.rows)
    return target.getvalue()


def _column(column: Column) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name


def _cell(cell: Cell) -> str:
    return quantity.exact(cell, PLACES) if isinstance(cell, Fraction) or cell is None else _field(cell)


def _field(text: str) -> str:
    """One line, which steers no terminal."""
    return printable(text.replace("\n", " "))
