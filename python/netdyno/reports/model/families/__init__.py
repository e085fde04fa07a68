"""The headline numbers of each family of methods: one file and one line in MODULES each.

A method without a family has a row for each case and a column for each value that stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from netdyno.reports.model.families import cases, matrix, one_case
from netdyno.reports.model.shown import Family, Shown
from netdyno.reports.model.table import CONTRADICTED, Table
from netdyno.reports.model.view import RunView
from netdyno.values.table import load_table

MODULES = ("soak", "sweep", "y1564", "service_cost", "rfc6349", "acceptance")
"""Each has its family as `FAMILY`."""

FAMILIES = {family.method: family for family in load_table(__name__, "FAMILY", Family, MODULES)}
"""By the method's name."""

MARKED = f"{CONTRADICTED.strip()}: later trials lost frames at that load or below"
"""What the mark behind a number means."""


def of_run(run: RunView) -> Shown:
    """The headline numbers of a run by its method's family; a mark in its table is explained below it."""
    shown = _of_run(run)
    if not any(cell.endswith(CONTRADICTED) for row in shown.grid.texts for cell in row):
        return shown
    captions = (*filter(None, (shown.grid.caption,)), MARKED)
    return replace(shown, grid=replace(shown.grid, captions=("; ".join(captions),)))


def is_matrix(run: RunView) -> bool:
    """Whether a run is shown as a heat map: its method has no family, and it is a matrix of rates."""
    return _family_of(run) is None and matrix.is_matrix(run)


def tables_of(run: RunView) -> Iterable[Table]:
    """All that is known of the numbers of a run's family; none without one."""
    family = _family_of(run)
    return () if family is None else family.tables(run)


def _family_of(run: RunView) -> Family | None:
    return FAMILIES.get(run.methods[0]) if len(run.methods) == 1 else None


def _of_run(run: RunView) -> Shown:
    measured = [case for case in run.cases if case.result is not None]
    if not measured:
        return Shown((), Table())
    if (family := _family_of(run)) is not None:
        return family.show(run)
    if is_matrix(run):
        return matrix.show(run)
    return one_case.show(run) if len(run.places) == 1 and run.repeats == 1 else cases.show(run)
