"""Shares of the members of a LAG that a driver reads: counts made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from balanced import KNOWN, PLACES, S, by_hand
from netdyno.values.load import Frames, Trial
from netdyno.values.series import Series
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.verdict.causes import Polarised, find_causes
from netdyno.verdict.device_trial import count_members
from netdyno.verdict.evidence import Evidence

LAG = "Te0/1+Te0/2"
Counted = Mapping[tuple[str, str], int]
BOTH: Counted = {
    ("Te0/0", "rx_packets"): 1000,
    ("Te0/1", "tx_packets"): 600,
    ("Te0/2", "tx_packets"): 400,
}


def test_members_are_counted_by_their_lag_and_way() -> None:
    made = [(10 * S, by_hand(BOTH, sent=1000, received=1000))] * 2
    assert count_members(made, PLACES, ("Te0/0", LAG)) == {(LAG, "out"): (1200, 800)}
    assert count_members(made, PLACES, ("Te0/0", "Te0/1")) == {}


def test_lag_with_a_member_that_was_not_read_is_left_out() -> None:
    known, unread = (by_hand(one, sent=1000, received=1000) for one in (BOTH, dict(list(BOTH.items())[:2])))
    assert count_members([(10 * S, known), (10 * S, unread)], PLACES, ("Te0/0", LAG)) == {}


def test_members_behind_a_stand_in_are_not_counted() -> None:
    """It has one port for each LAG of the emulated device, and would show polarisation that there is not."""
    read = replace(by_hand(BOTH, sent=1000, received=1000), devices=({"ports": []},))
    assert count_members([(10 * S, read)], PLACES, ("Te0/0", LAG)) == {}


def polarised(
    frames: Sequence[int], *, flows: int = 5000, lost: int = 0, senders: int = 1, up: int = 1, **health: int
) -> list[tuple[str, tuple[int, ...], int]]:
    """What is named of frames that came by members of a LAG, of one sending port or LAG. up: 0 if LACP was
    down on a member."""
    received = sum(frames)
    outcome = by_hand({}, sent=received + lost, received=received)
    members = [
        replace(outcome.ports[1], name=f"east.{n}", rx_frames=came) for n, came in enumerate(frames, 1)
    ]
    ports = (*(outcome.ports[:1] * senders), *members)
    outcome = outcome.with_counts(ports=ports)
    seen = Series("adjacency", "LACP neighbour east.2", "state", "up", (0, S), (1, up))
    outcome = replace(outcome, health=replace(outcome.health, **health), series=(seen,))
    lag = tuple(range(senders, senders + len(frames)))
    places = tuple(Place(tx, senders, bundle=lag) for tx in range(senders))
    lags = (tuple(range(senders)), lag) if senders > 1 else (lag,)
    names = tuple(f"west.{n}-east" for n in range(senders))
    known = Situation(names, Fraction(10**6), Fraction(64), places=places, lags=lags)
    trial = Trial("trial", Frames.steady(FrameRate(1000), 10 * S))
    found = find_causes({0: (trial, outcome)}, Evidence(known, "real", True, (), flows=flows))
    return [(one.at, one.frames, one.flows) for one in found if isinstance(one, Polarised)]


UNEVEN = (60_000, 40_000)


def test_uneven_lag_of_the_tester_is_named_once() -> None:
    assert polarised(UNEVEN) == [("`east.1`, `east.2`", UNEVEN, 5000)]
    # The members of a sending LAG share the flows of the profile.
    assert polarised(UNEVEN, senders=4) == [("`east.1`, `east.2`", UNEVEN, 5000)]


def test_shares_of_what_is_left_of_a_loss_are_no_polarisation() -> None:
    assert polarised(UNEVEN, lost=100)
    assert polarised(UNEVEN, lost=200) == []
    assert polarised(UNEVEN, rx_dropped=1) == []
    assert polarised(UNEVEN, up=0) == []


@pytest.mark.parametrize(
    ("frames", "is_named"),
    [
        ((3, 2, 3), False),
        # 40 % are no 3 buckets of 8: 2.5 % more, which 5,000 flows do not make by chance.
        ((40, 40, 20), True),
        ((2, 2, 2, 1, 1), False),
        ((2, 2, 1, 1, 2), False),
        ((3, 2, 1, 1, 1), True),
    ],
)
def test_shares_of_eight_buckets_are_no_polarisation(frames: tuple[int, ...], is_named: bool) -> None:
    assert bool(polarised([1000 * one for one in frames])) == is_named


@pytest.mark.parametrize(("flows", "is_named"), [(10, False), (1000, True)])
def test_uneven_members_are_polarisation_where_flows_do_not_explain_them(flows: int, is_named: bool) -> None:
    """Three quarters of ten flows may be chance, of a thousand they are 16 standard deviations off."""
    counted = {**BOTH, ("Te0/1", "tx_packets"): 7500, ("Te0/2", "tx_packets"): 2500}
    outcome = by_hand(counted, sent=10_000, received=10_000)
    evidence = Evidence(replace(KNOWN, device_ports=("Te0/0", LAG)), "real", True, (), flows=flows)
    trial = Trial("trial", Frames.steady(FrameRate(1000), 10 * S))
    found = [one for one in find_causes({0: (trial, outcome)}, evidence) if isinstance(one, Polarised)]
    assert [(one.at, one.frames, one.flows) for one in found] == (
        [(f"`{LAG}`", (7500, 2500), flows)] if is_named else []
    )
