"""Numbers in large type and small tables, of which first screens are made; rows of a method's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from netdyno.reports.model.view import CaseView
from netdyno.values.finding import Cell

Record: TypeAlias = Mapping[str, Cell]
"""A row of a method's table by the names of its columns; one that a stranger's table lacks is None."""


class _Row(dict[str, Cell]):
    def __missing__(self, column: str) -> None:
        return None


@dataclass(frozen=True)
class Number:
    """A number in large type."""

    name: str
    text: str
    beside: str = ""
    """`98.5 % of line, 9.85 Gbit/s`."""
    limit: str = ""
    is_missed: bool = False
    """Whether it misses a goal."""


@dataclass(frozen=True)
class Grid:
    """A small table of headline numbers. left: how many of its first columns are names. answer: headings of
    columns that are left out last, where there is no room for all."""

    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    caption: str = ""
    left: int = 1
    answer: tuple[str, ...] = ()

    def without_empty_columns(self) -> Grid:
        """The columns of names, and those others that are not empty in all rows."""
        places = range(len(self.headings))
        filled = [one for one in places if one < self.left or any(row[one] for row in self.rows)]
        rows = tuple(tuple(row[one] for one in filled) for row in self.rows)
        return replace(self, headings=tuple(self.headings[one] for one in filled), rows=rows)


@dataclass(frozen=True)
class CaseTable:
    """What was read of the device in a case: sentences, then a table. alignment: `l` or `r` of each column.

    answer: the sentence that stands first. style: how a page sets it: `counts`, `read`, or `wrap`, whose last
    column is a text.
    """

    title: str
    columns: tuple[str, ...]
    alignment: str
    rows: Sequence[tuple[str, ...]]
    answer: str = ""
    sentences: tuple[str, ...] = ()
    style: str = "counts"

    @property
    def text(self) -> str:
        """All sentences; empty: none."""
        return " ".join(one for one in (self.answer, *self.sentences) if one)


def number_in(cell: Cell) -> Fraction:
    """The number in a cell; 0 where nothing was measured."""
    return cell if isinstance(cell, Fraction) else Fraction(0)


def records(case: CaseView, name: str) -> list[Record]:
    """The rows of a table, each by the names of its columns."""
    return [
        _Row(zip((column.name for column in table.columns), row, strict=True))
        for table in (case.result.tables if case.result else ())
        if table.name == name
        for row in table.rows
    ]
