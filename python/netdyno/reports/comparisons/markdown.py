"""For a pull request or a wiki."""

from __future__ import annotations

from collections.abc import Iterator

from netdyno.reports import Look
from netdyno.reports.formats.markdown import escape, table_lines
from netdyno.reports.model import efficiency
from netdyno.reports.model.compared import Comparison
from netdyno.reports.model.comparison_screen import condition_lines, coverage, screen


def render(found: Comparison, look: Look) -> bytes:
    """The comparison as GitHub-flavoured Markdown."""
    return ("\n".join(_lines(found)) + "\n").encode()


def _lines(found: Comparison) -> Iterator[str]:
    shown = screen(found)
    yield from [f"# {escape(shown.title)}", "", f"{escape(coverage(found))}; {shown.dates}", ""]
    yield f"**{escape(shown.answer)}**"
    if shown.gate:
        yield from ["", escape(shown.gate)]
    yield ""
    if found.rows:
        yield from [*table_lines(shown.grid), ""]
    for table in efficiency.tables(found):
        yield from [f"## {escape(table.name)}", "", *table_lines(table), ""]
        yield from (part for one in table.captions for part in (escape(one), ""))
    runs = [", ".join(found.runs.runs[number].id for number in side) for side in found.sides]
    yield from (f"- {escape(name)}: {escape(run)}" for name, run in zip(found.names, runs, strict=True))
    yield from (f"- Differs in {escape(line)}" for line in condition_lines(shown, found.names))
    yield from (f"- {escape(note)}" for note in shown.notes)
