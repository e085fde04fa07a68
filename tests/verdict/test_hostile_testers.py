"""Testers whose bunches, drops or pauses one device takes, and another one would not: neither is blamed."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from kinds import kind
from lateness import MS, NS, PS, US, Admit, Tester, bucket, encode, queue, shoot
from netdyno.campaign.judging import Made, judge_case
from netdyno.methods import METHODS
from netdyno.methods.address_caching import CAPACITY
from netdyno.methods.order import EXTENT, RATIO
from netdyno.methods.ramp import KEPT_UP_TO, KNEE
from netdyno.methods.recovery import RECOVERY
from netdyno.methods.throughput import THROUGHPUT
from netdyno.plan.goals import goal_kinds, parse_goal
from netdyno.values.finding import Result, Value
from netdyno.values.health import WorkerHealth
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Lag, LatePeriod, Outcome
from netdyno.values.proven import Proven
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, Timed, Traffic, Witnesses, judge, judge_goal
from netdyno.verdict.excuses import judge_loss
from sampling import WHOLE
from tendevices import measure, wall
from test_hostile_excuses import Device, admitting, judged

LINE = 1_488_095
"""Frames of 64 bytes a second at 1 Gbit/s."""
PROVEN = Proven("c1", datetime(2026, 11, 21, tzinfo=UTC), Fraction(10_000_000), latency_floor_ns=1000)
SECOND = 10**9


def behind_line(admits: Admit) -> Admit:
    """The device behind a line, on which a frame waits for the one before it."""
    free = 0

    def take(at: int) -> bool:
        nonlocal free
        at = max(at, free)
        free = at + PS // LINE
        return admits(at)

    return take


def in_bunches(fps: float, admits: Admit) -> tuple[float, Outcome]:
    """The trial `bunches` of one at this load, as `methods.wrap.witness` asks for it, and its load."""
    frames = min(max(int(fps * 20e-6) + 2 | 1, 5), 33)
    apart = round(frames * PS / (fps / 2))
    found = shoot(fps / 2, 30 * MS, Tester((apart, apart)), admits, random.Random(1), sample_ps=MS)
    return fps / 2, found


def found_at_case(load: float, device: Callable[[], Admit], tester: Tester) -> Verdict:
    """The verdict of a whole case: half the load passed, the load failed, and a trial in bunches."""
    draw = random.Random(1)
    assert not shoot(load, 30 * MS, tester, device(), draw, ideal=True).streams[0].lost
    passed = shoot(load / 2, 30 * MS, Tester((US // 9, US // 9)), device(), draw, sample_ps=MS)
    failed = shoot(load, 30 * MS, tester, device(), draw, sample_ps=MS)
    assert not passed.streams[0].lost
    assert failed.streams[0].lost
    bunched, witness = in_bunches(load, device())
    loads = (load / 2, load, bunched)
    trials = {
        number: (Trial(name, Frames.steady(FrameRate(round(fps)), 30_000_000)), one)
        for number, (name, fps, one) in enumerate(
            zip(("search 1", "search 2", "bunches"), loads, (passed, failed, witness), strict=True)
        )
    }
    low, high = Fraction(round(load / 2)), Fraction(round(load))
    value = Value(THROUGHPUT, "west-east", low, low, high, searched=True)
    made = Made(
        number=0,
        method="throughput",
        situation=Situation(("west-east",), Fraction(LINE), Fraction(64)),
        clock="real",
        enforced_rate=True,
        traffic=Traffic(),
        result=Result("throughput", (value,), (0, 1), headlines=(THROUGHPUT.name,)),
        trials=trials,
        proven=replace(PROVEN, max_fps=Fraction(LINE)),
        goals=(),
        has_one_profile=True,
    )
    (verdict,) = judge_case(made).verdicts
    return Verdict(verdict.limit, verdict.reason)


def test_bunch_that_its_line_spaced_proves_less_room_than_frames() -> None:
    """Of 17 frames at line rate a device at 51 % of it holds 9 at most. 15 us late at half of it are 11."""
    hiccups = [(at * 3 * MS, 14 * US) for at in range(1, 10)]
    found = found_at_case(LINE / 2, lambda: behind_line(queue(LINE * 0.505, 9)), Tester((US, US), hiccups))
    assert found.limit != "device"


def with_streams(*outcomes: Outcome) -> Outcome:
    """Trials of one stream each as one of several."""
    names = ("west-east", "north-south")
    streams = tuple(replace(one.streams[0], name=name) for name, one in zip(names, outcomes, strict=False))
    return outcomes[0].with_counts(streams=streams)


def test_bunch_of_one_stream_proves_nothing_of_the_queue_of_another() -> None:
    """One goes to a port with room for four frames, the other to one with room for 64; each was late once."""
    draw = random.Random(1)
    first, second = ([(at * MS, length * US)] for at, length in ((50, 60), (80, 150)))
    shallow = shoot(200_000, 100 * MS, Tester((US, US), first), queue(400_000, 4), draw, sample_ps=MS)
    deep = shoot(200_000, 100 * MS, Tester((US, US), second), queue(400_000, 64), draw, sample_ps=MS)
    both = Timed(with_streams(shallow, deep), 10**8, True)
    assert 0 < shallow.streams[0].lost < 12
    assert not deep.streams[0].lost
    judged = judge_loss(both, Witnesses.of([both]))
    assert judged.left == 0


def test_as_many_flooded_as_lost_in_one_trial_is_chance() -> None:
    """A switch flooded frames in two trials, and in one of them a pause lost just as many."""
    draw = random.Random(1)
    made = []
    for lost, frames in ((2, 5), (9, 12)):
        pause = [(50 * MS, frames * 50 * US)]
        outcome = shoot(20_000, 200 * MS, Tester((US, US), pause), queue(21_000, frames - lost), draw)
        (stream,) = outcome.streams
        assert stream.lost >= 2
        made.append(Timed(outcome.with_counts(streams=(replace(stream, elsewhere=2),)), 2 * 10**8, True))
    (first, _) = made
    even = first.trial.streams[0]
    made[0] = replace(first, trial=first.trial.with_counts(streams=(replace(even, elsewhere=even.lost),)))
    known = Witnesses.of(made)
    assert [judge_loss(one, known).left for one in made] == [0, 0]


def hogged(fps: int, flows: int, pause_ps: int) -> Outcome:
    """A device of one place behind a tester whose core something takes each 4 ms."""
    pauses = [(at * 4 * MS, pause_ps) for at in range(50)]
    taken: list[bool] = []
    admits = bucket(fps * 1.5, 1)

    def noted(at: int) -> bool:
        taken.append(admits(at))
        return taken[-1]

    outcome = shoot(fps, 200 * MS, Tester((US, US), pauses), noted, random.Random(1))
    came = {number % flows for number, is_taken in enumerate(taken) if is_taken}
    (stream,) = outcome.streams
    return outcome.with_counts(streams=(replace(stream, flows_received=len(came)),))


def test_flows_that_a_pause_hits_each_time_at_two_loads_are_not_dead() -> None:
    """64 flows take 4 ms at 16 kpps, and 8 at 8: something each 4 ms meets the same ones at both."""
    found = []
    for pause_us in range(300, 2000, 50 if WHOLE else 350):
        made = [Timed(hogged(fps, 64, pause_us * US), 2 * 10**8, True) for fps in (16_000, 8_000, 4_000)]
        for few in (made, made[1:]):
            known = Witnesses.of(few, Traffic(64))
            found += [judge_loss(one, known).left for one in few]
    assert not any(found)


def worker(gap_ns: int, tx: int, rx: int) -> WorkerHealth:
    return WorkerHealth(0, 990_000, 1000, gap_ns, tx + rx, 10**6, (tx,), (rx,))


def test_frames_that_came_while_no_worker_read_are_not_the_devices() -> None:
    """One worker sends on time. The other one, which receives, was away for 9 ms: its card counts nothing."""
    draw = random.Random(1)
    gone = lambda at: not 50 * MS <= at < 57 * MS  # noqa: E731
    outcome = shoot(100_000, 200 * MS, Tester((US, US)), gone, draw)
    workers = (worker(2_000, 20_000, 0), worker(9_000_000, 0, 19_300))
    outcome = replace(outcome, health=replace(outcome.health, workers=workers, longest_gap_ns=9_000_000))
    assert outcome.streams[0].lost == 700
    assert measured_on(LOSS, outcome, of_frames=20_000, number=Fraction(700, 20_000)).limit != "device"
    short = replace(outcome, health=replace(outcome.health, workers=(workers[0], worker(5_000_000, 0, 1))))
    assert measured_on(LOSS, short, of_frames=20_000, number=Fraction(700, 20_000)).limit == "device"


LOSS = next(one for one in METHODS["frame-loss"].values if one.is_share)


def measured_on(of: ValueKind, *trials: Outcome, scope: str = "sum", **changes: Any) -> Verdict:
    """The verdict on a value that rests on trials of 200 ms, of one stream."""
    situation = Situation(("west-east",), Fraction(LINE), Fraction(64))
    clean = shoot(50_000, 200 * MS, Tester((100 * US, 100 * US)), lambda _: True, random.Random(1))
    known = Witnesses.of([*(Timed(one, 2 * 10**8, True) for one in trials), Timed(clean, 2 * 10**8, True)])
    evidence = Evidence(
        situation, "real", True, trials, (2 * 10**8,) * len(trials), PROVEN, known, is_constant=True
    )
    value = replace(Value(of, scope, Fraction(1)), **changes)
    return judge(Result("m", (value,), tuple(range(len(trials))), headlines=(of.name,)), evidence)[scope]


def test_last_loss_may_be_a_frame_that_the_tester_dropped() -> None:
    """An overload lost 2000 frames; 60 ms later the tester dropped one, far below a hundredth of them."""
    lost = lambda at: not (at < 20 * MS or 80 * MS <= at < 80 * MS + 10 * US)  # noqa: E731
    outcome = shoot(100_000, 200 * MS, Tester((US, US)), lost, random.Random(1))
    time = Fraction(60_000_000)
    assert measured_on(RECOVERY, outcome, number=time).limit == "device"
    dropped = replace(outcome, health=replace(outcome.health, rx_dropped=1))
    found = measured_on(RECOVERY, dropped, number=time)
    assert (found.limit, found.reason.code) == ("inconclusive", "last-loss-unsure")


def late_once(**counts: int) -> Outcome:
    """A trial without loss in which the tester paused for 1 ms, and what else came of it."""
    outcome = shoot(100_000, 200 * MS, Tester((US, US), [(50 * MS, MS)]), lambda _: True, random.Random(1))
    (stream,) = outcome.streams
    return outcome.with_counts(streams=(replace(stream, **counts),))


@pytest.mark.parametrize(
    ("of", "counts", "changes"),
    [
        (
            CAPACITY,
            {"elsewhere": 3},
            {"number": Fraction(4096), "low": Fraction(4096), "high": Fraction(8192)},
        ),
        (RATIO, {"out_of_order": 20}, {"number": Fraction(20, 20_000)}),
        (EXTENT, {"out_of_order": 20}, {"number": Fraction(4)}),
    ],
)
def test_addresses_and_order_of_frames_that_came_in_a_bunch_say_nothing(
    of: ValueKind, counts: dict[str, int], changes: dict[str, Fraction]
) -> None:
    """Addresses came faster than the device was to learn them; or frames closer than it keeps in order."""
    found = measured_on(of, late_once(**counts), **changes)
    assert (found.limit, found.reason.code) == ("inconclusive", "late-frames-decide")
    (name,) = counts
    assert measured_on(of, late_once(**{name: 500}), **changes).limit == "device"


def test_knee_of_small_bunches_is_not_the_devices() -> None:
    """A tester in rounds of 50 us sends five at once at 100 kpps. The device has room for three."""
    draw = random.Random(1)
    ramp = shoot(100_000, 200 * MS, Tester((50 * US, 50 * US)), queue(1_000_000, 3), draw, sample_ps=MS)
    (stream,) = ramp.streams
    assert stream.lost
    short = ramp.with_counts(streams=(replace(stream, intended=stream.intended * 3),))
    values = (
        Value(kind("ramp max Rx"), "west-east", Fraction(90_000)),
        Value(KNEE, "west-east", Fraction(60_000), Fraction(60_000), Fraction(61_000)),
        Value(KEPT_UP_TO, "west-east", Fraction(200_000)),
    )
    known = Witnesses.of([Timed(short, 2 * 10**8)])
    situation = Situation(("west-east",), Fraction(LINE), Fraction(64))
    evidence = Evidence(situation, "real", True, (short,), (2 * 10**8,), PROVEN, known)
    result = Result("ramp", values, (0,), headlines=("ramp max Rx",))
    assert judge(result, evidence)["west-east"].limit != "device"


def losing_some(admits: Admit, each: int) -> Admit:
    """A device that loses one frame of so many, whatever else it does."""
    count = 0

    def take(at: int) -> bool:
        nonlocal count
        count += 1
        return admits(at) and count % each > 0

    return take


def pdr(capacity: int, pauses: list[tuple[int, int]]) -> Verdict:
    """The verdict on 0.5 % of allowed loss, from 50 kpps to 60, of a device that loses one of 4000 frames."""
    situation = Situation(("west-east",), Fraction(LINE), Fraction(64))
    trials = {}
    for number, (fps, tester) in enumerate(
        (
            (50_000, Tester((US, US))),
            (60_000, Tester((US, US), pauses)),
            (20_000, Tester((250 * US, 250 * US))),
        )
    ):
        device = losing_some(queue(capacity, 60), 4000)
        found = shoot(fps, 400 * MS, tester, device, random.Random(1), sample_ps=MS)
        trials[number] = Trial("t", Frames.steady(FrameRate(fps), 400_000_000)), found
    low, high = Fraction(50_000), Fraction(60_000)
    value = Value(kind("PDR"), "west-east", low, low, high, searched=True, allowed=Fraction(1, 200))
    made = Made(
        number=0,
        method="ndr",
        situation=situation,
        clock="real",
        enforced_rate=True,
        traffic=Traffic(),
        result=Result("ndr", (value,), (0, 1), headlines=("PDR",)),
        trials=trials,
        proven=PROVEN,
        goals=(),
        has_one_profile=True,
    )
    (found,) = judge_case(made).verdicts
    return Verdict(found.limit, found.reason)


def test_loss_that_a_goal_allows_is_no_evidence_for_its_upper_bound() -> None:
    """Six pauses of 5 ms lose 1 % of 24,000 frames, and the device itself 0.025 %."""
    pauses = [(at * 60 * MS, 5 * MS) for at in range(1, 7)]
    assert pdr(70_000, pauses).limit != "device"
    assert pdr(57_000, []).limit == "device"


def activated(fails_at: str) -> Verdict:
    """The verdict on the steps passed of a policer at its CIR, where a pause cost one step three frames."""
    situation = Situation(("west-east",), Fraction(100_000), Fraction(64))
    parameters = METHODS["y1564"].parameters(
        services={"gold": {"cir": "10kpps"}}, step="1s", performance="1s", margin="1%"
    )
    method = METHODS["y1564"].start(parameters, situation)
    trials: dict[int, tuple[Trial, Outcome]] = {}
    asked = next(method)
    while True:
        outcome = measure(asked, wall(10_000), situation)
        (stream,) = outcome.streams
        lost = 3 if asked.name.endswith(fails_at) else 0
        period = LatePeriod(100_000_000, 102_000_000, 2_000_000, 2_000_000, 1, 40)
        lag = Lag(stream.offered, 0, 0, 2_000_000, 0, encode([0]), 40, 10_000, (period,))
        tx = (stream.offered // 10,) * 10
        arrived = tuple(one - (stream.missing // 10) - (lost if at == 1 else 0) for at, one in enumerate(tx))
        stream = replace(
            stream, lost=stream.lost + lost, received=stream.received - lost, lag=lag, tx=tx, arrived=arrived
        )
        trials[len(trials)] = asked, outcome.with_counts(streams=(stream,))
        try:
            asked = method.send(trials[len(trials) - 1][1])
        except StopIteration as stop:
            result: Result = stop.value
            break
    found = judge_case(
        Made(0, "y1564", situation, "real", True, Traffic(), result, trials, PROVEN, (), has_one_profile=True)
    )
    return next(Verdict(one.limit, one.reason) for one in found.verdicts if one.value == "steps passed")


def test_step_that_a_pause_failed_is_not_judged_by_the_policing_step() -> None:
    """The policer drops what is above its CIR by design, and nothing at 75 % of it."""
    assert activated("75% of CIR").limit != "device"


@pytest.mark.parametrize("window_ms", [200, 500, 1000])
def test_policer_that_counts_by_the_second_is_not_blamed(window_ms: int) -> None:
    """A pause moves frames into the next window, which loses as many at its end, long after it."""
    most, window_ps = 10 * window_ms + 3, window_ms * MS

    def counting() -> Admit:
        count = turn = 0

        def admits(at: int) -> bool:
            nonlocal count, turn
            if at // window_ps > turn:
                count, turn = 0, at // window_ps
            count += 1
            return count <= most

        return admits

    found = judged(10_000, [(990 * MS, 25 * MS)], admitting(counting), 2500 * MS)
    assert found.lost > 90
    assert found.left == 0


def blue(pps: float, room: int) -> Device:
    """A server behind BLUE: each 100 ms a full queue makes it drop 2 % more, an idle line 0.2 % less."""
    service, freeze = round(PS / pps), 100 * MS

    def device(came: Sequence[int]) -> list[int | None]:
        draw, share, last, end = random.Random(1), 0.0, -freeze, 0
        waiting: deque[int] = deque()
        left: list[int | None] = []
        for at in came:
            while waiting and waiting[0] <= at:
                waiting.popleft()
            is_full = len(waiting) > room
            if (is_full or (share and not waiting)) and at - last > freeze:
                share, last = max(share + (0.02 if is_full else -0.002), 0.0), at
            if is_full or draw.random() < share:
                left.append(None)
                continue
            end = max(at, end) + service
            waiting.append(end)
            left.append(end)
        return left

    return device


@pytest.mark.parametrize("at_ms", [93, 193, 300])
def test_queue_that_forgets_its_overflow_slowly_is_not_blamed(at_ms: int) -> None:
    """It drops a frame now and then a second after the pause, when its queue has long been empty."""
    found = judged(5000, [(at_ms * MS, 20 * MS)], lambda: blue(5000 / 0.98, 50), 3000 * MS)
    assert found.lost > 100
    assert found.left == 0


def test_goal_for_a_loss_is_not_missed_by_frames_that_a_pause_explains() -> None:
    """The device loses 0.025 %, and may lose 0.1 %; a pause of 10 ms loses 0.2 % more."""
    situation = Situation(("west-east",), Fraction(LINE), Fraction(64))
    goal = parse_goal("loss <= 0.1%", goal_kinds(METHODS))

    def judge_one(pauses: list[tuple[int, int]], each: int) -> bool | None:
        device = losing_some(queue(60_000, 60), each)
        found = shoot(50_000, SECOND * NS, Tester((US, US), pauses), device, random.Random(1), sample_ps=MS)
        (stream,) = found.streams
        bunched = shoot(
            20_000, 200 * MS, Tester((250 * US, 250 * US)), device, random.Random(1), sample_ps=MS
        )
        known = Witnesses.of([Timed(found, SECOND, True), Timed(bunched, 2 * 10**8)])
        value = Value(LOSS, "west-east", Fraction(stream.lost, stream.offered), of_frames=stream.offered)
        result = Result("frame-loss", (value,), (0,), headlines=(LOSS.name,))
        evidence = Evidence(situation, "real", True, (found,), (SECOND,), PROVEN, known, is_constant=True)
        verdicts = judge(result, evidence)
        assert verdicts["west-east"].limit == "device"
        return judge_goal(goal, result, verdicts, evidence).passed

    assert judge_one([(500 * MS, 10 * MS)], 4000) is None
    assert judge_one([], 500) is False
