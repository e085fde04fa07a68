"""A soak: frames lost of those sent, loss events and the longest latency."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from netdyno.reports.model import grid, soaked
from netdyno.reports.model.answer import capital, format_beside, text
from netdyno.reports.model.shown import Family, Number, Shown, records
from netdyno.reports.model.table import small_table
from netdyno.reports.model.view import ALL, CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Value
from netdyno.values.kind import ValueKind

LOAD = ValueKind("load", "fps", "the load that a soak held")


def show(run: RunView) -> Shown:
    """Frames lost of those sent, loss events and the longest latency, by stream."""
    rows = []
    numbers: list[Number] = []
    happened = soaked.events(run)
    for case in run.cases:
        events = "n/a"
        for record in records(case, "Soak"):
            stream = str(record["stream"])
            loss = case.result.headline((stream,)) if case.result else None
            of = f"{run.name_apart(case)} / " if len(run.cases) > 1 else ""
            counts = [record["sent"], record["lost"], record["events"]]
            sent, lost, events = (
                printed.grouped(one) if isinstance(one, Fraction) else "n/a" for one in counts
            )
            latest = record["max"]
            rows.append(
                (
                    f"{of}{'all' if stream == ALL else stream}",
                    sent,
                    lost,
                    "n/a" if loss is None else grid.number(loss),
                    events,
                    printed.latency(latest) if isinstance(latest, Fraction) else "n/a",
                )
            )
        value = case.headline
        if value is not None and not numbers:
            numbers.append(Number(capital(value.name), text(case, value), str(value.note), case.limit()))
            # The last row is of all streams together.
            numbers.append(Number("Loss events", events, soaked.beside(case)))
            numbers += _load(case)
    headings = ("stream", "sent", "lost", "loss, bound at 95 %", "events", "max latency")
    loads = [one for one in numbers if one.name == "Load"]
    caption = "".join(f"load of all streams: {one.text}, {one.beside}" for one in loads)
    return Shown(tuple(numbers), small_table(headings, tuple(rows), caption), happened)


def _load(case: CaseView) -> Iterator[Number]:
    """The load that a soak held, of all its streams together, with its share of the line."""
    for record in records(case, "Soak")[-1:]:
        if isinstance(offered := record["offered"], Fraction):
            load = Value(LOAD, str(record["stream"]), offered)
            yield Number("Load", printed.rate(offered, "pps"), format_beside(case, load))


FAMILY = Family("soak", show)
