"""Drops that the device counted as proof of its loss; and devices, testers and cables not to be believed.

A million frames are sent in 10 s, and 900,000 received, by a tester that was never calibrated.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from balanced import KNOWN, by_hand
from kinds import kind
from netdyno.values.finding import Result, Value
from netdyno.values.outcome import InterfaceResult, Lag, LatePeriod, Outcome
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, judge
from netdyno.verdict.counted import find_drops
from netdyno.verdict.evidence import Linked

S = 10**9
SENT, GOT = 1_000_000, 900_000
TRUE = {("Te0/1", "rx_packets"): SENT, ("Te0/1", "in_queue_drops"): SENT - GOT, ("Te0/2", "tx_packets"): GOT}


def judged(
    counts: dict[tuple[str, str], int], *others: Outcome, enforced: bool = True, **given: Any
) -> Verdict:
    """The verdict on 90 kpps of 100, without a calibration. others: further trials it rests on."""
    outcome = replace(by_hand(counts, sent=SENT, received=GOT), **given)
    trials = (outcome, *others)
    value = Value(kind("a rate"), "west-east", Fraction(90_000))
    evidence = Evidence(KNOWN, "real", enforced, trials, (10 * S,) * len(trials))
    return judge(Result("m", (value,), (0,)), evidence, "a rate")["west-east"]


def test_drops_that_explain_every_frame_name_the_device() -> None:
    found = judged(TRUE)
    assert (found.limit, found.reason.code) == ("device", "device-counted")
    fields = found.reason.fields()
    assert (fields["lost"], fields["sent"], fields["dropped"]) == (100_000, 1_000_000, 100_000)
    assert fields["counters"] == ["in_queue_drops"]
    assert found.reason.cause.code == "loss-unproven"  # type: ignore[attr-defined]
    assert str(found.reason)


def test_share_of_lost_frames_is_the_devices_by_its_drops_too() -> None:
    outcome = by_hand(TRUE, sent=SENT, received=GOT)
    value = Value(kind("loss ratio", "ratio"), "west-east", Fraction(1, 10), of_frames=SENT)
    evidence = Evidence(KNOWN, "real", True, (outcome,), (10 * S,))
    found = judge(Result("m", (value,), (0,)), evidence, "loss ratio")["west-east"]
    assert (found.limit, found.reason.code) == ("device", "device-counted")


def test_drops_beside_a_link_without_carrier_prove_nothing() -> None:
    evidence = Evidence(KNOWN, "real", True, (by_hand(TRUE, sent=SENT, received=GOT),), (10 * S,))
    assert [drop.frames for drop in find_drops(evidence)] == [100_000]
    assert find_drops(replace(evidence, linked=Linked(()))) == ()


def test_device_that_counts_no_frames_proves_nothing() -> None:
    assert judged({}).reason.code == "loss-unproven"
    assert judged({("Te0/1", "in_queue_drops"): SENT - GOT}).reason.code == "loss-unproven"


@pytest.mark.parametrize(
    ("what", "changed"),
    [
        ("drops fewer", {("Te0/1", "in_queue_drops"): SENT - GOT - 1}),
        ("drops more", {("Te0/1", "in_queue_drops"): SENT - GOT + 1}),
        ("took in more", {("Te0/1", "rx_packets"): SENT + 5}),
        ("took in fewer, drops what is left", {("Te0/1", "rx_packets"): GOT, ("Te0/1", "in_queue_drops"): 0}),
        ("gave out all", {("Te0/2", "tx_packets"): SENT}),
        ("gave out some", {("Te0/2", "tx_packets"): GOT + 1}),
        ("gave out all, drops none", {("Te0/2", "tx_packets"): SENT, ("Te0/1", "in_queue_drops"): 0}),
        ("damaged on the way in", {("Te0/1", "in_queue_drops"): 0, ("Te0/1", "in_errors"): SENT - GOT}),
        ("some of them damaged", {("Te0/1", "in_queue_drops"): 99_999, ("Te0/1", "in_errors"): 1}),
    ],
)
def test_device_whose_counters_do_not_add_up_is_not_believed(
    what: str, changed: dict[tuple[str, str], int]
) -> None:
    found = judged({**TRUE, **changed})
    assert (found.limit, found.reason.code) == ("inconclusive", "loss-unproven"), what


def test_device_that_counts_drops_where_none_were_lost_is_not_believed() -> None:
    half = SENT // 2
    honest = by_hand({("Te0/1", "rx_packets"): half, ("Te0/2", "tx_packets"): half}, sent=half, received=half)
    lying = by_hand({**TRUE, ("Te0/2", "tx_packets"): SENT}, sent=SENT, received=SENT)
    unread = by_hand({}, sent=SENT, received=SENT)
    assert judged(TRUE, honest).limit == "device"
    assert judged(TRUE, lying).limit == "inconclusive"
    assert judged(TRUE, unread).limit == "inconclusive"


def test_ring_that_the_tester_did_not_empty_is_no_drop_of_the_device() -> None:
    """A veth's or memif's device counts what its far end had no room for."""
    refused = {**TRUE, ("Te0/1", "in_queue_drops"): 0, ("Te0/2", "out_queue_drops"): SENT - GOT}
    assert judged(refused, enforced=False).limit == "inconclusive"
    assert judged(refused, enforced=True).limit == "device"
    assert judged(TRUE, enforced=False).limit == "device"


def test_testers_own_faults_come_before_the_devices_drops() -> None:
    dropping = InterfaceResult("east", "eth2", kinds={"no room to receive": {"rx_missed": SENT - GOT}})
    assert judged(TRUE, interfaces=(dropping,)).limit == "receiver"
    pausing = InterfaceResult("east", "eth2", kinds={"pause sent": {"tx_pause": 7}})
    assert judged(TRUE, interfaces=(pausing,)).reason.code == "pauses-sent"
    health = by_hand({}, sent=1, received=1).health
    questions = judged(TRUE, health=replace(health, unheard=3))
    assert questions.reason.code == "questions-unanswered"
    full = judged(TRUE, health=replace(health, rx_full=9, rx_full_ns=5 * S))
    assert full.limit != "device"
    split = judged(TRUE, health=replace(health, split_flows=2))
    assert split.limit == "inconclusive"


def test_copies_that_hide_missing_frames_are_not_believed_as_drops() -> None:
    (stream,) = by_hand(TRUE, sent=SENT, received=GOT).streams
    outcome = by_hand(TRUE, sent=SENT, received=GOT)
    doubled = outcome.with_counts(streams=(replace(stream, duplicates=10),))
    value = Value(kind("a rate"), "west-east", Fraction(90_000))
    evidence = Evidence(KNOWN, "real", True, (doubled,), (10 * S,))
    assert judge(Result("m", (value,), (0,)), evidence, "a rate")["west-east"].limit == "inconclusive"


def test_drops_in_a_pause_of_the_tester_stay_the_testers() -> None:
    """All frames from 0.1 s on were sent late, in bunches that the device dropped. Its counters are right,
    but it may take the same frames if each is sent when it is due."""
    outcome = by_hand(TRUE, sent=SENT, received=GOT)
    late = LatePeriod(S // 10, 10 * S, 2 * S, 2 * S, 1, SENT * 99 // 100)
    lag = Lag(SENT, 0, S * SENT, 2 * S, SENT, "", SENT * 99 // 100, 10_000, (late,))
    (stream,) = outcome.streams
    paused = outcome.with_counts(streams=(replace(stream, lag=lag),))
    value = Value(kind("a rate"), "west-east", Fraction(90_000))
    evidence = Evidence(KNOWN, "real", True, (paused,), (10 * S,))
    found = judge(Result("m", (value,), (0,)), evidence, "a rate")["west-east"]
    assert (found.limit, found.reason.code) != ("device", "device-counted")
    assert found.limit in ("tester", "inconclusive")
