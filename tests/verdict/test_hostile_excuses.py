"""Innocent devices that lose on-time frames long after a pause, or more frames than the pause moved in time.

Each loses nothing of the same load when every frame leaves when it is due, and takes the trial in bunches.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest
from lateness import MS, NS, PS, US, Admit, Tester, bucket, departures, shoot
from netdyno.values.outcome import Latency, Outcome
from netdyno.verdict import Timed, Witnesses
from netdyno.verdict.excuses import Judged, judge_loss
from test_excuses import in_turns, outage

Device = Callable[[Sequence[int]], "list[int | None]"]
"""When each of the frames that come at these times leaves again, ps; None: never."""


def sends(fps: float, duration_ps: int, tester: Tester, device: Device, sample_ps: int = 10 * MS) -> Outcome:
    """The outcome of a trial; frames are received when they leave the device."""
    came = [at for _, at in departures(fps, duration_ps, tester, random.Random(1))]
    left = device(came)
    fates = iter(left)
    found = shoot(
        fps, duration_ps, tester, lambda _: next(fates) is not None, random.Random(1), sample_ps=sample_ps
    )
    (stream,) = found.streams
    rx = [0] * (len(stream.tx) + 1)
    took = []
    for at, end in zip(came, left, strict=True):
        if end is not None:
            rx[min(end // sample_ps, len(rx) - 1)] += 1
            took.append((end - at) // NS)
    times = Latency(len(took), min(took), sum(took), max(took), 0, 0, "")
    return found.with_counts(streams=(replace(stream, rx=tuple(rx), latency=times),))


def judged(
    fps: float,
    pauses: Iterable[tuple[int, int]],
    device: Callable[[], Device],
    duration_ps: int = 1000 * MS,
    sample_ps: int = 10 * MS,
) -> Judged:
    """How a trial with these pauses is judged, beside one in bunches of five."""
    ideal = [round(number * PS / fps) for number in range(int(duration_ps * fps / PS))]
    assert None not in device()(ideal)
    tester = Tester((US, 5 * US), list(pauses))
    made = Timed(sends(fps, duration_ps, tester, device(), sample_ps), duration_ps // NS, True)
    apart = round(10 * PS / fps)
    bunches = sends(fps / 2, 200 * MS, Tester((apart, apart)), device())
    assert not bunches.streams[0].lost
    known = Witnesses.of([made, Timed(bunches, 200 * MS // NS)])
    assert known.bunch >= 5
    return judge_loss(made, known)


def admitting(make: Callable[[], Admit]) -> Callable[[], Device]:
    """A device that keeps no frame."""

    def device(came: Sequence[int]) -> list[int | None]:
        admits = make()
        return [at if admits(at) else None for at in came]

    return lambda: device


@pytest.mark.parametrize(("turn_ms", "pause_ms"), [(100, (185, 25)), (125, (240, 20)), (40, (195, 8))])
def test_bucket_that_is_filled_ten_times_a_second_is_not_blamed(
    turn_ms: int, pause_ms: tuple[int, int]
) -> None:
    """A process with a quota of its core, or a shaper: what a turn lacks is lost at its end."""
    room = 5050 * turn_ms // 1000 + 2
    at, length = pause_ms
    found = judged(5000, [(at * MS, length * MS)], admitting(lambda: in_turns(5050, room, turn_ms * MS)))
    assert found.lost > 10
    assert found.left == 0


def codel(pps: float) -> Device:
    """A server behind CoDel (RFC 8289) of 5 ms and 100 ms: it drops from a queue that stands, if not full."""
    service, target, interval = round(PS / pps), 5 * MS, 100 * MS

    def device(came: Sequence[int]) -> list[int | None]:
        left: list[int | None] = [None] * len(came)
        waiting: deque[int] = deque()
        begun = free = above = next_ps = drops = 0
        while begun < len(came) or waiting:
            now = max(free, came[waiting[0] if waiting else begun])
            while begun < len(came) and came[begun] <= now:
                waiting.append(begun)
                begun += 1
            frame = waiting.popleft()
            if now - came[frame] < target or not waiting:
                above = drops = 0
            elif not above:
                above = next_ps = now + interval
            elif now >= next_ps:
                drops += 1
                next_ps += int(interval / math.sqrt(drops))
                continue
            left[frame] = free = now + service
        return left

    return device


@pytest.mark.parametrize("sample_ms", [10, 100])
def test_managed_queue_that_a_pause_left_standing_is_not_blamed(sample_ms: int) -> None:
    """It drops frames that leave on time 100 ms to 2 s after the pause, and has room for all of them."""
    found = judged(10_000, [(100 * MS, 30 * MS)], lambda: codel(10_050), 2000 * MS, sample_ms * MS)
    assert found.lost > 20
    assert found.left == 0


def red(pps: float, low: int, high: int, weight: float) -> Device:
    """A server behind RED: it drops while the average of its queue is high, which outlasts the queue."""
    service = round(PS / pps)

    def device(came: Sequence[int]) -> list[int | None]:
        draw, average, end = random.Random(1), 0.0, 0
        waiting: deque[int] = deque()
        left: list[int | None] = []
        for at in came:
            while waiting and waiting[0] <= at:
                waiting.popleft()
            if not waiting and end:
                average *= (1 - weight) ** ((at - end) / service)
            average += weight * (len(waiting) - average)
            if draw.random() < (average - low) / (high - low):
                left.append(None)
                continue
            end = max(at, end) + service
            waiting.append(end)
            left.append(end)
        return left

    return device


@pytest.mark.parametrize(
    ("low", "high", "weight", "pause_ms"),
    [(5, 8, 1 / 2048, 20), (5, 15, 1 / 2048, 10), (5, 15, 1 / 512, 10), (20, 40, 1 / 2048, 20)],
)
def test_queue_that_drops_by_its_average_is_not_blamed(
    low: int, high: int, weight: float, pause_ms: int
) -> None:
    """It loses up to three times the frames that were due in the pause."""
    found = judged(10_000, [(100 * MS, pause_ms * MS)], lambda: red(10_100, low, high, weight), 2000 * MS)
    assert found.lost > pause_ms * 10
    assert found.left == 0


def sweeping(after_ps: int, length_ps: int) -> Admit:
    """Sweeps its tables when nothing came for a while, and forwards nothing meanwhile."""
    last, until = 0, 0

    def admits(at: int) -> bool:
        nonlocal last, until
        if at - last > after_ps:
            until = last + after_ps + length_ps
        last = at
        return at >= until

    return admits


def test_device_that_tidies_up_in_a_silence_is_not_blamed() -> None:
    """40 frames are due in the pause, and more than 700 are lost, at 10 ms and at 100 ms a sample."""
    for sample_ms in (10, 100):
        device = admitting(lambda: sweeping(3 * MS, 75 * MS))
        found = judged(10_000, [(110 * MS, 4 * MS)], device, 2000 * MS, sample_ms * MS)
        assert found.lost > 700
        assert found.left == 0


@pytest.mark.parametrize(
    ("fps", "turn_ms", "pauses"),
    [
        (20_000, 4, [(99.2, 1.0), (1481.2, 1.5)]),
        (20_000, 4, [(81.2, 1.5), (99.2, 1.0), (499.2, 1.0), (899.2, 1.0)]),
        (5_000, 40, [(142, 4), (198, 3)]),
        (5_000, 100, [(142, 4), (198, 3)]),
    ],
)
def test_bunch_taken_within_a_turn_proves_nothing_of_one_between_turns(
    fps: int, turn_ms: int, pauses: list[tuple[float, float]]
) -> None:
    """The device takes one pause, longer than the others, and its sample has no loss."""
    capacity = fps * 1.001
    room = int(capacity * turn_ms / 1000) + 2
    made = [(round(at * MS), round(length * MS)) for at, length in pauses]
    found = judged(fps, made, admitting(lambda: in_turns(capacity, room, turn_ms * MS)), 2000 * MS)
    assert found.lost > 5
    assert found.left == 0


def test_losses_that_begin_without_a_pause_or_do_not_cease_stay() -> None:
    """An outage by itself beside one that begins with a pause; or a bucket that is too slow."""
    first, second = outage(100 * MS, 80 * MS), outage(600 * MS, 80 * MS)
    twice = judged_alone([(100 * MS, 4 * MS)], lambda at: first(at) and second(at))
    assert twice.left > 1400
    assert judged_alone([(100 * MS, 4 * MS)], bucket(9_800, 25)).left > 100


def test_pauses_all_the_time_explain_no_more_than_they_moved() -> None:
    """That an outage begins with one of them is chance."""
    pauses = [(at * 40 * MS, 3 * MS) for at in range(1, 25)]
    assert judged_alone(pauses, outage(401 * MS, 200 * MS)).left > 500


def judged_alone(pauses: Iterable[tuple[int, int]], admits: Admit) -> Judged:
    """The same of a guilty device, and a trial in bunches of five that it took."""
    tester = Tester((US, 5 * US), list(pauses))
    made = Timed(shoot(10_000, 1000 * MS, tester, admits, random.Random(1)), 10**9, True)
    taken = shoot(5_000, 200 * MS, Tester((MS, MS)), lambda _: True, random.Random(1))
    return judge_loss(made, Witnesses.of([made, Timed(taken, 200 * MS // NS)]))
