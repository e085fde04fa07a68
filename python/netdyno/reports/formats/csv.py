"""One row a value: settings, exact counts, units in the column names, empty where nothing was measured."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fractions import Fraction

from netdyno.reports import Look
from netdyno.reports.model.goals import OUTCOMES
from netdyno.reports.model.view import COUNTS, RunView, totals
from netdyno.values import number as printed
from netdyno.values.printable import printable

HUNDRED = 100
UNITS = {"fps": "pps", "ns": "ns"}
"""Units whose values have bounds, as columns name them."""


def render(runs: Sequence[RunView], look: Look) -> bytes:
    """The report on one run."""
    (run,) = runs
    return text(run).encode()


def text(run: RunView) -> str:
    """The run as CSV (RFC 4180, but `\\n` ends a line): a header, then rows in the order of the plan."""
    settings = run.setting_names
    columns = [
        "case",
        *(f"setting_{name}" for name in settings),
        *[
            "profile",
            "direction",
            *(["repeat"] if run.repeats > 1 else []),
            "state",
            "method",
            "value",
            "scope",
        ],
        *["pps", "low_pps", "high_pps", "l1_bps", "line_pps", "line_l1_bps", "share_of_line_percent"],
        *["ns", "low_ns", "high_ns", "ratio", "other", "other_unit"],
        *["limit", "reason", "mean_frame_size_bytes", "flows", "emulated"],
        *(f"{name}_frames" for name in COUNTS),
        *(["goals"] if any(case.goals for case in run.cases) else []),
        *["tester", "standard", "compliance", "deviations", "not_as_recommended", "note", "error"],
    ]
    target = io.StringIO()
    writer = csv.DictWriter(target, columns, lineterminator="\n")
    writer.writerow({name: printable(name) for name in columns})
    for row in _rows(run):
        # Each row stays one line, and what a stranger wrote into a record steers no terminal.
        writer.writerow({name: printable(text.replace("\n", " ")) for name, text in row.items()})
    return target.getvalue()


def _rows(run: RunView) -> list[dict[str, str]]:
    rows = []
    for case in run.cases:
        common = {
            "case": str(case.number),
            **{f"setting_{name}": value for name, value in case.settings.items()},
            "profile": case.profile,
            "direction": case.direction,
            **({"repeat": str(case.repeat)} if run.repeats > 1 else {}),
            "state": case.state,
            "method": case.result.method if case.result else "",
            "mean_frame_size_bytes": printed.exact(case.mean_size),
            "flows": "" if case.flows is None else str(case.flows),
            "emulated": "yes" if run.emulated else "no",
            "tester": "; ".join(finding.sentence for finding in case.tester),
            "error": "" if case.error is None else str(case.error),
        }
        if any(one.goals for one in run.cases):
            common["goals"] = "; ".join(f"{name} {OUTCOMES[passed]}" for name, passed, _ in case.goals)
        if case.result is not None:
            common |= {
                "standard": case.result.standard,
                "compliance": case.result.conformity or "",
                "deviations": "; ".join(map(str, case.result.compliance)),
                "not_as_recommended": "; ".join(map(str, case.result.recommended)),
            }
        for value in case.result.values if case.result else ():
            verdict = case.verdict_of(value)
            counts = totals(case, value.scope) or {}
            share = case.share_of_line(value)
            line = case.line(value.scope)
            row = {
                "value": value.kind.display_name,
                "scope": value.scope,
                "limit": case.limit_of(value),
                "reason": str(verdict.reason) if verdict and case.limit_of(value) else "",
                "line_pps": printed.exact(line),
                "line_l1_bps": _l1(case.l1_bps(line)) if line is not None else "",
                "share_of_line_percent": "" if share is None else printed.exact(share * HUNDRED),
                "note": "; ".join(str(one) for one in (value.note, case.doubt(value)) if one),
                **{f"{name}_frames": str(number) for name, number in counts.items()},
            }
            bounds = {"": value.number, "low_": value.low, "high_": value.high}
            if value.unit in UNITS:
                unit = UNITS[value.unit]
                row |= {f"{prefix}{unit}": printed.exact(number) for prefix, number in bounds.items()}
            elif value.unit == "ratio":
                row["ratio"] = printed.exact(value.number, places=12)
            else:
                row |= {"other": printed.exact(value.number), "other_unit": value.unit}
            if value.unit == "fps" and value.number is not None:
                row["l1_bps"] = _l1(case.l1_bps(value.number))
            rows.append(common | row)
        if not (case.result and case.result.values):
            rows.append(common | {"limit": case.limit()})
    return rows


def _l1(bps: Fraction | None) -> str:
    return printed.exact(bps)
