"""The table that every report shows: columns, rows and sentences, whoever made it and whatever prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.reports.model.loss import none_lost
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Cell, Column, Figure

SIZE = "B"
"""The unit of a frame size."""

WORDS = {"fps": "pps", SIZE: "B", "frames": "frames"}
"""Units that stand in the heading of their column and not with each number."""

PRINTED = "printed"
"""The unit of a column of numbers that are printed already, each with its own."""

CONTRADICTED = " *"
"""Behind a throughput at which a later trial lost frames, and behind what stands on such a one."""
SENT = "sent"
LOST = ("loss", "FLR")
"""Columns of the share that was lost of what was sent."""
NO_ROWS = "None."
"""Stands for the rows of a table without any."""
AT_MOST = "loss at most"
"""A column that has the bound of what none was lost of."""


@dataclass(frozen=True)
class Point:
    """A point of a line: over repeats their mean, from the least to the most."""

    x: Fraction | str
    y: Fraction
    least: Fraction
    most: Fraction


@dataclass(frozen=True)
class Line:
    """A line of a figure. who: what tells its cases from others, empty if nothing does."""

    who: tuple[str, ...]
    y: str
    """Its column."""
    reference: bool
    points: tuple[Point, ...]

    @property
    def label(self) -> str:
        """Who it is, in a word."""
        return " / ".join(part for part in self.who if part)


@dataclass(frozen=True)
class Table:
    """A table as reports show it. left: how many of its first columns name a row. answer: headings of columns
    that a first screen leaves out last, the first one last of all, where there is no room. is_whole: whether
    it has all rows there, however many."""

    name: str = ""
    captions: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: Sequence[tuple[Cell, ...]] = ()
    cases: tuple[int | None, ...] = ()
    """Of each row the number of the case it comes from; None: of several. Empty: rows lead to no case."""
    figure: Figure | None = None
    lines: tuple[Line, ...] = ()
    marks: frozenset[tuple[int, int]] = frozenset()
    """Row and column of each cell that is, or stands on, a throughput which later trials contradict."""
    left: int = 1
    answer: tuple[str, ...] = ()
    is_whole: bool = False
    whole: Table | None = None
    """With each stream, where rows stand for several streams that are alike; None: it has all rows itself."""

    @property
    def every_row(self) -> Table:
        """The table with each stream."""
        return self.whole or self

    @property
    def caption(self) -> str:
        """All sentences; empty: none."""
        return " ".join(filter(None, self.captions))

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns' names, with their units where each number does not have its own."""
        return tuple(heading(column) for column in self.columns)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Of each column, whether it has numbers."""
        return tuple(
            bool(column.unit) or any(isinstance(row[place], Fraction) for row in self.rows)
            for place, column in enumerate(self.columns)
        )

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The rows as people read them."""
        units = [column.unit for column in self.columns]
        return tuple(
            tuple(
                text(cell, unit) + (CONTRADICTED if (number, place) in self.marks else "")
                for place, (cell, unit) in enumerate(zip(with_bounds(self.columns, row), units, strict=True))
            )
            for number, row in enumerate(self.rows)
        )

    def marked(self, row: int) -> tuple[str, ...]:
        """The names of the columns in which a row has a mark."""
        return tuple(column.name for place, column in enumerate(self.columns) if (row, place) in self.marks)

    def without_empty_columns(self) -> Table:
        """The columns of names, and those others that are not empty in all rows."""
        places = range(len(self.columns))
        filled = [one for one in places if one < self.left or any(row[one] for row in self.rows)]
        rows = tuple(tuple(row[one] for one in filled) for row in self.rows)
        return replace(self, columns=tuple(self.columns[one] for one in filled), rows=rows)


def small_table(
    headings: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    caption: str = "",
    left: int = 1,
    answer: tuple[str, ...] = (),
) -> Table:
    """A table of a first screen: behind its first columns, which are names, stand printed numbers."""
    columns = tuple(Column(name, PRINTED if place >= left else "") for place, name in enumerate(headings))
    return Table("", (caption,), columns, rows, left=left, answer=answer)


def table_of_cases(
    run: RunView,
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[tuple[CaseView, tuple[Cell, ...]]],
) -> Table:
    """A table each row of which is of a case, whose name stands before it where there are several."""
    is_named = len(run.cases) > 1
    return Table(
        name=name,
        captions=(caption,),
        columns=(Column("case"), *columns) if is_named else tuple(columns),
        rows=tuple((case.name, *row) if is_named else row for case, row in rows),
        cases=tuple(case.number for case, _ in rows),
    )


def with_bounds(columns: Sequence[Column], row: Sequence[Cell]) -> tuple[Cell, ...]:
    """A row in which a loss of none of so many frames, which it has too, is the bound that it is."""
    names = [column.name for column in columns]
    sent = row[names.index(SENT)] if SENT in names else None
    if not isinstance(sent, Fraction) or sent < 1 or AT_MOST in names:
        return tuple(row)
    none = none_lost(int(sent))
    return tuple(none if name in LOST and cell == 0 else cell for name, cell in zip(names, row, strict=True))


def heading(column: Column) -> str:
    """`Throughput (pps)`."""
    word = WORDS.get(column.unit)
    return column.name if word is None else f"{column.name} ({word})"


def text(cell: Cell, unit: str) -> str:
    """A cell as people read it, with its unit unless that is in the heading."""
    if cell is None:
        return "n/a"
    if isinstance(cell, str):
        return cell
    match unit:
        case "ns":
            return printed.duration(cell)
        case "at":
            return printed.instant(cell)
        case "share":
            return printed.share(cell)
        case "bps" | "conn/s":
            return printed.rate(cell, printed.RATES[unit])
        case "" | "B" | "frames":
            return printed.grouped(cell, 6 if unit == "" else 2)
        case "fps":
            return printed.frames_a_second(cell)
    return printed.with_unit(cell, unit)
