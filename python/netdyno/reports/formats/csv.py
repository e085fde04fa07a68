"""The run as CSV (RFC 4180, but `\\n` ends a line): a row a value, or the tables of the methods.

Numbers are exact, units in the column names, and what was not measured is empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from netdyno.reports import Look
from netdyno.reports.model.core_share import core_share
from netdyno.reports.model.details import details
from netdyno.reports.model.families import service_cost
from netdyno.reports.model.goals import OUTCOMES
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.table import WORDS
from netdyno.reports.model.view import COUNTS, CaseView, RunView, totals
from netdyno.values import number as printed
from netdyno.values.finding import Cell, Column, Value
from netdyno.values.printable import printable

UNITS = {"fps": "pps", "ns": "ns"}
"""Units whose values have bounds, as columns name them."""
CONTRADICTED = "contradicted"
"""The column that names those in which a row is, or stands on, a throughput that later trials contradict."""
PLACES = 12
"""Decimals of a number: enough for any share."""


def render(runs: RunSet, look: Look) -> bytes:
    """The report on one run: its values, or its tables."""
    return (tables(runs.only) if look.level == "tables" else text(runs.only)).encode()


def text(run: RunView) -> str:
    """A header, then a row for each value in the order of the plan; of a case without any one row."""
    columns = [
        "case",
        *(f"setting_{name}" for name in run.setting_names),
        *("profile", "direction"),
        *(["repeat"] if run.repeats > 1 else []),
        *("state", "method", "value", "scope"),
        *(
            "pps",
            "low_pps",
            "high_pps",
            "as_searched_pps",
            "l1_bps",
            "line_pps",
            "line_l1_bps",
            "share_of_line_percent",
        ),
        *("ns", "low_ns", "high_ns", "ratio", "other", "other_unit"),
        *("limit", "reason", "mean_frame_size_bytes", "flows", "emulated"),
        *(f"{name}_frames" for name in COUNTS),
        *(["device_cpu_percent"] if service_cost.FAMILY.method in run.methods else []),
        *(["goals"] if any(case.goals for case in run.cases) else []),
        *("tester", "standard", "compliance", "deviations", "not_as_recommended", "note", "error"),
    ]
    target = io.StringIO()
    writer = csv.DictWriter(target, columns, lineterminator="\n", extrasaction="ignore")
    writer.writerow({name: printable(name) for name in columns})
    for case in run.cases:
        common = _of_case(run, case)
        for row in [_of_value(case, value) for value in case.values] or [{"limit": case.limit()}]:
            writer.writerow({name: _field(text) for name, text in (common | row).items()})
    return target.getvalue()


def _of_case(run: RunView, case: CaseView) -> dict[str, str]:
    result = case.result
    cpu = core_share(case) if service_cost.FAMILY.method in run.methods else None
    return {
        "case": str(case.number),
        **{f"setting_{name}": value for name, value in case.settings.items()},
        "profile": case.profile,
        "direction": case.direction,
        "repeat": str(case.repeat),
        "state": case.state,
        "method": result.method if result else "",
        "mean_frame_size_bytes": printed.exact(case.mean_size),
        "flows": "" if case.flows is None else str(case.flows),
        "emulated": "yes" if run.emulated else "no",
        "device_cpu_percent": "" if cpu is None else printed.exact(cpu.share * 100),
        "tester": _joined(finding.sentence for finding in case.tester),
        "error": str(case.error or ""),
        "goals": _joined(f"{name} {OUTCOMES[passed]}" for name, passed, _ in case.goals),
        "standard": result.standard if result else "",
        "compliance": (result.conformity or "") if result else "",
        "deviations": _joined(result.compliance if result else ()),
        "not_as_recommended": _joined(result.recommended if result else ()),
    }


def _of_value(case: CaseView, value: Value) -> dict[str, str]:
    share, line, load = case.share_of_line(value), case.line(value.scope), value.load
    if value.is_refuted:
        value, share = replace(value, number=None, low=None), None
    row = {
        "value": value.kind.display_name,
        "scope": value.scope,
        "limit": case.limit_of(value),
        "reason": str(case.reason_of(value) or ""),
        "l1_bps": printed.exact(case.l1_of(value)),
        "line_pps": printed.exact(line),
        "line_l1_bps": "" if line is None else printed.exact(case.l1_bps(line)),
        "share_of_line_percent": "" if share is None else printed.exact(share * 100),
        "note": _joined(one for one in (value.note, case.doubt_stated(value)) if one),
        **{f"{name}_frames": str(count) for name, count in (totals(case, value.scope) or {}).items()},
    }
    if value.unit in UNITS:
        bounds = {"": value.number, "low_": value.low, "high_": value.high}
        unit = UNITS[value.unit]
        if value.searched and value.unit == "fps":
            bounds["as_searched_"] = load
        return row | {f"{prefix}{unit}": printed.exact(number) for prefix, number in bounds.items()}
    if value.unit == "ratio":
        return row | {"ratio": printed.exact(value.number, places=PLACES)}
    return row | {"other": printed.exact(value.number), "other_unit": value.unit}


def _joined(parts: Iterable[object]) -> str:
    return "; ".join(map(str, parts))


def tables(run: RunView) -> str:
    """The methods' tables: of each its name, its columns and its rows, then an empty line.

    A line that says so if there is none.
    """
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    found = [table.every_row for table in details(run)]
    if not found:
        return "no method of this run made a table\n"
    for number, table in enumerate(found):
        if number:
            writer.writerow([])
        writer.writerow([_field(table.name)])
        # Numbers stay numbers: which of them are marked stands behind them, by their columns.
        marked = [[", ".join(table.marked(place))] if table.marks else [] for place in range(len(table.rows))]
        heading = [*map(_column, table.columns), *([CONTRADICTED] if table.marks else [])]
        writer.writerow(map(_field, heading))
        writer.writerows(
            [*map(_cell, row), *map(_field, marks)] for row, marks in zip(table.rows, marked, strict=True)
        )
    return target.getvalue()


def _column(column: Column) -> str:
    unit = WORDS.get(column.unit, column.unit)
    return f"{column.name} ({unit})" if unit else column.name


def _cell(cell: Cell) -> str:
    return printed.exact(cell, PLACES) if isinstance(cell, Fraction) or cell is None else _field(cell)


def _field(text: str) -> str:
    """One line, which steers no terminal."""
    return printable(text.replace("\n", " "))
