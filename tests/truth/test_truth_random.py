"""Devices that are several things at once, drawn from a seed, and a method drawn for each: what the table of
truth (table.py) has one by one also holds together."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from bench import agree, run
from devices import US
from model import Bucket, Model
from plans import PLANS
from proofs import PROOFS

pytest.importorskip("netdyno._engine", reason="the engine is not built")

SEEDS = (*range(40), 1988)
"""The last one has frames that only broken ones overtook, which are in order (RFC 4737 section 3.3)."""
METHODS = [name for name, plan in PLANS.items() if plan.links == 2 and name not in ("reset", "rfc2544")]
"""Between two ports. Of a device that is reset the reference does not say what becomes of what it serves."""
RATES = (12_800_000, 25_600_000, 40_000_000, 51_200_000, 64_000_000, 80_000_000)
"""Of buckets, bits a second: those that divide the picoseconds a frame's bits take."""


def drawn(seed: int) -> tuple[str, Model]:
    """A method, and a device with about a third of what there is."""
    draw = random.Random(seed)

    def bucket(least: int) -> Bucket:
        return Bucket(draw.choice(RATES), draw.choice((least, 1_600, 3_072, 10_000)))

    def maybe(share: float) -> bool:
        return draw.random() < share

    def every(first: int) -> tuple[int, int]:
        return first, draw.choice((7, 97, 211))

    method = draw.choice(METHODS)
    model = Model(
        delay_ns=draw.choice((0, 1, 777, 50_000)),
        delay_per_byte_ps=draw.choice((0, 1_000, 1_237)),
        in_queue=draw.choice((1, 3, 32, 500)),
        queue=draw.choice((1, 2, 24, 300)),
    )
    if maybe(0.3):
        model = replace(model, port_fps=draw.choice((50_000, 100_000, 125_000)))
        if maybe(0.3):
            model = replace(model, weary=(draw.choice((100, 2_000)) * US, draw.choice((1, 10))))
    if maybe(0.2):
        model = replace(model, box_fps=draw.choice((50_000, 100_000, 200_000)))
    if maybe(0.4):
        # A shaper's bucket holds the longest frame there may be.
        model = replace(model, shape=bucket(1_600))
    if maybe(0.3):
        model = replace(model, police=bucket(1_519), excess=bucket(1_519) if maybe(0.5) else None)
    if maybe(0.3):
        first, period = draw.choice((0, 1_300)) * US, draw.choice((2_000, 3_700, 11_003)) * US
        model = replace(model, stall=(first, period, draw.choice((50, 401, 1_500)) * US))
    if maybe(0.2):
        model = replace(model, lose=every(59))
    if maybe(0.2):
        model = replace(model, corrupt=every(61))
    if maybe(0.2):
        model = replace(model, reorder=(*every(67), draw.choice((1, 3, 8))))
    return method, model


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_random_device_does_is_found(seed: int) -> None:
    method, model = drawn(seed)
    bench = run(PLANS[method], model, classes=False)
    agree(bench)
    PROOFS[method].finding(bench)
