"""Tables for a terminal: numbers to the right and never broken.

Those of a method (`lines`) have all their columns: headings and texts are wrapped, and what still does not
fit is shown in parts, each with the columns that name its rows. The small ones of a first screen
(`grid_lines`) leave out what has no room.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len

from netdyno.reports.model.table import Table
from netdyno.values.printable import printable

GAP = INDENT = "  "


def lines(
    headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], width: int
) -> Iterator[str]:
    """The table line by line. Columns in which no row says anything are left out."""
    places = [place for place in range(len(headings)) if any(row[place] for row in rows) or not rows]
    columns = [_Column(headings[p], [row[p] for row in rows], numeric[p]) for p in places]
    parts = _parts(columns, width)
    if parts is None:
        yield from _row_by_row(columns, width)
        return
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield from _part(part, width)


class _Column:
    def __init__(self, heading: str, cells: Sequence[str], numeric: bool) -> None:
        self.heading = heading
        self.cells = cells
        self.numeric = numeric
        longest = max(map(cell_len, cells), default=0)
        self.full = max(longest, cell_len(heading))
        broken = [heading] if numeric else [heading, *cells]
        word = max((cell_len(word) for text in broken for word in text.split()), default=1)
        self.least = max(longest, word) if numeric else word

    def wrapped(self, text: str, width: int) -> list[str]:
        space = [text] if cell_len(text) <= width else textwrap.wrap(text, width, break_on_hyphens=False)
        return [" " * (width - cell_len(line)) + line if self.numeric else line for line in space]


def _least(columns: Sequence[_Column]) -> int:
    return sum(column.least for column in columns) + len(GAP) * (len(columns) - 1)


def _parts(columns: Sequence[_Column], width: int) -> list[list[_Column]] | None:
    """The columns that stand beside each other; None if not even one fits beside those that name the row."""
    if _least(columns) <= width:
        return [list(columns)]
    named = _naming(columns)
    if not 0 < named < len(columns):
        return None
    keys = list(columns[:named])
    parts: list[list[_Column]] = []
    for column in columns[named:]:
        if _least([*keys, column]) > width:
            return None
        if parts and _least([*parts[-1], column]) <= width:
            parts[-1].append(column)
        else:
            parts.append([*keys, column])
    return parts


def _naming(columns: Sequence[_Column]) -> int:
    """How many of the first columns tell the rows apart."""
    rows = list(zip(*(column.cells for column in columns), strict=True))
    return next(
        (count for count in range(1, len(columns)) if len({row[:count] for row in rows}) == len(rows)), 0
    )


def _part(columns: Sequence[_Column], width: int) -> Iterator[str]:
    room = width - len(GAP) * (len(columns) - 1)
    widths = [column.full for column in columns]
    while sum(widths) > room:
        # The widest gives way first; parts are made so that the least of all fit.
        loose = [place for place, column in enumerate(columns) if widths[place] > column.least]
        widths[max(loose, key=lambda place: widths[place])] -= 1
    headings = [column.heading for column in columns]
    for row in (headings, *zip(*(column.cells for column in columns), strict=True)):
        cells = [column.wrapped(text, wide) for column, text, wide in zip(columns, row, widths, strict=True)]
        for beside in zip_longest(*cells, fillvalue=""):
            yield GAP.join(
                line + " " * (wide - cell_len(line)) for line, wide in zip(beside, widths, strict=True)
            ).rstrip()


def _row_by_row(columns: Sequence[_Column], width: int) -> Iterator[str]:
    """The rows below each other: each cell with what it is."""
    for row in zip(*(column.cells for column in columns), strict=True):
        told = [f"{column.heading} {cell}" for column, cell in zip(columns, row, strict=True) if cell]
        yield from textwrap.wrap(", ".join(told), width, subsequent_indent="    ", break_on_hyphens=False)


def _heading(text: str, width: int) -> tuple[str, ...]:
    """A heading in lines no wider than its column, where its words allow that."""
    return tuple(
        line
        for part in text.split(" / ")
        for line in textwrap.wrap(part, max(width, 8), break_long_words=False) or [""]
    )


def _rank(grid: Table, place: int) -> tuple[int, int]:
    """Which of a case's columns is left out first: the last one, but for the limit and the answer."""
    heading, is_first = grid.headings[place], place == grid.left
    if heading in grid.answer:
        return 2, -grid.answer.index(heading)
    return 3 if is_first and not grid.answer else int(heading == "limit"), -place


def grid_lines(grid: Table, width: int, room: int) -> Iterator[str]:
    """The headline numbers: headings, one line a row, as many as there is room for; a caption below."""
    if not grid.rows:
        yield f"{INDENT}no case has a result"
        return
    rows = [tuple(printable(cell) for cell in row) for row in grid.texts]
    bodies = [max(cell_len(row[place]) for row in rows) for place in range(len(grid.headings))]
    headings = [_heading(printable(one), body) for one, body in zip(grid.headings, bodies, strict=True)]
    deep = max(len(one) for one in headings)
    stacked = [("",) * (deep - len(one)) + one for one in headings]
    places = list(range(len(grid.headings)))

    def widths() -> list[int]:
        return [max(bodies[place], *(cell_len(part) for part in stacked[place])) for place in places]

    dropped = []
    while len(places) > grid.left + 1 and len(INDENT) + sum(widths()) + len(GAP) * (len(places) - 1) > width:
        place = min(places[grid.left :], key=lambda one: _rank(grid, one))
        places.remove(place)
        dropped.append(place)
    wide = widths()
    over = len(INDENT) + sum(wide) + len(GAP) * (len(wide) - 1) - width
    for _ in range(max(over, 0)):
        # The longest text gives way first.
        wide[max(range(grid.left), key=lambda place: wide[place])] -= 1

    def line(row: Sequence[str]) -> str:
        cells = []
        for place, room_ in zip(places, wide, strict=True):
            text = row[place] if cell_len(row[place]) <= room_ else f"{row[place][: room_ - 1]}…"
            space = " " * (room_ - cell_len(text))
            is_text = place < grid.left or not any(any(c.isdigit() for c in r[place]) for r in rows)
            cells.append(text + space if is_text else space + text)
        return INDENT + GAP.join(cells)

    for level in range(deep):
        if any(stacked[place][level] for place in places):
            yield line([one[level] for one in stacked])
    left_out = ", ".join(grid.headings[one] for one in sorted(dropped))
    below = [
        f"{INDENT}{one}"
        for said in (*map(printable, grid.captions), f"not shown: {left_out}" if dropped else "")
        for one in textwrap.wrap(said, width - len(INDENT))
    ]
    room -= deep + len(below)
    shown = rows if grid.is_whole or len(rows) <= room else rows[: room - 1]
    before = ""
    for row in shown:
        yield line(("", *row[1:]) if grid.is_whole and grid.left > 1 and row[0] == before else row)
        before = row[0]
    if len(shown) < len(rows):
        yield f"{INDENT}and {len(rows) - len(shown)} more: `netdyno report`"
    yield from below
