"""The table of the VLANs of a link: a row for each stream on one of several, over all trials of a case."""

from __future__ import annotations

from netdyno.values.finding import Column

TABLE = "VLANs"
WAY, VLAN = "between", "VLAN"
FREE, FREE_AT, WORST, WORST_AT = "loss-free load", "loss-free at", "highest loss", "lost at"
COLUMNS = (
    Column(WAY),
    Column(VLAN),
    Column(FREE, "fps"),
    Column(FREE_AT),
    Column(WORST, "share"),
    Column(WORST_AT),
    Column("latency p99", "ns"),
)
