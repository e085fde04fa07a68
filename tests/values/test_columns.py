"""Columns of a table, written as its heading."""

from __future__ import annotations

from netdyno.values.finding import Column, columns
from netdyno.values.kind import ValueKind


def test_heading_with_units_and_marks_gives_columns() -> None:
    found = columns("port | load: fps *", "burst, least: frames")
    assert found == (
        Column("port"),
        Column("load", "fps", at_throughput=True),
        Column("burst, least", "frames"),
    )


def test_heading_of_columns_and_kinds_keeps_their_names_and_units() -> None:
    load = Column("load", "share", at_throughput=True)
    assert columns(load, ValueKind("knee", "fps", "the knee")) == (load, Column("knee", "fps"))
