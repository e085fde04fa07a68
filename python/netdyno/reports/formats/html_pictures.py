"""The figures and tables of a page: a still of the first, specs for its script, and its policy.

The first figure stands in the page as it is seen first, as a still, where vl-convert is installed (the extra
`figures`); the script replaces it by a live one and draws the others, which are folded away. A still of each
would be a fourth of the page and of the time to make it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from operator import ne
from typing import Any

import jinja2
from markupsafe import Markup

from netdyno.reports.figures import table_figures, vega
from netdyno.reports.figures.device import WIDTH
from netdyno.reports.figures.vega import Figure
from netdyno.reports.formats.html_pack import Pack
from netdyno.reports.formats.html_templates import shown_in
from netdyno.reports.model.table import Table

MOVES = "Point at a line for its numbers; drag to move, shift and wheel to zoom, double click to go back."
POINTS = "Point at a mark for its numbers."
"""What a figure does in the page."""
LONG = 30
"""Rows of a method's table from which it stands folded in the page."""
MOST_ROWS = 1000
"""Rows of a method's table in the page: of thousands, `--as tables` has all."""
MOST_PACKED = 5000
"""The same of a table that is packed, with a row for each stream."""
_DRAWN = re.compile(r' (?:d|transform)="[^"]+"')
_WIDTH = re.compile(r'^<svg[^>]* width="(\d+)')
_NAMED = re.compile(r'<(?:clipPath|linearGradient) id="|="url\(#')
_DECIMALS = re.compile(r"(\.\d)\d+")


def policy(scripts: list[str]) -> str:
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


class Pictures:
    """The figures of a page, in their order: the first one also stands in it as it is."""

    def __init__(self, pack: Pack, templates: jinja2.Environment) -> None:
        self._is_first = True
        self._pack = pack
        self._templates = templates
        self._specs: dict[str, str] = {}

    def of(self, figure: Figure) -> dict[str, Any]:
        """A figure as it stands in the page, if it does, and as the script draws it; its width in pixels."""
        # Before it is drawn: what draws fails altogether on some of what cannot be shown.
        packed, own = _packed(figure)
        live = _json({"packed": packed, **own})
        still = _still(figure) if self._is_first else ""
        self._is_first = False
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

    def fold_rows(self, table: Table, key: str) -> dict[str, Any]:
        """The rows of each stream, which the script shows when they are opened; how many are left out."""
        shown = replace(table, rows=table.rows[:MOST_PACKED], cases=table.cases[:MOST_PACKED])
        macros = self._templates.get_template("macros.html.j2").module
        self._pack.fold(key, str(macros.method_table(_cells(shown))))  # type: ignore[attr-defined]
        return {"key": key, "rows": len(shown.rows), "further": len(table.rows) - len(shown.rows)}

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


def detail(table: Table, key: str, pictures: Pictures) -> dict[str, Any]:
    """A table of a method with its figures. Cells: text, whether it is a number, the case of the row."""
    drawn = table_figures.drawn(table, key)
    further = max(len(table.rows) - MOST_ROWS, 0)
    if further:
        table = replace(table, rows=table.rows[:MOST_ROWS], cases=table.cases[:MOST_ROWS])
    return {
        **_cells(table),
        "table": table,
        "long": len(table.rows) > LONG,
        "further": further,
        "each": None if table.whole is None else pictures.fold_rows(table.whole, f"{key}-each"),
        "figures": [pictures.of(figure) for figure in drawn],
    }


def _cells(table: Table) -> dict[str, Any]:
    """Headings and rows of a table as the template has them."""
    # Looks at every row: of a soak there are hundreds.
    numeric = table.numeric
    return {
        "columns": list(zip(table.headings, numeric, strict=True)),
        "rows": [
            (number, list(zip(row, numeric, strict=True)))
            for number, row in zip(table.cases, table.texts, strict=True)
        ],
    }
