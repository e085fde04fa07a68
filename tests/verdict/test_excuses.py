"""Testers that are late before devices that lose frames: no device is blamed for the tester's bunches.

The device is a queue or a bucket, frame by frame (`lateness`), and innocent if it loses nothing of the same
load when every frame leaves when it is due.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from kinds import kind
from lateness import MS, NS, PS, US, Admit, Tester, bucket, queue, shoot
from netdyno.methods.wrap import witness
from netdyno.values.finding import Result, Value
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.verdict import Evidence, Timed, Traffic, Witnesses, with_standing_bounds
from netdyno.verdict.excuses import judge_loss
from sampling import WHOLE, examples

SITUATION = Situation(("west-east",), Fraction(10**6), Fraction(64))
ROUNDS = ((US // 2, 2 * US), (US, 15 * US), (5 * US, 80 * US), (US, 200 * US))
MAKERS: tuple[Callable[[float, int], Admit], ...] = (bucket, queue)


def pauses(draw: random.Random, many: int, duration_ps: int) -> list[tuple[int, int]]:
    longest = draw.choice((100 * US, 3 * MS, 20 * MS))
    return [(draw.randrange(duration_ps), draw.randrange(20 * US, longest)) for _ in range(many)]


@pytest.mark.parametrize("seed", range(examples(48)))
def test_no_device_is_blamed_for_bunches_of_the_tester(seed: int) -> None:
    draw = random.Random(seed)
    fps = draw.choice((5_000, 20_000, 100_000, 400_000))
    duration_ps = round(min(4000 / fps, 0.2) * PS)
    rounds, make = draw.choice(ROUNDS), draw.choice(MAKERS)
    capacity = fps / draw.choice((0.5, 0.8, 0.95, 0.99, 0.999))
    room = draw.choice((1, 1, 2, 4, 16, 64, 512))
    tester = Tester(rounds)
    assert shoot(fps, duration_ps, tester, make(capacity, room), draw, ideal=True).streams[0].lost == 0
    made = []
    for share in draw.choice(((1.0,), (1.0, 0.5), (1.0, 0.5, 0.75), (1.0, 0.9, 0.8))):
        tester = Tester(rounds, pauses(draw, draw.choice((0, 0, 1, 3, 20)), duration_ps))
        outcome = shoot(fps * share, duration_ps, tester, make(capacity, room), draw)
        made.append(Timed(outcome, duration_ps // NS, True))
    known = Witnesses.of(made)
    for timed in made:
        judged = judge_loss(timed, known)
        assert judged.left == 0, (judged, known)


@pytest.mark.parametrize("seed", range(8))
def test_device_slower_than_the_load_is_named(seed: int) -> None:
    """As a search sees it: a load 3 % above what the device does fails, one 3 % below it passes."""
    draw = random.Random(seed)
    make, room = draw.choice(MAKERS), draw.choice((8, 20, 64))
    found = [
        Timed(shoot(load, 200 * MS, Tester((US, 9 * US)), make(20_000, room), draw), 200 * MS // NS, True)
        for load in (20_600, 19_400)
    ]
    assert not found[1].trial.streams[0].lost
    # What the trial in bunches adds: four at once came back.
    known = Witnesses.of([*found, Timed(with_four_at_once(found[1].trial), 200 * MS // NS)])
    judged = judge_loss(found[0], known)
    assert judged.left > 0
    assert judged.left == judged.lost - judged.excused


def with_four_at_once(outcome: Outcome) -> Outcome:
    """The same, four frames sent at once in each of its samples."""
    (stream,) = outcome.streams
    assert stream.lag is not None
    lag = replace(stream.lag, by_sample=tuple((9_000, 0, 4) for _ in stream.tx))
    return outcome.with_counts(streams=(replace(stream, lag=lag),))


def outage(begin_ps: int, length_ps: int) -> Admit:
    return lambda at: not begin_ps <= at < begin_ps + length_ps


def test_a_pause_after_an_outage_excuses_nothing_of_it() -> None:
    """373 frames of an outage; 980 were caught up 500 ms later, and before it in the other trial."""
    draw = random.Random(1)
    for pause_ms, left in ((700, 373), (30, 0)):
        tester = Tester((US, 5 * US), [(pause_ms * MS, 98 * MS)])
        outcome = shoot(10_000, 1000 * MS, tester, outage(200 * MS, 37_300 * US), draw)
        timed = Timed(outcome, 10**9)
        (stream,) = outcome.streams
        judged = judge_loss(timed, Witnesses.of([timed]))
        assert judged.lost == stream.lost
        # The frames on the edges of the outage were a little late.
        assert abs(judged.left - left) <= 2


def test_a_pause_long_before_an_outage_excuses_few_frames_of_it() -> None:
    """A queue or a bucket that takes four frames at once has room again for those that are on time."""
    draw = random.Random(1)
    tester = Tester((US, 5 * US), [(30 * MS, 98 * MS)])
    outcome = shoot(10_000, 2000 * MS, tester, outage(1400 * MS, 37_300 * US), draw)
    clean = with_four_at_once(shoot(10_000, 100 * MS, Tester((US, 5 * US)), bucket(20_000, 8), draw))
    timed = Timed(outcome, 2 * 10**9, True)
    known = Witnesses.of([timed, Timed(clean, 10**8)])
    # Even a bucket of one frame lets one pass now and then: here nothing came for 37 ms.
    assert judge_loss(timed, Witnesses()).left >= 300
    assert judge_loss(timed, known).left >= outcome.streams[0].lost - 3
    # Within a second of the pause: a bucket that is filled in turns may still be empty.
    soon = Timed(shoot(10_000, 1000 * MS, tester, outage(200 * MS, 15 * MS), draw), 10**9, True)
    assert judge_loss(soon, Witnesses.of([soon, Timed(clean, 10**8)])).left == 0


@pytest.mark.parametrize("length_ms", [10, 50, 90])
def test_an_outage_beside_pauses_that_explain_it_is_a_silence(length_ms: int) -> None:
    """Pauses of 4 ms each 20 ms make up for 2,000 frames a second: more than the outage lost."""
    draw = random.Random(length_ms)
    tester = Tester((US, 5 * US), [(at * MS, 4 * MS) for at in range(10, 3000, 20)])
    timed = Timed(shoot(10_000, 3000 * MS, tester, outage(1500 * MS, length_ms * MS), draw), 3 * 10**9, True)
    judged = judge_loss(timed, Witnesses.of([timed]))
    assert (judged.left, judged.block) == (0, None)
    assert judged.explained_block is not None
    assert judged.explained_block.lost >= 9 * length_ms
    # A device with room for few frames loses them from bunches, and is silent for none.
    for make in MAKERS:
        timed = Timed(shoot(10_000, 3000 * MS, tester, make(10_500, 4), draw), 3 * 10**9, True)
        assert judge_loss(timed, Witnesses.of([timed])).explained_block is None


@pytest.mark.parametrize("length_ms", [60, 80, 250, 500])
def test_an_outage_in_calm_is_not_explained_by_pauses_all_along(length_ms: int) -> None:
    """Pauses of 20 ms each 700 ms make 370 frames late, 3,300 in all: those long before lost none."""
    draw = random.Random(length_ms)
    pauses = [(at * MS, 20 * MS) for at in range(100, 6000, 700)]
    tester = Tester((US, 5 * US), pauses)
    calm = Timed(shoot(10_000, 6000 * MS, tester, outage(4_000 * MS, length_ms * MS), draw), 6 * 10**9, True)
    judged = judge_loss(calm, Witnesses.of([calm]))
    # The pause at 3.6 s is in the second before, the one at 4.3 s may be in it.
    assert judged.left >= 10 * length_ms - (400 if length_ms < 300 else 800)
    assert judged.block is None
    # One that begins with a pause may be another's: of a device that tidies up in a silence.
    beside = Timed(shoot(10_000, 6000 * MS, tester, outage(3_605 * MS, 500 * MS), draw), 6 * 10**9, True)
    judged = judge_loss(beside, Witnesses.of([beside]))
    assert judged.sure == 0
    assert judged.block is not None
    assert judged.block.lost - judged.block.moved > 4000


def test_an_outage_of_two_streams_is_not_the_testers() -> None:
    """They may have met in a queue: pauses of 20 ms all along explain no 200 ms without a frame."""
    pauses = [(at * MS, 20 * MS) for at in range(100, 6000, 700)]
    both = [
        shoot(
            10_000,
            6000 * MS,
            Tester((US, 5 * US), pauses),
            outage(4_000 * MS, 200 * MS),
            random.Random(seed),
        )
        for seed in (1, 2)
    ]
    one, other = (stream for outcome in both for stream in outcome.streams)
    together = both[0].with_counts(streams=(one, replace(other, name="east-west")))
    timed = Timed(together, 6 * 10**9, True)
    judged = judge_loss(timed, Witnesses.of([timed]))
    assert (judged.left, judged.sure) == (0, 0)
    assert judged.block is not None
    assert judged.block.lost > 1_900 > 800 > judged.block.moved
    # Of one of them alone its own block.
    assert judge_loss(timed, Witnesses.of([timed]), "east-west").block == replace(
        judged.block, stream="east-west"
    )


def tidying(silence_ps: int, busy_ps: int) -> Admit:
    """A device that takes nothing for a while after a silence."""
    last, until = 0, 0

    def admits(at: int) -> bool:
        nonlocal last, until
        if at - last >= silence_ps:
            until = at + busy_ps
        last = at
        return at >= until

    return admits


@pytest.mark.parametrize("sample_ms", [10, 50, 100, 200])
@pytest.mark.parametrize("pause_ms", range(980, 1100, 15 if WHOLE else 60))
def test_a_device_that_tidies_up_after_a_silence_is_innocent(sample_ms: int, pause_ms: int) -> None:
    """However samples date it: it takes nothing for 500 ms after 20 ms of silence, as a pause of 30 ms is."""
    tester = Tester((US, 5 * US), [(pause_ms * MS, 30 * MS)])
    draw = random.Random(pause_ms)
    found = shoot(10_000, 4000 * MS, tester, tidying(20 * MS, 500 * MS), draw, sample_ps=sample_ms * MS)
    timed = Timed(found, 4 * 10**9, True)
    judged = judge_loss(timed, Witnesses.of([timed]))
    assert judged.lost > 4000
    assert judged.left == 0


def in_turns(pps: float, frames: int, turn_ps: int) -> Admit:
    """A token bucket that is filled once a turn."""
    tokens, turns = float(frames), 0

    def admits(at: int) -> bool:
        nonlocal tokens, turns
        tokens = min(tokens + (at // turn_ps - turns) * turn_ps * pps / PS, float(frames))
        turns = at // turn_ps
        if tokens < 1 - 1e-9:
            return False
        tokens -= 1
        return True

    return admits


@pytest.mark.parametrize("seed", range(examples(24)))
def test_no_device_that_works_in_turns_is_blamed(seed: int) -> None:
    """Filled each 0.1 to 10 ms, at 90 to 99.9 % of what it does; beside a trial in bunches."""
    draw = random.Random(seed)
    fps = draw.choice((5_000, 20_000))
    turn_ps = draw.choice((MS // 10, MS, 4 * MS, 10 * MS))
    capacity = fps / draw.choice((0.9, 0.95, 0.99, 0.999))
    room = int(capacity * turn_ps / PS) + draw.choice((2, 4, 16, 64))
    rounds, duration_ps = draw.choice(((US // 2, 2 * US), (US, 15 * US))), 200 * MS
    made = []
    for _ in range(2):
        tester = Tester(rounds, pauses(draw, draw.choice((1, 2, 5)), duration_ps))
        outcome = shoot(fps, duration_ps, tester, in_turns(capacity, room, turn_ps), draw)
        made.append(Timed(outcome, duration_ps // NS, True))
    bunch = draw.choice((5, 9, 17)) * round(2 * PS / fps)
    taken = shoot(fps / 2, duration_ps, Tester((bunch, bunch)), in_turns(capacity, room, turn_ps), draw)
    known = Witnesses.of([*made, Timed(taken, duration_ps // NS, True)])
    for timed in made:
        judged = judge_loss(timed, known)
        assert judged.left == 0, (judged, known)


def test_flows_that_never_come_are_the_devices() -> None:
    draw = random.Random(2)
    found = []
    for load in (10_000, 20_000, 30_000):
        tester = Tester((US, 80 * US), [(at * 4 * MS, 2 * MS) for at in range(1, 50)])
        count = iter(range(10**9))
        outcome = shoot(load, 200 * MS, tester, lambda _, count=count: next(count) % 64 % 8 > 0, draw)  # type: ignore[misc]
        (stream,) = outcome.streams
        dead = outcome.with_counts(streams=(replace(stream, flows_received=56),))
        found.append(Timed(dead, 200 * MS // NS))
    known = Witnesses.of(found, Traffic(64))
    assert known.dead == {"west-east": Fraction(1, 8)}
    assert judge_loss(found[0], known).left == found[0].trial.streams[0].offered // 8
    for few in (found[:1], found[:2]):
        assert Witnesses.of(few, Traffic(64)).dead == {}, "a hog may lock"


@pytest.mark.parametrize(("apart_ms", "dead"), [(50, {"west-east": Fraction(1, 8)}), (3, {})])
def test_two_loads_show_dead_flows_if_pauses_miss_some_rounds(
    apart_ms: int, dead: dict[str, Fraction]
) -> None:
    """A flow comes each 6.4 and 3.2 ms: pauses that are as many may cost the same flows each time."""
    draw = random.Random(3)
    found = []
    for load in (10_000, 20_000):
        tester = Tester((US, 3 * US), [(at * MS, MS) for at in range(1, 200, apart_ms)])
        count = iter(range(10**9))
        outcome = shoot(load, 200 * MS, tester, lambda _, count=count: next(count) % 64 % 8 > 0, draw)  # type: ignore[misc]
        (stream,) = outcome.streams
        alone = outcome.with_counts(streams=(replace(stream, flows_received=56),))
        found.append(Timed(alone, 200 * MS // NS, True))
    assert Witnesses.of(found, Traffic(64)).dead == dead


def test_upper_bound_of_a_search_stands_on_a_trial_that_no_pause_explains() -> None:
    """20 kpps passed. 21 kpps lost after a pause, and 30 kpps without one: below 30 it is unknown."""
    draw = random.Random(4)
    values = []
    for fps, tester, admits in (
        (30_000, Tester((US, 3 * US)), bucket(20_500, 40)),
        (20_000, Tester((US, 3 * US)), bucket(20_500, 40)),
        (20_400, Tester((US, 3 * US), [(10 * MS, 50 * MS)]), bucket(20_500, 40)),
    ):
        outcome = shoot(fps, 200 * MS, tester, admits, draw)
        if fps == 20_000:
            outcome = with_four_at_once(outcome)
        values.append((Trial("t", Frames.steady(FrameRate(fps), 200_000_000)), outcome))
    trials = dict(enumerate(values))
    assert [one.streams[0].lost > 0 for _, one in values] == [True, False, True]
    throughput = Value(
        kind("throughput"), "sum", Fraction(20_000), Fraction(20_000), Fraction(20_400), searched=True
    )
    result = Result("throughput", (throughput,), (1, 2), headlines=("throughput",))
    witnesses = Witnesses.of(Timed(one, 200_000_000, True) for _, one in values)
    known = Evidence(SITUATION, "real", False, (), witnesses=witnesses, is_constant=True)
    raised = with_standing_bounds(result, trials, known)
    assert raised.values[0].high == 30_000
    assert raised.resting("throughput") == (1, 0)
    assert raised.values[0].number == 20_000


def test_trial_in_bunches_has_half_the_rate_that_came_back() -> None:
    draw = random.Random(5)
    outcome = shoot(25_000, 200 * MS, Tester((US, 3 * US)), bucket(20_000, 40), draw)
    trial = Trial("search 1", Frames.steady(FrameRate(25_000), 200_000_000))
    found = witness.in_bunches([(trial, outcome)], SITUATION)
    assert found is not None
    (segment,) = found.segments
    came = outcome.streams[0].received
    assert segment.to_rate == FrameRate(Fraction(came * 5, 2))
    assert found.frames.burst == witness.LEAST_FRAMES
    clean = shoot(19_000, 200 * MS, Tester((US, 3 * US)), bucket(20_000, 40), draw)
    assert witness.in_bunches([(trial, clean)], SITUATION) is None
    load = Frames.steady(FrameRate(25_000), 200_000_000)
    nothing = shoot(25_000, 200 * MS, Tester((US, 3 * US)), lambda _: False, draw)
    late = witness.in_bunches([(Trial("t", load), nothing)], SITUATION)
    assert late is not None, "frames that are only late come then"
    assert late.segments[0].to_rate == FrameRate(12_500)


def test_copies_at_other_ports_are_no_lost_frames() -> None:
    """A switch that floods three copies, and loses frames to a pause; then one that sends 99 astray."""
    draw = random.Random(6)
    tester = Tester((US, 3 * US), [(10 * MS, 20 * MS)])
    outcome = shoot(20_000, 200 * MS, tester, bucket(20_020, 1), draw)
    (stream,) = outcome.streams
    assert stream.lost > 3
    flooded = Timed(outcome.with_counts(streams=(replace(stream, elsewhere=3),)), 200 * MS // NS)
    assert judge_loss(flooded, Witnesses.of([flooded])).left == 0
    for strays, left in ((3, 0), (99, 3)):
        quiet = replace(stream, elsewhere=strays, lost=strays, received=stream.offered - strays)
        astray = Timed(outcome.with_counts(streams=(quiet,)), 200 * MS // NS)
        assert judge_loss(flooded, Witnesses.of([flooded, astray])).left == left


def test_a_long_frame_that_is_late_may_lose_as_many_short_ones_as_fit() -> None:
    draw = random.Random(7)
    tester = Tester((US, 3 * US), [(10 * MS, 2 * MS)])
    outcome = shoot(20_000, 200 * MS, tester, bucket(20_020, 4), draw)
    timed = Timed(outcome, 200 * MS // NS)
    one, mixed = (judge_loss(timed, Witnesses.of([timed], Traffic(ratio=ratio))) for ratio in (1, 19))
    assert one.left == mixed.left == 0
    late = outcome.streams[0]
    more = replace(late, lost=late.lost * 5, arrived=(late.arrived[0] - late.lost * 4, *late.arrived[1:]))
    again = Timed(outcome.with_counts(streams=(more,)), 200 * MS // NS)
    assert Witnesses.of([again], Traffic(ratio=19)).bunch == 1
    assert judge_loss(again, Witnesses.of([again], Traffic(ratio=19))).excused >= mixed.excused
