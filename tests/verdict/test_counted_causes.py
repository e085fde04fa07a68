"""Drops that a device counted and that the load is not the cause of: they name no limit.

A million frames are sent in 10 s, and 900,000 received, by a tester that was never calibrated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from balanced import KNOWN, by_hand
from kinds import kind
from netdyno.values.finding import Result, Value
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Place, Situation
from netdyno.verdict import Evidence, Timed, judge

S = 10**9
LOST = 100_000

NAMES = tuple(f"s{number}" for number in range(64))
MANY = replace(KNOWN, streams=NAMES, places=(Place(0, 1),) * 64)

TWO = replace(MANY, streams=NAMES[:2], places=MANY.places[:2])


def lossy(subject: str, name: str, sent: int = 1_000_000, lost: int = LOST) -> Outcome:
    """A trial whose missing frames one counter of the device accounts for."""
    counted = {("Te0/1", "rx_packets"): sent, ("Te0/2", "tx_packets"): sent - lost, (subject, name): lost}
    return by_hand(counted, sent=sent, received=sent - lost)


def limit(
    trial: Outcome,
    *others: Outcome,
    known: Situation = KNOWN,
    flows: int = 0,
    enforced: bool = True,
    other_ns: int = 10 * S,
) -> str:
    """The limit of a rate that rests on a trial. others: further trials of the case, of `other_ns`."""
    every = (Timed(trial, 10 * S), *(Timed(one, other_ns) for one in others))
    evidence = Evidence(
        known, "real", enforced, (trial,), (10 * S,), case_trials=every, flows=flows, is_constant=True
    )
    value = Value(kind("a rate"), "sum", Fraction(6_000))
    return judge(Result("m", (value,), (0,)), evidence, "a rate")["sum"].limit


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("ip", "OutNoRoutes"),
        ("ip", "InAddrErrors"),
        ("ip", "InDiscards"),
        ("Te0/1", "in_policy_drops"),
        ("Te0/2", "out_policy_drops"),
        ("Te0/2", "queue_policy_drops"),
        ("drop_action_of_pipeline", "datapath_drops"),
        ("Te0/1", "in_port_drops"),
        ("Te0/1", "acl_drops"),
        ("Te0/1", "rx_errors"),
    ],
)
def test_drops_for_a_reason_other_than_room_prove_nothing(subject: str, name: str) -> None:
    clean = lossy(subject, name, 500_000, 0)
    assert limit(lossy(subject, name), clean) == "inconclusive"


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("Te0/1", "in_queue_drops"),
        ("Te0/1", "rx_miss_drops"),
        ("Te0/2", "out_queue_drops"),
        ("Te0/2", "queue_drops"),
    ],
)
def test_drops_of_full_queues_name_the_device(subject: str, name: str) -> None:
    assert limit(lossy(subject, name)) == "device"


@pytest.mark.parametrize(
    ("subject", "name"), [("Te0/1", "in_drops"), ("Te0/1", "rx_dropped"), ("Te0/2", "out_drops")]
)
def test_drops_of_any_cause_need_a_lower_load_without_them(subject: str, name: str) -> None:
    trial = lossy(subject, name)
    assert limit(trial) == "inconclusive"
    assert limit(trial, lossy(subject, name, 900_000, 0)) == "device"
    # Nearly the same load, and one of too few frames to lose any: neither shows anything.
    assert limit(trial, lossy(subject, name, 950_000, 0)) == "inconclusive"
    assert limit(trial, lossy(subject, name, 490, 0)) == "inconclusive"
    assert limit(trial, lossy(subject, name, 500, 0)) == "device"


@pytest.mark.parametrize("name", ["in_queue_drops", "in_drops"])
def test_drops_of_one_share_at_each_load_prove_nothing(name: str) -> None:
    """A queue of 0 frames, or every tenth frame without a neighbor: a tenth is lost of any load."""
    trial = lossy("Te0/1", name)
    assert limit(trial, lossy("Te0/1", name, 500_000, 50_000)) == "inconclusive"
    assert (
        limit(trial, lossy("Te0/1", name, 500_000, 49_000), lossy("Te0/1", name, 10**5, 0)) == "inconclusive"
    )


def test_two_loads_beyond_what_the_device_takes_name_it() -> None:
    """It passes 30,000 frames a second, at 50,000 and at 100,000."""
    trial = lossy("Te0/1", "in_queue_drops", lost=700_000)
    assert limit(trial, lossy("Te0/1", "in_queue_drops", 500_000, 200_000)) == "device"


def test_few_lost_frames_beside_a_clean_long_trial_prove_nothing() -> None:
    """49 frames of a million, and none of 90 million at less load: 49 may be chance."""
    long = lossy("Te0/1", "in_drops", 90_000_000, 0)
    for lost, expected in ((49, "inconclusive"), (50, "device")):
        assert limit(lossy("Te0/1", "in_drops", lost=lost), long, other_ns=1_000 * S) == expected


@pytest.mark.parametrize(("lost", "expected"), [(270_000, "device"), (280_000, "inconclusive")])
def test_rate_kept_at_half_the_load_tells_a_limit_from_a_share(lost: int, expected: str) -> None:
    """The device passes 30,000 frames a second of 100,000; of 50,000 it passes 23,000, or 22,000."""
    trial = lossy("Te0/1", "in_queue_drops", lost=700_000)
    assert limit(trial, lossy("Te0/1", "in_queue_drops", 500_000, lost)) == expected


@pytest.mark.parametrize("name", ["in_queue_drops", "in_drops"])
def test_loss_beside_clean_trials_of_as_much_load_is_no_limit(name: str) -> None:
    """A route was gone for a moment: less load lost none, and neither did as much or more."""
    trial, less = lossy("Te0/1", name, lost=1_000), lossy("Te0/1", name, 800_000, 0)
    assert limit(trial, less) == "device"
    for more in (1_000_000, 1_200_000):
        assert limit(trial, less, lossy("Te0/1", name, more, 0)) == "inconclusive"
        assert limit(trial, less, lossy("Te0/1", name, more, more // 2_000)) == "inconclusive"
        assert limit(trial, less, lossy("Te0/1", name, more, more // 1_000)) == "device"


@pytest.mark.parametrize("name", ["in_queue_drops", "in_drops"])
def test_share_of_one_stream_beside_a_limit_of_another_is_no_limit(name: str) -> None:
    """An access list drops a tenth of the first stream. The second has room for 50,000 frames a second."""
    trial, less = _of_two(name, (500_000, 50_000), (500_000, 400_000)), (250_000, 25_000)
    assert limit(trial, _of_two(name, less, (250_000, 0)), known=TWO) == "inconclusive"
    assert limit(trial, _of_two(name, (250_000, 0), (250_000, 0)), known=TWO) == "device"


def test_stream_that_lost_too_few_frames_to_judge_proves_no_limit() -> None:
    less = _of_two("in_drops", (250_000, 0), (250_000, 0))
    assert limit(_of_two("in_drops", (500_000, 60), (500_000, 400_000)), less, known=TWO) == "inconclusive"
    assert limit(_of_two("in_drops", (500_000, 0), (500_000, 400_000)), less, known=TWO) == "device"


def test_streams_that_lost_few_frames_each_are_judged_together() -> None:
    """Each loses 30 frames of a thousand, and 15 of 500: 15 are too few to judge a stream, 960 are not."""
    trial, less = (_of_many("in_queue_drops", sent, (gone,) * 64) for sent, gone in ((1_000, 30), (500, 15)))
    assert limit(trial, less, known=MANY) == "inconclusive"
    assert limit(trial, _of_many("in_queue_drops", 500, (0,) * 64), known=MANY) == "device"


def test_stream_that_sends_nothing_did_not_lose_every_frame() -> None:
    assert limit(_of_two("in_queue_drops", (0, 0), (500_000, 400_000)), known=TWO) == "device"


def test_loads_of_streams_in_other_proportions_are_not_compared() -> None:
    """A tenth of the first stream is lost at any load: of less load it was a smaller part."""
    trial = _of_two("in_drops", (900_000, 90_000), (100_000, 0))
    assert limit(trial, _of_two("in_drops", (100_000, 0), (700_000, 0)), known=TWO) == "inconclusive"
    assert limit(trial, _of_two("in_drops", (720_000, 0), (80_000, 0)), known=TWO) == "device"
    # Frames are whole: these are the same proportions.
    assert limit(trial, _of_two("in_drops", (719_999, 0), (80_000, 0)), known=TWO) == "device"


def test_other_streams_of_less_load_are_not_compared() -> None:
    trial = lossy("Te0/1", "in_drops")
    less = lossy("Te0/1", "in_drops", 500_000, 0)
    (stream,) = less.streams
    assert limit(trial, less.with_counts(streams=(replace(stream, name="other"),))) == "inconclusive"


@pytest.mark.parametrize("name", ["in_queue_drops", "in_drops"])
def test_one_stream_of_many_without_a_route_is_no_limit(name: str) -> None:
    """Of 64 streams one has no route, and all frames balance; beyond a load the others lose frames, too."""
    dead = _of_many(name, 500, (0,) * 63 + (500,))
    assert limit(_of_many(name, 1_000, (0,) * 63 + (1_000,)), dead, known=MANY) == "inconclusive"
    assert limit(_of_many(name, 1_000, (300,) * 63 + (1_000,)), dead, known=MANY) == "inconclusive"
    clean = _of_many(name, 500, (0,) * 64)
    assert limit(_of_many(name, 1_000, (300,) * 63 + (999,)), clean, known=MANY) == "device"


def test_flow_that_lost_every_frame_is_no_limit() -> None:
    trial = lossy("Te0/1", "in_queue_drops")
    (stream,) = trial.streams
    dead = trial.with_counts(streams=(replace(stream, flows_received=9),))
    assert limit(dead, flows=10) == "inconclusive"


@pytest.mark.parametrize(
    ("sent", "lost", "expected"),
    [
        (10_000_000, 500, "inconclusive"),
        (10_000_000, 2_000, "inconclusive"),
        (9_999_000, 1_999, "inconclusive"),
        (10_000_000, 4_000, "device"),
        (9_990_000, 500, "device"),
        # Its line has no room for these, whatever the clocks.
        (10_050_000, 51_000, "inconclusive"),
    ],
)
def test_drops_at_line_rate_that_clocks_explain_prove_nothing(sent: int, lost: int, expected: str) -> None:
    """The line carries a million frames a second. One of the device's may be 100 ppm slow, the tester's as
    much fast."""
    assert limit(lossy("Te0/2", "out_queue_drops", sent, lost)) == expected
    # Nothing holds a veth to a line.
    assert limit(lossy("Te0/1", "in_queue_drops", sent, lost), enforced=False) == "device"


def test_full_line_without_loss_excuses_no_other_port() -> None:
    sent, got = 10_000_000, 9_000_000
    counted = {
        ("Te0/1", "rx_packets"): sent,
        ("Te0/2", "tx_packets"): got,
        ("Te0/1", "in_queue_drops"): sent - got,
        ("Te0/2", "rx_packets"): sent,
        ("Te0/1", "tx_packets"): sent,
    }
    trial = by_hand(counted, sent=sent, received=got)
    (there,), (west, east) = trial.streams, trial.ports
    back = replace(there, name="east-west", received=sent, lost=0)
    ports = replace(west, rx_frames=sent), replace(east, tx_frames=sent)
    both = replace(KNOWN, streams=("west-east", "east-west"), places=(Place(0, 1), Place(1, 0)))
    assert limit(trial.with_counts(streams=(there, back), ports=ports), known=both) == "device"


def test_queue_of_a_port_without_a_rate_proves_nothing() -> None:
    assert limit(lossy("Te0/2", "queue_drops"), enforced=False) == "inconclusive"
    assert limit(lossy("Te0/1", "rx_miss_drops"), enforced=False) == "device"


def _of_many(name: str, sent: int, lost: Sequence[int]) -> Outcome:
    """A trial of 64 streams that send so many frames each, and lose these."""
    return _of_streams(name, [(sent, gone) for gone in lost])


def _of_two(name: str, first: tuple[int, int], second: tuple[int, int]) -> Outcome:
    """A trial of two streams: frames sent and lost of each."""
    return _of_streams(name, (first, second))


def _of_streams(name: str, frames: Sequence[tuple[int, int]]) -> Outcome:
    trial = lossy("Te0/1", name, sum(sent for sent, _ in frames), sum(lost for _, lost in frames))
    (stream,) = trial.streams
    streams = tuple(
        replace(stream, name=f"s{number}", intended=sent, offered=sent, received=sent - gone, lost=gone)
        for number, (sent, gone) in enumerate(frames)
    )
    return trial.with_counts(streams=streams)
