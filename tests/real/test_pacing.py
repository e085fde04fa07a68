"""A constant load is held to 0.01 % and one frame, at 10, 50 and 90 % of what ports carry.

Of each trial all that was asked for is sent, or the tester says that it was not, and it takes no longer
than the frames are late by. The 0.01 % themselves need a machine that lets a sender be on time at its end:
one that never did says so.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction

import pytest
from netdyno.calibration.bench import Bench, Shot
from netdyno.calibration.ports import of_backend, of_plan
from netdyno.calibration.traffic_checks import NOBODY_FPS, Answer, most_without_loss
from netdyno.devices import WiredPort, Wiring
from netdyno.methods import find_shortfall, sending_ns
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.ports.backends import RING
from netdyno.ports.threads import Threads
from netdyno.testers.netdyno import TESTER
from netdyno.values.rates import wire_bits

SHORT_NS = 60_000_000
"""Of the trials that look for the most the ports carry."""
TRIAL_NS = 200_000_000
ATTEMPTS = 6
HELD = Fraction(1, 10_000)

PLAN = """
title: Pacing
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 10Gbps}
traffic: {64b: {size: 64B, flows: 16}}
matrix: {profile: [64b], direction: [uni]}
method: {throughput: {}}
"""


@contextmanager
def null() -> Iterator[Wiring]:
    """Ports that lead nowhere: what is sent is counted, and nothing comes back."""
    names = ("west", "east")
    ports = tuple(
        WiredPort(name, 10**10, 10**10, f"02:00:00:00:00:0{number}", None, None, "peer", enforced_rate=False)
        for number, name in enumerate(names, 1)
    )
    session = {"clock": "real", "ports": [{"name": name, "backend": {"kind": "null"}} for name in names]}
    yield Wiring("real", ports, session)


def veth() -> AbstractContextManager[Wiring]:
    sources = of_plan(parse(PLAN, name="pacing"))
    assert not isinstance(sources, str)
    return sources[0].loop


needs_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("ip", path="/usr/sbin:/usr/bin:/sbin:/bin") is None,
    reason="wants root and `ip` (apt-get install iproute2)",
)


def maximum(bench: Bench, *, comes_back: bool) -> Fraction:
    """What the ports carry: of those that lead nowhere, what a flood sends."""
    (case,) = cases(bench.plan)
    search = most_without_loss(NOBODY_FPS, Fraction(1, 10))
    asked = next(search)
    while True:
        shot = bench.shoot(case, asked.fps, SHORT_NS)
        if not comes_back:
            return shot.sent_fps * 9 / 10
        try:
            asked = search.send(Answer(shot.passed, shot.sent_fps))
        except StopIteration as stop:
            most: Fraction | None = stop.value
            return most or shot.sent_fps / 2


def held(shot: Shot) -> bool:
    """Whether the rate was that asked for, by the counts and, where frames come back, by their own stamps."""
    (stream,) = shot.result.streams
    rates = [Fraction(stream.offered * 10**9, max(sending_ns(shot.result), 1))]
    for one in (queue for port in shot.spacing for queue in port):
        gaps = one["departures"]
        if one["frames"] == stream.offered and gaps["last_ps"] > gaps["first_ps"]:
            elapsed_ps = gaps["last_ps"] - gaps["first_ps"]
            rates.append(Fraction((one["frames"] - 1) * 10**12, elapsed_ps))
    one_frame = Fraction(10**9, shot.duration_ns)
    off = max(abs(rate - shot.fps) for rate in rates)
    return stream.offered == stream.intended and off <= HELD * shot.fps + one_frame


def check(shot: Shot) -> None:
    """What no busy machine excuses: all is sent, or the tester says that it fell short; and what is sent
    takes as long as planned, but for as much as the tester says that frames were late, and one frame."""
    (stream,) = shot.result.streams
    short = find_shortfall(shot.result, shot.duration_ns)
    assert stream.offered == stream.intended or short is not None, shot
    if stream.offered == stream.intended:
        off_ns = abs(sending_ns(shot.result) - shot.duration_ns)
        gap_ns = Fraction(10**9) / shot.fps
        assert off_ns <= shot.result.health.latest_departure_ns + gap_ns, shot


@pytest.mark.parametrize(
    ("ports", "comes_back"),
    [
        pytest.param(null, False, id="null"),
        pytest.param(lambda: of_backend(RING, Threads()).loop, True, id="ring"),
        pytest.param(veth, True, id="veth", marks=needs_root),
    ],
)
def test_a_constant_rate_is_held(ports: object, comes_back: bool) -> None:
    plan = parse(PLAN, name="pacing")
    (case,) = cases(plan)
    never: list[str] = []
    assert callable(ports)
    with ports() as wiring, Bench(TESTER, plan, wiring, drain_ns=20_000_000) as bench:
        most = maximum(bench, comes_back=comes_back)
        for percent in (10, 50, 90):
            fps = most * percent / 100
            shots: list[Shot] = []
            while len(shots) < ATTEMPTS and not (shots and held(shots[-1])):
                shots.append(bench.shoot(case, fps, TRIAL_NS))
                (stream,) = shots[-1].result.streams
                # What the load asks for, to the frame: its bits are whole, and no more than asked.
                bits = wire_bits(Fraction(64))
                asked = (fps * bits).__floor__() * TRIAL_NS / bits / 10**9
                assert asked <= stream.intended < asked + 1
                check(shots[-1])
                # A rate that is off though no frame was late is off by the schedule.
                assert held(shots[-1]) or stream.lag is None or stream.lag.late, (percent, shots[-1])
                caught = shots[-1].result.health.catch_up
                assert caught is not None
                # Made up for at twice the rate, and no frame is made up for without a pause.
                assert caught.percent == 200
                assert bool(caught.frames) == bool(caught.pauses)
            if not held(shots[-1]):
                never.append(f"{percent} % of {float(most):.0f} frames/s")
    if never:
        pytest.skip(
            f"whether 0.01 % is held is unknown here: in each of {ATTEMPTS} attempts frames were late"
            f" at {never}"
        )
