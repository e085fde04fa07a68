"""One self-contained page: summary, tables, zoomable figures, every case, the plan. Works offline.

Nothing is loaded from anywhere: the Vega bundle that vl-convert ships is in the file once. Stills of the
first figures stand in the page where vl-convert is installed (the extra `figures`); the script replaces them
by live ones and draws the others. The page's own Content-Security-Policy forbids all else, by the hash of
each script. Jinja escapes every text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from operator import ne
from typing import Any

from markupsafe import Markup

from netdyno.reports import Look
from netdyno.reports.figures import series, table_figures, vega
from netdyno.reports.figures.device import WIDTH
from netdyno.reports.figures.figures import figures
from netdyno.reports.figures.hero import hero
from netdyno.reports.figures.vega import Figure
from netdyno.reports.formats import bundle, html_case
from netdyno.reports.formats.html_pack import Pack
from netdyno.reports.formats.html_templates import asset, environment, shown_in
from netdyno.reports.formats.markdown import provenance
from netdyno.reports.model import compliance, grid, proof, reasons
from netdyno.reports.model.answer import fills_member
from netdyno.reports.model.details import details
from netdyno.reports.model.families import is_matrix
from netdyno.reports.model.headline import headline
from netdyno.reports.model.loss import loss
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.table import NO_ROWS, Table
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
MOVES = "Point at a line for its numbers; drag to move, shift and wheel to zoom, double click to go back."
POINTS = "Point at a mark for its numbers."
"""What a figure does in the page."""
LONG = 30
"""Rows of a method's table from which it stands folded in the page."""
MOST_ROWS = 1000
"""Rows of a method's table in the page: of thousands, `--as tables` has all."""
STILLS = 8
"""Figures of a page that have a still; those behind them are drawn by the script alone, or a run of 40
profiles would take most of its time and its bytes for pictures that are folded away. Of a page that is packed
the first one alone: the others need its script in any case."""

_DRAWN = re.compile(r' (?:d|transform)="[^"]+"')
_PLAN_SCALE = re.compile(r"^scale:", re.MULTILINE)
_WIDTH = re.compile(r'^<svg[^>]* width="(\d+)')
_NAMED = re.compile(r'<(?:clipPath|linearGradient) id="|="url\(#')
_DECIMALS = re.compile(r"(\.\d)\d+")


def render(runs: RunSet, look: Look) -> bytes:
    """The report on one run."""
    return text(runs.only).encode()


def text(run: RunView) -> str:
    """The page."""
    shown = headline(run)
    pack = Pack(len(run.cases))
    pictures = _Pictures(pack)
    first = hero(run)
    top = None if first is None else pictures.of(first)
    tables = [_detail(table, f"table-{number}", pictures) for number, table in enumerate(details(run), 1)]
    templates = environment()
    case = templates.get_template("case.html.j2")
    page = templates.get_template("report.html.j2")
    # Before the page, which has all that is packed at its end.
    drawn = [_drawn(run, figure, pictures) for figure in figures(run)]
    cases = [
        (one, grid.cell(one), pack.place(f"case-{one.number}", html_case.body(one, case, pictures.folded)))
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
        policy=_policy(scripts),
        style=Markup(asset("report.css")),
        scripts=[Markup(script) for script in scripts],
        grid=grid,
        calibration=_detail(proof.table(run), "calibration", pictures),
        provenance=provenance(run),
        overview=_overview(run),
        fills_member=fills_member,
        has_member=any(map(fills_member, run.cases)),
        tables=grid.tables(run),
        details=tables,
        statements=compliance.statements(run),
        figures=drawn,
        cases=cases,
        pack=pack.script(),
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


def _policy(scripts: list[str]) -> str:
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


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


def _drawn(run: RunView, figure: Figure, pictures: _Pictures) -> dict[str, Any]:
    rows = [_figure_row(case) for case in run.cases if case.profile == figure.profile and case.result]
    headings = {**FIGURE_COLUMNS, "best": ", ".join(run.headline_names)}
    columns = [(key, headings[key]) for key in headings if any(row[key] not in EMPTY for row in rows)]
    return {**pictures.of(figure), "rows": rows, "columns": columns}


class _Pictures:
    """The figures of a page, in their order: the first ones also stand in it as they are."""

    def __init__(self, pack: Pack) -> None:
        self._left = 1 if pack.is_used else STILLS
        self._pack = pack
        self._specs: dict[str, str] = {}

    def of(self, figure: Figure) -> dict[str, Any]:
        """A figure as it stands in the page, if it does, and as the script draws it; its width in pixels."""
        # Before it is drawn: what draws fails altogether on some of what cannot be shown.
        packed, own = _packed(figure)
        live = _json({"packed": packed, **own})
        still = _still(figure) if self._left > 0 else ""
        self._left -= 1
        width = _WIDTH.search(still)
        # Within a script element only `<` can end it; JSON has it in strings alone.
        spec = self._pack.place(figure.key, live.replace("<", "\\u003c"))
        hint = MOVES if "params" in figure.live else POINTS if '"tooltip":' in live else ""
        # Without its spec, thousands of rows that the page needs no more.
        return {
            "figure": replace(figure, live={}),
            "still": Markup(still),
            "spec": spec,
            "width": int(width[1]) if width else 560,
            "hint": hint,
        }

    @property
    def has_folded(self) -> bool:
        """Whether a case has a figure of its own."""
        return bool(self._specs)

    def folded(self, figure: Figure) -> dict[str, Any]:
        """A figure within a case, which the script draws when the case is opened. Those alike but for their
        rows name the first of them: its spec stands in the page once."""
        packed, spec = _packed(figure)
        first = self._specs.setdefault(_json(spec), figure.key)
        shared = spec if first == figure.key else {"like": first}
        live = _json({"packed": packed, **shared}).replace("<", "\\u003c")
        return {
            "figure": replace(figure, live={}),
            "spec": self._pack.place(figure.key, live),
            "width": WIDTH,
        }


def _packed(figure: Figure) -> tuple[dict[str, Any], Any]:
    """The rows of a figure, packed, and the rest of its spec."""
    datasets = figure.live.get("datasets", {})
    packed = {name: shown_in(_pack_columns(rows)) for name, rows in datasets.items()}
    return packed, shown_in(_without_data(figure.live))


def _still(figure: Figure) -> str:
    """A figure as SVG; nothing where what draws is not installed, and the page's script draws all of them."""
    try:
        import vl_convert
    except ImportError:
        return ""
    stood = shown_in(_without_data(vega.still(figure.live)))
    # The live figure says of each mark what it is; of the still the page says what it shows.
    stood["config"] = {**stood["config"], "aria": False}
    # As text: vl-convert takes a third longer to read the same from objects.
    datasets = {name: shown_in(found) for name, found in figure.live.get("datasets", {}).items()}
    still = vl_convert.vegalite_to_svg(_json({"datasets": datasets, **stood}))
    still = _DRAWN.sub(_to_tenths, still)
    # The live figures count their clips from the same numbers, and a page has one place for each name.
    return _NAMED.sub(r"\g<0>still-", still)


def _pack_columns(rows: list[dict[str, Any]]) -> Any:
    """Rows that are alike as columns, a fourth as long; report.js unpacks them. A column that repeats itself:
    its values, and how often each stands in a row."""
    if any(row.keys() != rows[0].keys() for row in rows):
        return rows
    columns: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        column = [row[name] for row in rows]
        if 2 * (1 + sum(map(ne, column, column[1:]))) < len(column):
            runs = [(value, sum(1 for _ in same)) for value, same in groupby(column)]
            columns[name] = {"of": [v for v, _ in runs], "times": [n for _, n in runs]}
        else:
            columns[name] = column
    return columns


def _without_data(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in spec.items() if key != "datasets"}


def _json(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _to_tenths(path: re.Match[str]) -> str:
    """A path in tenths of a pixel, which nobody sees: a third fewer bytes."""
    return _DECIMALS.sub(r"\1", path[0])


def _detail(table: Table, key: str, pictures: _Pictures) -> dict[str, Any]:
    """A table of a method with its figures. Cells: text, whether it is a number, the case of the row."""
    drawn = table_figures.drawn(table, key)
    further = max(len(table.rows) - MOST_ROWS, 0)
    if further:
        table = replace(table, rows=table.rows[:MOST_ROWS], cases=table.cases[:MOST_ROWS])
    # Looks at every row: of a soak there are hundreds.
    numeric = table.numeric
    return {
        "table": table,
        "columns": list(zip(table.headings, numeric, strict=True)),
        "rows": [
            (number, list(zip(row, numeric, strict=True)))
            for number, row in zip(table.cases, table.texts, strict=True)
        ],
        "long": len(table.rows) > LONG,
        "further": further,
        "figures": [pictures.of(figure) for figure in drawn],
    }


def _figure_row(case: CaseView) -> dict[str, Any]:
    """Knee, maximum and hold of a case as numbers."""
    knee, best, held, end = case.of_role("knee"), case.headline, case.of_role("held rate"), None
    for trial in case.resting_trials:
        end = end or series.stretch(trial, "hold")
    return {
        "case": case,
        "limit": case.limit(best.scope if best else "sum"),
        "knee": "none" if knee is not None and knee.number is None else grid.number(knee) if knee else "n/a",
        "best": html_case.marked(case, best) if best else "n/a",
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
