"""One self-contained page: summary, tables, zoomable figures, every case, the plan. Works offline.

Nothing is loaded from anywhere: the Vega bundle that vl-convert ships is in the file once. A still of the
first figure stands in the page where vl-convert is installed (the extra `figures`); the script replaces it
by a live one and draws the others. The page's own Content-Security-Policy forbids all else, by the hash of
each script. Jinja escapes every text.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from netdyno.reports import Look
from netdyno.reports.figures import series
from netdyno.reports.figures.figures import figures
from netdyno.reports.figures.hero import hero
from netdyno.reports.figures.vega import Figure
from netdyno.reports.formats import bundle, html_case, html_streams
from netdyno.reports.formats.html_pack import Pack
from netdyno.reports.formats.html_pictures import Pictures, detail, policy
from netdyno.reports.formats.html_templates import asset, environment
from netdyno.reports.formats.markdown import provenance
from netdyno.reports.model import compliance, grid, proof, reasons
from netdyno.reports.model.answer import fills_member
from netdyno.reports.model.details import details
from netdyno.reports.model.families import is_matrix
from netdyno.reports.model.headline import headline
from netdyno.reports.model.loss import loss
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.table import NO_ROWS
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed

FIGURE_COLUMNS = {
    "knee": "Knee",
    "best": "",
    "hold": "Hold, mean",
    "hold_range": "least to most",
    "loss": "Loss at the end",
}
"""Of the table below a figure; those that a method has nothing for are left out."""
EMPTY = ("", "n/a")

_PLAN_SCALE = re.compile(r"^scale:", re.MULTILINE)


def render(runs: RunSet, look: Look) -> bytes:
    """The report on one run."""
    return text(runs.only).encode()


def text(run: RunView) -> str:
    """The page."""
    shown = headline(run)
    pack, templates = Pack(len(run.cases)), environment()
    pictures = Pictures(pack, templates)
    first = hero(run)
    top = None if first is None else pictures.of(first)
    tables = [detail(table, f"table-{number}", pictures) for number, table in enumerate(details(run), 1)]
    page = templates.get_template("report.html.j2")
    # Before the page, which has all that is packed at its end.
    drawn = [_drawn(run, figure, pictures) for figure in figures(run)]
    cases = [
        (
            one,
            grid.cell(one),
            pack.place(f"case-{one.number}", html_case.body(one, templates, pictures.folded, pack)),
        )
        for one in run.cases
    ]
    live = drawn or top or pictures.has_folded or any(one["figures"] for one in tables)
    scripts = [*([bundle.script()] if live else []), asset("report.js")]
    return page.render(
        run=run,
        shown=shown,
        again=_again(run),
        hero=top,
        is_matrix=is_matrix(run),
        policy=policy(scripts),
        style=Markup(asset("report.css")),
        scripts=[Markup(script) for script in scripts],
        grid=grid,
        calibration=detail(proof.table(run), "calibration", pictures),
        provenance=provenance(run),
        overview=_overview(run),
        fills_member=fills_member,
        has_member=any(map(fills_member, run.cases)),
        tables=grid.tables(run),
        details=tables,
        statements=compliance.statements(run),
        figures=drawn,
        cases=cases,
        packed=pack.script(),
        has_packed_cases=pack.is_used,
        reasons=reasons.of_run(run),
        no_rows=NO_ROWS,
    )


def _again(run: RunView) -> str:
    """The command that runs the plan again as this run did: values set, scale, part of the matrix."""
    head = run.head
    scale = ["--scale", str(head.scale)] if head.scale != 1 or _PLAN_SCALE.search(head.plan) else []
    only = [part for name, value in head.only.items() for part in ("--only", f"{name}={value}")]
    put = [part for one in head.overrides for part in ("--set", one)]
    return shlex.join(["netdyno", "run", "plan.yaml", *put, *scale, *only])


@dataclass(frozen=True)
class _Overview:
    """Every case at a glance: a row for each profile and direction, a column for each combination."""

    combinations: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[grid.Cell | None, ...]], ...]


def _overview(run: RunView) -> _Overview | None:
    if len(run.cases) < 2:
        return None
    rows = [
        (profile, direction, tuple(grid.place(cases) if cases else None for cases in places))
        for profile, direction, places in grid.matrix(run)
    ]
    device = ", ".join(run.device_titles) or "received"
    return _Overview(tuple(" / ".join(c) or device for c in run.combinations), tuple(rows))


def _drawn(run: RunView, figure: Figure, pictures: Pictures) -> dict[str, Any]:
    rows = [_figure_row(case) for case in run.cases if case.profile == figure.profile and case.result]
    headings = {**FIGURE_COLUMNS, "best": ", ".join(run.headline_names)}
    columns = [(key, headings[key]) for key in headings if any(row[key] not in EMPTY for row in rows)]
    return {**pictures.of(figure), "rows": rows, "columns": columns}


def _figure_row(case: CaseView) -> dict[str, Any]:
    """Knee, maximum and hold of a case as numbers."""
    knee, best, held, end = case.of_role("knee"), case.headline, case.of_role("held rate"), None
    for trial in case.resting_trials:
        end = end or series.stretch(trial, "hold")
    return {
        "case": case,
        "limit": case.limit(best.scope if best else "sum"),
        "knee": "none" if knee is not None and knee.number is None else grid.number(knee) if knee else "n/a",
        "best": html_streams.marked(case, best) if best else "n/a",
        "hold": grid.number(held) if held else "n/a",
        "hold_range": _range(case, end) if end else "",
        "loss": _loss_at_the_end(case, end),
    }


def _range(case: CaseView, hold: series.Stretch) -> str:
    """The least and the most of the hold's samples. Of a tester that caught up, what it was asked for is the
    most that can be said of the device; what came above it is marked as what it is."""
    least, most = (printed.rate(fps, "pps") for fps in (hold.rx_min_fps, hold.rx_max_fps))
    asked = next((trial.segment("hold") for trial in case.resting_trials), None)
    caught_up = any(trial.result.health.made_up for trial in case.resting_trials)
    wanted = asked[0].to_rate.amount * case.senders if asked else None
    if not caught_up or wanted is None or hold.rx_max_fps <= wanted:
        return grid.span(least, most)
    if hold.rx_min_fps > wanted:
        return f"catching up: {grid.span(least, most)}"
    return f"{grid.span(least, printed.rate(wanted, 'pps'))}; catching up: {most}"


def _loss_at_the_end(case: CaseView, hold: series.Stretch | None) -> str:
    """The value of that name, as every report has it; where nothing was lost, the bound that this is."""
    value = case.of_role("loss at the end")
    if value is None or value.number is None:
        return "n/a"
    if value.number == 0:
        # With the frames of samples that do not count, as the tester was late in them: none was lost either.
        return loss(0, hold.offered) if hold and not hold.lost else str(value.note or "")
    return printed.percent(value.number, 3)
