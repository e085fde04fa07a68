"""One case in the page: values and their limits, phases as executed, exact counts, latency, the tester."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jinja2
from markupsafe import Markup

from netdyno.reports.figures import device, sparkline
from netdyno.reports.figures.vega import Figure
from netdyno.reports.model import answer, balance_table, gauges_table, grid, health, rates_tables
from netdyno.reports.model.loss import loss
from netdyno.reports.model.table import CONTRADICTED
from netdyno.reports.model.view import ALL, CaseView, TrialView
from netdyno.stats.histogram import percentiles
from netdyno.values import number as printed
from netdyno.values.finding import Value
from netdyno.values.load import FRAMES
from netdyno.values.outcome import Latency

PERCENTILES = (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(999, 1000), Fraction(9999, 10000))


TABLES = (
    ("balance", balance_table.table),
    ("counts", rates_tables.counter_table),
    ("wrap", rates_tables.printed_table),
    ("read", gauges_table.table),
)
"""What was read of the device in a case, in the order of their reading, and how it is set: the first sentence
of a balance is its answer, and the last column of `wrap` is a text."""
MOST_TRIALS = 500
"""Trials of a case that are listed one by one: of thousands of parts of a soak, JSON has all."""


def body(case: CaseView, template: jinja2.Template, place: Callable[[Figure], dict[str, Any]]) -> Markup:
    """What is folded into a case. place: makes a figure a part of the page."""
    drawn = device.figure(case)
    figure = None if drawn is None else place(drawn)
    return Markup(template.render(case=case, entry=_entry(case), worker=health.worker, device=figure).strip())


def _entry(case: CaseView) -> dict[str, Any]:
    trials = case.trials[:MOST_TRIALS]
    drawn = [trial for trial in case.resting_trials if trial.duration_ns > 0]
    of_streams = [(trial, stream) for trial in trials for stream in trial.result.streams]
    return {
        "trials": trials,
        "has_frames": case.load_class is FRAMES,
        "further": len(case.trials) - len(trials),
        "reasons": _reasons(case),
        "size": printed.size(case.sizes) if case.sizes else "n/a",
        "line": "n/a" if case.line_fps is None else printed.rate(case.line_fps, "pps"),
        "line_l1": "n/a" if case.line_bps is None else printed.rate(case.line_bps, "bit/s"),
        "tables": [(style, one) for style, table in TABLES if (one := table(case)).rows or one.caption],
        "values": [_value(case, value) for value in _worth_listing(case)],
        # So seldom that a column of zeros would only be in the way.
        "beyond_window": any(stream.beyond_window for _, stream in of_streams),
        "sparks": [Markup(svg) for trial in drawn[:3] if (svg := sparkline.svg(trial))],
        "streams": [
            {"trial": trial, "stream": stream, "loss": loss(stream.lost, stream.offered)}
            for trial, stream in of_streams
        ],
        "latencies": [
            _latency(trial, stream.name, stream.latency)
            for trial, stream in of_streams
            if stream.latency is not None and stream.latency.count
        ],
        "percentiles": [f"{printed.exact(share * 100)} %" for share in PERCENTILES],
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


def _worth_listing(case: CaseView) -> list[Value]:
    """Every value; with a single stream not again for all streams together."""
    values = case.result.values if case.result else ()
    of_streams = {value.name for value in values if value.scope != ALL}
    single = len(case.streams) == 1
    return [value for value in values if not (single and value.scope == ALL and value.name in of_streams)]


def _value(case: CaseView, value: Value) -> dict[str, str]:
    l1, share = grid.beside(case, value)
    load = value.as_searched
    searched = "" if load is None else f"as searched {printed.rate(load, 'pps', 'at least', 1)}"
    return {
        "name": value.kind.display_name,
        "meaning": value.kind.meaning,
        "scope": "all" if value.scope == "sum" else value.scope,
        "number": marked(case, value),
        "l1": l1 or "",
        "share": share or "",
        "limit": case.limit_of(value),
        "note": "; ".join(
            str(one) for one in (searched, value.note, case.doubt(value) or value.contradicted) if one
        ),
    }


def marked(case: CaseView, value: Value) -> str:
    """A value with its bounds, and with the sign and the mark that it has on the first screen."""
    stands_for_case = case.result is not None and value.name in case.result.headlines
    if stands_for_case and value.number is not None and grid.is_bound(case, value):
        return answer.text(case, value)
    text = grid.number(value)
    return text + CONTRADICTED if case.doubt(value) and text != "n/a" else text


def _latency(trial: TrialView, name: str, latency: Latency) -> dict[str, Any]:
    return {
        "trial": trial,
        "stream": name,
        "latency": latency,
        "least": printed.latency(latency.min_ns),
        "mean": printed.latency(Fraction(latency.sum_ns, latency.count)),
        "percentiles": [
            "n/a" if p is None else printed.latency(p) for p in percentiles(latency, PERCENTILES)
        ],
        "most": printed.latency(latency.max_ns),
    }
