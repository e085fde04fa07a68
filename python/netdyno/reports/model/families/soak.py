"""A soak: frames lost of those sent, loss events and the longest latency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from netdyno.reports.model import alike, grid, soaked
from netdyno.reports.model.answer import capital, format_beside, text
from netdyno.reports.model.loss import loss, none_lost
from netdyno.reports.model.shown import Family, Number, Record, Shown, number_in, records
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
        of = f"{run.name_apart(case)} / " if len(run.cases) > 1 else ""
        found = alike.group(case, records(case, "Soak"), lambda record: str(record["stream"]))
        for kind, members in found.items():
            sent, lost, events = (_sum_up(members, column) for column in ("sent", "lost", "events"))
            name = "all" if kind == ALL else alike.name_kind(kind, len(members))
            rows.append((f"{of}{name}", sent, lost, _loss(case, members), events, _longest(members)))
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


def _sum_up(members: Sequence[Record], column: str) -> str:
    """The sum of a count over streams; of events, which may be of many streams at once, least and most."""
    known = [cell for one in members if isinstance(cell := one[column], Fraction)]
    if len(known) < len(members):
        return "n/a"
    if column == "events":
        return grid.span(printed.grouped(min(known)), printed.grouped(max(known)))
    return printed.grouped(sum(known, Fraction(0)))


def _loss(case: CaseView, members: Sequence[Record]) -> str:
    if len(members) > 1:
        lost, sent = (sum(int(number_in(one[name])) for one in members) for name in ("lost", "sent"))
        return loss(lost, sent) if lost else none_lost(sent)
    value = case.result.headline((str(members[0]["stream"]),)) if case.result else None
    return "n/a" if value is None else grid.number(value)


def _longest(members: Sequence[Record]) -> str:
    known = [cell for one in members if isinstance(cell := one["max"], Fraction)]
    return printed.latency(max(known)) if known else "n/a"


def _load(case: CaseView) -> Iterator[Number]:
    """The load that a soak held, of all its streams together, with its share of the line."""
    for record in records(case, "Soak")[-1:]:
        if isinstance(offered := record["offered"], Fraction):
            load = Value(LOAD, str(record["stream"]), offered)
            yield Number("Load", printed.rate(offered, "pps"), format_beside(case, load))


FAMILY = Family("soak", show)
