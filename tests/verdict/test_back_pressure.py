"""Frames that a memif peer did not take: the device's only if every condition is met, each at its bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from kinds import kind
from netdyno.calibration import Proven
from netdyno.methods import METHODS
from netdyno.methods.wrap.agreement import NAME, with_agreement
from netdyno.values.finding import Result, Value
from netdyno.values.health import WorkerHealth
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import BackPressure, Outcome
from netdyno.values.reason import Reason
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.verdict import Evidence, Timed, judge
from netdyno.verdict.pressure_reasons import (
    CoreInterrupted,
    CoreShared,
    DeviceRefused,
    LongPause,
    NoSecondTrial,
    PeerPreempted,
    PeerRingFull,
    PeerStopped,
    ReceiveRingFull,
    RefusedLoadUnproven,
    RingSizeUnproven,
    TakenLate,
    TesterBesidePeer,
)
from netdyno.verdict.reasons import OtherLoad, TesterShort
from readers import MS, drive_slowly, read_slowly

LINE = Fraction(10_000_000)
UNI = Situation(("west-east",), LINE, Fraction(64), enforced=False)
BIDIR = Situation(
    ("west-east", "east-west"), LINE, Fraction(64), places=(Place(0, 1), Place(1, 0)), enforced=False
)
LOAD = Fraction(100_000)
TAKEN = 50_000
SECOND = 10**9
TRIAL = Trial("t", Frames.steady(FrameRate(LOAD), SECOND))
Change = Callable[[Outcome], Outcome]


def proven(most: int | None = 110_000, expired: str | None = None) -> Proven:
    exact = None if most is None else Fraction(most)
    return Proven("c1", datetime(2026, 11, 21, tzinfo=UTC), exact, expired=expired)


def unchanged(outcome: Outcome) -> Outcome:
    return outcome


def judged(
    change: Change = unchanged,
    second: Change | None = None,
    *,
    calibrated: Proven | None = proven(),  # noqa: B008
    name: tuple[str, str] = ("loss-free load", "fps"),
    number: Fraction = Fraction(TAKEN),
    lost: int = 0,
    taken: int = TAKEN,
) -> tuple[str, Reason]:
    """The verdict on a second at 100 kpps of which the device takes half, and on another that agrees.

    second: what is changed in that other one; None: as in the first.
    """
    first = change(read_slowly(TRIAL, TAKEN, UNI, lost))
    other = (second or change)(read_slowly(TRIAL, taken, UNI, lost))
    evidence = Evidence(
        UNI,
        "real",
        False,
        (first,),
        (SECOND,),
        calibrated,
        is_constant=True,
        case_trials=(Timed(first, SECOND, True), Timed(other, SECOND, True)),
    )
    value = Value(kind(*name), "west-east", number, of_frames=TAKEN if name[1] == "ratio" else None)
    verdict = judge(Result("m", (value,), (0,)), evidence, name[0])["west-east"]
    return verdict.limit, verdict.reason


def missing(*arguments: Any, **named: Any) -> type[Reason] | None:
    """Which condition was missing; None: the device was named."""
    limit, reason = judged(*arguments, **named)
    if limit == "device":
        assert isinstance(reason, DeviceRefused)
        return None
    assert limit == "inconclusive"
    assert isinstance(reason, PeerRingFull)
    return type(reason.missing)


def health(**changes: Any) -> Change:
    return lambda outcome: replace(outcome, health=replace(outcome.health, **changes))


def peer(**changes: Any) -> Change:
    def change(outcome: Outcome) -> Outcome:
        (one,) = outcome.health.peers
        return health(peers=(replace(one, **changes),))(outcome)

    return change


def pressure(**changes: Any) -> Change:
    def change(outcome: Outcome) -> Outcome:
        (port,) = outcome.ports
        assert port.back_pressure is not None
        changed = replace(port, back_pressure=replace(port.back_pressure, **changes))
        return outcome.with_counts(ports=(changed,))

    return change


def test_device_that_does_not_read_fast_enough_is_named_with_its_counts() -> None:
    limit, reason = judged(lost=7)
    assert limit == "device"
    assert isinstance(reason, DeviceRefused)
    assert (reason.refused, reason.intended, reason.lost) == (50_000, 100_000, 7)


def test_loss_ratio_of_refused_frames_is_the_devices() -> None:
    assert missing(name=("frame loss rate", "ratio"), number=Fraction(1, 2)) is None


def test_time_of_the_load_that_was_taken_is_inconclusive() -> None:
    assert missing(name=("latency mean", "ns"), number=Fraction(41 * MS)) is TakenLate


@pytest.mark.parametrize(
    ("met", "unmet", "condition"),
    [
        (health(core_share_ppm=990_000), health(core_share_ppm=989_999), CoreShared),
        (unchanged, health(core_share_ppm=None), CoreShared),
        # 4096 frames at 100 kpps are 40.96 ms, and half of that 20.48 ms.
        (health(longest_gap_ns=20_479_999), health(longest_gap_ns=20_480_000), LongPause),
        (unchanged, health(rx_full=1, rx_full_ns=1), ReceiveRingFull),
        (unchanged, health(rx_dropped=1), ReceiveRingFull),
        (unchanged, pressure(ring=1024), RingSizeUnproven),
        # 50,000 were refused; 1 % of that is 500, 5 ms at 100 kpps.
        (pressure(stops=9, stopped_ns=5 * MS - 1), pressure(stops=9, stopped_ns=5 * MS), PeerStopped),
        (peer(waited_ns=10 * MS - 1), peer(waited_ns=10 * MS), PeerPreempted),
        (peer(ours_ns=10 * MS - 1), peer(ours_ns=10 * MS), TesterBesidePeer),
        # One tick of 10 ms may be chance, two are not.
        (peer(stolen_ns=10 * MS), peer(stolen_ns=20 * MS), CoreInterrupted),
        (
            peer(interrupts_ns=10 * MS),
            peer(interrupts_ns=10 * MS, stolen_ns=10 * MS),
            CoreInterrupted,
        ),
        # Where the kernel has no `schedstat`, the tester's own time comes in ticks, too.
        (
            peer(waited_ns=None, ours_ns=10 * MS),
            peer(waited_ns=None, ours_ns=20 * MS),
            TesterBesidePeer,
        ),
        (
            peer(stolen_ns=None, interrupts_ns=None),
            peer(waited_ns=SECOND, stolen_ns=None),
            PeerPreempted,
        ),
        (health(peers=()), health(peers=(), core_share_ppm=0), CoreShared),
    ],
)
def test_each_condition_missing_alone_is_inconclusive(
    met: Change, unmet: Change, condition: type[Reason]
) -> None:
    assert missing(met) is None
    assert missing(unmet) is condition


@pytest.mark.parametrize(
    ("taken", "busy_ns", "workers", "condition"),
    [
        # In 100 ms 10,000 frames are due, more than 110 % of 4994 and of a ring of 4096.
        (4994, 100 * MS, 1, None),
        (4995, 100 * MS, 1, CoreShared),
        # Of two rings each has half of the load, and may give a ring of frames back.
        (4994, 100 * MS, 2, CoreShared),
        (4_000, 270 * MS, 2, None),
        (0, 0, 1, CoreShared),
    ],
)
def test_peer_seen_to_read_slowly_is_slow_however_the_tester_ran(
    taken: int, busy_ns: int, workers: int, condition: type[Reason] | None
) -> None:
    each = tuple(WorkerHealth(0, 500_000, 1, MS, 1, 1) for _ in range(workers))
    away = health(peers=(), core_share_ppm=500_000, longest_gap_ns=100 * MS, workers=each)
    seen = pressure(taken=taken, busy_ns=busy_ns, stops=9, stopped_ns=300 * MS)
    assert missing(lambda outcome: away(seen(outcome))) is condition


@pytest.mark.parametrize(
    "held",
    [
        peer(waited_ns=500 * MS),
        peer(ours_ns=500 * MS),
        peer(stolen_ns=300 * MS, interrupts_ns=200 * MS),
    ],
)
def test_peer_that_was_preempted_for_long_is_not_shown_to_be_slow(held: Change) -> None:
    """It read 45,000 of 100,000 frames in a second: in the half of it that it had."""
    seen = pressure(taken=45_000, busy_ns=1000 * MS)
    assert missing(seen) is None
    assert missing(lambda outcome: seen(held(outcome))) is not None


def test_trials_in_which_a_peer_was_seen_to_read_agree_by_that() -> None:
    seen = pressure(taken=20_000, busy_ns=500 * MS)
    assert missing(seen, pressure(taken=9_600, busy_ns=250 * MS)) is None
    assert missing(seen, pressure(taken=9_400, busy_ns=250 * MS)) is NoSecondTrial


@pytest.mark.parametrize(
    ("calibrated", "condition"),
    [
        (proven(110_000), None),
        (proven(109_999), RefusedLoadUnproven),
        (proven(None), RefusedLoadUnproven),
        (proven(expired="another kernel"), RefusedLoadUnproven),
        (None, RefusedLoadUnproven),
    ],
)
def test_calibration_covers_110_percent_of_the_refused_load(
    calibrated: Proven | None, condition: type[Reason] | None
) -> None:
    assert missing(calibrated=calibrated) is condition


@pytest.mark.parametrize(
    ("taken", "condition"), [(47_705, None), (47_704, NoSecondTrial), (100_000, NoSecondTrial)]
)
def test_second_trial_agrees_within_5_percent(taken: int, condition: type[Reason] | None) -> None:
    """Of 50,000 frames 4096 were still in the ring: 45,904 were taken, and 5 % of that are 2295.2."""
    assert missing(taken=taken) is condition


def test_second_trial_that_meets_not_all_conditions_does_not_count() -> None:
    assert missing(second=peer(waited_ns=SECOND)) is NoSecondTrial


def test_frames_that_no_full_ring_explains_are_the_testers() -> None:
    def starved(outcome: Outcome) -> Outcome:
        return outcome.with_counts(streams=tuple(replace(one, refused=0) for one in outcome.streams))

    limit, reason = judged(starved)
    assert (limit, type(reason)) == ("tester", TesterShort)
    limit, reason = judged(starved, name=("frame loss rate", "ratio"), number=Fraction(1, 2))
    assert (limit, type(reason)) == ("tester", OtherLoad)


def test_port_without_a_peers_ring_is_judged_as_before() -> None:
    def another_port(outcome: Outcome) -> Outcome:
        streams = tuple(replace(one, refused=0) for one in outcome.streams)
        ports = tuple(replace(one, back_pressure=None) for one in outcome.ports)
        return outcome.with_counts(streams=streams, ports=ports)

    assert judged(another_port)[0] == "tester"


def test_frames_that_were_taken_late_are_inconclusive_and_not_the_testers() -> None:
    """A peer had taken all 20 ms after the end; its ring was full for 280 ms."""

    def late(outcome: Outcome) -> Outcome:
        streams = tuple(
            replace(one, offered=one.intended, received=one.intended, refused=0) for one in outcome.streams
        )
        phases = tuple(
            replace(one, duration_ns=one.duration_ns + 20 * MS) if one.name == "traffic" else one
            for one in outcome.phases
        )
        (port,) = outcome.ports
        ports = (replace(port, back_pressure=BackPressure(4096, 280 * MS, 0, 0)),)
        return replace(outcome.with_counts(streams=streams, ports=ports), phases=phases)

    assert missing(late) is TakenLate
    # What kept it is known if its index did not move.
    stopped: Change = lambda outcome: pressure(stops=1, stopped_ns=280 * MS)(late(outcome))  # noqa: E731
    assert missing(stopped) is PeerStopped
    # Full for less than the tester was behind: a pause of its own.
    shorter: Change = lambda outcome: pressure(full_ns=19 * MS)(late(outcome))  # noqa: E731
    assert judged(shorter)[0] == "tester"


@pytest.mark.parametrize(("stopped_ms", "limit"), [(9, "none"), (10, "inconclusive"), (334, "inconclusive")])
def test_peer_that_stopped_for_a_hundredth_of_a_trial_did_not_get_the_load(
    stopped_ms: int, limit: str
) -> None:
    """A reader did so for 334 ms of one; the tester then caught up, and nothing was missing."""

    def caught_up(outcome: Outcome) -> Outcome:
        streams = tuple(
            replace(one, offered=one.intended, received=one.intended, refused=0) for one in outcome.streams
        )
        counts = outcome.with_counts(streams=streams)
        return pressure(full_ns=stopped_ms * MS, stops=1, stopped_ns=stopped_ms * MS, busy_ns=0)(counts)

    for name, number in ((("loss-free load", "fps"), LOAD), (("loss", "ratio"), Fraction(0))):
        found, reason = judged(caught_up, name=name, number=number)
        assert found == limit
        if limit == "inconclusive":
            assert isinstance(reason, PeerRingFull)
            assert isinstance(reason.missing, PeerStopped)
            assert (reason.refused, reason.missing.stopped_ns) == (0, stopped_ms * MS)


def test_one_direction_the_tester_left_unsent_makes_both_the_testers() -> None:
    trial = read_slowly(TRIAL, TAKEN, BIDIR)
    starved = trial.with_counts(streams=(trial.streams[0], replace(trial.streams[1], refused=0)))
    found = {}
    for outcome in (trial, starved):
        timed = (Timed(outcome, SECOND, True), Timed(replace(outcome), SECOND, True))
        evidence = Evidence(
            BIDIR, "real", False, (outcome,), (SECOND,), proven(), is_constant=True, case_trials=timed
        )
        rate = kind("loss-free load")
        values = tuple(Value(rate, scope, Fraction(1), searched=True) for scope in BIDIR.scopes)
        found[outcome] = judge(Result("m", values, (0,)), evidence, "loss-free load")["sum"].limit
    assert list(found.values()) == ["device", "tester"]


# What the methods make of such trials.


def measured(name: str, lost: int = 0, **parameters: Any) -> tuple[Result, list[Trial], list[Outcome]]:
    method = METHODS[name]
    return drive_slowly(method.start(method.parameters(**parameters), UNI), TAKEN, UNI, lost)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("frame-loss", {"duration": "1s", "maximum": "100kpps"}),
        ("sweep", {"loads": ["10kpps", "100kpps"], "duration": "1s"}),
    ],
)
def test_loss_ratio_counts_lost_and_refused_of_those_intended(name: str, parameters: dict[str, Any]) -> None:
    result, _, _ = measured(name, lost=10, **parameters)
    value = result.value("frame loss rate", "west-east")
    assert value is not None
    # 50,000 of 100,000 were not taken, and 10 of the others lost.
    assert value.number == Fraction(50_010, 100_000)
    assert value.note is not None
    said = value.note.fields()
    assert (said["lost"], said["refused"], said["intended"]) == (10, 50_000, 100_000)


@pytest.mark.parametrize(
    ("name", "headline", "parameters"),
    [
        ("throughput", "throughput", {"duration": "1s", "maximum": "100kpps", "width": "1kpps"}),
        ("bisection", "NDR", {"duration": "1s", "maximum": "100kpps", "width": "1kpps"}),
        ("ndr", "NDR", {}),
    ],
)
def test_search_takes_refused_frames_as_failed_by_the_device(
    name: str, headline: str, parameters: dict[str, Any]
) -> None:
    result, _, _ = measured(name, **parameters)
    value = result.value(headline, "west-east")
    assert value is not None
    assert value.high is not None, "the upper bound is the device's"
    assert value.low is not None
    assert value.low <= TAKEN <= value.high


def test_method_with_one_refused_trial_is_followed_by_another() -> None:
    method = METHODS["frame-loss"]
    for maximum, names in (("52kpps", ["loss at 100 %"]), ("10kpps", [])):
        parameters = method.parameters(duration="1s", maximum=maximum)
        started = with_agreement(method.start(parameters, UNI))
        result, asked, outcomes = drive_slowly(started, TAKEN, UNI)
        again = [trial for trial in asked if trial.name == NAME]
        assert len(again) == len(names)
        assert result.trials == (0,)
        if names:
            (segment,), (first,) = again[0].segments, asked[0].segments
            assert (segment.to_rate, segment.duration_ns) == (first.to_rate, first.duration_ns)
            assert outcomes[-1].streams[0].refused == outcomes[0].streams[0].refused > 0


def test_method_with_several_refused_trials_is_not_followed() -> None:
    method = METHODS["frame-loss"]
    started = with_agreement(method.start(method.parameters(duration="1s", maximum="100kpps"), UNI))
    _, asked, _ = drive_slowly(started, TAKEN, UNI)
    assert NAME not in [trial.name for trial in asked]


def test_repeated_trial_is_short_and_a_ramp_is_not_repeated() -> None:
    method = METHODS["frame-loss"]
    parameters = method.parameters(duration="3600s", maximum="52kpps")
    _, asked, _ = drive_slowly(with_agreement(method.start(parameters, UNI)), TAKEN, UNI)
    assert (asked[-1].name, asked[-1].duration_ns) == (NAME, 10 * SECOND)
    ramp = METHODS["ramp"]
    rising = ramp.parameters(warmup="1s at 1kpps", ramp="2s to 100kpps", hold="1s")
    _, asked, outcomes = drive_slowly(with_agreement(ramp.start(rising, UNI)), TAKEN, UNI)
    assert outcomes[0].streams[0].refused
    assert NAME not in [trial.name for trial in asked]
