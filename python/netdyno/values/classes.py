"""The table of the classes of traffic of a case: a row for each trial and class."""

from __future__ import annotations

from netdyno.values.finding import Column

TABLE = "Classes of traffic"
LOAD, CLASS = "load", "class"
LOSS, HALF, HIGH, LONGEST = "loss", "latency p50", "latency p99", "latency max"
COLUMNS = (
    Column("trial"),
    Column(LOAD, "fps"),
    Column(CLASS),
    Column("sent", "frames"),
    Column("lost", "frames"),
    Column(LOSS, "share"),
    Column(HALF, "ns"),
    Column(HIGH, "ns"),
    Column(LONGEST, "ns"),
)
