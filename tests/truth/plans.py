"""How each method is asked for in the table of truth: on lines of 100 Mbit/s, with trials of 10 ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bench import Plan
from proof import BRIDGE
from proofs import PROOFS

PLANS: Mapping[str, Plan] = {name: one.plan for name, one in PROOFS.items()}
PATTERNS: Mapping[str, Plan] = {
    "throughput, both ways": replace(
        PLANS["throughput"], parameters="duration: 6ms, width: 5%", matrix="direction: [bidir]"
    ),
    "frame-loss, many to one": replace(
        PLANS["frame-loss"],
        parameters="duration: 6ms",
        **{**BRIDGE, "matrix": "pattern: [many-to-one], direction: [uni]"},
    ),
    "max-forwarding-rate, full mesh": replace(
        PLANS["max-forwarding-rate"], **{**BRIDGE, "matrix": "pattern: [full-mesh]"}
    ),
}
"""The same between more ports."""
IMIX = {64: 7, 570: 4, 1518: 1}
"""As FD.io CSIT has it, frames with FCS."""
MIXED = {
    f"{name}, imix": replace(PLANS[name], mix=IMIX)
    for name in ("ramp", "throughput", "ndr", "latency", "frame-loss", "sweep", "soak", "order")
}
"""The same with frames of several sizes."""
SERVICES = replace(
    PLANS["y1564"],
    parameters="step: 10ms, performance: 20ms, services: {voice: {cir: 10%, eir: 10%, cbs: 2000B},"
    " rest: {cir: 30%, eir: 20%, cbs: 1024B}}",
)
"""Of traffic of two classes each is a service."""
