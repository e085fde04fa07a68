"""Frames longer than the MTU of the port that was to receive them: no worker and no device lost these."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from kinds import kind
from netdyno.values.finding import Result, Value
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import InterfaceResult, Outcome
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, judge
from tendevices import measure, passes_everything
from test_hostile_machine import proven

SECOND = 10**9
BIDIR = Situation(
    ("west-east", "east-west"), Fraction(100_000), Fraction(1400), places=(Place(0, 1), Place(1, 0))
)


def trial(east: tuple[int, int], west: tuple[int, int], mtus: tuple[int, int]) -> Outcome:
    """A second of 1000 frames each way. east, west: frames that came there, and bytes."""
    found = measure(Trial("t", Frames.steady(FrameRate(1000), SECOND)), passes_everything(), BIDIR)
    streams = tuple(
        replace(one, received=came, received_bytes=size, offered_bytes=1_400_000, lost=one.offered - came)
        for one, (came, size) in zip(found.streams, (east, west), strict=True)
    )
    # A veth counts as `not taken in` what its far end had and it was too small for.
    cards = [
        InterfaceResult(port.name, f"eth{number}", kinds={"not taken in": {"rx_dropped": 1000}}, mtu=mtu)
        for number, (port, mtu) in enumerate(zip(found.ports, mtus, strict=True))
    ]
    return replace(found.with_counts(streams=streams), interfaces=tuple(cards))


def judged(found: Outcome, scope: str = "west-east") -> Verdict:
    (stream,) = (one for one in found.streams if one.name == scope)
    value = Value(
        kind("frame loss rate", "ratio"), scope, Fraction(stream.missing, stream.offered), of_frames=1000
    )
    evidence = Evidence(BIDIR, "real", False, (found,), (SECOND,), proven(10_000), is_constant=True)
    return judge(Result("m", (value,), (0,)), evidence, "frame loss rate")[scope]


ALL = (1000, 1_400_000)


def test_mtu_below_the_frames_is_named_with_the_least_that_is_needed() -> None:
    """1400 B are 1382 without header and FCS; 4 of these would pass as a tag."""
    verdict = judged(trial((0, 0), ALL, (1500, 1377)))
    assert (verdict.limit, verdict.reason.code) == ("receiver", "mtu-too-small")
    assert (verdict.reason.interface, verdict.reason.mtu) == ("eth1", 1377)  # type: ignore[attr-defined]
    assert (verdict.reason.size, verdict.reason.needed) == (1400, 1382)  # type: ignore[attr-defined]
    assert "ip link set eth1 mtu 1382" in str(verdict.reason)
    # The other way's receiver is `west`.
    assert judged(trial(ALL, (0, 0), (1377, 1500)), "east-west").reason.code == "mtu-too-small"
    assert judged(trial((0, 0), ALL, (1377, 1500))).reason.code != "mtu-too-small"


@pytest.mark.parametrize(
    ("came", "size", "mtu", "code"),
    [
        # Of a mix of 64 B and 1518 B the long ones are missing.
        (82, 82 * 64, 1400, "mtu-too-small"),
        # The short ones are.
        (918, 918 * 1518, 1400, "received-unseen"),
        # What is missing is no longer than the rest, and the card lets that in.
        (500, 700_000, 1300, "received-unseen"),
        (0, 0, 1378, "received-unseen"),
        (0, 0, 0, "received-unseen"),
    ],
)
def test_mtu_is_named_for_frames_that_it_keeps_out_only(came: int, size: int, mtu: int, code: str) -> None:
    verdict = judged(trial((came, size), ALL, (1500, mtu)))
    assert (verdict.limit, verdict.reason.code) == ("receiver", code)
