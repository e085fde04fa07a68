"""For a terminal: what was compared, the table, and what has to be known to read it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from netdyno.reports import Look
from netdyno.reports.formats import terminal_tables
from netdyno.reports.formats.terminal_tables import INDENT
from netdyno.reports.model import efficiency
from netdyno.reports.model.compared import Comparison
from netdyno.reports.model.comparison_screen import condition_lines, coverage, screen
from netdyno.values.printable import printable, wrap

NARROWEST = 60
MOST_ROWS = 200
LABEL = 10


def render(found: Comparison, look: Look) -> bytes:
    """The first screen, as many rows as there are."""
    return ("\n".join(line.rstrip() for line in lines(found, max(look.width, NARROWEST))) + "\n").encode()


def lines(found: Comparison, width: int) -> Iterator[str]:
    """The comparison line by line."""
    shown = screen(found)
    head = printable(f"{shown.title}: {coverage(found)}")
    room = width - len(shown.dates) - 2
    if cell_len(head) <= room:
        yield f"{head}{shown.dates.rjust(width - cell_len(head))}"
    else:
        yield from wrap(head, width)
        yield shown.dates
    yield ""
    if found.rows:
        yield from terminal_tables.grid_lines(shown.grid, width, MOST_ROWS)
        yield ""
    for table in efficiency.tables(found, shortly=True):
        yield f"{printable(table.name)}, the highest rate of each; the page has all"
        cells = [[printable(cell) for cell in row] for row in table.texts[:MOST_ROWS]]
        for line in terminal_tables.lines(table.headings, cells, table.numeric, width - len(INDENT)):
            yield f"{INDENT}{line}"
        yield ""
    facts = {
        "result": (shown.answer, *((shown.gate,) if shown.gate else ())),
        "differs in": tuple(condition_lines(shown, found.names)),
        "notes": shown.notes,
    }
    for label, texts in facts.items():
        for number, text in enumerate(texts):
            begin = f"{INDENT}{'' if number else label:<{LABEL}}  "
            yield from wrap(printable(text), width, begin, " " * len(begin))
