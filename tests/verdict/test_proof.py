"""A device is blamed only by a tester that was calibrated for more."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from kinds import kind
from netdyno.calibration import Proven
from netdyno.methods import METHODS, find_shortfall
from netdyno.methods.reasons.searches import UnknownAtAll
from netdyno.methods.reasons.tester import SentLonger, Unsent
from netdyno.methods.throughput import ThroughputParameters
from netdyno.values.finding import Result, Value
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Phase
from netdyno.values.proven import OwnLatency
from netdyno.values.reason import Reason
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.verdict import Evidence, judge
from netdyno.verdict.proof import doubt_measured
from netdyno.verdict.proof_reasons import NearProof
from netdyno.verdict.reasons import OtherLoad
from tendevices import measure, passes_everything, wall
from test_verdict import LINE, UNI
from words import said

FIVE = 5_000_000


def proven(most: int | None, expired: str | None = None) -> Proven:
    exact = None if most is None else Fraction(most)
    return Proven("c1", datetime(2026, 11, 21, tzinfo=UTC), exact, expired=expired)


def judged(
    number: int, given: Proven | None, *, clock: str = "real", capacity: int = FIVE, high: int | None = None
) -> tuple[str, Any]:
    """The verdict on a rate found at a device of such a capacity, offered a full line for a second."""
    found = measure(Trial("t", Frames.steady(FrameRate(LINE), 10**9)), wall(capacity), UNI)
    upper = None if high is None else Fraction(high)
    value = Value(kind("a rate"), "west-east", Fraction(number), high=upper, searched=high is not None)
    evidence = Evidence(UNI, clock, True, (found,), (10**9,), given)  # type: ignore[arg-type]
    verdict = judge(Result("m", (value,), (0,)), evidence, "a rate")["west-east"]
    return verdict.limit, verdict.reason


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (5_500_000, "device"),  # 110 % of the result
        (5_499_999, "inconclusive"),
        (5_263_158, "inconclusive"),  # 95 % of this is less than the result
        (5_263_157, "tester"),
        (FIVE, "tester"),
        (4_000_000, "tester"),  # more than was proven is a lower bound all the more
        (9_900_000, "device"),
    ],
)
def test_device_is_the_limit_only_where_calibration_is_110_percent(most: int, expected: str) -> None:
    limit, reason = judged(FIVE, proven(most))
    assert limit == expected, reason
    if limit == "tester":
        assert reason == NearProof(Fraction(FIVE), Fraction(most))


def test_tester_calibrated_for_the_line_names_a_device_close_to_it() -> None:
    """No tester can be calibrated for 110 % of 95 % of a line."""
    assert judged(9_600_000, proven(9_900_000), capacity=9_600_000)[0] == "device"
    assert judged(9_600_000, proven(9_899_999), capacity=9_600_000)[0] == "tester"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (None, "not-calibrated"),
        (proven(9_900_000, expired="the kernel is now 6.1.0, it was 5.10.0"), "calibration-expired"),
        (proven(None), "calibration-empty"),
    ],
)
def test_result_without_valid_calibration_names_no_limit(given: Proven | None, code: str) -> None:
    limit, reason = judged(FIVE, given)
    assert (limit, reason.code, reason.cause.code) == ("inconclusive", "loss-unproven", code)
    assert judged(FIVE, given, clock="virtual")[0] == "device"


def test_search_counts_only_if_its_failed_load_is_calibrated_too() -> None:
    """From 5 to below 9 Mpps: the loss was at 9, and that the tester can do 6 says nothing of it."""
    assert judged(FIVE, proven(6_000_000), high=9_000_000)[0] == "inconclusive"
    assert judged(FIVE, proven(9_000_000), high=9_000_000)[0] == "device"


def test_nothing_lost_near_the_proof_is_the_testers_lower_bound() -> None:
    offered = measure(Trial("t", Frames.steady(FrameRate(LINE / 2), 10**9)), passes_everything(), UNI)
    value = Value(kind("ramp max Rx"), "west-east", LINE / 2)
    for most, expected in ((5_200_000, "tester"), (6_000_000, "none")):
        evidence = Evidence(UNI, "real", True, (offered,), (10**9,), proven(most))
        assert (
            judge(Result("m", (value,), (0,), headlines=(value.name,)), evidence)["west-east"].limit
            == expected
        )


@pytest.mark.parametrize(
    ("most", "expected"), [(5_500_000, "device"), (5_499_999, "inconclusive"), (4_000_000, "inconclusive")]
)
def test_stricter_calibration_bounds_no_tester(most: int, expected: str) -> None:
    """The joined ports carried more than the case does: the tester may be far from its limit."""
    limit, reason = judged(FIVE, replace(proven(most), is_stricter=True))
    assert limit == expected
    assert expected == "device" or reason.code == "proof-too-low"


def test_load_of_a_stream_counts_by_its_share_of_its_port() -> None:
    """Six streams of three ports, half of a port each: 600 kpps of one are a load of 1.2 Mpps."""
    names = tuple(f"{tx}-{rx}" for tx in range(3) for rx in range(3) if tx != rx)
    half = Fraction(1, 2)
    places = tuple(Place(tx, rx, half) for tx in range(3) for rx in range(3) if tx != rx)
    mesh = Situation(names, LINE, Fraction(64), places=places)
    load = Fraction(600_000)
    found = measure(Trial("t", Frames.steady(FrameRate(load), 10**9)), passes_everything(), mesh)
    value = Value(kind("latency p50"), names[0], Fraction(90_000))
    for most, code in ((1_199_999, "load-unproven"), (1_200_000, None)):
        given = replace(proven(most), latency_floor_ns=10_000, latency_noise_ns=5_000)
        evidence = Evidence(mesh, "real", False, (found,), (10**9,), given, is_constant=True)
        verdict = doubt_measured(value, evidence)
        assert (verdict and verdict.reason.code) == code


def test_a_full_line_needs_no_proof() -> None:
    assert judged(10_000_000, None, capacity=10_000_000)[0] == "line"


def test_sending_that_took_longer_was_a_lower_rate() -> None:
    """RFC 2544 offers a rate for a time; all frames in twice the time are half the rate."""
    found = measure(Trial("t", Frames.steady(FrameRate(LINE), 10**9)), passes_everything(), UNI)

    def lasting(ns: int) -> Reason | None:
        phases = (Phase("settle", 0, 10**9), Phase("traffic", 10**9, ns), Phase("drain", 10**9 + ns, 10**9))
        return find_shortfall(replace(found, phases=phases), 10**9)

    assert lasting(10**9) is None
    # Half a millisecond is no more than a pause of the machine, whatever the share.
    assert lasting(10**9 + 500_000) is None
    assert lasting(10**9 + 501_000) == SentLonger("west-east", 10**9, 501_000, 0, 10**7)


def test_a_minute_is_held_to_a_hundredth_of_a_percent() -> None:
    """0.01 % of 60 s are 6 ms: what was sent in 60.059 s was slower by 982 ppm."""
    minute = 60 * 10**9
    found = measure(Trial("t", Frames.steady(FrameRate(LINE), minute)), passes_everything(), UNI)

    def lasting(ns: int, unsent: int = 0) -> Reason | None:
        (stream,) = found.streams
        short = replace(stream, offered=stream.offered - unsent)
        return find_shortfall(
            replace(found.with_counts(streams=(short,)), phases=(Phase("traffic", 0, ns),)), minute
        )

    assert lasting(minute + 6_000_000) is None
    assert lasting(minute + 6_001_000) == SentLonger("west-east", minute, 6_001_000, 0, 60 * 10**7)
    assert lasting(minute + 59_000_000) == SentLonger("west-east", minute, 59_000_000, 0, 60 * 10**7)
    # Neither alone is too much: 0.006 % of the frames, and 0.006 % of the time.
    left = int(LINE) * 60 * 6 // 100_000
    assert (lasting(minute, left), lasting(minute + 3_600_000)) == (None, None)
    short = SentLonger("west-east", minute, 3_600_000, left, 60 * 10**7)
    assert lasting(minute + 3_600_000, left) == short


def test_a_search_passes_no_load_that_took_longer_to_send() -> None:
    parameters = ThroughputParameters.model_validate({"duration": "1s", "width": "10%"})
    method = METHODS["throughput"].start(parameters, UNI)
    trial = next(method)
    for _ in range(100):
        found = measure(trial, passes_everything(), UNI)
        twice = tuple(replace(phase, duration_ns=2 * 10**9) for phase in found.phases)
        try:
            trial = method.send(replace(found, phases=twice))
        except StopIteration as stop:
            (value, _) = stop.value.values
            break
    assert value.number is None
    assert isinstance(value.note, UnknownAtAll)
    assert isinstance(value.note.cause, SentLonger)


# Times and shares, which are measured at a load and are none themselves


def timed(ns: int | None, given: Proven | None, *, clock: str = "real", unit: str = "ns") -> tuple[str, Any]:
    """The verdict on a time measured at a full line that a device passes."""
    found = measure(Trial("t", Frames.steady(FrameRate(LINE), 10**9)), passes_everything(), UNI)
    exact = None if ns is None else Fraction(ns)
    value = Value(kind("latency", unit), "west-east", exact, note=said("no frame was timed"))
    result = Result("m", (value,), (0,), headlines=("latency",))
    verdict = judge(result, Evidence(UNI, clock, True, (found,), (10**9,), given, is_constant=True))  # type: ignore[arg-type]
    assert verdict.keys() == {"west-east"}
    return verdict["west-east"].limit, verdict["west-east"].reason


FLOOR = replace(proven(int(LINE)), latency_floor_ns=20_000, latency_noise_ns=5_000)
LATENCIES = (
    OwnLatency(LINE / 100, 25_000),
    OwnLatency(LINE / 2, 80_000),
    OwnLatency(LINE, 40_000),
    OwnLatency(2 * LINE, 900_000),
)
BUSY = replace(FLOOR, latencies=LATENCIES)
"""A tester that takes longer at half the load of the trial, and at a higher one."""


@pytest.mark.parametrize(
    ("ns", "given", "clock", "expected", "code"),
    [
        (25_001, FLOOR, "real", "device", "device-took"),
        (25_000, FLOOR, "real", "tester", "own-latency"),
        (80_001, BUSY, "real", "device", "device-took"),
        (80_000, BUSY, "real", "tester", "own-latency"),
        (25_001, None, "real", "inconclusive", "own-part-unproven"),
        (
            25_001,
            replace(FLOOR, expired="the kernel is another"),
            "real",
            "inconclusive",
            "own-part-unproven",
        ),
        (25_001, replace(FLOOR, latency_floor_ns=None), "real", "inconclusive", "no-own-latency"),
        (25_001, replace(FLOOR, max_fps=LINE - 1), "real", "inconclusive", "load-unproven"),
        (None, FLOOR, "real", "inconclusive", "incomplete"),
        (1, None, "virtual", "device", "device-took"),
    ],
)
def test_a_time_is_the_devices_as_far_as_it_is_longer_than_the_testers_own(
    ns: int | None, given: Proven | None, clock: str, expected: str, code: str
) -> None:
    limit, reason = timed(ns, given, clock=clock)
    assert limit == expected, reason
    assert reason.code == code


def test_a_share_needs_no_latency_of_the_tester() -> None:
    assert timed(1, replace(FLOOR, latency_floor_ns=None), unit="share")[0] == "device"


def test_a_time_at_a_load_that_was_not_offered_is_the_testers() -> None:
    found = measure(Trial("t", Frames.steady(FrameRate(LINE), 10**9)), passes_everything(), UNI)
    (stream,) = found.streams
    short = found.with_counts(streams=(replace(stream, intended=stream.intended * 2),))
    value = Value(kind("latency", "ns"), "sum", Fraction(10**6))
    result = Result("m", (value,), (0,), headlines=("latency",))
    verdict = judge(result, Evidence(UNI, "real", True, (short,), (10**9,), FLOOR))["sum"]
    assert verdict.limit == "tester"
    assert verdict.reason == OtherLoad(Unsent("west-east", stream.intended, 2 * stream.intended))
