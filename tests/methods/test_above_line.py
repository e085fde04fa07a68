"""No rate is above the line that carries it, or the reason says why."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from methodlab import measure_plan, run_here, text, value
from netdyno.campaign.reasons import REASONS
from netdyno.methods.reasons.ramps import HoldReceived
from netdyno.methods.reasons.searches import StillQueued
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.verdict.reasons import LineShared
from words import within

pytest.importorskip("netdyno._engine", reason="the engine is not built")

SEED = 20_261_125
RAMPS = 60


def line_fps(bps: int, size: int) -> Fraction:
    """Frames a second of a full line: 20 bytes of preamble and gap besides each."""
    return Fraction(bps, 8 * (size + 20))


def test_hold_rate_is_never_above_the_line() -> None:
    chance = random.Random(SEED)
    capped = 0
    for _ in range(RAMPS):
        size, rate = chance.choice((64, 65, 128, 999, 1518)), chance.choice((10, 100))
        delay_ns, burst = chance.choice((0, 5_000, 300_000)), chance.choice((1, 1, 8))
        ramp_ms, hold_ms = chance.choice((20, 60)), chance.choice((5, 20, 37))

        def change(device: dict[str, Any], delay_ns: int = delay_ns) -> None:
            device["delay_ns"] = delay_ns

        plan = text(
            f"ramp: {{warmup: null, ramp: {ramp_ms}ms to 100%, hold: {hold_ms}ms}}",
            kind="emulated/cross-connect",
            rate=f"{rate}Mbps",
            profile=f"size: {size}B, flows: 1" + (f", burst: {burst}" if burst > 1 else ""),
            matrix="direction: [bidir]",
        )
        result, _, _ = measure_plan(plan, change)
        line = line_fps(rate * 10**6, size)
        for scope, most in (("west-east", line), ("east-west", line), ("sum", 2 * line)):
            found = value(result, "hold rate", scope)
            assert found.number is not None
            assert found.number <= most, (size, rate, delay_ns, burst, scope)
            assert isinstance(found.note, HoldReceived)
            capped += found.note.above == "edge"
    assert capped, "no hold received more than a line carries"


METHODS = {
    "throughput": "throughput: {duration: 100ms, width: 0.1%}",
    "bisection": "bisection: {duration: 100ms, width: 0.1%}",
    "ndr": "ndr: {goals: {NDR: {loss: 0%, exceed: 0%, duration: 100ms, sum: 100ms, width: 0.5%}}}",
}


@pytest.mark.parametrize("method", METHODS)
def test_search_above_a_shared_line_is_explained_by_its_queue(method: str, tmp_path: Path) -> None:
    """Two ports meet at a line of 148,810 frames a second, and 1,024 wait when 100 ms are over: 106.9 %."""
    plan = text(
        METHODS[method],
        kind="emulated/bridge",
        links=3,
        rate="100Mbps",
        profile="size: 64B, flows: 10",
        matrix="pattern: [many-to-one]",
    )
    with open_run(run_here(parse(plan), tmp_path).folder, REASONS) as run:
        (case,) = run.cases
    assert case.result is not None
    (name,) = case.result.headlines
    found = case.result.value(name, "sum")
    line = line_fps(10**8, 64)
    assert found is not None
    assert found.number is not None
    assert found.low is not None
    assert found.high is not None
    assert found.number == found.low <= line < found.load <= line + Fraction(1030 * 10)
    assert Fraction(99, 100) * line < found.low <= line < found.high
    assert within(StillQueued, case.result.notes)
    verdict = case.verdict("east-west", name) or case.verdict("east-west")
    assert verdict is not None
    assert verdict.limit == "line"
    assert isinstance(verdict.reason, LineShared)
    assert verdict.reason.share == found.low / line <= 1
    assert verdict.reason.is_queued


@pytest.mark.parametrize(("capacity", "limit"), [("line", "line"), ("100kpps", "device")])
def test_ramp_onto_a_shared_line_is_limited_by_it(capacity: str, limit: str, tmp_path: Path) -> None:
    """Two ports of 452,899 frames a second meet at one: half of each fits. Of a router that takes in 100,000
    at a port, the line is no limit."""
    plan = text(
        "ramp: {warmup: 50ms at 1kpps, ramp: 1s to 100%, hold: 200ms}",
        kind="emulated/router",
        links=3,
        rate="1Gbps",
        profile="size: 256B, flows: 16",
        matrix=f"pattern: [many-to-one], capacity: [{capacity}], direction: [uni]",
    )
    with open_run(run_here(parse(plan), tmp_path).folder, REASONS) as run:
        (case,) = run.cases
    verdict = case.verdict("sum", "ramp max Rx") or case.verdict("sum")
    assert verdict is not None
    assert verdict.limit == limit
