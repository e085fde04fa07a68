"""A listing in columns that fits a width: what is too wide is wrapped inside its column, nothing is cut."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

GAP = "  "
NARROWEST = 5
"""Columns a word is broken into at the least, where not even words fit."""


def lines(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """The table line by line: the columns' names, then the rows. Without a width each row is one line.

    Where not even the words fit beside each other, the first cell, which is what a row is called and what
    is copied from it, stands on a line of its own, above the others.
    """
    table = [list(columns), *map(list, rows)]
    alone = width is not None and _least(table) > width and len(columns) > 1
    if width is None or not alone:
        for row in _beside(table, width):
            yield from row
        return
    for name, row in zip(table, _beside([row[1:] for row in table], width - len(GAP)), strict=True):
        yield name[0]
        yield from (GAP + line for line in row)


def _beside(table: Sequence[Sequence[str]], width: int | None) -> Iterator[list[str]]:
    """The lines of each row."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if width is not None:
        widths = _fitting(table, widths, width - len(GAP) * (len(widths) - 1))
    for row in table:
        wrapped = [_wrap(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        yield [
            GAP.join(part.ljust(wide) for part, wide in zip(parts, widths, strict=True)).rstrip()
            for parts in zip_longest(*wrapped, fillvalue="")
        ]


def _words(table: Sequence[Sequence[str]]) -> list[int]:
    """The longest word of each column."""
    return [
        max(len(word) for cell in column for word in cell.split() or [""])
        for column in zip(*table, strict=True)
    ]


def _least(table: Sequence[Sequence[str]]) -> int:
    words = _words(table)
    return sum(words) + len(GAP) * (len(words) - 1)


def _fitting(table: Sequence[Sequence[str]], widths: Sequence[int], room: int) -> list[int]:
    """The widest column gives way first: to its longest word, and if that is not enough, beyond."""
    fitted = list(widths)
    for least in (_words(table), [min(NARROWEST, wide) for wide in fitted]):
        while sum(fitted) > room:
            loose = [place for place in range(len(fitted)) if fitted[place] > least[place]]
            if not loose:
                break
            fitted[max(loose, key=lambda place: fitted[place])] -= 1
    return fitted


def _wrap(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_on_hyphens=False)
