"""Back pressure and carrier losses where somebody other than the device was at fault, or nobody was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from kinds import kind
from netdyno.methods import METHODS
from netdyno.methods.soak import LOSS_EVENTS, LOSS_RATIO
from netdyno.methods.wrap.contradicted import checked
from netdyno.stats.carrier import spans
from netdyno.values.finding import Result, Value
from netdyno.values.health import Health
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import (
    CarrierLoss,
    FrameCounts,
    Gap,
    Gaps,
    InterfaceResult,
    Latency,
    Outcome,
    Phase,
    PortResult,
    StreamResult,
)
from netdyno.values.proven import Proven
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, Timed, judge, with_link
from readers import MS, drive_slowly, read_slowly

LINE = Fraction(10_000_000)
UNI = Situation(("west-east",), LINE, Fraction(64), enforced=False)
BIDIR = Situation(
    ("west-east", "east-west"), LINE, Fraction(64), places=(Place(0, 1), Place(1, 0)), enforced=False
)
PROVEN = Proven("c1", datetime(2026, 11, 21, tzinfo=UTC), Fraction(2_000_000))
LOAD = 100_000
SECOND = 10**9
SHUT = CarrierLoss("east", 300 * MS, 400 * MS, cause="device")
LINK = replace(SHUT, cause="link")
Change = Callable[[Outcome], Outcome]


def trial(taken: int, lost: int = 0, fps: int = LOAD, situation: Situation = UNI) -> Outcome:
    """A second at a load of which the device takes so many frames and loses some."""
    asked = Trial("t", Frames.steady(FrameRate(fps), SECOND))
    return read_slowly(asked, taken, situation, lost)


def judged(
    trials: Sequence[Outcome],
    others: Sequence[Outcome] = (),
    *,
    name: tuple[str, str] = ("frame loss rate", "ratio"),
    scope: str = "",
    situation: Situation = UNI,
    value: dict[str, Any] | None = None,
    case: Sequence[Outcome] = (),
) -> Verdict:
    """The verdict on a value that rests on the trials. others: of the case. case: all of it."""
    every = case or (*trials, *others)
    timed = tuple(Timed(one, SECOND, True) for one in every if not one.carrier_losses)
    evidence = Evidence(
        situation, "real", False, tuple(trials), (SECOND,) * len(trials), PROVEN, is_constant=True,
        case_trials=timed,
    )  # fmt: skip
    scope = scope or situation.streams[0]
    streams = [one for each in trials for one in each.streams if scope in ("sum", one.name)]
    sent, refused = sum(one.offered for one in streams), sum(one.refused for one in streams)
    ratio = Fraction(sum(one.missing for one in streams) + refused, sent + refused)
    found = Value(kind(*name), scope, ratio, of_frames=sent)
    found = replace(found, **(value or {}))
    return judge(Result("m", (found,), tuple(range(len(trials)))), with_link(evidence), name[0])[scope]


def with_health(outcome: Outcome, **changes: Any) -> Outcome:
    return replace(outcome, health=replace(outcome.health, **changes))


def missing(verdict: Verdict) -> str:
    """Which condition of naming the device was missing."""
    assert verdict.limit == "inconclusive"
    assert verdict.reason.code == "peer-ring-full"
    code: str = verdict.reason.missing.code  # type: ignore[attr-defined]
    return code


# Frames that were not taken.


def test_two_trials_with_refused_frames_name_the_device() -> None:
    assert judged([trial(50_000)], [trial(50_000)]).limit == "device"


def test_trial_beside_one_with_a_carrier_loss_does_not_agree_with_itself() -> None:
    parts = [replace(trial(LOAD), carrier_losses=(LINK,)), trial(50_000)]
    assert missing(judged(parts)) == "no-second-trial"


def test_trial_that_was_counted_anew_does_not_agree_with_itself() -> None:
    """As the broadcast test does."""
    once = trial(50_000)
    assert missing(judged([once.with_counts()], case=[once])) == "no-second-trial"


@pytest.mark.parametrize(
    ("refused", "held"),
    [
        # A device that takes 1.003 Mpps is sent 1 Mpps. Its ring ran empty in five pauses of 2 ms with a
        # round between each two: 10 ms, or 10,000 frames, and some are made up for.
        (2500, {"core_share_ppm": 990_000, "longest_gap_ns": 2 * MS}),
        (9000, {"waited_ns": 9 * MS}),
        (9000, {"interrupts_ns": 10 * MS}),
        (9000, {"ours_ns": 9 * MS, "waited_ns": None}),
        # Neither alone.
        (9500, {"waited_ns": 5 * MS, "stolen_ns": 5 * MS}),
    ],
)
def test_time_lost_on_either_core_explains_few_refused_frames(refused: int, held: dict[str, Any]) -> None:
    def change(outcome: Outcome) -> Outcome:
        of_peer = {name: one for name, one in held.items() if name.endswith("_ns") and name[:3] != "lon"}
        own = {name: one for name, one in held.items() if name not in of_peer}
        (peer,) = outcome.health.peers
        return with_health(outcome, peers=(replace(peer, **of_peer),), **own)

    taken = 1_000_000 - refused
    assert judged([trial(taken, fps=1_000_000)], [trial(taken, fps=1_000_000)]).limit == "device"
    both = [change(trial(taken, fps=1_000_000)) for _ in range(2)]
    assert missing(judged(both[:1], both[1:])) == "held-back"


@pytest.mark.parametrize("second", [trial(LOAD - 5), trial(LOAD)])
def test_few_refused_frames_meet_all_conditions_too(second: Outcome) -> None:
    """Five of 100,000 are no shortfall of a tester; the peer waited for its core for 50 ms."""

    def preempted(outcome: Outcome) -> Outcome:
        (peer,) = outcome.health.peers
        return with_health(outcome, peers=(replace(peer, waited_ns=50 * MS),))

    assert missing(judged([preempted(trial(LOAD - 5))], [preempted(second)])) == "peer-preempted"
    full = {"number": Fraction(50_000), "low": Fraction(50_000), "high": Fraction(LOAD), "searched": True,
            "of_frames": None}  # fmt: skip
    found = judged([trial(50_000, fps=50_000), preempted(trial(LOAD - 5))], name=("PDR", "fps"), value=full)
    assert missing(found) == "peer-preempted"


def test_device_that_took_the_load_elsewhere_does_not_agree() -> None:
    """It took 1.015 Mpps of 1.1 Mpps, so it was held back when it took 0.97 of 1 Mpps: 4.4 % less."""
    low, high = trial(970_000, fps=1_000_000), trial(1_015_000, fps=1_100_000)
    assert missing(judged([low], [high])) == "no-second-trial"
    assert judged([low], [trial(990_000, fps=1_100_000)]).limit == "device"


def test_stream_that_was_taken_whole_is_judged_by_its_own_losses() -> None:
    """The other direction's device does not read; this one lost nothing."""

    def one_way(outcome: Outcome) -> Outcome:
        _, back = trial(LOAD, situation=BIDIR).streams
        return outcome.with_counts(streams=(outcome.streams[0], back))

    trials = [one_way(trial(50_000, situation=BIDIR)) for _ in range(2)]
    assert judged(trials[:1], trials[1:], situation=BIDIR).limit == "device"
    found = judged(trials[:1], trials[1:], situation=BIDIR, scope="east-west")
    assert (found.limit, found.reason.code) == ("none", "nothing-lost")
    # A time of it is still one of another load: that of the other stream.
    found = judged(trials[:1], trials[1:], situation=BIDIR, scope="east-west", name=("latency mean", "ns"),
                   value={"number": Fraction(MS), "of_frames": None})  # fmt: skip
    assert missing(found) == "taken-late"


def test_frames_that_the_tester_dropped_in_another_part_are_its_own() -> None:
    """700 were refused in each of two parts, and 40,000 dropped in a third."""
    dropped = with_health(trial(LOAD, lost=40_000), rx_dropped=40_000)
    assert judged([trial(99_300), trial(99_300), dropped]).limit != "device"


def test_frames_that_came_and_were_not_seen_are_the_receivers() -> None:
    """The other end is an interface of the kernel, which counted all."""

    def seen(outcome: Outcome) -> Outcome:
        (port,) = outcome.ports
        counted = InterfaceResult(port.name, "eth1", counters={"rx_packets": port.rx_frames + 40_000})
        return replace(outcome, interfaces=(counted,))

    both = [seen(trial(99_300, lost=40_000)) for _ in range(2)]
    assert judged(both[:1], both[1:]).limit == "receiver"


def test_frames_that_the_far_end_of_a_lag_dropped_are_the_fixtures() -> None:
    both = [replace(trial(99_300, lost=40_000), devices=({"partner_drops": 40_000},)) for _ in range(2)]
    assert judged(both[:1], both[1:]).limit == "fixture"


def test_search_that_allows_the_refused_frames_has_no_limit() -> None:
    """At the highest load there is; 0.3 % were refused, and 0.5 % are allowed."""
    both = [trial(99_700) for _ in range(2)]
    full = {"number": Fraction(LOAD), "low": Fraction(LOAD), "high": None, "searched": True,
            "of_frames": None}  # fmt: skip
    found = judged(both[:1], both[1:], name=("PDR", "fps"), value=full)
    assert (found.limit, found.reason.code) == ("none", "no-more-offered")
    assert found.reason.fields()["lost"] == 300


def test_soak_with_refused_frames_is_not_clean() -> None:
    soak = METHODS["soak"]
    parameters = soak.parameters(load="100kpps", duration="2s", part="1s")
    result, _, _ = drive_slowly(soak.start(parameters, UNI), 50_000, UNI)
    value = result.headline(("sum", "west-east"))
    assert value is not None
    assert (value.number, value.low, value.high) == (Fraction(1, 2),) * 3
    assert value.note is not None
    assert value.note.fields()["refused"] == 100_000
    assert "soak-clean" not in [note.code for note in result.notes]


def test_device_that_waits_for_a_full_line_is_limited_by_the_line() -> None:
    """Behind it is a card whose line carries 100 kpps; it reads no more than it can send."""
    slow = replace(UNI, line_fps=Fraction(LOAD))
    both = [trial(99_800, situation=slow) for _ in range(2)]
    rate = {"number": Fraction(99_800), "of_frames": None}
    found = judged(both[:1], both[1:], situation=slow, name=("ramp max Rx", "fps"), value=rate)
    assert found.limit == "line"
    assert judged(both[:1], both[1:], situation=slow).limit == "line"
    # Where it brought less the line had room.
    both = [trial(98_000, situation=slow) for _ in range(2)]
    assert judged(both[:1], both[1:], situation=slow).limit == "device"


def test_throughput_that_a_longer_trial_refused_frames_of_is_contradicted() -> None:
    """A device that takes 48 kpps: in a trial of a second its ring holds 4 % more."""
    latency = METHODS["latency"]
    search = {"duration": "1s", "maximum": "100kpps"}
    parameters = latency.parameters(repeats=1, duration="2s", after="0s", throughput=search)
    method = checked(latency.start(parameters, UNI), UNI)
    asked, result = next(method), None
    while result is None:
        try:
            asked = method.send(read_slowly(asked, 52_096 if asked.duration_ns <= SECOND else 48_000, UNI))
        except StopIteration as stop:
            result = stop.value
    value = result.value("throughput", "west-east")
    assert value is not None
    assert value.number == 50_000
    assert value.contradicted is not None
    assert value.contradicted.fields()["lost"] == 4000


# Carrier losses.


FRAMES = 10_000
GAP_NS = SECOND // FRAMES


def part(*lost: tuple[int, int], carrier: tuple[CarrierLoss, ...] = (), further: int = 0) -> Outcome:
    """A second of 10,000 frames that lost these, from the first to the last of each gap."""
    gone = {frame for first, last in lost for frame in range(first, last + 1)}
    each = FRAMES // 10
    arrived = tuple(each - sum(frame // each == sample for frame in gone) for sample in range(10))
    gaps = tuple(
        Gap(first, last, last - first + 1, first * GAP_NS, last * GAP_NS) for first, last in sorted(lost)
    )
    received = FRAMES - len(gone) - further
    stream = StreamResult(
        name="west-east", intended=FRAMES, offered=FRAMES, offered_bytes=64 * FRAMES, received=received,
        received_bytes=64 * received, duplicates=0, elsewhere=0, out_of_order=0, corrupted=0,
        lost=FRAMES - received, beyond_window=0, flows_received=1,
        latency=Latency(received, 10_000, 10_000 * received, 10_000, 0, 0, ""),
        tx=(each,) * 10, rx=arrived, arrived=arrived, first_loss_ns=None,
        gaps=Gaps(gaps, int(further > 0), further),
    )  # fmt: skip
    health = Health(0, 0, 0, 0, 0, None)
    counts = FrameCounts((stream,), (), 100 * MS)
    return Outcome(counts, health, (Phase("traffic", 0, SECOND),), carrier_losses=carrier)


def soaked(*parts: Outcome, name: str = LOSS_RATIO.name, proven: Proven | None = PROVEN,
           clock: str = "real") -> Verdict:  # fmt: skip
    lost, sent = sum(one.lost for one in parts), FRAMES * len(parts)
    ratio = Fraction(lost, sent)
    value = Value(LOSS_RATIO, "sum", ratio, ratio, ratio, of_frames=sent)
    if name == LOSS_EVENTS.name:
        value = Value(LOSS_EVENTS, "sum", Fraction(2))
    situation = Situation(("west-east",), Fraction(1_000_000), Fraction(64))
    evidence = Evidence(
        situation,
        clock,
        True,
        parts,
        (SECOND,) * len(parts),
        proven=proven,
        is_constant=True,  # type: ignore[arg-type]
    )
    return judge(Result("soak", (value,), (0,), headlines=(name,)), with_link(evidence), name)["sum"]


def test_count_beside_a_shut_port_is_not_the_devices_if_others_lost_too() -> None:
    """Two loss events: the device shut its port, and the tester dropped 5000."""
    found = part((500, 5499), (7000, 7999), carrier=(replace(SHUT, from_ns=700 * MS, until_ns=800 * MS),))
    found = with_health(found, rx_dropped=5000)
    assert soaked(found, name=LOSS_EVENTS.name).limit == "receiver"


@pytest.mark.parametrize("carrier", [SHUT, LINK])
def test_frames_dropped_while_there_was_no_carrier_are_the_receivers(carrier: CarrierLoss) -> None:
    """An event of 5000 frames that it touches; the tester says that it dropped 4000 of them."""
    found = with_health(part((3000, 7999), carrier=(carrier,)), rx_dropped=4000)
    assert soaked(found).limit == "receiver"


@pytest.mark.parametrize("carrier", [SHUT, LINK])
def test_frames_that_came_without_a_carrier_were_not_lost_to_it(carrier: CarrierLoss) -> None:
    """The interface counted all, and its port 1000 less."""
    found = part((3000, 3999), carrier=(carrier,))
    port = PortResult("east", 0, 0, 9000, 0, 0, (), (), (), ())
    counted = InterfaceResult("east", "eth1", counters={"rx_packets": FRAMES})
    assert soaked(replace(found.with_counts(ports=(port,)), interfaces=(counted,))).limit == "receiver"


def test_undated_frames_are_never_those_of_a_device_that_shut_its_port() -> None:
    """When they were lost is unknown, and the tester is not calibrated."""
    assert soaked(part((3000, 3999), carrier=(SHUT,)), proven=None).limit == "device"
    assert soaked(part((3000, 3999), carrier=(SHUT,), further=3000), proven=None).limit != "device"


@pytest.mark.parametrize("until_ns", [None, 900 * MS])
def test_loss_behind_a_link_goes_on_in_the_next_part(until_ns: int | None) -> None:
    """The carrier is back before the next part, and the device's spanning tree is not."""
    gone = CarrierLoss("east", 800 * MS, until_ns)
    first, second = part((8000, 9999), carrier=(gone,)), part((0, 4999))
    assert soaked(first, second).limit == "link"
    # Nor is it in the one after the next.
    assert soaked(part(carrier=(CarrierLoss("east", 1100 * MS, 1200 * MS),)), second).limit == "link"
    assert soaked(first, part((0, 9999)), part((0, 4999))).limit == "link"
    # Behind frames that came back another loss is another.
    assert soaked(first, part((5000, 5099))).limit == "device"
    assert soaked(first, part(), part((0, 99))).limit == "device"


def bridged(*carrier: CarrierLoss, last: int = 9999) -> Outcome:
    """A part that lost each tenth frame up to the last: near enough to each other to be one event."""
    found = part(*((frame, frame) for frame in range(0, last, 10)), carrier=carrier)
    (stream,) = found.streams
    gap = Gap(0, last // 10 * 10, stream.lost, 0, last // 10 * 10 * GAP_NS)
    return found.with_counts(streams=(replace(stream, gaps=Gaps((gap,), 0, 0)),))


def test_loss_of_all_the_time_is_not_that_of_a_link_in_the_middle() -> None:
    """One event, as its losses are near to each other; 200 frames were lost in samples before the link."""
    shut = replace(SHUT, until_ns=301 * MS)
    found = soaked(bridged(replace(shut, cause="link")), clock="virtual")
    assert found.limit == "device"
    assert (found.reason.fields()["lost"], found.reason.fields()["of_links"]) == (200, 800)
    # A device that shut its port in the middle did not lose the others; the tester may have.
    assert soaked(bridged(shut), proven=None).limit != "device"
    # The kernel reports up to a second late.
    assert soaked(bridged(replace(shut, cause="link"))).limit == "link"


def test_loss_at_the_begin_of_a_part_needs_a_link_that_was_down_before() -> None:
    early = CarrierLoss("east", 300 * MS, 400 * MS)
    assert soaked(part((3000, 3999), carrier=(early,)), part((0, 99))).limit == "device"


def test_carrier_lost_behind_the_traffic_of_a_part_takes_none_of_its_time() -> None:
    """It is lost while frames are still awaited."""
    found = spans([(100, [CarrierLoss("p", 130, None)]), (100, [CarrierLoss("p", -5, 20)])])
    assert [(one.from_ns, one.until_ns) for one in found] == [(100, 120)]
    (alone,) = spans([(100, [CarrierLoss("p", 130, None)])])
    assert alone.duration_ns == 0
    (within,) = spans([(100, [CarrierLoss("p", 90, 250)]), (100, [])])
    assert (within.from_ns, within.until_ns) == (90, 100)
    (before,) = spans([(100, [CarrierLoss("p", -30, 20)])])
    assert (before.from_ns, before.until_ns) == (0, 20)
