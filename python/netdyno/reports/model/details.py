"""Every table that stands below the results: of goals, port groups, repeats, methods, LAGs and bundles."""

from __future__ import annotations

from netdyno.reports.model import (
    bundle_shares,
    families,
    goals,
    lag_members,
    repeats,
    together,
    unfinished,
)
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
        *families.tables_of(run),
        *join_tables(run),
        *lag_members.tables(run),
        *bundle_shares.tables(run),
    )
