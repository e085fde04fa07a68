"""Frames lost only while the tester was in trouble are the tester's; chance names nobody."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import pytest
from kinds import kind
from netdyno.values.finding import Result, Value
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import InterfaceResult, Latency, Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.verdict import Evidence, Timed, judge
from netdyno.verdict.coincidence import is_coincident
from tendevices import measure, passes_everything

MS = 1_000_000
SAMPLES, SAMPLE_NS = 100, 10 * MS
SITUATION = Situation(("west-east",), Fraction(10_000), Fraction(64))
FPS = Fraction(2000)
CLEAN = measure(
    Trial("t", Frames.steady(FrameRate(FPS), SAMPLES * SAMPLE_NS)), passes_everything(), SITUATION
)


def trial(lossy: Iterable[int], full: Iterable[int] = (), delay_ns: int = 0) -> Outcome:
    """A second of 2 kpps: one frame is lost in each of some samples, the ring is full in each of others."""
    lossy = set(lossy)
    (stream,) = CLEAN.streams
    arrived = tuple(20 - (number in lossy) for number in range(SAMPLES))
    lost = replace(
        stream,
        offered=20 * SAMPLES,
        received=20 * SAMPLES - len(lossy),
        lost=len(lossy),
        tx=(20,) * SAMPLES,
        arrived=arrived,
    )
    spans = tuple(
        (number * SAMPLE_NS + MS + delay_ns, number * SAMPLE_NS + 2 * MS + delay_ns) for number in full
    )
    ports = tuple(replace(port, rx_full_spans=spans) for port in CLEAN.ports)
    health = replace(CLEAN.health, rx_full=len(spans), rx_full_ns=MS * len(spans))
    counted = CLEAN.with_counts(streams=(lost,), ports=ports, sample_ns=SAMPLE_NS)
    return replace(counted, health=health)


def verdict(found: Outcome) -> tuple[str, str]:
    rate = Value(kind("throughput"), "west-east", FPS / 2, FPS / 2, FPS, searched=True)
    result = Result("throughput", (rate,), (0,), headlines=("throughput",))
    planned = (SAMPLES * SAMPLE_NS,)
    given = Evidence(SITUATION, "real", True, (found,), planned, is_constant=True)
    named = judge(result, given)["west-east"]
    return named.limit, named.reason.code


@pytest.mark.parametrize(
    ("lossy", "full", "expected"),
    [
        # Of 100 samples five are troubled: 1 in 400 that two losses are among them, 1 in 20 that one is.
        ((2, 50), (2, 20, 50, 60, 70), ("receiver", "lost-while-full")),
        ((2,), (2, 20, 50, 60, 70), ("inconclusive", "ring-full")),
        ((2,), (2,), ("receiver", "lost-while-full")),
        # Ten in a row are one outage: it has 41 of 91 places in the first half.
        (range(10, 20), range(50), ("inconclusive", "ring-full")),
        (range(0, 50, 7), range(50), ("receiver", "lost-while-full")),
        # Full all the time tells nothing.
        (range(100), range(100), ("inconclusive", "ring-full")),
        # One frame was lost at another time: a device that loses that one may lose all.
        ((2, 30, 50), (2, 20, 50, 60, 70), ("inconclusive", "ring-full")),
    ],
)
def test_full_ring_is_named_where_all_was_lost_then(
    lossy: Iterable[int], full: Iterable[int], expected: tuple[str, str]
) -> None:
    assert verdict(trial(lossy, full)) == expected


def test_what_was_on_its_way_when_the_ring_was_full_counts() -> None:
    """It departed 15 ms before it found no room: in the sample before that in which the ring was full."""
    found = trial((2, 30, 50), (2, 30, 50), delay_ns=15 * MS)
    assert verdict(found) == ("inconclusive", "ring-full")
    (stream,) = found.streams
    slow = replace(stream, latency=Latency(1997, MS, 1997 * MS, 16 * MS, 0, 0, ""))
    assert verdict(found.with_counts(streams=(slow,))) == ("receiver", "lost-while-full")


def test_losses_at_random_are_no_coincidence() -> None:
    """Of devices that lose frames whenever they like no more than 1 % are taken for the ring."""
    draw = random.Random(1)
    wrong = 0
    for _ in range(2000):
        lossy = draw.sample(range(SAMPLES), draw.randrange(1, 8))
        full = draw.sample(range(SAMPLES), draw.randrange(1, 90))
        wrong += verdict(trial(lossy, full)) == ("receiver", "lost-while-full")
    assert wrong <= 20


def test_a_ramp_that_loses_from_some_load_on_tells_nothing() -> None:
    """Loss and full rings both come with the load. That they begin together says little."""

    def found(lossy: Iterable[int]) -> bool:
        one = trial(lossy, lossy)
        return is_coincident([Timed(one, None)], lambda outcome, _: outcome.ports[0].rx_full_spans)

    assert not found(range(60, 100))
    assert not found((60, 99))
    assert found((60, 70, 80, 90, 99))


@pytest.mark.parametrize(
    ("more", "expected"), [(4, "receiver"), (2, "receiver"), (1, "inconclusive"), (0, "inconclusive")]
)
def test_frames_an_interface_had_and_netdyno_not_are_the_receivers(more: int, expected: str) -> None:
    """Four are missing. A few that came before or after the trial tell nothing: half of them do."""
    found = trial((2, 30, 50, 70))
    (port,) = found.ports
    interfaces = (
        InterfaceResult(port.name, "veth0", {"rx_packets": more + port.rx_frames, "tx_packets": 9}),
    )
    assert verdict(replace(found, interfaces=interfaces))[0] == expected
    assert replace(found, interfaces=interfaces).unseen == more
