"""Losses at loads apart while the kernel's threads for frames waited: whose they are."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count

import pytest
from kinds import kind
from lateness import MS, NS, PS, US, Admit, Tester, bucket, queue, shoot
from netdyno.values.finding import Result, Value
from netdyno.values.health import CatchUp
from netdyno.values.outcome import KernelWaits, Outcome
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, SteadyLoss, Timed, Witnesses, judge
from test_excuses import in_turns
from test_hostile_machine import UNI, proven

STEP_PS = 10 * MS
ON_TIME = Tester((50 * US, 50 * US))
Wait = tuple[int, int]
"""When it begins and how long it lasts, ps."""


def one_in(every: int) -> Admit:
    numbers = count(1)
    return lambda _: bool(next(numbers) % every)


def behind(waits: Sequence[Wait], admits: Admit) -> Admit:
    """A device to which the kernel brings what was sent in a wait at the end of it."""
    begins = [begin for begin, _ in waits]

    def admits_late(at: int) -> bool:
        begin, lasts = waits[max(bisect_right(begins, at) - 1, 0)] if waits else (0, 0)
        return admits(begin + lasts if begin <= at < begin + lasts else at)

    return admits_late


def dated(waits: Sequence[Wait]) -> tuple[KernelWaits, ...]:
    """As readings each 10 ms have them: a wait counts when it is over."""
    by_step: dict[int, list[int]] = {}
    for begin, lasts in waits:
        by_step.setdefault((begin + lasts) // STEP_PS, []).append(lasts)
    return tuple(
        KernelWaits(step * STEP_PS // NS, (step + 1) * STEP_PS // NS, sum(each) // NS)
        for step, each in sorted(by_step.items())
    )


def by_turns(pps: float, room: int) -> Admit:
    """Served each 10 ms, with room for so many frames beside those of a turn."""
    return in_turns(pps, int(pps / 100) + room + 1, 10 * MS)


def trial(fps: float, admits: Admit, waits: Sequence[Wait], seconds: int = 1) -> Outcome:
    admits = behind(waits, admits)
    length_ps = seconds * PS
    found = shoot(fps, length_ps, ON_TIME, admits, random.Random(1), sample_ps=50 * MS, ideal=True)
    kernel = dated(waits)
    return replace(found, softirq_waits=kernel, softirq_waited_ns=sum(one.waited_ns for one in kernel))


def undated(found: Outcome) -> Outcome:
    return replace(found, softirq_waits=())


def judged(found: Outcome, case: Sequence[Outcome]) -> Verdict:
    """The verdict on the loss ratio of a trial."""
    (stream,) = found.streams
    value = Value(
        kind("frame loss rate", "ratio"),
        stream.name,
        Fraction(stream.missing, stream.offered),
        of_frames=stream.offered,
    )
    timed = [Timed(one, one.phases[0].duration_ns, True) for one in case]
    known = Witnesses.of(timed)
    evidence = Evidence(
        UNI,
        "real",
        False,
        (found,),
        (found.phases[0].duration_ns,),
        proven(10**6),
        is_constant=True,
        witnesses=known,
        steady=SteadyLoss(timed, known),
    )
    return judge(Result("m", (value,), (0,)), evidence, "frame loss rate")[stream.name]


WAITS = ((100 * MS, 4 * MS), (430 * MS, 4 * MS), (431 * MS, 3 * MS), (800 * MS, 6 * MS))
"""17 ms of a second: of 500 frames those of eight are lost."""


def test_loss_of_one_in_500_at_eleven_loads_is_the_devices() -> None:
    case = [trial(load, one_in(500), WAITS) for load in range(5_000, 55_001, 5_000)]
    for found in case:
        assert found.streams[0].lost == found.streams[0].offered // 500
        verdict = judged(found, case)
        assert (verdict.limit, verdict.reason.code) == ("device", "device-measured")
        verdict = judged(undated(found), [undated(one) for one in case])
        assert (verdict.limit, verdict.reason.code) == ("inconclusive", "lost-while-held")


def test_trial_proves_a_loss_at_its_own_load_only() -> None:
    """One in 200 at three loads, and eight frames that one wait brought at once at a fourth."""
    case = [trial(load, one_in(200), WAITS) for load in (4_000, 6_000, 9_000)]
    waited = trial(20_000, bucket(21_000, 400), ((300 * MS, 20 * MS + 400 * US),))
    assert 0 < waited.streams[0].lost < 20
    every = [*case, waited]
    assert [judged(one, every).limit for one in every] == ["device"] * 3 + ["inconclusive"]


@pytest.mark.parametrize("loads", [(4_000, 6_000), (4_000, 5_900, 8_800), (4_000, 4_500, 6_000, 6_500)])
def test_equal_loss_at_fewer_than_three_loads_half_apart_is_inconclusive(loads: Sequence[int]) -> None:
    case = [trial(load, one_in(200), WAITS) for load in loads]
    assert {judged(one, case).limit for one in case} == {"inconclusive"}


def test_unequal_shares_of_loss_are_inconclusive() -> None:
    case = [
        trial(load, one_in(every), WAITS, 2)
        for load, every in ((10_000, 2000), (15_000, 700), (22_500, 300), (33_750, 130))
    ]
    assert {judged(one, case).limit for one in case} == {"inconclusive"}


def test_one_wait_over_many_samples_explains_all_of_them() -> None:
    """None of what is sent in 400 ms arrives: the same share at each load, in nine samples, of one wait."""
    long = ((300 * MS, 400 * MS - 1),)
    case = []
    for load in (4_000, 8_000, 16_000):
        found = trial(load, lambda at: at != 700 * MS - 1, long)
        case.append(found)
        assert (
            sum(tx > came for tx, came in zip(found.streams[0].tx, found.streams[0].arrived, strict=True)) > 7
        )
    assert {judged(one, case).limit for one in case} == {"inconclusive"}


def test_device_that_tidies_up_after_a_silence_is_innocent() -> None:
    """It takes what a wait of 400 ms held back, and then nothing for 300 ms: six samples of one wait."""
    waits = ((300 * MS, 400 * MS),)
    case = [trial(load, lambda at: not 705 * MS <= at < 1005 * MS, waits) for load in (4_000, 8_000, 16_000)]
    assert all(one.streams[0].lost >= one.streams[0].offered // 4 for one in case)
    assert {judged(one, case).limit for one in case} == {"inconclusive"}


@pytest.mark.parametrize("seed", range(40))
def test_no_device_is_blamed_for_bunches_of_the_kernel(seed: int) -> None:
    """It loses nothing of the same load when no wait holds it back."""
    draw = random.Random(seed)
    most = draw.choice((5_000, 20_000))
    make, room = draw.choice((bucket, queue, by_turns)), draw.choice((1, 1, 2, 4, 16, 64))
    capacity = most / draw.choice((0.5, 0.8, 0.95, 0.99, 0.999))
    each_ms = draw.choice((20, 100, 300))
    case = []
    for share in (1.0, 0.66, 0.44, 0.29, 0.19):
        begins = sorted(draw.sample(range(0, 1000, 8), 1000 // each_ms))
        waits = [(at * MS, draw.choice((draw.randrange(4 * MS), 4 * MS))) for at in begins]
        case.append(trial(most * share, make(capacity, room), waits))
    for found in case:
        timed = Timed(found, 10**9, True)
        assert not SteadyLoss([Timed(one, 10**9, True) for one in case]).count_frames(timed, None)


@pytest.mark.parametrize(
    ("loads", "name"), [((4_000, 6_000, 9_000), "inconclusive"), ((4_000, 9_000), "tester")]
)
def test_loss_of_one_share_at_loads_apart_is_not_that_of_pauses(loads: Sequence[int], name: str) -> None:
    """One in 200 from a tester that pauses all along: it sends later nearly all that it sends."""
    pauses = [(at * 20 * MS, 15 * MS) for at in range(1, 49)]
    case = []
    for load in loads:
        found = shoot(
            load, PS, Tester((50 * US, 50 * US), pauses), one_in(200), random.Random(1), sample_ps=50 * MS
        )
        frames = found.streams[0].offered * 7 // 10
        caught = CatchUp(200, 48, 15 * 10**6, frames, frames, 100)
        case.append(replace(found, health=replace(found.health, catch_up=caught)))
    assert {judged(one, case).limit for one in case} == {name}


@pytest.mark.parametrize("dropped", [1, 3])
def test_frame_that_the_tester_dropped_proves_no_loss_in_waits(dropped: int) -> None:
    """Waits of 40 ms lose the same share of a perfect queue at three loads; later the tester drops frames."""
    case = []
    for load in (1_000, 2_000, 4_000):
        waits = tuple((at * 1000 * MS + 20 * MS, 40 * MS) for at in (1, 2, 3))
        found = trial(load, queue(load * 1.5, 4), waits, 10)
        (stream,) = found.streams
        arrived = (*stream.arrived[:-5], stream.arrived[-5] - dropped, *stream.arrived[-4:])
        fewer = replace(
            stream, arrived=arrived, rx=arrived, received=sum(arrived), lost=stream.lost + dropped
        )
        dropping = replace(found.health, rx_dropped=dropped)
        case.append(replace(found.with_counts(streams=(fewer,)), health=dropping))
    assert all(one.streams[0].lost > 50 for one in case)
    assert "device" not in {judged(one, case).limit for one in case}
