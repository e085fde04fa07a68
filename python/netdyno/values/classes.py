"""The table of the classes of traffic of a case: a row for each trial and class."""

from __future__ import annotations

from netdyno.values.finding import columns

TABLE = "Classes of traffic"
LOAD, CLASS = "load", "class"
LOSS, HALF, HIGH, LONGEST = "loss", "latency p50", "latency p99", "latency max"
COLUMNS = columns(
    f"trial | {LOAD}: fps | {CLASS} | sent: frames | lost: frames | {LOSS}: share | {HALF}: ns"
    f" | {HIGH}: ns | {LONGEST}: ns"
)
