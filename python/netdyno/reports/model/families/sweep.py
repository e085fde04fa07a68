"""A sweep: the loss-free load, and how latency rises from the lowest load to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netdyno.reports.model import grid
from netdyno.reports.model.answer import extremes, judged, text
from netdyno.reports.model.shown import Family, Number, Shown, records
from netdyno.reports.model.table import small_table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Value


def show(run: RunView) -> Shown:
    """The loss-free load, and how latency rises from the lowest load to the highest."""
    rows: list[tuple[str, ...]] = []
    numbers: list[Number] = []
    shares: list[tuple[Fraction, CaseView]] = []
    for case in run.cases:
        free = case.headline
        means = _means(case)
        ends = (means[0], means[-1]) if means else ()
        cells = [f"{printed.latency(mean)} at {printed.share(load)}" for load, mean in ends]
        knee = _knee(means)
        share = _asked_share(case, free)
        if share is not None:
            shares.append((share, case))
        rows.append(
            (
                run.place_apart(case),
                text(case, free),
                "n/a" if share is None else printed.share(share),
                *(cells or ("n/a", "n/a")),
                knee or ("never" if means else "n/a"),
                case.limit(),
            )
        )
        if ends and len(numbers) < 2:
            first, last = (printed.latency(mean) for _, mean in ends)
            loads = f"at {printed.share(ends[0][0])} to {printed.share(ends[1][0])} of line rate"
            rises = f"; doubles at {knee}" if knee else ""
            span = first if first == last else f"{first} to {last}"
            numbers.append(Number(f"Mean latency, {run.name_apart(case)}", span, f"{loads}{rises}"))
    at = ("mean latency, lowest load", "mean latency, highest load", "latency doubles at")
    headings = ("case", judged(run)[0], "of line", *at, "limit")
    caption = "loads: % of the line of each sending port"
    lowest = extremes(run)[:1] if not shares else (_lowest_load(run, *min(shares, key=lambda one: one[0])),)
    return Shown((*lowest, *numbers), small_table(headings, tuple(rows), caption, answer=at))


def _asked_share(case: CaseView, free: Value | None) -> Fraction | None:
    """The loss-free load as the loads of a sweep are given, of a sending port's line; None: not known."""
    situation = case.situation
    if free is None or not free.load or free.only_below is not None or situation is None:
        return None
    if not case.line_enforced or case.doubt(free) is not None:
        return None
    return free.load / situation.share(free.scope) / situation.line_fps


def _lowest_load(run: RunView, share: Fraction, case: CaseView) -> Number:
    value = case.headline
    assert value is not None
    l1 = grid.beside(case, value)[0] or ""
    beside = ", ".join(filter(None, (text(case, value), l1, run.name_apart(case))))
    return Number(f"Lowest {value.name}", printed.share(share), beside, case.limit())


def _means(case: CaseView) -> list[tuple[Fraction, Fraction]]:
    """Loads and mean latencies over all streams, the lowest load first."""
    found: dict[Fraction, list[Fraction]] = {}
    for record in records(case, "Latency against load"):
        load, mean = record["load"], record["mean"]
        if isinstance(load, Fraction) and isinstance(mean, Fraction):
            found.setdefault(load, []).append(mean)
    return sorted((load, sum(means, Fraction(0)) / len(means)) for load, means in found.items())


def _knee(means: Sequence[tuple[Fraction, Fraction]]) -> str:
    """The lowest load at which the mean latency is twice that at the lowest of all; empty: it never is."""
    load = next((load for load, mean in means if mean > 2 * means[0][1]), None)
    return "" if load is None else printed.share(load)


FAMILY = Family("sweep", show)
