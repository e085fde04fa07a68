"""A device of known delay, served in real time: what is measured is the delay and the floor of the path."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from netdyno.calibration import clocks, faults
from netdyno.calibration.faults import FAULTS
from netdyno.stats.histogram import decode

DELAYS_NS = (0, 20_000, 22_000, 1_000_000)
"""None is the floor of the path; two are so near each other that what cannot tell them apart fails."""
ROUNDS, MOST_ROUNDS = 3, 8
WITHIN_NS = 1_000
QUIET_NS = 5_000
"""From the fastest frame to the 75th percentile. Where more than a quarter of the frames waited longer, the
machine took the device's core away for so much of the time that the median is of its pauses."""
RATE_FPS = 20_000
FRAMES = 4_000


@dataclass(frozen=True)
class Timed:
    """Latencies of one trial, ns."""

    least: int
    median: int
    third_quartile: int

    @property
    def is_quiet(self) -> bool:
        return self.third_quartile - self.least <= QUIET_NS


def timed(delay_ns: int) -> Timed:
    """A cross connect on a ring, in real time, that holds each frame for so long."""
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
    median, high = (histogram.percentile(Fraction(part, 4)) for part in (2, 3))
    assert median is not None
    return Timed(latency["min_ns"], median, latency["max_ns"] if high is None else high)


Round = Mapping[int, Timed]


@pytest.fixture(scope="module")
def rounds() -> list[Round]:
    """Every delay in turns, for the machine is another one a second later: until enough were quiet."""
    found: list[Round] = []
    while len(found) < MOST_ROUNDS and len(quiet(found)) < ROUNDS:
        found.append({delay_ns: timed(delay_ns) for delay_ns in DELAYS_NS})
    return found


def quiet(rounds: list[Round]) -> list[Round]:
    return [one for one in rounds if all(latency.is_quiet for latency in one.values())]


def test_between_the_fastest_frames_lies_the_delay(rounds: list[Round]) -> None:
    """They met nobody, however busy the machine."""
    for delay_ns in DELAYS_NS:
        assert all(one[delay_ns].least >= delay_ns for one in rounds), "no frame is early"
    least = {delay_ns: min(one[delay_ns].least for one in rounds) for delay_ns in DELAYS_NS}
    for delay_ns in DELAYS_NS:
        assert abs(least[delay_ns] - delay_ns - least[0]) <= WITHIN_NS, least


def test_between_the_medians_lies_the_delay(rounds: list[Round]) -> None:
    judged = quiet(rounds)
    if not judged:
        quartiles = [[one[delay].third_quartile for delay in DELAYS_NS] for one in rounds]
        pytest.skip(f"other work on this machine delayed a quarter of the frames in each round: {quartiles}")
    error = {
        # 3 digits of the histogram: one part in a thousand of what was measured, at both ends.
        delay_ns: (
            statistics.median(one[delay_ns].median - delay_ns - one[0].median for one in judged),
            WITHIN_NS + delay_ns // 500,
        )
        for delay_ns in DELAYS_NS
    }
    print({delay_ns: found for delay_ns, (found, _) in error.items()}, f"ns off, {len(judged)} rounds")
    assert all(abs(found) <= within for found, within in error.values()), error
    apart = statistics.median(one[22_000].median - one[20_000].median for one in judged)
    assert 2_000 - WITHIN_NS <= apart <= 2_000 + WITHIN_NS, "2 us more are distinguished from none"
