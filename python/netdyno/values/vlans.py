"""The table of the VLANs of a link: a row for each stream on one of several, over all trials of a case."""

from __future__ import annotations

from netdyno.values.finding import columns

TABLE = "VLANs"
WAY, VLAN = "between", "VLAN"
FREE, FREE_AT, WORST, WORST_AT = "loss-free load", "loss-free at", "highest loss", "lost at"
COLUMNS = columns(f"{WAY} | {VLAN} | {FREE}: fps | {FREE_AT} | {WORST}: share | {WORST_AT} | latency p99: ns")
