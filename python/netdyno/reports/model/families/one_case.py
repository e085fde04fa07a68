"""A row for each value that stands for the only case of a run."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netdyno.reports.model import grid
from netdyno.reports.model.answer import bounds, capital, format_beside, judged, text
from netdyno.reports.model.shown import Number, Shown
from netdyno.reports.model.table import CONTRADICTED, small_table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.finding import Value
from netdyno.values.load import CONNECTIONS

TOGETHER = "all streams together"


def show(run: RunView) -> Shown:
    """A row for each value that stands for the only case."""
    case = next(case for case in run.cases if case.result is not None)
    values = [value for name in judged(run) if (value := case.value(name)) is not None]
    texts = _apart(case, values)
    numbers = tuple(
        # What is below a load is in doubt for that alone: no mark beside it.
        Number(
            capital(value.kind.display_name),
            label.removesuffix(CONTRADICTED) if value.is_refuted else label,
            format_beside(case, value),
            case.limit_of(value),
        )
        for value, label in zip(values[:3], texts, strict=False)
    )
    rows = [
        (
            value.kind.display_name,
            label,
            bounds(value),
            *(one or "" for one in reversed(grid.beside(case, value))),
            case.limit_of(value),
        )
        for value, label in zip(values, texts, strict=True)
    ]
    headings = ("", "result", "between, pps", "of line", "L1", "limit")
    caption = TOGETHER if case.load_class is CONNECTIONS and len(case.streams) > 1 else ""
    return Shown(numbers, small_table(headings, tuple(rows), caption))


def _apart(case: CaseView, values: Sequence[Value]) -> list[str]:
    """The headline numbers, with four digits where unequal rates would print the same."""
    texts = [text(case, value) for value in values]
    numbers: dict[str, set[Fraction | None]] = {}
    for value, label in zip(values, texts, strict=True):
        numbers.setdefault(label, set()).add(value.number)
    return [
        text(case, value, more=1) if len(numbers[label]) > 1 and value.unit == "fps" else label
        for value, label in zip(values, texts, strict=True)
    ]
