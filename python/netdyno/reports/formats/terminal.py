"""For a terminal: `brief`, a line a run; `summary`, at most 40 lines of 100 columns; and `terminal`,
all tables, as wide as it is, readable without colour, numbers to the right, nothing cut.

Tables that do not fit lose their L1 column first; then the directions stand below each other.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from netdyno.errors import counted
from netdyno.reports import Look
from netdyno.reports.formats import terminal_tables
from netdyno.reports.formats.terminal_tables import GAP, INDENT
from netdyno.reports.model import balance_table, compliance, device_table, grid, proof, reasons
from netdyno.reports.model.answer import span_of
from netdyno.reports.model.details import details
from netdyno.reports.model.headline import NOTES, Headline, headline
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.table import NO_ROWS, Table
from netdyno.reports.model.view import RunView
from netdyno.values.printable import printable, wrap

NARROWEST = 60
WIDTH, LINES = 100, 40
"""Of the first screen."""
LABEL = 12
"""Columns of the word before a line of facts."""
SENTENCE_LINES, MOST_LINES = 2, 5
"""Of a note on the first screen, and of a limit. What is between its cause and its next step is left out of a
longer one, which the report has whole; these two take up to MOST_LINES."""
MOST_ROWS = 40
"""Of a table of a method."""
MOST_REMARKS = 16
"""Of methods, on what they found."""
STYLES = {
    "line": "green",
    "device": "yellow",
    "licence": "yellow",
    "shaper": "yellow",
    "policer": "yellow",
    "link": "cyan",
    "loss": "cyan",
    "receive-window": "magenta",
    "send-buffer": "magenta",
    "tester": "magenta",
    "receiver": "magenta",
    "invalid": "red",
    "failed": "red",
}
"""Colour repeats what the word says."""


CALIBRATED = {
    "yes": "; calibrated",
    "no": "; not calibrated",
    "does not hold": "; calibration does not hold",
}
"""How a line on a run ends."""


def render(runs: RunSet, look: Look) -> bytes:
    """The report at the level that is asked for."""
    if look.level == "brief":
        return "".join(map(brief, runs.runs)).encode()
    if look.level == "summary":
        return ("\n".join(first_screen(headline(runs.only), look.width)) + "\n").encode()
    return text(runs.only, width=look.width, colour=look.colour).encode()


def brief(run: RunView) -> str:
    """What was tested, its range of headline numbers, and how often which limit was named."""
    shown = headline(run)
    measured = [case for case in run.cases if case.headline is not None and case.headline.number is not None]
    number = span_of(measured) or (shown.numbers[0].text if shown.numbers else "no number")
    counts = Counter(case.limit() for case in run.cases)
    limits = ", ".join(f"{limit} {count}" for limit, count in counts.items())
    title, many = printable(shown.title), counted(len(run.cases), "test")
    calibrated = CALIBRATED.get(shown.calibrated[0], "")
    return f"{title:<24}  {number:>22}  {many}, limit: {limits}{calibrated}\n"


def first_screen(shown: Headline, width: int = WIDTH, paths: Sequence[tuple[str, str]] = ()) -> list[str]:
    """The first screen line by line. paths: what stands at its end, a word and a path each."""
    width = min(max(width, NARROWEST), WIDTH)
    head = list(_head(shown, width))
    ways = tuple(f"{INDENT}{label:<{LABEL}}{printable(path)}" for label, path in paths)
    events = ["", *terminal_tables.grid_lines(shown.events, width, LINES)] if shown.events.rows else []
    foot = [*_facts(shown, width), *ways]
    room = LINES - len(head) - len(events) - len(foot)
    if shown.grid.is_whole and len(shown.grid.rows) > room:
        # Notes give way to rows; the report has them.
        foot = [*_facts(replace(shown, caveats=shown.caveats[:1]), width), *ways]
    return [
        line.rstrip()
        for line in (*head, *terminal_tables.grid_lines(shown.grid, width, room), *events, *foot)
    ]


def _head(shown: Headline, width: int) -> Iterator[str]:
    title = f"{printable(shown.title)}: {shown.state}"
    badge = printable(shown.badge)
    if cell_len(title) + len(badge) + 2 > width:
        yield title if cell_len(title) <= width else f"{title[: width - 1]}…"
        if badge:
            yield badge
    else:
        yield f"{title}{badge.rjust(width - cell_len(title))}" if badge else title
    yield from wrap(printable(shown.tested), width, INDENT, INDENT)
    yield ""


def _facts(shown: Headline, width: int) -> Iterator[str]:
    """Each fact in lines behind its label, which stands once."""
    is_needed = shown.calibrated[0] != "not needed"
    facts: dict[str, Sequence[str]] = {
        "line rate": [] if shown.by_class else [": ".join(filter(None, shown.line_rate))],
        "classes": shown.classes,
        "VLANs": shown.vlans,
        "routing": shown.routing,
        "watches": shown.watches,
        "failures": shown.failures,
        "limit" if shown.passed is None else "result": [limit.sentence for limit in shown.limits],
        "calibrated": [": ".join(filter(None, shown.calibrated))] if is_needed else [],
        "device": [shown.device],
        "notes": [one for one in shown.caveats if not _is_said(one, shown)][:NOTES],
        "standard": ["; ".join(shown.standard)],
    }
    yield ""
    for label, texts in facts.items():
        most = MOST_LINES if label in ("limit", "result") else SENTENCE_LINES
        room = width - LABEL - len(INDENT)
        lines = (line for text in texts for line in _shortened(printable(text), room, most))
        for number, line in enumerate(lines):
            yield f"{INDENT}{'' if number else label:<{LABEL}}{line}"


def _is_said(caveat: str, shown: Headline) -> bool:
    """Whether a limit on the screen says a caveat already."""
    return any(caveat.removesuffix(".") in limit.sentence for limit in shown.limits)


def _shortened(text: str, room: int, most: int) -> list[str]:
    """A text in lines, at most so many if its first clause and its last leave room for those between."""
    first, *between = re.split(r"(?<=[;.]) +", text)
    last = between.pop() if between else ""
    found = wrap(text, room)
    while len(found) > most and between:
        between.pop()
        # Of several streams each ends with the same advice.
        between = [one for one in between if one.strip(";. ") != last.strip(";. ")]
        found = wrap(" ".join(filter(None, (first, *between, last))), room)
    if len(found) <= MOST_LINES:
        return found
    ending = wrap(last, room)[-MOST_LINES + 1 :] if last else []
    begun = found[: MOST_LINES - len(ending)]
    return [*begun[:-1], f"{begun[-1][: room - 2].rstrip('.,;: ')} …", *ending]


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
    console.print(*_parts(run, console.width), sep="\n")
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def _parts(run: RunView, width: int) -> Iterator[Text]:
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
            for line in wrap(printable(f"{reason.sentence}."), width - 4):
                yield Text(f"    {line}")
        yield Text("")
    calibration = proof.table(run)
    for name, *cells in calibration.texts:
        told = [
            f"{of.lower()} {cell}" for of, cell in zip(calibration.headings[1:], cells, strict=True) if cell
        ]
        yield Text(printable(f"Tester alone, {name}: {', '.join(told)}"))
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
    if run.annotations.tags:
        yield Text(f"Tags: {printable(' '.join(run.annotations.tags))}")
    yield from (Text(printable(f"{one.at[:10]}: {one.text}")) for one in run.annotations.notes)
    for statement in compliance.statements(run):
        yield Text(printable(statement.sentence))
        yield from (Text(printable(f"  {deviation}")) for deviation in statement.deviations)
    yield from (Text(printable(error), style="red") for error in reasons.errors(run))


def _detail(table: Table, width: int) -> Iterator[Text]:
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


def _fitting(run: RunView, sections: Sequence[grid.Table], width: int) -> _Table:
    """The fullest of the shapes that fits; the narrowest, if none does."""
    shapes = ((True, True), (True, False), (False, True), (False, False))
    tables = [_shaped(run, sections, beside=beside, l1=l1) for beside, l1 in shapes]
    return next((table for table in tables if table.width <= width), tables[-1])


def _shaped(run: RunView, sections: Sequence[grid.Table], *, beside: bool, l1: bool) -> _Table:
    """The results with the directions beside each other, or else a row for each; with L1 rates or without."""
    number, names = grid.what(run), sections[0].directions
    every = ((number, True), ("L1 bps", l1 and run.rated), ("of line", run.shares), ("limit", True))
    numbers = [name for name, is_shown in every if is_shown]
    columns = ["direction", *numbers]
    if beside:
        columns = [f"{name} {n}".strip() if n == number else n for name in names for n in numbers]

    def texts(cell: grid.Cell | None) -> list[str]:
        found = ("",) * 4 if cell is None else cell.texts
        return [text for text, (_, is_shown) in zip(found, every, strict=True) if is_shown]

    def rows(section: grid.Table) -> Iterator[tuple[str, ...]]:
        for row in section.rows:
            name = printable(f"  {row.profile}" if section.title else row.profile)
            if beside:
                yield (name, *(text for cell in row.cells for text in texts(cell)))
                continue
            for direction, cell in zip(section.directions, row.cells, strict=True):
                if cell is not None:
                    yield (name, printable(direction), *texts(cell))
                    name = ""

    return _Table(("Loadtest", *columns), tuple((printable(s.title), tuple(rows(s))) for s in sections))
