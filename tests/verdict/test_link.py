"""Frames that a link without carrier lost: taken out of the evidence, and never the device's."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from lateness import encode
from netdyno.methods.soak import LOSS_RATIO
from netdyno.values.finding import Result, Value
from netdyno.values.health import Health
from netdyno.values.outcome import (
    CarrierLoss,
    FrameCounts,
    Gap,
    Gaps,
    InterfaceResult,
    Lag,
    Latency,
    LatePeriod,
    Outcome,
    Phase,
    StreamResult,
)
from netdyno.values.proven import Proven
from netdyno.values.situation import Situation
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, Witnesses, judge, with_link

S, MS = 10**9, 10**6
FRAMES = 10_000
"""A second of 10,000 frames, one each 100 us, in samples of 100 ms."""
GAP_NS = S // FRAMES
SITUATION = Situation(("west-east",), Fraction(1_000_000), Fraction(64))
PROVEN = Proven("c1", datetime(2026, 11, 21, tzinfo=UTC), max_fps=Fraction(1_000_000))
LINK = CarrierLoss("east", 300 * MS, 400 * MS)


def trial(*lost: tuple[int, int], carrier: tuple[CarrierLoss, ...] = (LINK,), dated: bool = True) -> Outcome:
    """A trial that lost these frames, from the first to the last of each gap."""
    gone = [frame for first, last in lost for frame in range(first, last + 1)]
    each = FRAMES // 10
    arrived = tuple(each - sum(frame // each == sample for frame in gone) for sample in range(10))
    gaps = tuple(
        Gap(first, last, last - first + 1, first * GAP_NS, last * GAP_NS) for first, last in sorted(lost)
    )
    received = FRAMES - len(gone)
    stream = StreamResult(
        name="west-east", intended=FRAMES, offered=FRAMES, offered_bytes=64 * FRAMES, received=received,
        received_bytes=64 * received, duplicates=0, elsewhere=0, out_of_order=0, corrupted=0, lost=len(gone),
        beyond_window=0, flows_received=1,
        latency=Latency(received, 10_000, 10_000 * received, 10_000, 0, 0, ""),
        tx=(each,) * 10, rx=arrived, arrived=arrived, first_loss_ns=None,
        gaps=Gaps(gaps, 0, 0) if dated else None,
    )  # fmt: skip
    phases = (Phase("traffic", 0, S),)
    health = Health(0, 0, 0, 0, 0, None)
    return Outcome(FrameCounts((stream,), (), 100 * MS), health, phases, carrier_losses=carrier)


def given(*trials: Outcome, clock: str = "real") -> Evidence:
    return with_link(
        Evidence(SITUATION, clock, True, trials, (S,) * len(trials), proven=PROVEN, is_constant=True)  # type: ignore[arg-type]
    )


def verdict(evidence: Evidence, *, is_loss: bool = True) -> Verdict:
    links = 0 if evidence.linked is None else evidence.linked.lost_of("sum")
    lost, sent = evidence.everything.lost + links, evidence.everything.sent
    ratio = Fraction(lost, sent)
    value = Value(LOSS_RATIO, "sum", ratio, ratio, ratio, of_frames=sent if is_loss else None)
    result = Result("soak", (value,), (0,), headlines=(LOSS_RATIO.name,))
    return judge(result, evidence)["sum"]


def test_frames_lost_without_carrier_are_the_links() -> None:
    found = verdict(given(trial((3000, 3999))))
    assert found.limit == "link"
    assert found.reason.code == "carrier-lost"
    fields = found.reason.fields()
    assert (fields["lost"], fields["sent"], fields["losses"]) == (1000, FRAMES, 1)
    assert (fields["without_ns"], fields["ports"], fields["others"]) == (100 * MS, ["east"], 0)


def test_link_needs_no_calibration() -> None:
    evidence = given(trial((3000, 3999)))
    assert verdict(replace(evidence, proven=None)).limit == "link"


def late(made: Outcome, late_ns: int) -> Outcome:
    """The same, the last frame sent so long after the end of the trial."""
    return replace(made, phases=(Phase("traffic", 0, S + late_ns),))


def test_link_is_named_though_the_trial_ended_late() -> None:
    assert verdict(given(late(trial((3000, 3999)), 20 * MS))).limit == "link"


@pytest.mark.parametrize(
    ("late_ms", "gone", "limit", "code"),
    [
        (2, 50, "device", "sent-longer"),
        (9, 50, "device", "sent-longer"),
        (20, 50, "tester", None),
        (1, 0, "none", "sent-longer"),
        (2, 0, "tester", None),
        (0, 0, "none", None),
    ],
)
def test_load_that_is_hardly_lower_is_judged_as_sent(
    late_ms: int, gone: int, limit: str, code: str | None
) -> None:
    """No frame or one in 200 lost by itself, in a trial of a second that ended so late. At more load as many
    frames are lost or more: a loss counts at 1 % less, and no loss at 0.1 % less."""
    found = verdict(given(late(trial(*[(3000, 2999 + gone)] * bool(gone), carrier=()), late_ms * MS)))
    fields = found.reason.fields()
    assert (found.limit, (fields.get("short") or {}).get("code")) == (limit, code)


def test_part_unsent_of_a_trial_that_took_longer_counts_besides() -> None:
    """0.5 % unsent, and 0.8 % longer: that is 1.3 % less."""
    made = late(trial((3000, 3049), carrier=()), 8 * MS)
    (stream,) = made.streams
    short = replace(stream, intended=FRAMES + FRAMES // 200)
    assert verdict(given(late(made.with_counts(streams=(short,)), 0))).limit == "device"
    assert verdict(given(made.with_counts(streams=(short,)))).limit == "tester"


def test_loss_by_pauses_is_no_device_s_at_a_load_hardly_lower() -> None:
    made = late(trial((3000, 3049), carrier=()), 5 * MS)
    (stream,) = made.streams
    pause = LatePeriod(290 * MS, 310 * MS, 20 * MS, 20 * MS, 1, 200)
    lag = Lag(200, 0, 200 * MS, 20 * MS, 0, encode([20 * MS] * 200), 200, 10_000, (pause,))
    health = replace(made.health, latest_departure_ns=20 * MS)
    found = verdict(given(replace(made.with_counts(streams=(replace(stream, lag=lag),)), health=health)))
    assert found.limit == "inconclusive"


def test_frames_lost_elsewhere_are_judged_as_ever() -> None:
    """Half a second before, and in another trial."""
    for trials in ([trial((500, 509), (3000, 3999))], [trial((3000, 3999)), trial((7000, 7009), carrier=())]):
        found = verdict(given(*trials))
        assert found.limit == "device"
        assert (found.reason.fields()["lost"], found.reason.fields()["of_links"]) == (10, 1000)


def test_device_that_comes_back_later_than_its_link_is_excused() -> None:
    """A spanning tree, or a neighbour to be learned: frames are lost without a break, long after the link."""
    assert verdict(given(trial((3000, 9500)))).limit == "link"


def test_frames_lost_before_the_kernel_reported_are_excused() -> None:
    """It reports up to a second late, when frames are being lost for some time."""
    assert verdict(given(trial((1000, 3999)))).limit == "link"


def test_frames_on_their_way_are_excused_to_the_nanosecond_in_virtual_time() -> None:
    """Latency is 10 us and frames are 100 us apart: frame 2,999 is due at 299.9 ms."""
    before = trial((2999, 2999), (3000, 3999))
    assert verdict(given(before, clock="virtual")).limit == "device"
    late = replace(LINK, from_ns=299_910_000)
    assert verdict(given(trial((2999, 2999), carrier=(late,)), clock="virtual")).limit == "link"
    later = replace(LINK, from_ns=299_910_001)
    assert verdict(given(trial((2999, 2999), carrier=(later,)), clock="virtual")).limit == "device"


def test_losses_without_a_date_are_excused() -> None:
    undated = trial((3000, 3999))
    (stream,) = undated.streams
    assert stream.gaps is not None
    gaps = replace(stream.gaps, further=2, further_frames=5)
    more = replace(stream, lost=stream.lost + 5, gaps=gaps)
    assert verdict(given(undated.with_counts(streams=(more,)))).limit == "link"


def test_losses_are_dated_by_samples_where_gaps_were_not_observed() -> None:
    """Samples in a row that lost frames are one; samples are of 100 ms."""
    assert verdict(given(trial((3000, 5500), dated=False))).limit == "link"
    found = verdict(given(trial((3000, 3999), (8000, 8004), dated=False)))
    assert (found.limit, found.reason.fields()["of_links"]) == ("device", 1000)


def test_corrupted_frames_are_not_the_links() -> None:
    found = trial((3000, 3999))
    (stream,) = found.streams
    corrupted = replace(stream, lost=stream.lost - 3, corrupted=3)
    assert verdict(given(found.with_counts(streams=(corrupted,)))).limit == "device"


@pytest.mark.parametrize(
    ("causes", "limit"), [(("device", "device"), "device"), (("device", "link"), "link"), (("link",), "link")]
)
def test_device_is_named_only_if_it_did_it_each_time(causes: tuple[str, ...], limit: str) -> None:
    """A calibration would be missing: the lab says so, and no tester is in doubt."""
    losses = tuple(replace(LINK, cause=cause, from_ns=LINK.from_ns + i) for i, cause in enumerate(causes))
    found = verdict(replace(given(trial((3000, 3999), carrier=losses)), proven=None))
    assert (found.limit, found.reason.fields()["by_device"]) == (limit, limit == "device")


def test_value_that_is_no_loss_names_no_device_beside_a_link() -> None:
    """Steps that a service passed: which of the losses failed one is unknown."""
    found = verdict(given(trial((500, 509), (3000, 3999))), is_loss=False)
    assert (found.limit, found.reason.fields()["others"]) == ("link", 10)


def test_evidence_without_carrier_losses_is_left_alone() -> None:
    evidence = Evidence(SITUATION, "real", True, (trial((3000, 3999), carrier=()),), (S,), proven=PROVEN)
    assert with_link(evidence) is evidence


def test_what_links_lost_is_taken_out_of_the_samples_too() -> None:
    """Pauses of the tester are asked for by samples."""
    (found,) = given(trial((500, 509), (3000, 3999))).trials
    assert [one.lost for one in found.streams] == [10]
    lost = [tx - came for tx, came in zip(found.streams[0].tx, found.streams[0].arrived, strict=True)]
    assert lost == [10, *[0] * 9]


def test_frames_flooded_while_a_link_is_down_blame_no_device() -> None:
    """A switch of three ports floods as many as are lost; ten others a pause of the tester may explain."""
    pause = LatePeriod(800 * MS, 820 * MS, 20 * MS, 20 * MS, 1, 200)
    lag = Lag(FRAMES, 0, 0, 20 * MS, 0, encode([0]), 200, 10_000, (pause,))
    found = trial((3000, 3999), (8500, 8509))
    (stream,) = found.streams
    flooded = replace(stream, elsewhere=1000, lag=lag)
    health = replace(found.health, latest_departure_ns=20 * MS)
    evidence = given(replace(found.with_counts(streams=(flooded,)), health=health))
    # As a case would know its device if it took the flooded frames for lost ones.
    known = Witnesses(strays=True)
    found_verdict = verdict(replace(evidence, witnesses=known))
    assert found_verdict.limit == "inconclusive"


def test_frames_dropped_without_a_carrier_are_not_the_testers_drops() -> None:
    """A card counts what it was given without a carrier; ten frames were lost otherwise."""
    found = trial((500, 509), (3000, 3999))
    counted = InterfaceResult("west", "eth1", kinds={"not sent": {"tx_dropped": 1000}})
    evidence = given(replace(found, interfaces=(counted,)))
    assert evidence.not_sent == 0
    # Which of the drops were without a carrier is unknown, so they may explain the others.
    assert verdict(evidence).limit == "inconclusive"
