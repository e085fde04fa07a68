"""RFC 6349: the window that carried most, with the three metrics of the standard and the baseline RTT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from netdyno.reports.model.answer import text
from netdyno.reports.model.families import cases, one_case
from netdyno.reports.model.shown import Family, Record, Shown, number_in, records
from netdyno.reports.model.table import small_table
from netdyno.reports.model.table import text as cell_text
from netdyno.reports.model.view import CaseView, RunView

PAYLOAD = "TCP payload"
OF_WINDOW = (("transfer time ratio", ""), ("TCP efficiency", "share"), ("buffer delay", "share"))
"""Columns of the method's table of windows, and their units."""
HEADINGS = ("", PAYLOAD, "window, of the product", *(name for name, _ in OF_WINDOW), "baseline RTT", "limit")


def show(run: RunView) -> Shown:
    """A row for each stream of each case; of a single case a row for each number."""
    is_one = len(run.places) == 1 and run.repeats == 1
    base = one_case.show(run) if is_one else cases.show(run)
    rows = [row for case in run.cases if case.result is not None for row in _rows(run, case)]
    if not rows:
        return base
    has_several = any(len(case.streams) > 1 for case in run.cases)
    caption = f"at the window that carried most{'; each stream by itself' if has_several else ''}"
    if is_one:
        headings, *turned = zip(HEADINGS, *rows, strict=True)
        return replace(base, grid=small_table(headings, tuple(turned), caption))
    return replace(base, grid=small_table(("case", *HEADINGS[1:]), tuple(rows), caption))


def _rows(run: RunView, case: CaseView) -> Iterator[tuple[str, ...]]:
    """A row for each stream, at the window at which all streams together carried most."""
    baselines = {str(one["stream"]): one["baseline RTT"] for one in records(case, "Path")}
    windows: dict[Fraction, list[Record]] = {}
    for one in records(case, "Payload against the window"):
        windows.setdefault(number_in(one["window"]), []).append(one)
    if not windows:
        return
    best = max(windows.values(), key=lambda at: sum(number_in(one[PAYLOAD]) for one in at))
    for one in best:
        stream = str(one["stream"])
        is_alone = len(run.cases) == 1
        name = stream if is_alone else run.name_apart(case)
        if len(best) > 1 and not is_alone:
            name = f"{name}: {stream}"
        value = next((v for v in case.values if v.kind.display_name == PAYLOAD and v.scope == stream), None)
        yield (
            name,
            text(case, value),
            cell_text(one["window"], "share"),
            *(cell_text(one[column], unit) for column, unit in OF_WINDOW),
            cell_text(baselines.get(stream), "ns"),
            "" if value is None else case.limit_of(value),
        )


FAMILY = Family("rfc6349", show)
