"""Tables for a terminal: as wide as it is, readable without colour, numbers to the right."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from netdyno.reports import grid
from netdyno.reports.view import RunView

NARROWEST = 60
STYLES = {
    "line": "green",
    "device": "yellow",
    "tester": "magenta",
    "receiver": "magenta",
    "invalid": "red",
    "failed": "red",
}
"""Colour repeats what the word says."""


def render(run: RunView, *, width: int | None = None, colour: bool = False) -> str:
    """The tables as text; without colour unless asked for, 120 columns wide unless told."""
    target = io.StringIO()
    console = Console(
        file=target,
        width=max(width or 120, NARROWEST),
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
    )
    console.print(renderable(run))
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def renderable(run: RunView) -> RenderableType:
    """The tables for a console of rich's, which knows its width and whether it has colours."""
    return Group(*_parts(run))


def _parts(run: RunView) -> Iterator[RenderableType]:
    yield Text(run.report_title, style="bold")
    for sentence in grid.summary(run):
        yield Text(sentence)
    yield Text("")
    if grid.fits(run):
        yield _article(run)
    else:
        yield _general(run)
    yield Text(grid.caption(run))
    yield Text(
        "pps: frames per second. L1: with preamble and gap, 20 B a frame. bidir: both directions together."
    )
    for note in (*run.notes, *run.compliance):
        yield Text(f"Note: {note}")
    for case in run.cases:
        if case.error:
            yield Text(f"{case.name}: {case.error}", style="red")


def _article(run: RunView) -> Table:
    """One table for all settings, a section each, so that the columns line up."""
    tables = grid.tables(run)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    table.add_column("Loadtest", no_wrap=True)
    for direction in tables[0].directions:
        table.add_column(f"{direction} pps", justify="right", no_wrap=True)
        table.add_column("L1 bps", justify="right", no_wrap=True)
        table.add_column("of line", justify="right", no_wrap=True)
        table.add_column("limit", no_wrap=True)
    for number, section in enumerate(tables):
        if number:
            table.add_section()
        if section.title:
            table.add_row(Text(section.title, style="bold"))
        for row in section.rows:
            texts = [Text(f"  {row.profile}" if section.title else row.profile)]
            for cell in row.cells:
                if cell is None:
                    texts += [Text("")] * 4
                else:
                    limit = Text(cell.limit, style=STYLES.get(cell.limit, ""))
                    texts += [Text(cell.fps), Text(cell.l1_bps), Text(cell.share), limit]
            table.add_row(*texts)
    return table


def _general(run: RunView) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for column in grid.GENERAL_COLUMNS:
        right = column in ("Number", "L1", "% of line")
        table.add_column(
            column, justify="right" if right else "left", no_wrap=column != "Case", overflow="fold"
        )
    for row in grid.general(run):
        texts = [Text(text) for text in row]
        texts[-1].stylize(STYLES.get(row[-1], ""))
        table.add_row(*texts)
    return table
