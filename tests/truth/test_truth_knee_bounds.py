"""The bounds of a knee hold the capacity of a device, from 30 frames a sample on and with any queue.

Truth: a server that takes in c frames a second (D/D/1/K). Above c it loses frames for as long as one likes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from methodlab import measure_plan, text, value
from netdyno.values.finding import Value

pytest.importorskip("netdyno._engine", reason="the engine is not built")

SEED = 20_261_125
DEVICES = 32


@dataclass(frozen=True)
class Drawn:
    """A device, and a ramp to 148,809 frames a second with so many frames a sample at its capacity."""

    capacity: int
    queue: int
    frames: int
    samples: int
    second: bool


def draw(frames: int) -> Iterator[Drawn]:
    """Devices of 13 to 94 % of the line."""
    chance = random.Random(SEED + frames)
    for number in range(DEVICES):
        yield Drawn(
            chance.randint(20_000, 140_000),
            chance.choice((0, 1, 8, 64)),
            frames,
            chance.choice((30, 60, 120)),
            number % 4 == 0,
        )


def ramp(drawn: Drawn) -> Value:
    """The knee."""
    sample_us = max(round(drawn.frames * 10**6 / drawn.capacity), 1)
    length_us = sample_us * drawn.samples

    def change(device: dict[str, Any]) -> None:
        for port in device["ports"]:
            port |= {"in_fps": [drawn.capacity, 1], "in_queue": drawn.queue}

    plan = text(
        f"ramp: {{warmup: null, ramp: {length_us}us to 100%, hold: null"
        + (f", refine: {length_us}us}}" if drawn.second else "}"),
        kind="emulated/cross-connect",
        rate="100Mbps",
        profile="size: 64B, flows: 1",
        trial=f"sample: {sample_us}us, settle: 1ms, drain: 300ms",
    )
    return value(measure_plan(plan, change)[0], "knee", "west-east")


@pytest.mark.parametrize("frames", [30, 100, 300, 1000])
def test_knee_bounds_hold_the_capacity(frames: int) -> None:
    known = 0
    for drawn in draw(frames):
        knee = ramp(drawn)
        assert knee.low is None or knee.low <= drawn.capacity, (drawn, float(knee.low))
        assert knee.high is None or drawn.capacity <= knee.high, (drawn, float(knee.high))
        known += knee.low is not None and knee.high is not None
    assert known >= DEVICES // 2


@pytest.mark.parametrize("queue", [64, 500])
def test_knee_that_a_queue_hid_has_a_bound_from_below(queue: int) -> None:
    """A queue that is not yet full when the ramp ends: nothing was lost, and the device did not do it all."""
    knee = ramp(Drawn(140_000, queue, 100, 30, False))
    assert knee.number is None
    assert knee.low is not None
    # The best window of 1,000 frames begins at 70 % of the line.
    assert Fraction(80, 100) * 140_000 < knee.low <= 140_000


def test_device_as_fast_as_its_line_has_no_knee_below_its_end() -> None:
    knee = ramp(Drawn(150_000, 64, 100, 60, False))
    assert knee.number is None
    assert knee.low is not None
    # The mean load of the last of 60 samples.
    assert knee.low == Fraction(10**8, 672) * Fraction(119, 120)
