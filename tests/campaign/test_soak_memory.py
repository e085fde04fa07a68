"""A soak keeps next to nothing of its parts, however many it has."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

import pytest
from netdyno.campaign.case import run_case
from netdyno.campaign.events import Event, Measured, TrialEnded
from netdyno.campaign.job import Job
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.testers import TESTERS
from netdyno.values.health import Health
from netdyno.values.outcome import FlowCounts, FrameCounts, Lag, Outcome, StreamResult
from netdyno.values.packed import Packed, shared, with_packed_series

pytest.importorskip("netdyno._engine", reason="the engine is not built")

PLAN = """\
title: A soak
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/bridge}}
  links:
    - {endpoints: ["tester:p1", "dut:1"], rate: 1Gbps}
    - {endpoints: ["tester:p2", "dut:2"], rate: 1Gbps}
traffic:
  512b: {size: 512B, flows: 16}
matrix:
  profile: [512b]
  direction: [uni]
method:
  soak: {load: 10pps, duration: 7h, part: 5min}
"""

STREAM = StreamResult("s", 1, 1, 64, 1, 64, 0, 0, 0, 0, 0, 0, 1, None, (), (), (), None)
OUTCOME = Outcome(FrameCounts((STREAM,), (), 10**9), Health(0, 0, 0, 0, 0, None), ())

MOST_BYTES = 4096
"""Of a part: its trial and a few numbers. With its 300 samples it took 100 kB."""


def test_soak_memory_grows_by_a_few_kilobytes_a_part() -> None:
    plan = parse(PLAN)
    taken: dict[int, int] = {}
    last: list[Event] = []

    def emit(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.trial.number in (10, 80):
            assert len(event.trial.result.streams[0].tx) == 300
            gc.collect()
            taken[event.trial.number] = tracemalloc.get_traced_memory()[0]
        last[:] = [event]

    tracemalloc.start()
    try:
        run_case(Job(plan, cases(plan)[0], TESTERS["netdyno"]), emit, lambda: False)
    finally:
        tracemalloc.stop()
    assert isinstance(last[0], Measured)
    assert last[0].result.trials == tuple(range(84))
    assert (taken[80] - taken[10]) / 70 < MOST_BYTES


def test_packed_series_equal_what_was_packed() -> None:
    samples = tuple(range(40))
    lag = Lag(9, 0, 1, 1, 0, "", 1, 10, by_sample=tuple((number, 0, 3) for number in samples))
    flows = FlowCounts(samples, samples, (0,) * 40, (-1,) * 40)
    (stream,) = OUTCOME.streams[:1]
    whole = OUTCOME.with_counts(
        streams=(
            replace(stream, tx=samples, rx=samples[::-1], arrived=(5, 2**63 - 1), lag=lag, by_flow=flows),
        )
    )
    packed = with_packed_series(whole)
    (found,) = packed.streams
    assert isinstance(found.tx, Packed)
    assert packed == whole
    assert (found.tx[3], found.rx[:2], sum(found.tx), len(found.rx)) == (3, (39, 38), 780, 40)
    assert found.arrived == (5, 2**63 - 1)
    assert found.lag == lag
    assert found.by_flow == flows


def test_shared_parts_of_equal_values_are_the_same_object() -> None:
    (stream,) = OUTCOME.streams[:1]
    before = OUTCOME.with_counts(streams=(replace(stream, tx=(1, 2, 3)),))
    after = OUTCOME.with_counts(streams=(replace(stream, tx=(1, 2, 4)),))
    found = shared(after, before)
    assert found == after
    assert found.streams[0].tx == (1, 2, 4)
    assert found.health is before.health
    assert shared(replace(before), before) is before
    assert shared(after, None) is after
