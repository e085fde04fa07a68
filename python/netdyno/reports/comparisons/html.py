"""One self-contained page: the answer, the table, bars, what else differs, figures of all runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from netdyno.reports import Look
from netdyno.reports.figures import boxes, changes
from netdyno.reports.figures.figures import figures
from netdyno.reports.formats import bundle
from netdyno.reports.formats.html_pack import Pack
from netdyno.reports.formats.html_pictures import Pictures, detail, policy
from netdyno.reports.formats.html_templates import asset, environment
from netdyno.reports.model import efficiency
from netdyno.reports.model.compared import Comparison
from netdyno.reports.model.comparison_screen import ANSWERS, Screen, change_text, coverage, name_row, screen
from netdyno.reports.model.families import tables_of
from netdyno.reports.model.joined import join_tables
from netdyno.reports.model.merged import merge
from netdyno.values import number as printed

MOST_CHANGES = 3
"""Named beside a number in large type."""


def render(found: Comparison, look: Look) -> bytes:
    """The page."""
    templates = environment()
    pictures = Pictures(Pack(0), templates)
    shown, merged = screen(found), merge(found)
    first = changes.figure(found)
    hero = None if first is None else pictures.of(first)
    bars = [pictures.of(figure) for figure in boxes.figures(found)]
    overlays = [pictures.of(figure) for figure in figures(merged)]
    # Cases, and each of many streams, are on the pages of their runs.
    joined = [replace(table, whole=None) for table in (*tables_of(merged), *join_tables(merged))]
    tables = [detail(table, f"table-{number}", pictures) for number, table in enumerate(joined, 1)]
    for entry in tables:
        entry["rows"] = [(None, row) for _, row in entry["rows"]]
    takes = [
        detail(table, f"efficiency-{number}", pictures)
        for number, table in enumerate(efficiency.tables(found))
    ]
    scripts = [bundle.script(), asset("report.js")]
    page = templates.get_template("compare.html.j2")
    return page.render(
        shown=shown,
        coverage=coverage(found),
        names=found.names,
        facts=list(_facts(found, shown)),
        emulated=any(run.emulated for run in found.runs.runs),
        policy=policy(scripts),
        style=Markup(asset("report.css")),
        scripts=[Markup(script) for script in scripts],
        hero=hero,
        bars=bars,
        overlays=overlays,
        tables=tables,
        efficiency=takes,
        runs=[
            (name, found.runs.runs[number])
            for name, side in zip(found.names, found.sides, strict=True)
            for number in side
        ],
    ).encode()


def _facts(found: Comparison, shown: Screen) -> Iterator[tuple[str, str, str, str]]:
    """What stands in large type: a label, a text, what stands beside it, and whether it is good or bad."""
    changes = [(row, change) for row in found.rows for change in row.changes]
    counts = Counter[str](change.outcome for _, change in changes)
    for outcome, mood in (("worse", "bad"), ("better", "good")):
        own = [(row, change) for row, change in changes if change.outcome == outcome]
        own.sort(key=lambda one: -abs(one[1].share_or_change))
        beside = ", ".join(
            f"{name_row(found, row)}{f', {found.names[change.side]}' if len(found.names) > 2 else ''}"
            f" {change_text(row, change)}"
            for row, change in own[:MOST_CHANGES]
        )
        beside += f" and {len(own) - MOST_CHANGES} more" if len(own) > MOST_CHANGES else ""
        yield outcome.capitalize(), f"{len(own)} of {len(changes)}", beside, mood if own else ""
    yield "No difference shown", f"{counts['none shown']} of {len(changes)}", "", ""
    if counts["not compared"]:
        whys = Counter(change.why for _, change in changes if change.outcome == "not compared")
        why = ", ".join(f"{one} ({many})" for one, many in whys.most_common(MOST_CHANGES))
        yield "Not compared", f"{counts['not compared']} of {len(changes)}", why, ""
    if found.limit is not None and found.verdict is not None:
        mood = {"worse": "bad", "within": "good"}.get(found.verdict, "")
        limit = printed.percent(found.limit, 2, trim=True)
        yield f"More than {limit} worse?", ANSWERS[found.verdict], shown.gate.partition("? ")[2], mood
