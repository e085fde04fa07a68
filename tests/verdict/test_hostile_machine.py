"""Losses and times for which this machine, a stranger on it or a link were at fault, not the device."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from kinds import kind
from netdyno.methods import sending_ns
from netdyno.methods.reasons.services import StepsPassed
from netdyno.values.finding import Result, Value
from netdyno.values.health import Health, PeerHealth, WorkerHealth
from netdyno.values.kind import ValueKind
from netdyno.values.load import Event, Frames, Happened, Trial
from netdyno.values.outcome import (
    CarrierLoss,
    FrameCounts,
    Gap,
    Gaps,
    InterfaceResult,
    Latency,
    Outcome,
    Phase,
    StreamResult,
)
from netdyno.values.proven import Proven
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, Timed, judge, with_link
from readers import RING, read_slowly
from tendevices import measure, wall

MS = 1_000_000
SECOND = 10**9
LINE = Fraction(10_000_000)
UNI = Situation(("west-east",), LINE, Fraction(64))
FOUR = Situation(
    ("a", "b", "c", "d"), LINE, Fraction(64), places=(Place(0, 1, Fraction(1, 4)),) * 4
)  # fmt: skip
"""Four classes of one port, which has a quarter of its load for each."""


def proven(most: int) -> Proven:
    return Proven(
        "c1",
        datetime(2026, 11, 21, tzinfo=UTC),
        Fraction(most),
        latency_floor_ns=20_000,
        latency_noise_ns=5_000,
    )


def trial(fps: int, capacity: int, situation: Situation = UNI) -> Outcome:
    """A second of a load of each stream, at a device that passes so much of each."""
    load = Trial("t", Frames.steady(FrameRate(fps), SECOND))
    return measure(load, wall(capacity), situation)


def judged(
    found: Outcome,
    most: int = 1_000_000,
    *,
    name: tuple[str, str] = ("frame loss rate", "ratio"),
    number: Fraction | None = None,
    situation: Situation = UNI,
    is_constant: bool = True,
    enforced: bool = False,
    flows: int = 0,
    others: tuple[Outcome, ...] = (),
) -> Verdict:
    """The verdict on the loss ratio of a trial's first stream, or on another number of it."""
    (stream, *_) = found.streams
    ratio = Fraction(stream.missing, stream.offered)
    of_frames = stream.offered if name[1] == "ratio" else None
    value = Value(kind(*name), stream.name, ratio if number is None else number, of_frames=of_frames)
    evidence = Evidence(
        situation,
        "real",
        enforced,
        (found,),
        (sending_ns(found),),
        proven(most),
        is_constant=is_constant,
        flows=flows,
        case_trials=tuple(Timed(one, SECOND, True) for one in (found, *others)),
    )
    return judge(Result("m", (value,), (0,)), with_link(evidence), name[0])[stream.name]


# The load that a calibration has to cover.


def test_classes_of_a_port_are_calibrated_for_what_it_sends_in_all() -> None:
    """Each sends 100 kpps, and the tester lost nothing at 399 kpps."""
    found = trial(100_000, 90_000, FOUR)
    assert judged(found, 400_000, situation=FOUR).limit == "device"
    verdict = judged(found, 399_999, situation=FOUR)
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", "load-unproven")


def test_load_that_changes_is_calibrated_at_its_highest() -> None:
    """Half a second of 200 kpps and one of silence are 100 kpps on average."""
    found = trial(100_000, 90_000)
    (stream,) = found.streams
    tx, came = (20_000,) * 5 + (0,) * 5, (18_000,) * 5 + (0,) * 5
    found = found.with_counts(streams=(replace(stream, tx=tx, rx=came, arrived=came),))
    assert judged(found, 200_000, is_constant=False).limit == "device"
    verdict = judged(found, 199_999, is_constant=False)
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", "load-unproven")


# Workers that only receive.


def worker(gap_ns: int, tx: int, rx: int) -> WorkerHealth:
    return WorkerHealth(None, 1_000_000, 1000, gap_ns, tx + rx, 1, (tx, 0), (0, rx))


@pytest.mark.parametrize(
    ("sent", "ns", "limit"),
    [
        (0, 3 * MS, "inconclusive"),
        (0, 3 * MS + 25_001, "device"),
        (9_999, 3 * MS, "inconclusive"),
        (10_000, 3 * MS, "device"),
    ],
)
def test_time_within_a_pause_of_a_worker_that_only_receives(sent: int, ns: int, limit: str) -> None:
    """It sends nothing that could be late. Its own latency is 25 us."""
    found = trial(100_000, 100_000)
    workers = (worker(10_000, 100_000 - sent, 0), worker(3 * MS, sent, 100_000))
    found = replace(found, health=replace(found.health, workers=workers))
    verdict = judged(found, name=("latency", "ns"), number=Fraction(ns))
    assert verdict.limit == limit
    assert (verdict.reason.code == "received-late") == (limit == "inconclusive")


@pytest.mark.parametrize(("ns", "limit"), [(325_000, "tester"), (325_001, "device")])
def test_time_in_a_queue_of_the_tester_is_its_own(ns: int, limit: str) -> None:
    """A card had 300 us of frames still to send when it was handed further ones, and takes 25 us itself."""
    found = trial(100_000, 100_000)
    found = replace(found, health=replace(found.health, tx_ahead=446, tx_ahead_ns=300_000))
    assert judged(found, name=("latency", "ns"), number=Fraction(ns)).limit == limit


@pytest.mark.parametrize(
    ("mean_ns", "spread_ns", "limit"),
    [(220_001, 55_001, "device"), (220_000, 55_001, "inconclusive"), (220_001, 55_000, "inconclusive")],
)
def test_step_that_failed_by_the_testers_own_delay(mean_ns: int, spread_ns: int, limit: str) -> None:
    """Its own is 20 us and varies by 5 us: a tenth of what the device takes beside it, or more."""
    found = trial(100_000, 100_000)
    (stream,) = found.streams
    times = Latency(100_000, 10_000, mean_ns * 100_000, 10_000 + spread_ns, 0, 0, "")
    found = found.with_counts(streams=(replace(stream, latency=times),))
    for is_by_delays in (True, False):
        value = Value(
            kind("steps passed", "share"),
            "west-east",
            Fraction(5, 6),
            note=StepsPassed(5, 6, 0, is_by_delays),
        )
        evidence = Evidence(UNI, "real", False, (found,), (SECOND,), proven(1_000_000), is_constant=True)
        verdict = judge(Result("m", (value,), (0,)), evidence, "steps passed")["west-east"]
        assert verdict.limit == (limit if is_by_delays else "device")


# What a kernel had no room for.


@pytest.mark.parametrize(("dropped", "limit"), [(5_000, "receiver"), (4_999, "device")])
def test_frames_that_a_veth_did_not_take_in_are_the_receivers(dropped: int, limit: str) -> None:
    """The queue of a core was full: the kernel counts them as dropped, and not as received."""
    found = trial(100_000, 90_000)
    veth = InterfaceResult("west-east", "west", kinds={"not taken in": {"rx_dropped": dropped}})
    found = replace(found, interfaces=(veth,))
    # Half of 10,000 are missing elsewhere.
    assert judged(found).limit == limit


@pytest.mark.parametrize(
    ("counted", "own_core", "limit"),
    [(9_000, True, "device"), (1_000, True, "receiver"), (9_000, False, "receiver")],
)
def test_frames_without_room_on_a_devices_own_core_are_the_devices(
    counted: int, own_core: bool, limit: str
) -> None:
    """A full device drops part of what it sends before it is at the tester: its own kernel counts that."""
    veth = InterfaceResult("west-east", "west", kinds={"not taken in": {"rx_dropped": 9_000}})
    port = {"name": "d1", "tx_dropped": counted}
    kernel = {"name": "the device's kernel", "ports": [port], **({"has_own_core": True} if own_core else {})}
    found = replace(trial(100_000, 90_000), interfaces=(veth,), devices=(kernel,))
    assert judged(found).limit == limit


@pytest.mark.parametrize(("damaged", "limit"), [(5_000, "inconclusive"), (4_999, "device")])
def test_frames_that_a_cable_damaged_are_not_the_devices(damaged: int, limit: str) -> None:
    """The tester's card counts and drops what came with a wrong checksum."""
    found = trial(100_000, 90_000)
    card = InterfaceResult("west-east", "eth1", kinds={"damaged on the line": {"rx_crc_errors": damaged}})
    verdict = judged(replace(found, interfaces=(card,)))
    assert verdict.limit == limit
    assert (verdict.reason.code == "damaged-on-line") == (limit == "inconclusive")


def test_device_that_waits_for_the_testers_pause_frames_is_not_blamed() -> None:
    """A card without room sends pause frames (IEEE 802.3 annex 31B), and drops nothing itself."""
    card = InterfaceResult("west-east", "eth1", kinds={"pause sent": {"tx_pause": 1}})
    verdict = judged(replace(trial(100_000, 90_000), interfaces=(card,)))
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", "pauses-sent")
    whole = replace(trial(100_000, 100_000), interfaces=(card,))
    verdict = judged(whole, name=("latency", "ns"), number=Fraction(MS))
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", "pauses-sent")


@pytest.mark.parametrize(
    ("kind_", "counter"), [("not taken in", "rx_dropped"), ("damaged on the line", "rx_crc_errors")]
)
def test_knee_of_frames_that_others_dropped_is_not_the_devices(kind_: str, counter: str) -> None:
    """A ramp whose loss sets in before the tester falls behind; most missing frames were lost elsewhere."""

    def of_ramp(*counted: InterfaceResult) -> str:
        found = trial(100_000, 90_000)
        (stream,) = found.streams
        short = replace(stream, intended=120_000)
        found = replace(found.with_counts(streams=(short,)), interfaces=counted)
        rate = Fraction(90_000)
        roles = (("ramp max Rx", rate, None), ("knee", rate, rate), ("schedule", Fraction(99_000), None))
        values = tuple(
            Value(
                ValueKind(name, "fps", "", role="" if name == "ramp max Rx" else name),  # type: ignore[arg-type]
                "west-east",
                number,
                high=high,
            )
            for name, number, high in roles
        )
        evidence = Evidence(UNI, "real", False, (found,), (SECOND,), proven(1_000_000))
        return judge(Result("ramp", values, (0,)), evidence, "ramp max Rx")["west-east"].limit

    assert of_ramp() == "device"
    few, many = (InterfaceResult("west-east", "west", kinds={kind_: {counter: n}}) for n in (4_999, 5_000))
    assert (of_ramp(few), of_ramp(many)) == ("device", "tester")


# Links that the tester had down.


@pytest.mark.parametrize(("late_ms", "limit"), [(90, "device"), (100, "inconclusive")])
def test_link_that_the_tester_switched_on_late_is_not_the_devices_time(late_ms: int, limit: str) -> None:
    """It was to be down for a second, and 1.1 s of frames were lost."""
    found = trial(100_000, 100_000)
    down = Happened(Event(SECOND, "link-down"), SECOND + 7 * MS, SECOND + 20 * MS)
    up = Happened(Event(2 * SECOND, "link-up"), 2 * SECOND + 50 * MS, 2 * SECOND + (7 + late_ms) * MS)
    verdict = judged(
        replace(found, happened=(down, up)), name=("reset time", "ns"), number=Fraction(1100 * MS)
    )
    assert verdict.limit == limit
    assert (verdict.reason.code == "link-up-late") == (limit == "inconclusive")


# Frames of strangers.


@pytest.mark.parametrize(("each", "limit"), [(1219, "inconclusive"), (1218, "device")])
def test_line_that_a_stranger_fills_is_not_the_devices_limit(each: int, limit: str) -> None:
    """Of 10 Mpps of 64 bytes a line of 6.72 Gbit/s carries, 4 Mpps of the test come, and 400,000 of others.

    These take (1219 + 20) * 8 bits each, which makes 99 % of the line, or less.
    """
    found = trial(5_000_000, 4_000_000)
    (port,) = found.ports
    others = 400_000
    port = replace(
        port, rx=(4_000_000,), rx_bytes_series=(64 * 4_000_000,), foreign=others,
        rx_frames=4_000_000 + others, rx_bytes=64 * 4_000_000 + each * others,
    )  # fmt: skip
    found = found.with_counts(ports=(port,))
    verdict = judged(found, 10_000_000, enforced=True)
    assert verdict.limit == limit
    assert (verdict.reason.code == "line-of-others") == (limit == "inconclusive")
    # Where nothing enforces the line others take nothing of it.
    assert judged(found, 10_000_000).limit == "device"


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("mac-unproven", replace(UNI, given_macs=("02:00:00:00:00:07",))),
        ("kept-back", replace(UNI, kept_back=("TTL 1",))),
        ("path-unproven", replace(UNI, is_unproven=True)),
    ],
)
@pytest.mark.parametrize(("came", "limit"), [(0, "inconclusive"), (1, "device")])
def test_loss_of_all_frames_that_the_plan_may_explain_is_inconclusive(
    came: int, limit: str, code: str, given: Situation
) -> None:
    """One frame that came back, in any trial of the case, proves that they are forwarded."""
    lost, other = trial(10_000, 0), trial(10_000, came)
    verdict = judged(lost, situation=given, others=(other,))
    assert (verdict.limit, verdict.reason.code == code) == (limit, limit == "inconclusive")
    assert judged(lost, others=(other,)).limit == "device"


def beside(found: Outcome, sent: int = 0, size: int = 60, received: int = 0, wide: int = 64) -> Outcome:
    """The trial, with frames that another program sent by the tester's interface, or that came to it."""
    port = replace(found.ports[0], tx_frames=1_000_000, tx_bytes=64_000_000)
    counted = {
        "tx_packets": port.tx_frames + sent,
        "tx_bytes": port.tx_bytes - 4 * port.tx_frames + sent * size,
    }
    ports = (replace(port, others=received, others_bytes=received * wide),)
    found = found.with_counts(ports=ports)
    return replace(found, interfaces=(InterfaceResult(port.name, "eth0", counted),))


@pytest.mark.parametrize(
    ("lost", "others", "limit"),
    [
        # 0.5 % of others' frames beside a loss of 1 in 100,000; 2 % beside one of 40 %.
        (10, {"sent": 5000}, "inconclusive"),
        (10, {"received": 5000}, "inconclusive"),
        (400_000, {"sent": 20_000}, "device"),
        (400_000, {"received": 20_000}, "device"),
        # Each displaces one of its length, or as many as fit into it on a line: (1514 + 4 + 20) / 84.
        (5000, {"sent": 5000}, "inconclusive"),
        (5001, {"sent": 5000}, "device"),
        (18_310, {"sent": 1000, "size": 1514}, "inconclusive"),
        (18_311, {"sent": 1000, "size": 1514}, "device"),
        (18_310, {"received": 1000, "wide": 1518}, "inconclusive"),
        (18_311, {"received": 1000, "wide": 1518}, "device"),
        # An interface that counted fewer than its port sent, though more came back.
        (10, {"sent": -5000}, "device"),
    ],
)
def test_frames_of_others_excuse_as_many_as_they_displace(lost: int, others: Any, limit: str) -> None:
    found = trial(1_000_000, 1_000_000 - lost)
    verdict = judged(beside(found, **others), 10_000_000)
    assert (verdict.limit, verdict.reason.code == "displaced-by-others") == (limit, limit == "inconclusive")


@pytest.mark.parametrize(("refused", "limit"), [(4_000, "device"), (0, "inconclusive")])
def test_frame_that_the_far_end_of_a_veth_refused_is_the_devices(refused: int, limit: str) -> None:
    """A Linux device whose queue is full: the cable's near end counts that as dropped, not as sent."""
    found = beside(trial(1_000_000, 1_000_000 - 4_000), sent=-4_000)
    kinds = {"refused by the far end": {"tx_dropped": refused}}
    found = replace(found, interfaces=tuple(replace(one, kinds=kinds) for one in found.interfaces))
    assert judged(found, 10_000_000).limit == limit


@pytest.mark.parametrize(
    ("lost", "sent", "limit"),
    [
        (100, -100, "inconclusive"),
        (4_000, -4_003, "inconclusive"),
        # An own firewall drops 100, the device the rest; a card that counts what came back only in part.
        (400_000, -100, "device"),
        (100, -400, "device"),
        # One that counts no test frames at all.
        (100_000, -1_000_000, "device"),
    ],
)
def test_frames_not_counted_as_sent_are_not_the_devices(lost: int, sent: int, limit: str) -> None:
    verdict = judged(beside(trial(1_000_000, 1_000_000 - lost), sent=sent), 10_000_000)
    assert (verdict.limit, verdict.reason.code == "not-counted-sent") == (limit, limit == "inconclusive")


@pytest.mark.parametrize(("altered", "limit"), [(10_000, "inconclusive"), (9_999, "device")])
def test_frames_without_a_probe_that_came_back_changed_are_not_lost(altered: int, limit: str) -> None:
    """As a NAT or a balancer sends them on: their headers are not known."""
    found = trial(100_000, 90_000)
    streams = tuple(replace(stream, is_bare=True, altered=altered) for stream in found.streams)
    verdict = judged(found.with_counts(streams=streams))
    assert (verdict.limit, verdict.reason.code == "came-back-changed") == (limit, limit == "inconclusive")


# Questions that the tester did not answer.


def test_loss_beside_unanswered_questions_is_inconclusive() -> None:
    """The device asks where its frames are to go, is not told, and drops them."""
    found = trial(100_000, 90_000)
    assert judged(found).limit == "device"
    verdict = judged(replace(found, health=replace(found.health, unheard=1)))
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", "questions-unanswered")


# A device that a stranger preempted.


@pytest.mark.parametrize(
    ("held", "limit"),
    [
        ({"waited_ns": 100 * MS}, "inconclusive"),
        ({"waited_ns": 99 * MS}, "device"),
        ({"waited_ns": None, "stolen_ns": 60 * MS, "interrupts_ns": 40 * MS}, "inconclusive"),
        ({"waited_ns": None, "ours_ns": 100 * MS}, "inconclusive"),
        # It ran on another core meanwhile: else it would have waited.
        ({"waited_ns": 0, "ours_ns": 1000 * MS}, "device"),
    ],
)
def test_frames_due_while_the_device_had_no_core_are_explained(held: dict[str, Any], limit: str) -> None:
    """It lost 10,000 frames of 100,000 in a second: those of 100 ms."""
    found = trial(100_000, 90_000)
    peer = replace(PeerHealth(7, SECOND, 900 * MS, 0, 0, 0, 0), **held)
    found = replace(found, health=replace(found.health, peers=(peer,)))
    verdict = judged(found)
    assert verdict.limit == limit
    assert (verdict.reason.code == "lost-while-held") == (limit == "inconclusive")


# Rings of several workers.


@pytest.mark.parametrize(("flows", "limit"), [(3, "inconclusive"), (4, "device")])
def test_ring_with_the_smaller_share_is_not_taken_for_half_the_load(flows: int, limit: str) -> None:
    """Two rings; one has a flow of three, and its reader does 40 % of the load: more than a third.

    A stranger takes the core of the other's worker meanwhile.
    """
    load = 1_000_000

    def pressed() -> Outcome:
        asked = Trial("t", Frames.steady(FrameRate(load), SECOND))
        found = read_slowly(asked, 900_000, replace(UNI, enforced=False))
        (port,) = found.ports
        assert port.back_pressure is not None
        seen = replace(port.back_pressure, busy_ns=900 * MS, taken=360_000)
        health = replace(
            found.health, core_share_ppm=800_000, workers=(worker(MS, 1, 1), worker(100 * MS, 1, 1))
        )
        ports = (replace(port, back_pressure=seen),)
        return replace(found.with_counts(ports=ports), health=health)

    assert RING == 4096
    first, second = pressed(), pressed()
    verdict = judged(first, 2_000_000, situation=replace(UNI, enforced=False), flows=flows, others=(second,))
    assert verdict.limit == limit


# Losses in a row with those of a link.

FRAMES = 10_000
BLIP = CarrierLoss("east", 500 * MS, 510 * MS)


def lossy(parts: range, each: int, *, dated: bool, carrier: CarrierLoss = BLIP) -> Outcome:
    """Ten seconds in samples of 100 ms, of which these samples lost so many of their 1000 frames."""
    sample = FRAMES // 10
    arrived = tuple(sample - each * (number in parts) for number in range(100))
    lost = each * len(parts)
    first_ns, last_ns = parts.start * 100 * MS, parts.stop * 100 * MS - MS
    gap = Gap(parts.start * sample, parts.stop * sample - 1, lost, first_ns, last_ns)
    offered = 10 * FRAMES
    stream = StreamResult(
        name="west-east", intended=offered, offered=offered, offered_bytes=64 * offered,
        received=offered - lost, received_bytes=64 * (offered - lost), duplicates=0, elsewhere=0,
        out_of_order=0, corrupted=0, lost=lost, beyond_window=0, flows_received=1,
        latency=Latency(offered - lost, 10_000, 10_000 * (offered - lost), 10_000, 0, 0, ""),
        tx=(sample,) * 100, rx=arrived, arrived=arrived, first_loss_ns=None,
        gaps=Gaps((gap,), 0, 0) if dated else None,
    )  # fmt: skip
    counts = FrameCounts((stream,), (), 100 * MS)
    phases = (Phase("traffic", 0, 10 * SECOND),)
    return Outcome(counts, Health(0, 0, 0, 0, 0, None), phases, carrier_losses=(carrier,))


@pytest.mark.parametrize("dated", [True, False])
def test_loss_that_goes_on_for_long_behind_a_link_is_not_all_the_links(dated: bool) -> None:
    """One frame in ten is lost from the first sample to the last, and the link was down for 10 ms."""
    verdict = judged(lossy(range(100), 100, dated=dated))
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", "lost-behind-link")
    # All frames, until a spanning tree has come up again.
    whole = judged(lossy(range(5, 60), 1000, dated=dated))
    assert whole.limit == "link"


def test_loss_long_before_a_link_is_not_the_links_without_dates_either() -> None:
    """The kernel reports up to a second late: what was lost until seven seconds is the device's."""
    late = CarrierLoss("east", 8000 * MS, 8010 * MS)
    verdict = judged(lossy(range(100), 100, dated=False, carrier=late))
    assert verdict.limit == "device"
    assert 6800 <= verdict.reason.fields()["lost"] <= 7000
