"""How each method is asked for in the table of truth: on lines of 100 Mbit/s, with trials of 10 ms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench import Plan, Ways
from netdyno.values.situation import Situation
from servers import Packet, Server

STATIONS = 37
"""What the bridge of the table has room for, of 50 that are tried."""
LEARNED = 25_000
"""Addresses a second that it learns: one in 40 us."""
RESET_NS = 3_001_000
"""How long a device is away that is reset."""


def stations(known: Situation, change: Mapping[str, Any]) -> Ways:
    """A learning bridge (IEEE 802.1Q 8.7): what is for a station it does not know goes to all other ports.

    Frame k of the first stream is of station k, and frame k of the second to it. It has been asked to forget.
    """
    del known
    settings = change["forwarding"]
    room, learner = settings.get("table_limit", 1_000_000), None
    if settings.get("learn_fps"):
        learner = Server(settings["learn_fps"][0], 0)
    table: set[int] = set()

    def ways(packet: Packet, port: int) -> Sequence[int]:
        others = [other for other in range(3) if other != port]
        if packet.stream == 0:
            if len(table) < room and (learner is None or learner.served(packet.at) is not None):
                table.add(packet.number)
            return others
        return [0] if packet.number in table else others

    return ways


def to_all_others(known: Situation, change: Mapping[str, Any]) -> Ways:
    """Broadcasts."""
    del change
    ports = range(1 + max(place.rx for place in known.places))
    return lambda packet, port: [other for other in ports if other != port]


GOAL = "exceed: 0%, duration: 10ms, sum: 10ms, initial: 10ms, width: 5%"
SEARCH = "throughput: {duration: 5ms, width: 5%}"
BACK = "repeats: 2, longest: 5ms, quiet: 300ms"
AWAY = {"reset_ns": RESET_NS}
# A bridge is taught before the load comes; what is held of that is let go within 100 ms.
BRIDGE: dict[str, Any] = {"links": 3, "settle": "110ms", "matrix": ""}
TRY = "test: 10kpps, pause: 10ms, forget: true"

PLANS: Mapping[str, Plan] = {
    plan.method: plan
    for plan in (
        Plan("ramp", "warmup: null, ramp: 40ms to 100%, hold: 10ms"),
        Plan("throughput", "duration: 10ms, width: 5%"),
        Plan(
            "ndr",
            f"goals: {{NDR: {{loss: 0%, {GOAL}}}, PDR: {{loss: 3%, {GOAL}}}}},"
            " minimum: 5%, warmup: 0s, trials: 60",
        ),
        Plan("bisection", "duration: 10ms, width: 5%, repeats: 0"),
        Plan("latency", "throughput: 75%, repeats: 2, duration: 10ms, after: 3ms"),
        Plan("frame-loss", "duration: 10ms"),
        Plan("back-to-back", f"throughput: 60%, {BACK}"),
        Plan("recovery", "throughput: 68%, repeats: 2, overload: 10ms, watch: 10ms"),
        Plan("reset", "throughput: 70%, before: 10ms, watch: 10ms, repeats: 2", change=AWAY),
        Plan(
            "rfc2544",
            f"{SEARCH}, latency: {{repeats: 2, duration: 10ms, after: 3ms}}, frame-loss: {{duration: 5ms}},"
            f" back-to-back: {{{BACK}}}, recovery: {{repeats: 1, overload: 10ms, watch: 10ms}},"
            " reset: {before: 10ms, watch: 10ms, repeats: 1}",
            change=AWAY,
        ),
        Plan("sweep", "loads: [10%, 50%, 70%, 100%], duration: 10ms"),
        Plan("max-forwarding-rate", "throughput: 20%, duration: 10ms, step: 20%"),
        Plan("congestion", "duration: 10ms", **{**BRIDGE, "links": 4}),
        Plan(
            "address-caching",
            f"maximum: 50, learning: 10kpps, {TRY}",
            change={"forwarding": {"table_limit": STATIONS}},
            ways=stations,
            **BRIDGE,
        ),
        Plan(
            "address-learning-rate",
            f"addresses: 50, maximum: 100kpps, width: 10kpps, {TRY}",
            change={"forwarding": {"learn_fps": [LEARNED, 1]}},
            ways=stations,
            **BRIDGE,
        ),
        Plan("errored-frames", "duration: 10ms", size=1519),
        # Frames of the loads that are tried are whole nanoseconds apart, in which a trial's end is given.
        Plan("broadcast", "duration: 10ms, width: 10%", ways=to_all_others, **BRIDGE),
        Plan("soak", "load: 75%, duration: 40ms, part: 10ms, apart: 1ms"),
        Plan("order", "load: 75%, duration: 10ms, repeats: 2"),
        Plan("delay-variation", "throughput: 70%, duration: 110ms, repeats: 1"),
        Plan(
            "microburst",
            "repeats: 2, quiet: 300ms, longest: 3ms",
            **{**BRIDGE, "matrix": "pattern: [many-to-one], direction: [uni]"},
        ),
        Plan("y1564", "step: 10ms, performance: 20ms, services: {all: {cir: 45%, eir: 22%, cbs: 3000B}}"),
    )
}
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
UNMARKED = {"address-caching", "address-learning-rate", "broadcast", "microburst"}
"""Methods whose traffic is of no classes."""
SERVICES = replace(
    PLANS["y1564"],
    parameters="step: 10ms, performance: 20ms, services: {voice: {cir: 10%, eir: 10%, cbs: 2000B},"
    " rest: {cir: 30%, eir: 20%, cbs: 1024B}}",
)
"""Of traffic of two classes each is a service."""
