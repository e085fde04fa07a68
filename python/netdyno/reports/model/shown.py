"""Numbers in large type, of which first screens are made; rows of a method's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from netdyno.reports.model.table import Table
from netdyno.reports.model.view import CaseView, RunView
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


@dataclass(frozen=True)
class Shown:
    """What a family shows of a run."""

    numbers: tuple[Number, ...]
    grid: Table
    events: Table = field(default_factory=Table)
    """What happened over time, one row each."""
    caveats: tuple[str, ...] = ()
    passed: bool | None = None
    """Whether an acceptance test was passed; None: it is none, or the answer is unknown."""
    outcomes: tuple[tuple[str, str], ...] = ()
    """`FAIL` or `PASS` and why, one for each distinct outcome."""


@dataclass(frozen=True)
class Family:
    """How the runs of a method are shown."""

    method: str
    show: Callable[[RunView], Shown]
    tables: Callable[[RunView], Iterable[Table]] = lambda run: ()
    """All that is known of its numbers, exact."""
