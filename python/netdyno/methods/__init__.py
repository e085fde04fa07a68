"""The methods: which trials to ask for, and what they show. One file each, and this table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netdyno.methods.address_caching import CACHING
from netdyno.methods.back_to_back import BACK_TO_BACK
from netdyno.methods.bisection import BISECTION
from netdyno.methods.broadcast import BROADCAST
from netdyno.methods.congestion import CONGESTION
from netdyno.methods.delay_variation import DELAY_VARIATION
from netdyno.methods.errored import ERRORED
from netdyno.methods.forwarding import FORWARDING
from netdyno.methods.latency import LATENCY
from netdyno.methods.learning_rate import LEARNING
from netdyno.methods.loss import LOSS
from netdyno.methods.microburst import MICROBURST
from netdyno.methods.ndr import NDR
from netdyno.methods.order import ORDER_METHOD
from netdyno.methods.parts.procedure import (
    Parameters,
    Procedure,
    frames_per_second,
    kept_away,
    milliseconds,
    rounded,
    scaled,
    sending_ns,
    shortfalls,
    spoiled,
    starved,
)
from netdyno.methods.ramp import RAMP
from netdyno.methods.recovery import RECOVERY
from netdyno.methods.reset import RESET
from netdyno.methods.rfc2544 import SUITE
from netdyno.methods.soak import SOAK
from netdyno.methods.sweep import SWEEP
from netdyno.methods.throughput import THROUGHPUT
from netdyno.methods.y1564 import Y1564

METHODS: Mapping[str, Procedure[Any]] = {
    method.name: method
    for method in (
        RAMP,
        THROUGHPUT,
        NDR,
        BISECTION,
        LATENCY,
        LOSS,
        BACK_TO_BACK,
        RECOVERY,
        RESET,
        SUITE,
        SWEEP,
        FORWARDING,
        CONGESTION,
        CACHING,
        LEARNING,
        ERRORED,
        BROADCAST,
        SOAK,
        ORDER_METHOD,
        DELAY_VARIATION,
        MICROBURST,
        Y1564,
    )
}
"""Every method, in the order help lists them."""

__all__ = [
    "METHODS",
    "Parameters",
    "Procedure",
    "frames_per_second",
    "kept_away",
    "milliseconds",
    "rounded",
    "scaled",
    "sending_ns",
    "shortfalls",
    "spoiled",
    "starved",
]
