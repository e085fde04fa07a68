"""For an article or a wiki: the first screen as the terminal and the page have it, then the tables in the
shape of the ASR9006 article, each number with its limit."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from netdyno.errors import counted
from netdyno.reports import Look
from netdyno.reports.model import (
    balance_table,
    compliance,
    connection_tables,
    device_table,
    gauges_table,
    goals,
    grid,
    hosts_table,
    proof,
    rates_tables,
    reasons,
)
from netdyno.reports.model.details import details
from netdyno.reports.model.headline import NOTES, Headline, headline
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.table import NO_ROWS, PRINTED, Table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Column, columns
from netdyno.values.printable import printable

MOST_LINES = 100
"""Of what a configuration changed."""
MOST_ROWS, FIRST_ROWS = 40, 10
"""Rows up to which a table has all; of a longer one the first: 72 LAG members have no room in an article."""
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#"} | {"\n": " ", "\r": " "})


MOST_GOALS = 100
"""That a summary lists, the missed ones first."""


def render(runs: RunSet, look: Look) -> bytes:
    """The report on one run, or its summary."""
    if look.level == "markdown-summary":
        return ("\n".join(_summary(runs.only)) + "\n").encode()
    return text(runs.only).encode()


def text(run: RunView) -> str:
    """The run as GitHub-flavoured Markdown."""
    return "\n".join(_lines(run)) + "\n"


def _summary(run: RunView) -> Iterator[str]:
    """The first screen and the goals, for a page with summaries of other programs."""
    yield from [f"## {escape(run.report_title)}", ""]
    yield from _first_screen(headline(run))
    for table in goals.tables(run):
        yield from ["", f"### {escape(table.name)}", ""]
        yield from table_lines(replace(table, rows=table.rows[:MOST_GOALS]))
        if len(table.rows) > MOST_GOALS:
            yield from ["", f"{len(table.rows) - MOST_GOALS} more are in the report."]
    yield from ["", escape(provenance(run)), ""]


def _lines(run: RunView) -> Iterator[str]:
    yield f"# {escape(run.report_title)}"
    yield ""
    yield from _first_screen(headline(run))
    yield from ["", "## Results", ""]
    for sentence in grid.summary(run):
        yield f"- {escape(sentence)}"
    yield ""
    yield escape(grid.caption(run))
    yield f"{grid.about(run)}; bidirectional is both directions together."
    if grid.together(run):
        yield grid.together(run)
    yield from ["", *_article(run)] if run.cases else []
    for detail in details(run):
        yield from ["", f"## {escape(detail.name)}", ""]
        for caption in detail.captions:
            yield from [escape(caption), ""]
        yield from shortened(detail) if detail.rows else (NO_ROWS,)
    yield from _of_cases(run, balance_table.table)
    yield from _device(run)
    for table in (
        connection_tables.each,
        connection_tables.by_host,
        connection_tables.programs,
        gauges_table.kernel_table,
        gauges_table.table,
        gauges_table.served_table,
        hosts_table.table,
    ):
        yield from _of_cases(run, table, gauges_table.MOST_CASES)
    yield from _of_cases(run, rates_tables.counter_table)
    yield from _of_cases(run, rates_tables.printed_table)
    why = reasons.of_run(run)
    if why:
        yield from ["", "## What says so", ""]
        rows = [(one.names, one.limit, one.sentence) for one in why]
        yield from table_lines(Table(columns=columns("Case | Limit | Reason"), rows=rows))
        if sum(len(one.cases) for one in why) < sum(case.verdict() is not None for case in run.cases):
            yield from ["", "Cases that fill the line are not listed: the page has the reason of each."]
    yield from ["", "## Traffic", ""]
    sent = [
        (name, case.frames, "" if case.flows is None else str(case.flows))
        for name, case in grid.traffic(run).items()
    ]
    yield from table_lines(Table(columns=columns(f"Profile | Frames | Flows: {PRINTED}"), rows=sent))
    proofs = proof.table(run)
    if proofs.rows:
        yield from ["", f"## {proofs.name}", "", escape(proofs.caption), "", *table_lines(proofs)]
    special = (f"{settings}: {note}" for settings, note in run.special_notes)
    stated = compliance.statements(run)
    if stated:
        yield from ["", "## Compliance", ""]
        for statement in stated:
            yield escape(statement.sentence)
            if statement.deviations:
                yield from ["", *(f"- {escape(deviation)}" for deviation in statement.deviations), ""]
    remarks = (
        *(*map(str, run.notes), *special, *run.neighbours, *run.tester, *_too_late(run)),
        *(*reasons.remarks(run), *reasons.errors(run)),
    )
    if remarks:
        yield from ["", "## Notes", ""]
        yield from (f"- {escape(remark)}" for remark in remarks)
    yield ""
    yield escape(provenance(run))


def _of_cases(run: RunView, table: Callable[[CaseView], Table], most: int | None = None) -> Iterator[str]:
    """What a table has of each case: its sentences, those alike once, then the rows of all cases in one.

    most: cases that are shown.
    """
    every = [(case, found) for case in run.cases if (found := table(case)).rows or found.caption]
    if not every:
        return
    first = every[0][1]
    yield from ["", f"## {first.name}", ""]
    by_text: dict[str, list[CaseView]] = {}
    for case, found in every:
        if found.caption:
            by_text.setdefault(found.caption, []).append(case)
    for text, cases in by_text.items():
        yield f"- {escape(reasons.name_cases([case.name for case in cases]))}: {escape(text)}"
    if most is not None and len(every) > most:
        yield f"- The first {most} of {len(every)} cases; the page and JSON have all."
    rows = [(case.name, *row) for case, found in every[:most] for row in found.rows]
    if rows:
        every_case = Table(columns=(Column("Case"), *first.columns), rows=rows)
        yield from [*([""] if by_text else []), *table_lines(every_case)]


def _device(run: RunView) -> Iterator[str]:
    """What a driver configured and read in each case, and the lines that each configuration changed."""
    found = device_table.table(run)
    if not found.rows:
        return
    yield from ["", f"## {found.name}", "", *table_lines(found)]
    for configured, cases in device_table.configurations(run).items():
        changed = [printable(line) for line in (configured.diff or configured.text).splitlines()]
        if changed:
            others = f" and {counted(len(cases) - 1, 'more case')}" if len(cases) > 1 else ""
            title = f"Configuration of {cases[0].name}{others}"
            yield from ["", "<details>", f"<summary>{html.escape(printable(title))}</summary>", ""]
            yield from [*_fenced(changed[:MOST_LINES], len(changed) - MOST_LINES), "", "</details>"]


def _fenced(lines: Sequence[str], left: int) -> Iterator[str]:
    """Lines as they are, behind a fence that none of them can be."""
    ticks = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, ticks + 1)
    yield from [f"{fence}diff", *lines]
    if left > 0:
        yield f"and {counted(left, 'line')} more"
    yield fence


def _first_screen(shown: Headline) -> Iterator[str]:
    """What was tested, the numbers, line rate, limits, calibration, caveats, and the method's own table."""
    yield from [f"{escape(shown.tested)}; {escape(shown.state)}", ""]
    badge = f"{shown.badge[0].upper()}{shown.badge[1:]}." if shown.badge else ""
    for note in (badge, *shown.caveats[:1]):
        if note:
            yield from [f"> {escape(note)}", ""]
    facts = [(one.name, one.text, one.beside) for one in shown.numbers]
    facts += [("Line rate", *shown.line_rate), ("Tester calibrated", *shown.calibrated)]
    for name, answer, beside in facts:
        if answer:
            yield f"- {escape(name)}: **{escape(answer)}**{f' ({escape(beside)})' if beside else ''}"
    yield from (f"- Class: {escape(line)}" for line in shown.classes)
    yield from (f"- VLANs: {escape(line)}" for line in shown.vlans)
    yield from (f"- Routing: {escape(line)}" for line in shown.routing)
    yield from (f"- Watches: {escape(line)}" for line in shown.watches)
    yield from (f"- Failures: {escape(line)}" for line in shown.failures)
    if shown.device:
        yield f"- Device: {escape(shown.device)}"
    label = "Limit" if shown.passed is None else "Result"
    yield from (f"- {label}: {escape(one.sentence)}" for one in shown.limits)
    yield from (f"- Note: {escape(caveat)}" for caveat in shown.caveats[1:NOTES])
    yield from (f"- Standard: {escape(one)}" for one in shown.standard)
    for table in (shown.grid, shown.events):
        yield from ["", *table_lines(table)] if table.rows else []
        yield from ["", escape(table.caption)] if table.rows and table.caption else []


def _article(run: RunView) -> Iterator[str]:
    """Profiles below each other, directions beside each other; of several settings, in one table."""
    tables = grid.tables(run)
    names = [Column(name) for name in (["Settings"] if len(tables) > 1 else [])] + [Column("Loadtest")]
    directions = tuple(dict.fromkeys(direction for table in tables for direction in table.directions))
    wanted = (True, run.rated, run.shares, True)
    headings = list(names)
    for direction in directions:
        word = grid.direction_title(direction)
        numbers = (f"{word} ({grid.what(run)})".strip(), f"L1 {word} (bps)", "% of line")
        every = (*(Column(name, PRINTED) for name in numbers), Column("Limit"))
        headings += [column for column, shown in zip(every, wanted, strict=True) if shown]
    rows = []
    for table in tables:
        for row in table.rows:
            cells = dict(zip(table.directions, row.cells, strict=True))
            texts = [table.title or "", row.profile][-len(names) :]
            for direction in directions:
                cell = cells.get(direction)
                found = ("",) * 4 if cell is None else cell.texts
                texts += [text for text, shown in zip(found, wanted, strict=True) if shown]
            rows.append(tuple(texts))
    yield from table_lines(Table(columns=tuple(headings), rows=rows))


def shortened(table: Table) -> Iterator[str]:
    """A table; of a long one the first rows, and where all are."""
    further = len(table.rows) - FIRST_ROWS if len(table.rows) > MOST_ROWS else 0
    if not further:
        yield from table_lines(table)
        return
    marks = frozenset(mark for mark in table.marks if mark[0] < FIRST_ROWS)
    yield from table_lines(replace(table, rows=table.rows[:FIRST_ROWS], marks=marks))
    yield from ["", f"And {counted(further, 'row')} more: the page and `--as tables` have all."]


def _too_late(run: RunView) -> Iterator[str]:
    for case in run.cases:
        late = sum(s.beyond_window for trial in case.resting_trials for s in trial.result.streams)
        if late:
            yield f"{case.name}: {late} frames came too late to be distinguished from copies of others."


def provenance(run: RunView) -> str:
    """Where the numbers are from, in one line, and what people remarked later."""
    head = run.head
    parts = [
        f"netdyno {head.versions['netdyno']}" if "netdyno" in head.versions else "netdyno",
        f"run {run.id}",
    ]
    parts.append(f"{run.started} to {run.ended}" if run.ended else f"started {run.started}")
    tags, notes = run.annotations.tags, run.annotations.notes
    added = f" Tags: {', '.join(tags)}." if tags else ""
    added += "".join(f" Note of {one.at[:10]}: {one.text.removesuffix('.')}." for one in notes)
    if run.imported_from:
        return f"Measured by {run.imported_from}, stored by {', '.join(parts)}.{added}"
    if head.scale != 1:
        parts.append(f"every duration of the plan times {printed.exact(head.scale)}")
    if head.overrides:
        parts.append(f"with {' and '.join(head.overrides)} set in the plan")
    return f"Measured by {', '.join([*parts, f'seed {head.seed}'])}.{added}"


def table_lines(table: Table) -> Iterator[str]:
    cells = [[escape(text) for text in row] for row in (table.headings, *table.texts)]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(table.columns))]

    def line(row: Sequence[str]) -> str:
        padded = (
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(row, widths, table.numeric, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    yield line(cells[0])
    yield (
        "|"
        + "|".join(
            f"{'-' * (width + 1)}:" if number else f"{'-' * (width + 2)}"
            for width, number in zip(widths, table.numeric, strict=True)
        )
        + "|"
    )
    for row in cells[1:]:
        yield line(row)


def escape(text: str) -> str:
    """Text that Markdown shows as it is; plan text and names are not markup, nor do they steer a terminal."""
    return printable(text.translate(_SPECIAL))
