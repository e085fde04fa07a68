"""Searches on random devices whose answer is known: it lies between the bounds, within the trials that
halving takes, and the lower bound was proven by a trial of full length."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from netdyno.methods import METHODS
from netdyno.methods.wrap.late import without_late_values
from netdyno.values.finding import Result, Value
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from sampling import examples
from tendevices import SAMPLE_NS, Device, finite_queue, measure

LINE = Fraction(10_000_000)
ONE = Situation(("west-east",), LINE, Fraction(64))
THREE = Situation(("east-west", "south-west"), LINE, Fraction(64), places=(Place(1, 0), Place(2, 0)))
ADDRESSES = Situation(("west-east", "east-west"), LINE, Fraction(64), places=(Place(0, 1), Place(1, 0)))
SECOND = 10**9

Answer = Callable[[Trial], Outcome]


def searched(
    name: str, answer: Answer, situation: Situation, **parameters: Any
) -> tuple[Result, list[tuple[Trial, Outcome]]]:
    """A method against a device that answers whole trials."""
    method = METHODS[name]
    made: list[tuple[Trial, Outcome]] = []
    running = without_late_values(method.start(method.parameters.model_validate(parameters), situation))
    try:
        trial = next(running)
        while True:
            made.append((trial, answer(trial)))
            assert len(made) < 500, "it does not end"
            trial = running.send(made[-1][1])
    except StopIteration as stop:
        return stop.value, made


def by_load(device: Device, situation: Situation = ONE) -> Answer:
    return lambda trial: measure(trial, device, situation)


def value(result: Result, name: str) -> Value:
    return next(found for found in result.values if found.name == name)


def proven(result: Result, made: list[tuple[Trial, Outcome]], low: Fraction, length_ns: int) -> None:
    """A trial that the result rests on was made at the lower bound, for so long, and lost nothing."""
    found = [made[number] for number in result.trials]
    assert any(
        trial.segments[-1].from_rate.amount == low and trial.duration_ns == length_ns and outcome.lost == 0
        for trial, outcome in found
    )


CAPACITIES = st.integers(min_value=50_000, max_value=9_900_000)


@settings(max_examples=examples(60), deadline=None)
@given(capacity=CAPACITIES, frames=st.integers(0, 200_000), search=st.sampled_from(["1s", "2s", "10s"]))
def test_throughput_rests_on_a_trial_of_full_length(capacity: int, frames: int, search: str) -> None:
    """In ten seconds a queue is worth a tenth of its frames a second; shorter trials see more of it."""
    device = finite_queue(capacity, frames)
    result, made = searched("throughput", by_load(device), ONE, duration="10s", search=search, width="0.5%")
    true, found = capacity + Fraction(frames, 10), value(result, "throughput")
    assert found.number is not None
    assert found.number < true + 1
    if found.high is not None:
        assert true < found.high + 1
        assert found.high - found.number <= LINE / 200
    proven(result, made, found.number, 10 * SECOND)
    # 200 steps are halved eight times, once for each length; and away from where a short trial stood.
    assert len(made) <= 2 * (1 + 8) + 8


@settings(max_examples=40, deadline=None)
@given(capacity=CAPACITIES, seed=st.sampled_from(["none", "ramp"]))
def test_ndr_and_pdr_of_a_wall(capacity: int, seed: str) -> None:
    """PDR's loss of 0.5 % is reached at capacity / 0.995."""
    given_ = {"exceed": "0%", "duration": "2s", "sum": "2s", "initial": "1s", "width": "0.5%"}
    goals = {"NDR": {"loss": "0%", **given_}, "PDR": {"loss": "0.5%", **given_}}

    def wall(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds)
        return sent, min(sent, int(capacity * seconds))

    result, made = searched("ndr", by_load(wall), ONE, goals=goals, seed=seed, warmup="0s", trials=100)
    for name, true in (("NDR", Fraction(capacity)), ("PDR", Fraction(capacity * 1000, 995))):
        found = value(result, name)
        assert found.low is not None
        assert found.low < true + 1
        assert found.high is None or true < found.high + 1
        assert found.high is not None or found.low == LINE
        assert found.high is None or found.high - found.low <= found.high / 200
        trials = [made[number][0] for number in result.resting(name)]
        assert any(
            trial.segments[0].from_rate.amount == found.low and trial.duration_ns == 2 * SECOND
            for trial in trials
        )
    assert len(made) <= 60


@settings(max_examples=examples(60), deadline=None)
@given(capacity=CAPACITIES, repeats=st.integers(0, 2))
def test_bisection_rests_on_a_trial_without_loss(capacity: int, repeats: int) -> None:
    device = finite_queue(capacity, 0)
    result, made = searched("bisection", by_load(device), ONE, duration="2s", width="0.5%", repeats=repeats)
    found = value(result, "NDR")
    assert found.number is not None
    assert found.high is not None
    assert found.number < capacity + 1 <= found.high + 1
    proven(result, made, found.number, 2 * SECOND)
    assert len(made) <= (1 + 8) * (repeats + 1)


def burst_of(holds: int, senders: int = 1) -> Answer:
    """Bursts of so many frames of each sender come back whole; of longer ones what is too much is lost."""
    situation = ONE if senders == 1 else THREE

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = math.ceil(fps * seconds)
        return sent, min(sent, holds)

    return by_load(device, situation)


@settings(max_examples=examples(60), deadline=None)
@given(holds=st.integers(1, 90_000), step=st.integers(1, 50))
def test_the_longest_burst_is_found_to_the_step(holds: int, step: int) -> None:
    result, made = searched(
        "back-to-back", burst_of(holds), ONE, throughput="10%", repeats=2, longest="10ms", step=step
    )
    found = value(result, "back-to-back frames").number
    assert found == (holds // step * step or 0)
    if found:
        passed = [made[number] for number in result.trials]
        assert any(outcome.streams[0].offered == found and not outcome.lost for _, outcome in passed)
    # Out from the guess in steps that double, and back by halves; the second search begins where it ended.
    assert len(made) <= 2 * (2 * 17 + 2)


@settings(max_examples=examples(60), deadline=None)
@given(holds=st.integers(1, 90_000))
def test_a_microburst_is_found_to_the_frame(holds: int) -> None:
    """Of two bursts of n frames that meet, the line out has taken n - 1 when the last frames are in."""
    result, made = searched("microburst", burst_of(holds, 2), THREE, repeats=2, longest="10ms")
    assert value(result, "burst held").number == 2 * holds - (holds - 1)
    assert len(made) <= 2 * (2 * 17 + 2)


def stations(known: Callable[[int, Fraction], int], situation: Situation = ADDRESSES) -> Answer:
    """Of so many addresses that are announced at a rate, `known` are kept; frames to others are flooded."""

    def answer(trial: Trial) -> Outcome:
        learning = next(one for one in trial.segments if one.name == "learn")
        count = trial.frames.flows or 0
        flooded = count - known(count, learning.from_rate.amount)
        simple = measure(
            replace(
                trial,
                load=Frames.steady(FrameRate(count), SECOND, "test"),
            ),
            lambda fps, seconds, stream: (count, count),
            situation,
        )
        asked = [replace(one, intended=count) for one in simple.streams]
        phases = (*(phase for phase in simple.phases if phase.name != "traffic"),)
        return replace(
            simple.with_counts(streams=(asked[0], replace(asked[1], elsewhere=flooded)), sample_ns=SAMPLE_NS),
            phases=phases,
        )

    return answer


@settings(max_examples=examples(60), deadline=None)
@given(limit=st.integers(0, 9_000), width=st.integers(1, 300))
def test_a_table_is_found_between_its_bounds(limit: int, width: int) -> None:
    result, made = searched(
        "address-caching",
        stations(lambda count, rate: min(count, limit)),
        ADDRESSES,
        maximum=8192,
        width=width,
        learning="10kpps",
        test="10kpps",
    )
    found = value(result, "address caching capacity")
    if limit >= 8192:
        assert (found.number, found.high) == (8192, None)
        return
    assert found.low is not None
    assert found.high is not None
    assert found.low <= limit < found.high
    assert found.high - found.low <= width
    assert len(made) <= 1 + math.ceil(math.log2(8193 / width)) + 1
    kept = [made[number] for number in result.trials]
    assert not found.low or any(
        trial.frames.flows == found.low and not outcome.streams[1].elsewhere for trial, outcome in kept
    )


@settings(max_examples=examples(60), deadline=None)
@given(rate=st.integers(1, 1_100_000))
def test_a_learning_rate_is_found_between_its_bounds(rate: int) -> None:
    """Told faster than it learns, a device that learns one address at a time misses some."""
    result, made = searched(
        "address-learning-rate",
        stations(lambda count, told: count if told <= rate else int(count * rate / told)),
        ADDRESSES,
        addresses=1000,
        maximum="1Mpps",
        width="10kpps",
    )
    found = value(result, "address learning rate")
    if rate >= 1_000_000:
        assert (found.number, found.high) == (1_000_000, None)
    else:
        assert found.low is not None
        assert found.high is not None
        assert found.low <= rate < found.high
        assert found.high - found.low == 10_000
    assert len(made) <= 1 + 7


@settings(max_examples=40, deadline=None)
@given(capacity=CAPACITIES)
def test_the_most_that_is_forwarded_is_found(capacity: int) -> None:
    result, made = searched(
        "max-forwarding-rate",
        by_load(finite_queue(capacity, 0)),
        ONE,
        throughput="20%",
        duration="2s",
        step="5%",
    )
    # What comes of a wall is its capacity, from whatever load above it.
    assert value(result, "maximum forwarding rate").number == capacity
    assert value(result, "forwarding rate at maximum load").number == capacity
    assert len(made) == 17


@settings(max_examples=examples(60), deadline=None)
@given(capacity=CAPACITIES, lasts=st.integers(0, 4_000), every=st.integers(1, 1000))
def test_a_recovery_is_timed_to_the_frame(capacity: int, lasts: int, every: int) -> None:
    """After the load fell a device loses every so many frames for some milliseconds more."""
    from netdyno.values.outcome import Gap, Gaps

    known = Fraction(capacity, 2)
    low = known * Fraction(11, 10) / 2

    def answer(trial: Trial) -> Outcome:
        begin = trial.segments[0].duration_ns
        outcome = measure(trial, lambda fps, seconds, stream: (int(fps * seconds),) * 2, ONE)
        hit = range(0, int(low * lasts / 1000), every)
        last = begin - 1 if not hit else begin + int(hit[-1] * SECOND / low)
        gap = Gap(0, 0, 1, begin - 1, last)
        (stream,) = outcome.streams
        lossy = replace(stream, lost=1, gaps=Gaps((gap,), 0, 0))
        return outcome.with_counts(streams=(lossy,))

    result, made = searched(
        "recovery", answer, ONE, throughput=f"{capacity / 2:.1f}pps", repeats=1, overload="5s", watch="5s"
    )
    found = value(result, "recovery time").number
    hits = range(0, int(low * lasts / 1000), every)
    true = hits[-1] * SECOND / low if hits else 0
    assert found is not None
    assert abs(found - true) <= 1
    assert len(made) == 1
