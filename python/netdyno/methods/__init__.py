"""The methods: each yields trials and returns a result. One file and one line in MODULES each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netdyno.methods.parts.procedure import HARDLY_LESS as HARDLY_LESS
from netdyno.methods.parts.procedure import Procedure
from netdyno.methods.parts.procedure import find_behind as find_behind
from netdyno.methods.parts.procedure import find_long_pause as find_long_pause
from netdyno.methods.parts.procedure import find_shortfall as find_shortfall
from netdyno.methods.parts.procedure import find_spoiling_pause as find_spoiling_pause
from netdyno.methods.parts.procedure import find_worst as find_worst
from netdyno.methods.parts.procedure import sending_ns as sending_ns
from netdyno.methods.parts.procedure import shortfalls as shortfalls
from netdyno.values.table import load_table

MODULES = (
    "ramp",
    "throughput",
    "ndr",
    "bisection",
    "latency",
    "loss",
    "back_to_back",
    "recovery",
    "reset",
    "rfc2544",
    "sweep",
    "forwarding",
    "congestion",
    "address_caching",
    "learning_rate",
    "errored",
    "broadcast",
    "soak",
    "order",
    "delay_variation",
    "microburst",
    "y1564",
    "tcp",
    "rfc6349",
    "service_cost",
    "acceptance",
)
"""Each has its procedure as `METHOD`. In the order help lists them."""

METHODS: Mapping[str, Procedure[Any]] = {
    method.name: method for method in load_table(__name__, "METHOD", Procedure, MODULES)
}
"""Every method, by the name a plan uses."""
