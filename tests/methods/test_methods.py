"""Methods against devices of a few lines, whose right answers can be worked out on paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from netdyno.methods import METHODS, find_long_pause
from netdyno.methods.ramp import RampParameters
from netdyno.methods.reasons.common import LostOf, NothingSent
from netdyno.methods.reasons.deviations import OutsideRule
from netdyno.methods.reasons.ramps import (
    BehindThroughout,
    BestWindow,
    CorruptedAsLost,
    HoldReceived,
    KeptUp,
    Knee,
    NoKnee,
    NoKneeUpTo,
    RampPreempted,
    ShortRamp,
)
from netdyno.methods.reasons.searches import StreamFailed, TesterBound, UnknownAtAll
from netdyno.methods.reasons.tester import Preempted, Unsent
from netdyno.methods.throughput import ThroughputParameters
from netdyno.values.finding import Result, Value
from netdyno.values.load import FRAMES, Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from sampling import examples
from tendevices import (
    Device,
    drive,
    finite_queue,
    makes_frames,
    measure,
    never_passes,
    passes_everything,
    starved_tester,
    wall,
    window_loss,
)
from words import within

LINE = Fraction(10_000_000)
S = 10**9
THRESHOLD = Fraction(1, 1000)
ONE = Situation(streams=("west-east",), line_fps=LINE, mean_size=Fraction(64))
BOTH = Situation(streams=("west-east", "east-west"), line_fps=LINE, mean_size=Fraction(64))


def throughput(device: Device, situation: Situation = ONE, **parameters: str) -> tuple[Result, list[Outcome]]:
    method = METHODS["throughput"]
    read = ThroughputParameters.model_validate({"duration": "1s", **parameters})
    return drive(method.start(read, situation), device, situation)


def read(
    change: Callable[[Outcome], Outcome], situation: Situation = ONE, **parameters: str | None
) -> Result:
    """What a ramp makes of counts: those of a device that passes everything, changed."""
    given_ = {"warmup": "1s at 1kpps", "ramp": "10s to 100%", "hold": "2s", **parameters}
    method = METHODS["ramp"].start(RampParameters.model_validate(given_), situation)
    outcome = measure(next(method), passes_everything(), situation)
    with pytest.raises(StopIteration) as stop:
        method.send(change(outcome))
    result: Result = stop.value.value
    return result


def ramp(device: Device, situation: Situation = ONE, **parameters: str) -> tuple[Result, list[Outcome]]:
    method = METHODS["ramp"]
    given_ = {"warmup": "1s at 1kpps", "ramp": "10s to 100%", "hold": "2s", **parameters}
    return drive(method.start(RampParameters.model_validate(given_), situation), device, situation)


def value(result: Result, name: str, scope: str = "sum") -> Value:
    return next(found for found in result.values if (found.name, found.scope) == (name, scope))


# Throughput, RFC 2544 section 26.1


@pytest.mark.parametrize("capacity", [10_000, 5_140_000, 9_990_000])
def test_throughput_finds_the_wall_on_its_grid(capacity: int) -> None:
    """The default width is 0.1 % of the line, 10,000 fps here, and these walls stand on the grid."""
    result, _ = throughput(wall(capacity))
    found = value(result, "throughput", "west-east")
    assert (found.number, found.low, found.high) == (capacity, capacity, capacity + 10_000)


def test_throughput_of_the_line_has_no_upper_bound_and_takes_one_trial() -> None:
    result, outcomes = throughput(passes_everything())
    found = value(result, "throughput")
    assert (found.number, found.low, found.high) == (LINE, LINE, None)
    assert len(outcomes) == 1


def test_throughput_of_a_device_that_passes_nothing_is_zero() -> None:
    result, _ = throughput(never_passes())
    found = value(result, "throughput")
    assert (found.number, found.low, found.high) == (0, 0, 10_000)


@settings(max_examples=examples(200), deadline=None)
@given(
    capacity=st.integers(min_value=0, max_value=12_000_000),
    width=st.integers(min_value=1_000, max_value=3_000_000),
)
def test_throughput_brackets_any_wall_within_its_budget(capacity: int, width: int) -> None:
    result, outcomes = throughput(wall(capacity), width=f"{width}pps")
    found = value(result, "throughput")
    assert found.number is not None
    assert found.number < capacity + 1  # a load of a fraction of a frame more sends no frame more
    if capacity >= LINE:
        assert found.number == LINE
    else:
        assert found.high is not None
        assert found.high > capacity
        assert found.high - found.number <= width
    steps = math.ceil(LINE / width)
    assert len(outcomes) <= 1 + math.ceil(math.log2(steps + 1))


def test_throughput_counts_each_direction_and_their_sum() -> None:
    result, _ = throughput(wall(3_000_000), BOTH)
    numbers = {found.scope: found.number for found in result.values}
    assert numbers == {"west-east": 3_000_000, "east-west": 3_000_000, "sum": 6_000_000}


def test_frames_added_in_one_direction_do_not_offset_loss_in_the_other() -> None:
    def lopsided(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds)
        return sent, sent + 5 if stream == "east-west" else sent - 5

    result, _ = throughput(lopsided, BOTH)
    assert value(result, "throughput").number == 0


def test_throughput_never_passes_what_arrives_more_than_once() -> None:
    result, _ = throughput(makes_frames())
    assert value(result, "throughput").number == 0
    (failed,) = within(StreamFailed, result.notes)
    assert failed.beyond


def test_short_trials_that_fill_a_queue_are_rejected_by_the_final_trial() -> None:
    """A queue of 100,000 frames hides 10 % overload of a 1 Mpps device for a second, not for ten."""
    device = finite_queue(capacity=1_000_000, frames=100_000)
    quick, _ = throughput(device, width="10kpps")
    assert value(quick, "throughput").number == 1_100_000
    result, outcomes = throughput(device, duration="10s", search="1s", width="10kpps")
    # Over ten seconds the queue is worth 10,000 fps: 1, 3, 7 and 15 steps down, and then halves.
    found = value(result, "throughput")
    assert (found.number, found.high) == (1_010_000, 1_020_000)
    assert len([outcome for outcome in outcomes if outcome.phases[-2].duration_ns == 10**10]) < 12
    near, _ = throughput(device, duration="10s", search="1s", width="30kpps")
    found = value(near, "throughput")
    assert found.number is not None
    assert found.high is not None
    assert found.number <= 1_010_000 < found.high


def test_a_starved_tester_is_never_blamed_on_the_device() -> None:
    result, _ = throughput(starved_tester(most=2_000_000))
    found = value(result, "throughput")
    assert (found.number, found.high) == (2_000_000, None)
    assert isinstance(found.note, TesterBound)
    assert isinstance(found.note.cause, Unsent)
    hopeless, _ = throughput(starved_tester(most=0))
    assert value(hopeless, "throughput").number is None
    assert isinstance(value(hopeless, "throughput").note, UnknownAtAll)


def test_a_device_that_passes_high_loads_only_still_ends() -> None:
    """Loss between 40 % and 60 % of the line: the maximum passes, and the RFC's search says so."""
    result, outcomes = throughput(window_loss(4_000_000, 6_000_000))
    assert value(result, "throughput").number == LINE
    assert len(outcomes) == 1
    result, outcomes = throughput(window_loss(4_000_000, 6_000_000, above=9_000_000))
    found = value(result, "throughput")
    assert found.number is not None
    assert found.number < 4_000_000 or 6_000_000 < found.number < 9_000_000
    assert len(outcomes) <= 11


def test_compliance_names_every_departure_from_the_rfc() -> None:
    result, _ = throughput(wall(5_000_000))
    (short,) = result.recommended
    assert isinstance(short, OutsideRule)
    assert (short.bound, short.section, short.is_required) == (60 * 10**9, "RFC 2544 section 24", False)
    full, _ = throughput(wall(5_000_000), duration="60s")
    assert full.compliance == full.recommended == ()


def test_the_trials_named_are_the_one_that_passed_and_the_one_that_did_not() -> None:
    result, outcomes = throughput(wall(5_000_000))
    losses = sorted(outcomes[number].lost for number in result.trials)
    assert len(losses) == 2
    assert losses[0] == 0
    assert losses[1] == 10_000


# Ramp


def test_ramp_finds_the_wall_and_its_knee() -> None:
    """100 samples of 100 ms from 0 to 10 Mpps: a step is 100,000 fps. Loss passes 0.1 % just above 5 Mpps."""
    result, _ = ramp(wall(5_000_000))
    assert value(result, "ramp max Rx").number == 5_000_000
    knee = value(result, "knee")
    assert (knee.low, knee.high) == (4_950_000, 5_100_000)
    assert knee.number == 4_950_000
    assert knee.note == Knee(THRESHOLD, Fraction(100_000), 0, None)
    end = value(result, "loss at the end")
    assert (end.number, end.unit) == (Fraction(1, 2), "ratio")
    assert value(result, "hold rate").number == 5_000_000


def test_ramp_without_loss_has_no_knee_but_a_lower_bound() -> None:
    result, _ = ramp(passes_everything())
    assert value(result, "ramp max Rx").number == LINE
    knee = value(result, "knee")
    assert (knee.number, knee.low, knee.high) == (None, 10_000_000, None)
    assert knee.note == NoKneeUpTo(THRESHOLD, Fraction(10_000_000), 0, 20, None, None)
    assert value(result, "loss at the end").number == 0


def test_ramp_of_a_device_that_passes_nothing() -> None:
    result, _ = ramp(never_passes())
    assert value(result, "ramp max Rx").number == 0
    knee = value(result, "knee")
    assert (knee.number, knee.high) == (0, 100_000)
    assert value(result, "loss at the end").number == 1


def test_a_dip_is_not_the_knee() -> None:
    """Loss from 3 to 4 Mpps passes again; from 7 Mpps on it stays."""
    result, _ = ramp(window_loss(3_000_000, 4_000_000, above=7_000_000))
    knee = value(result, "knee")
    assert (knee.low, knee.high) == (6_950_000, 7_100_000)
    assert knee.note == Knee(THRESHOLD, Fraction(100_000), 0, Fraction(3_050_000))


def test_ramp_max_rx_is_not_taken_from_a_sample_that_a_border_cuts() -> None:
    """The warm-up ends at 150 ms: the sample from 100 to 200 ms is neither warm-up nor ramp."""
    calls: list[Fraction] = []

    def first_burst(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        calls.append(fps)
        sent = int(fps * seconds)
        return sent, sent

    result, outcomes = ramp(
        first_burst, warmup="150ms at 9Mpps", ramp="950ms from 1kpps to 1Mpps", hold="400ms"
    )
    # Samples wholly inside: ramp 200..1100 ms, hold 1100..1500 ms.
    assert value(result, "ramp max Rx").number == 1_000_000
    assert value(result, "ramp max Rx").note == BestWindow(100_000_000, 13, False)
    assert max(outcomes[0].streams[0].rx) == 900_000


def test_a_handful_of_frames_is_no_rate() -> None:
    """At 1.5 kpps a sample of 100 ms holds 150 frames, 151 now and then; seven samples make 1000."""
    slow = Situation(streams=("west-east",), line_fps=Fraction(1495), mean_size=Fraction(1514))
    result, _ = ramp(passes_everything(), slow, warmup="1s at 100pps")
    found = value(result, "ramp max Rx")
    assert isinstance(found.note, BestWindow)
    assert found.note.length_ns == 700_000_000
    assert found.number is not None
    assert abs(found.number - 1495) <= 7 / Fraction(7, 10)


def test_the_luckiest_short_sample_is_not_the_maximum() -> None:
    """240 samples of 100 ms in the ramp-up: two of them make 1/120. One sample is a third too high."""
    calls = iter(range(10_000))

    def bursts(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        number = next(calls)
        sent = int(fps * seconds)
        return sent, {0: 300_000, 1: 100_000}.get(number % 20, 200_000)

    result, _ = ramp(bursts, ramp="24s from 1Mpps to 10Mpps", warmup="100ms at 1Mpps")
    found = value(result, "ramp max Rx")
    assert isinstance(found.note, BestWindow)
    assert found.note.length_ns == 200_000_000
    assert found.number == 2_500_000  # 300,000 beside 200,000 frames in 200 ms


def test_the_threshold_is_a_parameter() -> None:
    strict, _ = ramp(wall(5_000_000), threshold="0.1%")
    loose, _ = ramp(wall(5_000_000), threshold="20%")
    assert value(strict, "knee").high == 5_100_000
    # Loss passes 20 % where 5 / load = 0.8: above 6.25 Mpps, where the sample of 6.25 still stands at 20 %.
    knee = value(loose, "knee")
    # The best rate is known to a frame of a window, and to no more than that.
    assert 6_240_000 < knee.low <= knee.number <= 6_250_000 < knee.high


@given(st.integers(50_000, 9_950_000))
@settings(max_examples=examples(60), deadline=None)
def test_the_knee_lies_between_its_bounds_wherever_in_a_sample_loss_begins(capacity: int) -> None:
    """A load from 0 to 10 Mpps in 10 s is t Mpps at t s; from `capacity` on what exceeds it is lost at once.
    Loss passes 0.1 % at capacity / 0.999, whichever sample that is in and whichever half of it."""

    def lossy(outcome: Outcome) -> Outcome:
        (stream,) = outcome.streams
        arrived = list(stream.tx)
        for sample in range(100):
            begin, end = max(sample * 100_000, capacity), (sample + 1) * 100_000
            if begin < end:  # fps above it, over the seconds that takes
                excess = Fraction(begin - capacity + end - capacity, 2) * Fraction(end - begin, 1_000_000)
                arrived[10 + sample] -= round(excess)
        arrived[110:] = [capacity // 10] * len(arrived[110:])
        return outcome.with_counts(streams=(replace(stream, arrived=tuple(arrived), rx=tuple(arrived)),))

    knee = value(read(lossy), "knee")
    assert knee.low is not None
    assert knee.high is not None
    assert knee.low <= Fraction(capacity * 1000, 999) <= knee.high


def test_a_ramp_without_a_hold_is_certain_of_the_last_samples_mean_only() -> None:
    knee = value(read(lambda outcome: outcome, hold=None), "knee")
    assert (knee.number, knee.low) == (None, 9_950_000)
    assert knee.note == NoKneeUpTo(THRESHOLD, Fraction(10_000_000), 0, 0, Fraction(9_950_000), None)


def test_hold_that_lost_one_frame_does_not_put_the_knee_at_its_load() -> None:
    def one_less(outcome: Outcome) -> Outcome:
        (stream,) = outcome.streams
        return outcome.with_counts(
            streams=(replace(stream, arrived=(*stream.arrived[:-1], stream.tx[-1] - 1)),)
        )

    assert value(read(one_less), "knee").low == 9_950_000


def test_the_schedule_was_kept_to_the_load_the_ramp_ends_at() -> None:
    kept = value(read(lambda outcome: outcome), "kept up to")
    assert (kept.number, kept.note) == (10_000_000, KeptUp("end"))


def test_as_many_whole_frames_as_the_line_has_room_for_are_the_line() -> None:
    """14,880,952.38 frames a second are 1,488,095.238 in a sample, where 1,488,095 or 96 can be counted."""
    line = Fraction(10**10, 672)
    fast = Situation(("west-east",), line, Fraction(64))

    def level(count: int, lost: int = 0) -> Value:
        def changed(outcome: Outcome) -> Outcome:
            (stream,) = outcome.streams
            rx = (*stream.rx[:-20], *([count] * 20))
            arrived = (*stream.arrived[:-20], *(sent - lost for sent in stream.tx[-20:]))
            return outcome.with_counts(streams=(replace(stream, rx=rx, arrived=arrived),))

        return value(read(changed, fast), "ramp max Rx")

    assert level(1_488_095).number == line
    assert level(1_488_094).number == 14_880_940
    assert level(1_488_095, lost=1).number == 14_880_950


def caught_up(outcome: Outcome, at: int, share: Fraction) -> Outcome:
    """The tester sends that share of a sample in the next one only, and the device passes what comes."""
    (stream,) = outcome.streams
    tx = list(stream.tx)
    held = int(tx[at] * share)
    tx[at], tx[at + 1] = tx[at] - held, tx[at + 1] + held
    late_ns = int(outcome.sample_ns * share)
    return replace(
        outcome.with_counts(streams=(replace(stream, tx=tuple(tx), rx=tuple(tx), arrived=tuple(tx)),)),
        health=replace(outcome.health, longest_gap_ns=late_ns, latest_departure_ns=late_ns),
    )


@pytest.mark.parametrize("share", [Fraction(9, 10), Fraction(4, 100)])
def test_what_the_tester_sends_to_catch_up_is_no_rate_of_the_device(share: Fraction) -> None:
    """40 kpps asked for on a line of 10 Mpps: 4,000 frames a sample, up to 7,600 in one that makes up for a
    pause of 90 ms, 4,160 after one of 4 ms, which is late by no sample."""
    result = read(lambda outcome: caught_up(outcome, 115, share), ramp="10s to 40kpps")
    assert value(result, "ramp max Rx").number == 40_000


def test_what_the_tester_catches_up_in_the_hold_is_no_rate_of_it() -> None:
    """Nine tenths of the ramp-up's last sample leave in the hold's first: 20 samples of 4,000, and 3,582."""
    found = value(
        read(lambda outcome: caught_up(outcome, 109, Fraction(9, 10)), ramp="10s to 40kpps"), "hold rate"
    )
    assert found.number == 40_000
    assert found.note == HoldReceived(83_582, 2 * S, True)


def test_a_queue_that_empties_is_the_devices_own_rate() -> None:
    """The tester was on time to the frame, as in virtual time."""

    def pours(outcome: Outcome, place: int) -> Outcome:
        """A thousand frames come a sample later."""
        (stream,) = outcome.streams
        rx = list(stream.rx)
        rx[place], rx[place + 1] = rx[place] - 1000, rx[place + 1] + 1000
        return outcome.with_counts(streams=(replace(stream, rx=tuple(rx)),))

    result = read(lambda outcome: pours(outcome, 115), ramp="10s to 40kpps")
    assert value(result, "ramp max Rx").number == 50_000
    # From the ramp-up into the hold: 81,000 frames in 2 s.
    result = read(lambda outcome: pours(outcome, 109), ramp="10s to 40kpps")
    assert value(result, "hold rate").number == 40_500


def test_tester_never_on_schedule_gives_the_mean_of_a_whole_part() -> None:
    def late(outcome: Outcome) -> Outcome:
        (stream,) = outcome.streams
        tx = (0, *stream.tx[:-2], stream.tx[-2] + stream.tx[-1])
        return replace(
            outcome.with_counts(streams=(replace(stream, tx=tx, rx=tx, arrived=tx),)),
            health=replace(outcome.health, latest_departure_ns=100_000_000),
        )

    found = value(read(late, warmup=None, ramp="1s to 100%"), "ramp max Rx")
    # In the hold 950,000 + 18 * 1,000,000 + 2,000,000 frames in 2 s, and 10 Mpps were asked for.
    assert found.number == LINE
    assert found.note == BehindThroughout()


def test_a_queue_is_warned_of_only_beside_a_knee_known_more_closely() -> None:
    """1000 frames move the knee of a rise by 1 Mpps in a second by sqrt(2 * 1M * 1000) = 44,721 fps, those of
    one by 10 Mpps by 141,421."""
    warned = lambda result: [note for note in result.notes if isinstance(note, ShortRamp)]  # noqa: E731
    assert warned(ramp(passes_everything(), ramp="1s to 100%")[0]) == []
    assert warned(ramp(wall(5_000_000), ramp="1s to 100%")[0]) == []
    # In 5 s: 63,245 fps, and steps of 200,000.
    assert warned(ramp(wall(5_000_000), ramp="5s to 100%")[0]) == []
    slow = Situation(("west-east",), Fraction(100_000), Fraction(64))
    (note,) = warned(ramp(wall(50_000), slow)[0])
    assert note.queue_frames == 1000


def test_no_number_of_the_ramp_is_called_throughput() -> None:
    result, _ = ramp(wall(5_000_000), BOTH)
    assert all("throughput" not in found.name for found in result.values)
    assert {found.scope for found in result.values} == {"west-east", "east-west", "sum"}
    assert value(result, "ramp max Rx").number == 10_000_000


def paused(outcome: Outcome, trial: Trial, at: int, capacity: int, gap_ns: int) -> Outcome:
    """The same with nine tenths of the frames of one sample sent in the next one, into a wall."""
    (stream,) = outcome.streams
    tx = list(stream.tx)
    held = tx[at] * 9 // 10
    tx[at], tx[at + 1] = tx[at] - held, tx[at + 1] + held
    arrived = tuple(min(sent, capacity * outcome.sample_ns // 10**9) for sent in tx)
    return replace(
        outcome.with_counts(streams=(replace(stream, tx=tuple(tx), rx=arrived, arrived=arrived),)),
        health=replace(outcome.health, longest_gap_ns=gap_ns, latest_departure_ns=gap_ns),
    )


@pytest.mark.parametrize(
    ("at", "low", "high", "step"),
    [
        (20, 3_950_000, 4_100_000, (100_000, 0)),  # well below the knee
        (39, 3_850_000, 4_200_000, (300_000, 2)),  # in it
        (42, 3_950_000, 4_100_000, (100_000, 0)),  # so few frames that none is lost
    ],
)
def test_a_pause_of_the_tester_neither_moves_the_knee_nor_spoils_the_ramp(
    at: int, low: int, high: int, step: tuple[int, int]
) -> None:
    """A rise of 10 s to 10 Mpps in samples of 100 ms: sample k is at (k + 1/2) * 100 kpps, and this wall
    stands between samples 39 and 40. The warm-up has ten samples before them."""
    method = METHODS["ramp"].start(
        RampParameters.model_validate({"warmup": "1s at 1kpps", "ramp": "10s to 100%", "hold": "2s"}), ONE
    )
    trial = next(method)
    well = measure(trial, wall(4_000_000), ONE)
    ill = paused(well, trial, 10 + at, 4_000_000, 90_000_000)
    with pytest.raises(StopIteration) as stop:
        method.send(ill)
    knee = value(stop.value.value, "knee")
    assert (knee.low, knee.high) == (low, high)
    assert isinstance(knee.note, Knee)
    assert (knee.note.step_pps, knee.note.late) == step
    assert find_long_pause(trial, replace(ill, health=replace(ill.health, longest_gap_ns=10**9))) is None


def test_long_pause_is_noted_in_a_ramp_and_spoils_a_constant_load() -> None:
    method = METHODS["ramp"].start(
        RampParameters.model_validate({"warmup": None, "ramp": "10s to 100%"}), ONE
    )
    trial = next(method)
    ill = paused(measure(trial, wall(4_000_000), ONE), trial, 20, 4_000_000, 150_000_000)
    with pytest.raises(StopIteration) as stop:
        method.send(ill)
    assert RampPreempted(150_000_000) in stop.value.value.notes

    constant = Trial("search 1", Frames.steady(FrameRate(LINE), 10**9))
    health = replace(ill.health, longest_gap_ns=100_000_001)
    assert find_long_pause(constant, replace(ill, health=health)) == Preempted(100_000_001)
    health = replace(health, longest_gap_ns=100_000_000)
    assert find_long_pause(constant, replace(ill, health=health)) is None


def test_a_ramp_whose_tester_was_always_late_has_no_knee() -> None:
    method = METHODS["ramp"].start(
        RampParameters.model_validate({"warmup": "1s at 1kpps", "ramp": "1s to 100%", "hold": None}), ONE
    )
    trial = next(method)
    well = measure(trial, wall(4_000_000), ONE)
    (stream,) = well.streams
    # All of the ramp-up a sample late; the last one makes up for it.
    tx = (*stream.tx[:10], 0, *stream.tx[10:-2], stream.tx[-2] + stream.tx[-1])
    ill = replace(
        well.with_counts(streams=(replace(stream, tx=tx, rx=tx, arrived=tx),)),
        health=replace(well.health, latest_departure_ns=100_000_000),
    )
    with pytest.raises(StopIteration) as stop:
        method.send(ill)
    knee = value(stop.value.value, "knee")
    assert (knee.number, knee.note) == (None, NoKnee("late"))


@pytest.mark.parametrize("hold", ["1s", None])
def test_ramp_late_from_its_start_does_not_say_nothing_was_sent(hold: str | None) -> None:
    """A tester of 100 kpps sends 200,000 frames of a ramp that begins at 5 Mpps: all of them late."""
    line = Situation(("a-b",), Fraction(10_000_000), Fraction(64))
    method = METHODS["ramp"]
    parameters = method.parameters(warmup=None, ramp="2s from 5Mpps to 100%", hold=hold)
    result, (outcome,) = drive(method.start(parameters, line), starved_tester(100_000), line)
    assert outcome.streams[0].offered == (300_000 if hold else 200_000)
    knee = result.value("knee", "a-b")
    assert knee is not None
    assert (knee.number, knee.note) == (None, NoKnee("late"))


def test_ramp_without_a_frame_says_nothing_was_sent() -> None:
    line = Situation(("a-b",), Fraction(10_000_000), Fraction(64))
    method = METHODS["ramp"]
    parameters = method.parameters(warmup=None, ramp="2s from 5Mpps to 100%", hold=None)
    result, _ = drive(method.start(parameters, line), starved_tester(0), line)
    knee, end = result.value("knee", "a-b"), result.value("loss at the end", "a-b")
    assert knee is not None
    assert end is not None
    assert (knee.note, end.note) == (NoKnee("nothing-sent"), NothingSent())


def test_ramp_on_a_starved_tester_says_so() -> None:
    result, _ = ramp(starved_tester(most=2_000_000))
    assert within(Unsent, result.notes)
    # The ramp-up goes by 100,000 fps a sample: the sample around 2.05 Mpps is 5,000 frames short, which is
    # less than 5 ms of its traffic (10,250), and with the next one the schedule is lost for good.
    assert value(result, "kept up to").number == 2_050_000
    assert value(result, "knee").number is None


# Mixes: 400 bytes on average, a line of 1 Mpps, 100,000 frames in a sample. The longest frame has room for
# 21.9 of average size. 100 samples of the ramp-up, 20 of the hold.

MIX = Situation(("west-east",), Fraction(1_000_000), Fraction(400), mixed_receivers=(0,))


def mixed(hold_rx: list[int], *, lost: int = 0, size: int = 400) -> Result:
    """A ramp whose hold brought in so many frames in each sample, again and again, all of one size."""
    method = METHODS["ramp"].start(
        RampParameters.model_validate({"warmup": None, "ramp": "10s to 100%", "hold": "2s"}), MIX
    )
    measured = measure(next(method), passes_everything(), MIX)
    (stream,) = measured.streams
    hold = tuple(hold_rx * 20)[:20]
    rx = (*stream.rx[:-20], *hold)
    arrived = (*stream.arrived[:-20], *(count - lost for count in stream.arrived[-20:]))
    port = replace(measured.ports[0], rx=rx, rx_bytes_series=tuple(count * size for count in rx))
    with pytest.raises(StopIteration) as stop:
        method.send(measured.with_counts(streams=(replace(stream, rx=rx, arrived=arrived),), ports=(port,)))
    result: Result = stop.value.value
    return result


def test_more_of_a_mix_than_the_line_holds_is_the_line_if_nothing_was_lost() -> None:
    """By no more than the longest frame has room for: so much shifts with the order of the sizes."""
    found = value(mixed([100_020, 99_980]), "ramp max Rx")
    assert (found.number, found.note) == (1_000_000, BestWindow(100_000_000, 120, False))


def test_mix_above_line_rate_in_a_short_window_ends_with_a_longer_one() -> None:
    found = value(mixed([100_020, 99_880], lost=50), "ramp max Rx")
    assert (found.number, found.note) == (999_500, BestWindow(200_000_000, 120, False))
    found = value(mixed([103_000, 96_000, 95_000, 95_000]), "ramp max Rx")
    assert found.note == BestWindow(200_000_000, 120, False)


def test_more_of_a_mix_than_the_line_holds_all_the_time_stands_as_counted() -> None:
    """A declared line that nothing enforces. The window grows no longer than the hold it is in."""
    found = value(mixed([120_000], lost=50), "ramp max Rx")
    assert (found.number, found.note) == (1_200_000, BestWindow(2 * S, 120, False))


def test_the_line_is_as_full_as_the_sizes_make_it_that_came_back() -> None:
    """A frame of 80 bytes takes 100 of the 42,000,000 the line has in a sample. The ramp ends at 99,500."""
    small = mixed([30_000], lost=70_000, size=80)
    assert value(small, "line utilisation").number == Fraction(99_500 * 100, 42_000_000)
    assert value(small, "hold rate").number == 300_000
    assert value(mixed([100_000]), "line utilisation").number == 1
    assert all(found.name != "line utilisation" for found in ramp(wall(5_000_000))[0].values)


def test_corrupted_frames_count_as_lost_and_are_reported() -> None:
    method = METHODS["ramp"].start(
        RampParameters.model_validate({"warmup": None, "ramp": "1s to 100%", "hold": "1s"}), ONE
    )
    measured = measure(next(method), wall(5_000_000), ONE)
    (stream,) = measured.streams
    spoiled = replace(stream, lost=stream.lost - 1000, corrupted=1000)
    with pytest.raises(StopIteration) as stop:
        method.send(measured.with_counts(streams=(spoiled,)))
    result: Result = stop.value.value
    assert CorruptedAsLost((("west-east", 1000),)) in result.notes
    (end,) = within(LostOf, value(result, "loss at the end").note)
    assert end.is_corrupted


# Parameters


def test_short_forms_and_long_forms_mean_the_same() -> None:
    short = RampParameters.model_validate(
        {"warmup": "30s at 1kpps", "ramp": "120s from 1kpps to 100%", "hold": "30s"}
    )
    long = RampParameters.model_validate(
        {
            "warmup": {"duration": "30s", "load": "1kpps"},
            "ramp": {"duration": "120s", "from": "1kpps", "to": "100%"},
            "hold": "30s",
        }
    )
    assert short == long
    assert RampParameters.model_validate_json(short.model_dump_json(by_alias=True)) == short


@pytest.mark.parametrize(
    "wrong",
    [
        {"warmup": "30s"},
        {"warmup": "30 at 1kpps"},
        {"warmup": "30s at 1kpsp"},
        {"ramp": "0s to 100%"},
        {"ramp": "120s"},
        {"hold": "0s"},
        {"hold": "-1s"},
        {"holdd": "1s"},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        RampParameters.model_validate(wrong)


@pytest.mark.parametrize("wrong", [{"width": "0%"}, {"maximum": "0pps"}, {"duration": "0s"}])
def test_a_search_over_nothing_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        ThroughputParameters.model_validate(wrong)


def test_scaling_multiplies_every_duration_and_nothing_else() -> None:
    scaled = RampParameters().scaled(Fraction(1, 100))
    assert scaled.warmup is not None
    assert scaled.hold is not None
    assert [scaled.warmup.duration.ns, scaled.ramp.duration.ns, scaled.hold.ns] == [
        3 * 10**8,
        12 * 10**8,
        3 * 10**8,
    ]
    assert scaled.ramp.end == RampParameters().ramp.end
    assert scaled.threshold == RampParameters().threshold


@pytest.mark.parametrize("name", list(METHODS))
def test_each_method_describes_itself(name: str) -> None:
    method = METHODS[name]
    assert method.name == name
    assert method.title
    assert method.doc.endswith(".")
    assert bool(method.standard) != bool(method.like)
    assert method.traffic_seconds(method.parameters()) > 0
    schema = method.parameters.model_json_schema()
    assert schema["additionalProperties"] is False


OF_BOTH = [
    name
    for name, method in METHODS.items()
    # An acceptance has one answer, of the whole device.
    if method.load_class is FRAMES and name != "acceptance"
    if method.pattern is None and (method.fits is None or method.fits(method.parameters(), BOTH) is None)
]
"""Methods of frames in a lab with one stream each way; the others' own tests look."""


@pytest.mark.parametrize("name", OF_BOTH)
def test_a_method_finds_a_headline_for_every_scope(name: str) -> None:
    """The value verdicts are about and reports show; a method without one would have neither."""
    method = METHODS[name]
    parameters = method.parameters()
    result, _ = drive(method.start(parameters, BOTH), wall(5_000_000), BOTH)
    first = next(name for name in result.headlines if any(value.name == name for value in result.values))
    scopes = [value.scope for value in result.values if value.name == first]
    assert sorted(scopes) == sorted([*BOTH.streams, "sum"])
