"""One screen for a terminal: the headline of a run in at most 40 lines of 100 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from netdyno.reports import Look
from netdyno.reports.model.headline import NOTES, Headline, headline
from netdyno.reports.model.shown import Grid
from netdyno.reports.model.view import RunView
from netdyno.values.printable import printable

WIDTH = 100
LINES = 40
GAP = "  "
INDENT = "  "
LABEL = 12
"""Columns of the word before a line of facts."""
SENTENCE_LINES = 2
"""Of a reason or a note; the report has the whole of it."""


def render(runs: Sequence[RunView], look: Look) -> bytes:
    """The report on one run."""
    (run,) = runs
    return text(run, look.width).encode()


def text(run: RunView, width: int = WIDTH) -> str:
    """The first screen as text."""
    return "\n".join(lines(headline(run), width)) + "\n"


def lines(shown: Headline, width: int = WIDTH, paths: Sequence[tuple[str, str]] = ()) -> list[str]:
    """The first screen line by line. paths: what stands at its end, a word and a path each."""
    width = min(max(width, 60), WIDTH)
    head = list(_head(shown, width))
    foot = [*_facts(shown, width), *(_path(label, path) for label, path in paths)]
    events = ["", *_grid(shown.events, width, LINES)] if shown.events.rows else []
    room = LINES - len(head) - len(events) - len(foot)
    return [line.rstrip() for line in (*head, *_grid(shown.grid, width, room), *events, *foot)]


def _head(shown: Headline, width: int) -> Iterator[str]:
    title = f"{printable(shown.title)}: {shown.state}"
    badge = printable(shown.badge)
    if cell_len(title) + len(badge) + 2 > width:
        yield title if cell_len(title) <= width else f"{title[: width - 1]}…"
        if badge:
            yield badge
    else:
        yield f"{title}{badge.rjust(width - cell_len(title))}" if badge else title
    yield from textwrap.wrap(printable(shown.tested), width, initial_indent=INDENT, subsequent_indent=INDENT)
    yield ""


def _facts(shown: Headline, width: int) -> Iterator[str]:
    yield ""
    answer, detail = shown.line_rate
    if answer:
        yield from _fact("line rate", f"{answer}{f': {detail}' if detail else ''}", width)
    for label, found in (("classes", shown.classes), ("VLANs", shown.vlans)):
        for number, line in enumerate(found):
            yield from _fact("" if number else label, line, width)
    label = "limit" if shown.passed is None else "result"
    for limit in shown.limits:
        yield from _fact(label, limit.sentence, width)
        label = ""
    answer, detail = shown.calibrated
    if answer and answer != "not needed":
        yield from _fact("calibrated", f"{answer}: {detail}", width)
    if shown.device:
        yield from _fact("device", shown.device, width)
    label = "notes"
    for caveat in shown.caveats[:NOTES]:
        yield from _fact(label, caveat, width)
        label = ""
    if shown.standard:
        yield from _fact("standard", "; ".join(shown.standard), width)


def _fact(label: str, text: str, width: int) -> Iterator[str]:
    room = width - LABEL - len(INDENT)
    for line in _shortened(printable(text), room):
        yield f"{INDENT}{label:<{LABEL}}{line}"
        label = ""


def _shortened(text: str, room: int) -> list[str]:
    """A text in at most SENTENCE_LINES lines: the clauses that fit, or as many of its words."""
    found = textwrap.wrap(text, room, break_on_hyphens=False)
    if len(found) <= SENTENCE_LINES:
        return found
    for end in sorted((one.start() for one in re.finditer(r"[;.] ", text)), reverse=True):
        shorter = textwrap.wrap(f"{text[:end].rstrip('.')}.", room, break_on_hyphens=False)
        if len(shorter) <= SENTENCE_LINES:
            return shorter
    found = found[:SENTENCE_LINES]
    found[-1] = f"{found[-1][: room - 2].rstrip('.,;: ')} …"
    return found


def _path(label: str, path: str) -> str:
    return f"{INDENT}{label:<{LABEL}}{printable(path)}"


def _heading(text: str, width: int) -> tuple[str, ...]:
    """A heading in lines no wider than its column, where its words allow that."""
    return tuple(
        line
        for part in text.split(" / ")
        for line in textwrap.wrap(part, max(width, 8), break_long_words=False) or [""]
    )


def _grid(grid: Grid, width: int, room: int) -> Iterator[str]:
    """The headline numbers: headings, one line a row, as many as there is room for; a caption below."""
    if not grid.rows:
        yield f"{INDENT}no case has a result"
        return
    rows = [tuple(printable(cell) for cell in row) for row in grid.rows]
    bodies = [max(cell_len(row[place]) for row in rows) for place in range(len(grid.headings))]
    headings = [_heading(printable(one), body) for one, body in zip(grid.headings, bodies, strict=True)]
    deep = max(len(one) for one in headings)
    stacked = [("",) * (deep - len(one)) + one for one in headings]
    places = list(grid.filled)

    def widths() -> list[int]:
        return [max(bodies[place], *(cell_len(part) for part in stacked[place])) for place in places]

    dropped = []
    while len(places) > grid.left + 1 and len(INDENT) + sum(widths()) + len(GAP) * (len(places) - 1) > width:
        # What is least of a headline: the last of what a case has, but its limit.
        dropped.append(places.pop(-2 if grid.headings[-1] == "limit" and len(places) > grid.left + 2 else -1))
    wide = widths()
    over = len(INDENT) + sum(wide) + len(GAP) * (len(wide) - 1) - width
    wide[0] -= max(over, 0)

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
    below = ([f"{INDENT}{printable(grid.caption)}"] if grid.caption else []) + (
        [f"{INDENT}not shown: {', '.join(grid.headings[one] for one in sorted(dropped))}"] if dropped else []
    )
    room -= deep + len(below)
    shown = rows if len(rows) <= room else rows[: room - 1]
    yield from (line(row) for row in shown)
    if len(shown) < len(rows):
        yield f"{INDENT}and {len(rows) - len(shown)} more: `netdyno report`"
    yield from below
