"""A device of known delay, served in real time: what is measured is the delay and the floor of the path."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib import import_module
from typing import Any

from netdyno.calibration import clocks, faults
from netdyno.calibration.faults import FAULTS
from netdyno.histogram import decode

DELAYS_NS = (20_000, 50_000, 1_000_000)
ROUNDS, MOST_ROUNDS = 2, 10
WITHIN_NS = 1_000
QUIET_NS = 20_000
"""From the fastest frame to the 99th percentile: more is the machine's doing, and moves a median too."""
RATE_FPS = 20_000
FRAMES = 4_000


def timed(delay_ns: int) -> tuple[int, int, int]:
    """Least, median, and how far the 99th percentile is above it: a cross connect on a ring, real time."""
    session = faults.session_spec(clocks.cores_of({}), FAULTS[0])
    (device,) = session["devices"]
    del device["impairments"]
    device["delay_ns"] = delay_ns
    spec = faults.trial_spec(100_000_000)
    (segment,) = spec["streams"][0]["schedule"]
    bits = (64 + 20) * 8 * RATE_FPS
    segment.update(duration_ns=FRAMES * 10**9 // RATE_FPS, from_bps=bits, to_bps=bits)
    door: Any = import_module("netdyno._engine")
    opened = door.Session(json.dumps(session))
    opened.start(json.dumps(spec))
    latency = json.loads(opened.result())["trial"]["streams"][0]["latency"]
    opened.close()
    histogram = decode(latency["histogram"])
    median = histogram.percentile(Fraction(1, 2))
    high = histogram.percentile(Fraction(99, 100)) or latency["max_ns"]
    assert median is not None
    return latency["min_ns"], median, high - median


def test_the_delay_is_what_lies_between_a_device_with_it_and_one_without() -> None:
    for delay_ns in DELAYS_NS:
        quiet, floors, delays = [], [], []
        for _ in range(MOST_ROUNDS):
            # In turns: the machine is another one a second later.
            floor, delayed = timed(0), timed(delay_ns)
            assert delayed[0] >= delay_ns, "no frame is early, whatever the machine does"
            floors.append(floor[0])
            delays.append(delayed[0])
            if all(median + noise - least <= QUIET_NS for least, median, noise in (floor, delayed)):
                quiet.append((floor[2] + delayed[2], delayed[1] - delay_ns - floor[1]))
            apart = min(delays) - delay_ns - min(floors)
            if abs(apart) <= WITHIN_NS and len(floors) >= ROUNDS:
                break
        # The fastest frames met nobody: between them lies the delay, however busy the machine.
        assert abs(apart) <= WITHIN_NS, (delay_ns, floors, delays)
        if not quiet:
            print(f"{delay_ns} ns: no round was quiet enough to judge medians by")
            continue
        noise, error = min(quiet)
        # 3 digits of the histogram: one part in a thousand of what was measured.
        assert abs(error) <= WITHIN_NS + noise + delay_ns // 500, (delay_ns, quiet)
