"""The bounds of a search hold the rate that a device lasts at, whatever its queue holds when a trial ends.

Truth: a server that takes in c frames a second, with a queue, passes a load above c in a trial that ends
before the queue is full (D/D/1/K). For as long as one likes it passes c, and loses a share s of c / (1 - s).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from methodlab import measure_plan, run_here, text
from methodlab import value as value_of
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.values.finding import Value
from netdyno.verdict.reasons import NoMoreOnLine

pytest.importorskip("netdyno._engine", reason="the engine is not built")

DEVICES = 240
SEED = 20_261_125
GOAL = "{loss: %s, exceed: 0%%, duration: %dms, sum: %dms, width: 0.5%%}"
METHODS = ("NDR", "PDR", "throughput", "NDR by halving")
ALLOWED = Fraction(1, 200)
LINE = Fraction(10**8, 672)


@dataclass(frozen=True)
class Drawn:
    """A device and a search. is_box: one server for both directions, else one for each port."""

    method: str
    capacity: int
    queue: int
    is_box: bool
    trial_ms: int
    sample_ms: int

    @property
    def truth(self) -> Fraction:
        """The load that it passes for as long as one likes, frames a second of all streams."""
        return self.capacity / (1 - ALLOWED) if self.method == "PDR" else Fraction(self.capacity)


def draw(devices: int = DEVICES) -> Iterator[Drawn]:
    """Devices between 3 and 95 % of a line of 148,809 frames a second, and how each is searched."""
    chance = random.Random(SEED)
    for number in range(devices):
        is_box = chance.random() < 0.3
        yield Drawn(
            METHODS[number % len(METHODS)],
            chance.randint(5_000, 140_000),
            # Frames of two directions come at once: with room for one a server idles, and loses more.
            chance.choice((7, 64, 500) if is_box else (1, 7, 64, 500)),
            is_box,
            chance.choice((20, 50, 200)),
            chance.choice((1, 3)),
        )


def search(drawn: Drawn) -> Value:
    """What the search finds of the device, all streams together."""
    method, ms = drawn.method, drawn.trial_ms
    if method in ("NDR", "PDR"):
        goal = GOAL % ("0%" if method == "NDR" else "0.5%", ms, ms)
        asked = f"ndr: {{goals: {{{method}: {goal}}}, warmup: 0s}}"
    elif method == "throughput":
        asked = f"throughput: {{duration: {ms}ms, width: 0.5%}}"
    else:
        asked = f"bisection: {{duration: {ms}ms, width: 0.5%, repeats: 0}}"

    def change(device: dict[str, Any]) -> None:
        if drawn.is_box:
            device |= {"box_fps": [drawn.capacity, 1], "box_queue": drawn.queue}
            return
        for port in device["ports"]:
            port |= {"in_fps": [drawn.capacity, 1], "in_queue": drawn.queue}

    plan = text(
        asked,
        kind="emulated/cross-connect",
        rate="100Mbps",
        profile="size: 64B, flows: 1",
        matrix=f"direction: [{'bidir' if drawn.is_box else 'uni'}]",
        trial=f"sample: {drawn.sample_ms}ms, settle: 1ms, drain: 300ms",
    )
    return value_of(measure_plan(plan, change)[0], "NDR" if method == METHODS[3] else method)


@pytest.fixture(scope="module")
def found() -> list[tuple[Drawn, Value]]:
    """All devices with what the searches find."""
    return [(drawn, search(drawn)) for drawn in draw()]


def test_bounds_of_searches_hold_the_rate_that_lasts(found: list[tuple[Drawn, Value]]) -> None:
    above = hidden = 0
    for drawn, value in found:
        assert value.number is not None, drawn
        assert value.low is not None, drawn
        assert value.low <= drawn.truth, (drawn, float(value.low))
        assert value.high is None or drawn.truth <= value.high, (drawn, float(value.high))
        assert value.low <= value.number, drawn
        assert value.load is not None, drawn
        above += value.load > drawn.truth
        hidden += value.as_searched is not None
    # With what was still queued many of these loads are above what lasts.
    assert above > DEVICES // 4
    assert hidden > DEVICES // 8


def test_number_of_a_search_exceeds_what_lasts_by_no_more_than_a_step(
    found: list[tuple[Drawn, Value]],
) -> None:
    """And by the two frames at the ends of a trial, which no trial can tell from a step."""
    for drawn, value in found:
        assert value.number is not None
        assert value.load is not None
        by_width = value.load if drawn.method in ("NDR", "PDR") else LINE
        ends = Fraction(2 * 1000, drawn.trial_ms)
        assert value.number - drawn.truth <= by_width * ALLOWED + ends * 2, (drawn, float(value.number))


def test_bounds_are_no_wider_than_what_was_still_queued(found: list[tuple[Drawn, Value]]) -> None:
    """Below the load is no more than the queue over the time of a trial, and a few frames at its ends."""
    for drawn, value in found:
        assert value.number is not None, drawn
        assert value.low is not None, drawn
        room = Fraction((drawn.queue + 1 + 4) * 1000, drawn.trial_ms)
        assert value.load is not None, drawn
        assert value.load - value.low <= room, (drawn, float(value.load), float(value.low))


def test_search_of_a_device_without_a_queue_has_its_load_as_lower_bound() -> None:
    plain = search(Drawn("NDR", 148_810, 1, False, 50, 1))
    assert plain.low == plain.number


def test_load_that_passes_into_a_queue_is_not_the_lines(tmp_path: Path) -> None:
    """A device of 100 kpps passes a line of 148,810 for 5 ms: 244 frames are still queued."""
    plan = text(
        "throughput: {duration: 5ms, width: 1%}",
        kind="emulated/cross-connect, settings: {capacity: 100kpps}",
        rate="100Mbps",
        profile="size: 64B, flows: 1",
    )
    with open_run(run_here(parse(plan), tmp_path).folder, REASONS) as run:
        (case,) = run.cases
    assert case.result is not None
    value = case.result.value("throughput", "west-east")
    verdict = case.verdict("west-east")
    assert value is not None
    assert verdict is not None
    assert value.low is not None
    assert value.as_searched == LINE
    assert value.number == value.low
    assert 99_000 < value.low <= 100_000
    assert verdict.limit == "none"
    assert isinstance(verdict.reason, NoMoreOnLine), "a full line was offered"
    assert verdict.reason.reached.rate_pps == value.low
