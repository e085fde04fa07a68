"""Loss that tags on a trunk explain: the pair of S5860 switches, by formula and emulated."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from balanced import balance, trial
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.trunk import Trunk
from netdyno.verdict.trunk import tag_overhead

MS = 1_000_000
MEAN = Fraction(17_368, 48)
"""Bytes of T-Rex's mix: 28 x 64, 16 x 594, 4 x 1518."""
LINE = Fraction(10**10) / ((MEAN + 20) * 8)
TRUNK = Trunk(40_000_000_000, (0, 2, 4, 6), 4)


def test_lost_share_of_full_ports_is_the_articles() -> None:
    """1 - 381.833 / 385.833 = 1.0367 %."""
    found = TRUNK.lost_share([(LINE, MEAN)] * 4)
    assert found == 4 / (MEAN + 24)
    assert round(float(found), 6) == 0.010367


def test_lost_share_without_tags_or_below_the_trunk_is_zero() -> None:
    assert replace(TRUNK, more_bytes=0).lost_share([(LINE, MEAN)] * 4) == 0
    assert TRUNK.lost_share([(LINE * 98 / 100, MEAN)] * 4) == 0
    assert TRUNK.lost_share([]) == 0


def test_side_of_a_stream_within_a_half_is_none() -> None:
    assert [TRUNK.side(0, 1), TRUNK.side(1, 0), TRUNK.side(0, 2), TRUNK.side(1, 3)] == [
        True,
        False,
        None,
        None,
    ]


@pytest.fixture(scope="module")
def full() -> tuple[Situation, Trial, Outcome]:
    return trial("emulated/s5860", "size: imix/trex, flows: 1000", LINE, 60 * MS, links=8, vlans="qinq")


def test_tag_overhead_explains_the_loss_of_the_emulated_pair(full: tuple[Situation, Trial, Outcome]) -> None:
    known, one, outcome = full
    found = tag_overhead(one, outcome, known)
    assert found is not None
    assert (found.code, found.trunk_bps, found.tag_bytes) == ("tag-overhead", 40_000_000_000, 4)
    assert float(found.predicted) == pytest.approx(0.010367, abs=2e-5)
    assert abs(found.predicted - found.measured) <= found.resolution < Fraction(25, 10_000)
    assert str(found)


def test_balance_of_the_emulated_pair_is_exact(full: tuple[Situation, Trial, Outcome]) -> None:
    known, one, outcome = full
    (path,) = balance(known, one, outcome)
    assert path.is_whole
    assert path.dropped == outcome.lost > 0


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(2)])
def test_loss_of_another_size_is_not_explained_by_tags(
    full: tuple[Situation, Trial, Outcome], share: Fraction
) -> None:
    known, one, outcome = full
    streams = tuple(
        replace(
            stream,
            arrived=tuple(
                tx - int((tx - arrived) * share)
                for tx, arrived in zip(stream.tx, stream.arrived, strict=False)
            ),
        )
        for stream in outcome.streams
    )
    assert tag_overhead(one, outcome.with_counts(streams=streams), known) is None


def test_trunk_that_is_full_without_tags_is_not_explained_by_them(
    full: tuple[Situation, Trial, Outcome],
) -> None:
    known, one, outcome = full
    assert known.trunk is not None
    slower = replace(known, trunk=replace(known.trunk, rate_bps=39_000_000_000))
    assert tag_overhead(one, outcome, slower) is None


def test_trial_without_a_trunk_or_a_load_of_frames_has_no_tag_overhead(
    full: tuple[Situation, Trial, Outcome],
) -> None:
    known, one, outcome = full
    assert tag_overhead(one, outcome, replace(known, trunk=None)) is None
    short = Trial("short", Frames((Segment("hold", MS // 2, LINE, LINE),)))
    assert tag_overhead(short, outcome, known) is None
