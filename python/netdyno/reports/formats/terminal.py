"""Tables for a terminal: as wide as it is, readable without colour, numbers to the right, nothing cut.

What does not fit beside each other loses its L1 column first; then the directions stand below each other.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from netdyno.errors import counted
from netdyno.reports import Look
from netdyno.reports.formats import terminal_tables
from netdyno.reports.model import balance_table, compliance, device_table, grid, proof, reasons
from netdyno.reports.model.details import details
from netdyno.reports.model.joined import NO_ROWS, Joined
from netdyno.reports.model.view import RunView
from netdyno.values.printable import printable

NARROWEST = 60
MOST_ROWS = 40
"""Of a table of a method."""
MOST_REMARKS = 16
"""Of methods, on what they found."""
GAP = "  "
STYLES = {
    "line": "green",
    "device": "yellow",
    "link": "cyan",
    "tester": "magenta",
    "receiver": "magenta",
    "invalid": "red",
    "failed": "red",
}
"""Colour repeats what the word says."""


def render(runs: Sequence[RunView], look: Look) -> bytes:
    """The tables of one run."""
    (run,) = runs
    return text(run, width=look.width, colour=look.colour).encode()


def text(run: RunView, *, width: int = Look.width, colour: bool = False) -> str:
    """The tables as text."""
    target = io.StringIO()
    console = Console(
        file=target,
        width=max(width, NARROWEST),
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
    )
    console.print(renderable(run, console.width))
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def renderable(run: RunView, width: int) -> RenderableType:
    """The report for a console of that many columns."""
    return Group(*_parts(run, width))


def _parts(run: RunView, width: int) -> Iterator[RenderableType]:
    yield Text(printable(run.report_title), style="bold")
    for sentence in grid.summary(run):
        yield Text(printable(sentence))
    yield Text("")
    sections = grid.tables(run)
    if sections:
        yield from _fitting(run, sections, width).lines(width)
    yield Text(printable(grid.caption(run)))
    rates = "pps: frames per second. L1: with preamble and gap, 20 B a frame. " if run.rated else ""
    yield Text(f"{rates}bidir: both directions together.")
    if grid.together(run):
        yield Text(grid.together(run))
    for detail in details(run):
        yield from _detail(detail, width)
    why = reasons.of_run(run)
    if why:
        yield from (Text(""), Text("Why that was the limit:", style="bold"))
        for reason in why:
            yield Text(printable(f"{reason.names}: {reason.limit}"))
            for line in textwrap.wrap(printable(f"{reason.sentence}."), width - 4, break_on_hyphens=False):
                yield Text(f"    {line}")
        yield Text("")
    for row in proof.rows(run):
        told = [
            f"{name.lower()} {cell}" for name, cell in zip(proof.COLUMNS[1:], row[1:], strict=True) if cell
        ]
        yield Text(printable(f"Tester alone, {row[0]}: {', '.join(told)}"))
    device = balance_table.summary(run)
    if device:
        yield Text(printable(f"Device: {device}"))
    read = device_table.line(run)
    if read:
        yield Text(printable(f"Device: {read}"))
    for caveat in device_table.caveats(run):
        yield Text(printable(f"Device: {caveat}"))
    for note in (*map(str, run.notes), *run.neighbours, *run.tester):
        yield Text(f"Note: {printable(note)}")
    remarks = reasons.remarks(run)
    yield from (Text(f"Note: {printable(remark)}") for remark in remarks[:MOST_REMARKS])
    left = len(remarks) - MOST_REMARKS
    if left > 0:
        yield Text(f"and {counted(left, 'note')} more: `netdyno report --as html` has all of them")
    for statement in compliance.statements(run):
        yield Text(printable(statement.sentence))
        yield from (Text(printable(f"  {deviation}")) for deviation in statement.deviations)
    yield from (Text(printable(error), style="red") for error in reasons.errors(run))


def _detail(table: Joined, width: int) -> Iterator[Text]:
    """A table of a method; of a long one the first rows."""
    yield Text("")
    yield Text(printable(table.name), style="bold")
    shown = [[printable(cell) for cell in row] for row in table.texts[:MOST_ROWS]]
    headings = [printable(heading) for heading in table.headings]
    if not shown:
        yield Text(NO_ROWS)
    for line in terminal_tables.lines(headings, shown, table.numeric, width) if shown else ():
        yield Text(line, no_wrap=True)
    left = len(table.rows) - len(shown)
    if left:
        yield Text(f"and {left:,} rows more: `netdyno report --as html` has all of them")
    for caption in table.captions:
        yield Text(printable(caption))


@dataclass(frozen=True)
class _Table:
    """Columns of text; sections have a title over the whole width, so that it widens no column."""

    columns: tuple[str, ...]
    sections: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    left: tuple[str, ...] = ("Loadtest", "direction", "limit")

    @property
    def widths(self) -> list[int]:
        rows = [self.columns, *(row for _, rows in self.sections for row in rows)]
        return [max(cell_len(row[place]) for row in rows) for place in range(len(self.columns))]

    @property
    def width(self) -> int:
        return sum(self.widths) + len(GAP) * (len(self.columns) - 1)

    def lines(self, width: int) -> Iterator[Text]:
        """The table. A name too long for the width stands on a line of its own, above its numbers."""
        widths = self.widths
        over = max(0, self.width - width)
        widths[0] = max(cell_len(self.columns[0]), widths[0] - over)
        yield self._line(self.columns, widths)
        yield Text("─" * (sum(widths) + len(GAP) * (len(widths) - 1)))
        for number, (title, rows) in enumerate(self.sections):
            if title:
                if number:
                    yield Text("")
                yield Text(title, style="bold")
            for row in rows:
                if cell_len(row[0]) > widths[0]:
                    yield Text(row[0])
                    row = ("", *row[1:])
                yield self._line(row, widths)
        yield Text("")

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> Text:
        line = Text(no_wrap=True)
        for place, (name, text, width) in enumerate(zip(self.columns, row, widths, strict=True)):
            space = " " * (width - cell_len(text))
            line.append(GAP if place else "")
            if name in self.left:
                line.append(text, STYLES.get(text, "") if name == "limit" else "").append(space)
            else:
                line.append(space + text)
        return line


def _fitting(run: RunView, sections: tuple[grid.Table, ...], width: int) -> _Table:
    """The fullest of the shapes that fits."""
    shapes = [
        _Shape(grid.what(run), beside, l1 and run.rated, run.shares)
        for beside, l1 in ((True, True), (True, False), (False, True))
    ]
    tables = [shape.table(sections) for shape in shapes]
    last = _Shape(grid.what(run), False, False, run.shares).table(sections)
    return next((table for table in tables if table.width <= width), last)


@dataclass(frozen=True)
class _Shape:
    """What columns there are. number: what the first one of each direction has; beside: directions beside
    each other; else a row for each."""

    number: str
    beside: bool
    l1: bool
    share: bool

    def table(self, sections: tuple[grid.Table, ...]) -> _Table:
        numbers = [
            self.number,
            *(["L1 bps"] if self.l1 else []),
            *(["of line"] if self.share else []),
            "limit",
        ]
        names = sections[0].directions
        if self.beside:
            columns = [f"{name} {n}".strip() if n == self.number else n for name in names for n in numbers]
        else:
            columns = ["direction", *numbers]
        return _Table(
            ("Loadtest", *columns), tuple((printable(s.title), tuple(self._rows(s))) for s in sections)
        )

    def _rows(self, section: grid.Table) -> Iterator[tuple[str, ...]]:
        for row in section.rows:
            name = printable(f"  {row.profile}" if section.title else row.profile)
            if self.beside:
                yield (name, *(text for cell in row.cells for text in self._texts(cell)))
                continue
            for direction, cell in zip(section.directions, row.cells, strict=True):
                if cell is not None:
                    yield (name, printable(direction), *self._texts(cell))
                    name = ""

    def _texts(self, cell: grid.Cell | None) -> list[str]:
        if cell is None:
            return [""] * (2 + self.l1 + self.share)
        shown = [(True, cell.number), (self.l1, cell.l1_bps), (self.share, cell.share), (True, cell.limit)]
        return [text for wanted, text in shown if wanted]
