"""What a run of `make power` is: a declared fault of the device, or none, and how it is looked for."""

from __future__ import annotations

import random
from dataclasses import dataclass

TESTER_CORE, DEVICE_CORE = 1, 0


FAULTS = (
    *("policer", "queue", "outage", "lose", "wrong-port", "one-way", "dead-flow", "stall", "corrupt"),
    *("duplicate", "table", "memif-slow", "memif-stopped", "memif-policer", "link-flap"),
)
INNOCENT = ("small-queue", "small-bucket", "receiver-hog", "small-ring", "starved-peer", "own-flap")
"""Faults of nobody but the tester, or of the machine."""
TESTERS = ("undisturbed", "half", "starved")
OF_INNOCENT = (*TESTERS, "stopped")
"""One of these is drawn for a device without a fault."""


@dataclass(frozen=True)
class Scenario:
    """A declared fault and how it is looked for.

    right: the limit that names it. on_memif: by memifs. down_ms: how long an end of the first link (flapped)
    is switched off once, while traffic runs; 0: not. cores: the tester's. busy_core: where something else
    runs in turns, besides what a disturbed tester has on its core. ring_log2: of the tester's memifs; None:
    the usual.
    """

    fault: str
    arguments: tuple[int, ...]
    method: str
    direction: str = "uni"
    right: str = "device"
    on_memif: bool = False
    down_ms: int = 0
    flapped: str = "a"
    cores: tuple[int, ...] = (TESTER_CORE,)
    device_core: int = DEVICE_CORE
    busy_core: int | None = None
    ring_log2: int | None = None


SHORT = "200ms"
"""Trials of a device without a fault: its runs are many."""


def _search(most: int, width: int, duration: str = "500ms") -> str:
    return f"{{throughput: {{duration: {duration}, maximum: {most}pps, width: {width}pps}}}}"


def _losses(*loads: int, duration: str = "500ms") -> str:
    each = ", ".join(f"{load}pps" for load in loads)
    return f"{{sweep: {{loads: [{each}], duration: {duration}}}}}"


def scenario(fault: str, seed: int) -> Scenario:
    """What a run of this fault and seed is."""
    draw = random.Random(f"{fault} {seed}")
    load = draw.randrange(10_000, 30_000, 1000)
    every = draw.choice((50, 211, 1000))
    arguments: tuple[int, ...]
    match fault:
        case "policer":
            arguments = (load * draw.randrange(50, 90) // 100, draw.choice((20, 100, 500)))
            return Scenario(fault, arguments, _search(load, load // 50))
        case "queue":
            arguments = (load * draw.randrange(50, 90) // 100, draw.choice((64, 256)))
            return Scenario(fault, arguments, _search(load, load // 50))
        case "outage":
            arguments = (draw.randrange(300, 700), draw.randrange(20, 90))
            return Scenario(fault, arguments, _losses(load // 2, load))
        case "lose" | "corrupt" | "duplicate" | "wrong-port":
            return Scenario(
                fault, (every,), draw.choice((_search(load, load // 20), _losses(load // 2, load)))
            )
        case "one-way":
            return Scenario(fault, (), _losses(load // 2, load), "bidir")
        case "dead-flow":
            return Scenario(fault, (draw.choice((8, 16, 32)),), _losses(load // 2, load))
        case "stall":
            arguments = (draw.randrange(200, 400), draw.randrange(20, 60))
            return Scenario(fault, arguments, _losses(load // 2, load))
        case "table":
            return Scenario(fault, (draw.choice((8, 32)),), _losses(load // 2, load))
        case "memif-slow":
            # One frame in less than 100 us: a slower reader looks like one that stops.
            load = draw.randrange(60_000, 200_000, 10_000)
            arguments = (load * draw.randrange(40, 70) // 100,)
            return Scenario("slow-reader", arguments, _losses(load // 4, load, duration="1s"), on_memif=True)
        case "memif-stopped":
            # Longer than the ring of 4096 frames lasts.
            arguments = (draw.randrange(200, 500), draw.randrange(300, 500))
            return Scenario(
                "stopped-reader",
                arguments,
                _losses(20_000, 100_000, duration="1s"),
                right="inconclusive",
                on_memif=True,
            )
        case "memif-policer":
            arguments = (load * draw.randrange(50, 90) // 100, draw.choice((20, 100, 500)))
            return Scenario("policer", arguments, _search(load, load // 50), on_memif=True)
        case "link-flap":
            # A device that loses nothing; its end of a link goes down once.
            method = f"{{soak: {{load: {load}pps, duration: 3s, part: 0s, apart: 100ms}}}}"
            down_ms = draw.randrange(50, 500)
            return Scenario("none", (), method, "bidir", right="link", down_ms=down_ms)
        case "small-queue" | "small-bucket" | "receiver-hog":
            # A device that loses nothing of the ideal schedule: what it drops the tester's bunches caused.
            room = draw.choice((1, 1, 2, 4, 16, 64, 512))
            served = round(load / draw.choice((0.5, 0.8, 0.95, 0.99, 0.999)))
            kind = {"small-queue": "queue", "small-bucket": "policer"}.get(
                fault, draw.choice(("queue", "policer"))
            )
            search, losses = _search(load, load // 20, SHORT), _losses(load // 2, load, duration=SHORT)
            method = draw.choice((search, _losses(load, duration=SHORT), losses))
            if fault != "receiver-hog":
                return Scenario(kind, (served, room), method, right="tester")
            cores = (TESTER_CORE, DEVICE_CORE)
            return Scenario(kind, (served, room), method, right="tester", cores=cores, busy_core=DEVICE_CORE)
        case "small-ring":
            # A memif device that reads all it can get, and a ring that bunches of the tester fill.
            load = draw.randrange(20_000, 200_000, 10_000)
            method = draw.choice((_search(load, load // 20, SHORT), _losses(load // 4, load, duration=SHORT)))
            ring_log2 = draw.randrange(3, 9)
            return Scenario("forward", (), method, right="tester", on_memif=True, ring_log2=ring_log2)
        case "starved-peer":
            # One that reads all it can get, when it runs: on the tester's core, or beside something else.
            load = draw.randrange(20_000, 200_000, 10_000)
            core = draw.choice((TESTER_CORE, DEVICE_CORE))
            method = draw.choice((_search(load, load // 20, SHORT), _losses(load // 4, load, duration=SHORT)))
            busy = DEVICE_CORE if core == DEVICE_CORE else None
            return Scenario(
                "forward", (), method, right="inconclusive", on_memif=True, device_core=core, busy_core=busy
            )
        case "own-flap":
            # The tester's own end of a link goes down once.
            method = f"{{soak: {{load: {load}pps, duration: 1500ms, part: 500ms, apart: 100ms}}}}"
            return Scenario(
                "none", (), method, "bidir", right="tester", down_ms=draw.randrange(20, 300), flapped="west"
            )
    raise ValueError(fault)
