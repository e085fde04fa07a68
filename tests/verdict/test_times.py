"""A time is doubted by how late frames were, not by whether any was late at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from netdyno.methods.delay_variation import IPDV, PDV
from netdyno.methods.latency import LATENCY
from netdyno.methods.y1564 import FDV, FTD
from netdyno.values.finding import Result, Value
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Lag, LatePeriod
from netdyno.values.proven import Proven
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.verdict import Evidence, judge
from tendevices import measure, wall

MS = 1_000_000
ONE = Situation(("a-b",), Fraction(10_000_000), Fraction(64), places=(Place(0, 1),))
PROVEN = Proven(
    "c",
    datetime(2026, 11, 29, tzinfo=UTC),
    Fraction(10_000_000),
    latency_floor_ns=9000,
    latency_noise_ns=9000,
)


def limit(
    of: ValueKind, ms: int, frames: int, late_us: int, lost: int = 0, situation: Situation = ONE
) -> str:
    """Of a time in a second with so many frames, of which 29 left up to so much late."""
    trial = Trial("t", Frames.steady(FrameRate(frames), 10**9))
    outcome = measure(trial, wall(10_000_000), ONE)
    (stream,) = outcome.streams
    late_ns = late_us * 1000
    period = LatePeriod(0, 10**8, late_ns, late_ns, 1, 29)
    lag = Lag(frames, 0, 0, late_ns, 0, "", 29, 10_000, (period,))
    stream = replace(stream, lag=lag, lost=lost, received=stream.received - lost)
    health = replace(outcome.health, latest_departure_ns=late_ns)
    outcome = replace(outcome.with_counts(streams=(stream,)), health=health)
    evidence = Evidence(situation, "real", True, (outcome,), (10**9,), PROVEN, is_constant=True)
    result = Result("m", (Value(of, "a-b", Fraction(ms * MS)),), (0,), headlines=(of.name,))
    return judge(result, evidence)["a-b"].limit


@pytest.mark.parametrize(
    ("of", "ms", "frames", "late_us", "lost", "right"),
    [
        # A link of 20 to 120 ms; 29 of 6,000 frames were more than 10 us late.
        (LATENCY, 20, 6_000, 1_900, 0, "device"),
        (FTD, 120, 6_000, 11_000, 0, "device"),
        (LATENCY, 20, 6_000, 2_100, 0, "inconclusive"),
        (FTD, 120, 6_000, 13_000, 0, "inconclusive"),
        # Of 6,000 frames 6 lie beyond the 99.9th percentile: those may be the late ones. Of 60,000 60 do.
        (PDV, 20, 6_000, 1_900, 0, "inconclusive"),
        (FDV, 20, 60_000, 1_900, 0, "device"),
        # The longest of all may be that of a late frame.
        (IPDV[2], 20, 60_000, 1_900, 0, "inconclusive"),
        (IPDV[1], 20, 60_000, 1_900, 0, "device"),
        # What was lost has no time, and may be what would have waited longest.
        (LATENCY, 20, 6_000, 1_900, 30, "inconclusive"),
    ],
)
def test_time_is_doubted_by_the_greatest_lateness(
    of: ValueKind, ms: int, frames: int, late_us: int, lost: int, right: str
) -> None:
    assert limit(of, ms, frames, late_us, lost) == right


def test_time_beside_classes_is_doubted_by_any_late_frame() -> None:
    """A class of 4 % waits until one of 95 % is made up for: 1.9 ms of lateness are 20 ms of its latency."""
    assert limit(LATENCY, 20, 6_000, 1_900, situation=replace(ONE, classes=("high", "low"))) == "inconclusive"
