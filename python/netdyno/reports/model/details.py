"""Every table that stands below the results: of goals, port groups, repeats, the methods, and LAG members."""

from __future__ import annotations

from netdyno.reports.model import goals, lag_members, repeats, together, unfinished
from netdyno.reports.model.families import service_cost
from netdyno.reports.model.joined import join_tables
from netdyno.reports.model.table import Table
from netdyno.reports.model.view import RunView


def details(run: RunView) -> tuple[Table, ...]:
    """In the order of their reading."""
    return (
        *goals.tables(run),
        *unfinished.tables(run),
        *together.tables(run),
        *repeats.tables(run),
        *service_cost.tables(run),
        *join_tables(run),
        *lag_members.tables(run),
    )
