"""Members of a LAG in the engine: what arrives at any of them has arrived."""

from __future__ import annotations

import json
from typing import Any

import pytest
from netdyno.plan import parse
from netdyno.plan.matrix import cases, wire
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate

engine = pytest.importorskip("netdyno._engine", reason="the engine is not built")

PLAN = """\
title: Two members
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/bridge}}
  links:
    - {endpoints: ["tester:a", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:b", "dut:d1"], rate: 1Gbps}
    - {endpoints: ["tester:c", "dut:d2"], rate: 1Gbps}
traffic: {one: {size: 128B, flows: 100}}
matrix: {pattern: [one-to-many], direction: [uni]}
method: {sweep: {loads: [10%], duration: 10ms}}
trial: {settle: 1ms, drain: 1ms}
"""


def run(change: dict[str, Any], *, gaps: int = 0) -> Outcome:
    """Streams to `b` and to `c`, the second of which is intended for `b` as well. change: of both ports."""
    plan = parse(PLAN)
    (case,) = cases(plan)
    wiring = wire(plan, case)
    spec = trial_spec(plan, case, wiring, Trial("it", Frames.steady(FrameRate(100_000), 10**7)))
    session = engine.Session(json.dumps(session_spec(wiring, case)))
    # The bridge learns where the ports are in a trial of the usual kind.
    session.start(json.dumps(spec))
    assert session.wait(30)
    session.result()
    _, second = spec["streams"]
    second["headers"][0]["dst"], second["destination"] = spec["ports"][2]["mac"], "written"
    second["rx_port"] = 1
    spec["observe"]["gaps"], spec["learn"] = gaps, False
    for port in spec["ports"][1:]:
        port.update(change)
    session.start(json.dumps(spec))
    assert session.wait(30)
    return read_result(session.result())


@pytest.mark.parametrize("gaps", [0, 10])
def test_frames_at_any_member_have_arrived(gaps: int) -> None:
    outcome = run({"lag": 1}, gaps=gaps)
    assert not outcome.invalid
    for one in outcome.streams:
        assert (one.offered, one.received) == (500, 500)
        assert (one.elsewhere, one.duplicates, one.lost) == (0, 0, 0)
        assert one.latency is not None
        assert one.latency.count == 500
    # Each port counts its own.
    assert [port.rx_frames - port.foreign for port in outcome.ports] == [0, 500, 500]


def test_frames_at_a_port_of_no_lag_are_elsewhere() -> None:
    outcome = run({})
    first, second = outcome.streams
    assert (first.received, second.received, second.elsewhere) == (500, 0, 500)


def test_lag_without_its_first_member_is_refused() -> None:
    with pytest.raises(engine.EngineError, match="lag"):
        run({"lag": 2})
