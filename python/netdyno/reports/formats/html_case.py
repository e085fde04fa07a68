"""One case in the page: values and their limits, phases as executed, exact counts, latency, the tester."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jinja2
from markupsafe import Markup

from netdyno.reports.figures import device, sparkline
from netdyno.reports.figures.vega import Figure
from netdyno.reports.formats import html_streams
from netdyno.reports.formats.html_pack import Pack
from netdyno.reports.model import (
    balance_table,
    connection_tables,
    gauges_table,
    health,
    hosts_table,
    rates_tables,
)
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed
from netdyno.values.load import FRAMES

TABLES = (
    ("balance", balance_table.table),
    ("counts", rates_tables.counter_table),
    ("wrap", rates_tables.printed_table),
    ("counts", connection_tables.each),
    ("counts", connection_tables.by_host),
    ("counts", connection_tables.programs),
    ("read", gauges_table.kernel_table),
    ("read", gauges_table.table),
    ("read", gauges_table.served_table),
    ("plain", hosts_table.table),
)
"""What was read of the device in a case, in the order of reading, how it is set, and the hosts: the first
sentence of a balance is its answer, and the last column of `wrap` is a text."""
MOST_TRIALS = 500
"""Trials of a case that are listed one by one: of thousands of parts of a soak, JSON has all."""


def body(
    case: CaseView,
    templates: jinja2.Environment,
    place: Callable[[Figure], dict[str, Any]],
    pack: Pack,
) -> Markup:
    """What is folded into a case. place: makes a figure a part of the page."""
    drawn = device.figure(case)
    figure = None if drawn is None else place(drawn)
    entry = _entry(case)
    entry["each"] = html_streams.fold(case, entry["trials"], templates, pack)
    template = templates.get_template("case.html.j2")
    return Markup(template.render(case=case, entry=entry, worker=health.worker, device=figure).strip())


def _entry(case: CaseView) -> dict[str, Any]:
    trials = case.trials[:MOST_TRIALS]
    drawn = [trial for trial in case.resting_trials if trial.duration_ns > 0]
    return {
        "trials": trials,
        "has_frames": case.load_class is FRAMES,
        "further": len(case.trials) - len(trials),
        "reasons": _reasons(case),
        "size": printed.size(case.sizes) if case.sizes else "n/a",
        "line": "n/a" if case.line_fps is None else printed.rate(case.line_fps, "pps"),
        "line_l1": "n/a" if case.line_bps is None else printed.rate(case.line_bps, "bit/s"),
        "tables": [(style, one) for style, table in TABLES if (one := table(case)).rows or one.caption],
        "rows": html_streams.rows(case, trials),
        "stream_names": html_streams.stream_names(case),
        "sparks": [Markup(svg) for trial in drawn[:3] if (svg := sparkline.svg(trial))],
    }


def _reasons(case: CaseView) -> list[tuple[str, str, str]]:
    """What it is about, limit and reason. The verdict on all streams repeats those on each."""
    verdicts = {"sum": case.verdicts["sum"]} if "sum" in case.verdicts else case.verdicts
    first = [("all" if scope == "sum" else scope, v.limit, str(v.reason)) for scope, v in verdicts.items()]
    summed = {name for name, scope in case.others if scope == "sum"}
    further = [
        (name if scope == "sum" else f"{name}, {scope}", v.limit, str(v.reason))
        for (name, scope), v in case.others.items()
        if scope == "sum" or name not in summed
    ]
    return [*first, *further]
