"""Loss that tags on a trunk explain: the pair of S5860 switches, by formula and emulated."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from balanced import balance, trial
from netdyno.campaign import inside
from netdyno.devices import KINDS
from netdyno.plan import parse
from netdyno.plan.matrix import cases, situation
from netdyno.values.health import Health
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import FrameCounts, Outcome, StreamResult
from netdyno.values.situation import Situation
from netdyno.values.trunk import Trunk
from netdyno.values.units import FrameRate
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
    short = Trial("short", Frames.steady(FrameRate(LINE), MS // 2, "hold"))
    assert tag_overhead(short, outcome, known) is None


def declared(kind: str, near: str, adds: int, rate: str, size: str) -> Situation:
    """What is known of a case on eight links of 10 Gbit/s, of which near ones are named."""
    links = "".join(f'{{endpoints: ["tester:p{n}", "dut:d{n}"], rate: 10Gbps}}, ' for n in range(8))
    asked = parse(f"""\
title: Two switches
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links: [{links}]
  trunk: {{ports: [{near}], rate: {rate}, adds: {adds}}}
traffic: {{it: {{size: {size}}}}}
matrix: {{profile: [it], direction: [uni]}}
method: {{throughput: {{duration: 1s}}}}
""")
    (case,) = cases(asked)
    wiring = KINDS[kind].wire(asked.lab.links, case.settings)
    return replace(situation(case, wiring), trunk=inside.trunk(wiring, asked.lab.trunk))


def full_ports(known: Situation, sent: int, received: int, mean: Fraction) -> tuple[Trial, Outcome]:
    """Ten seconds of so many frames a stream, of which so many arrive."""
    ten = range(10)
    streams = tuple(
        StreamResult(
            name=name,
            intended=10 * sent,
            offered=10 * sent,
            offered_bytes=int(10 * sent * mean),
            received=10 * received,
            received_bytes=int(10 * received * mean),
            duplicates=0,
            elsewhere=0,
            out_of_order=0,
            corrupted=0,
            lost=10 * (sent - received),
            beyond_window=0,
            flows_received=1,
            latency=None,
            tx=tuple(sent for _ in ten),
            rx=tuple(received for _ in ten),
            arrived=tuple(received for _ in ten),
            first_loss_ns=0,
        )
        for name in known.streams
    )
    load = Frames.steady(FrameRate(sent), 10**10, "hold")
    outcome = Outcome(FrameCounts(streams, (), 10**9), Health(0, 0, 0, 0, 0, None), ())
    return Trial("trial", load), outcome


# 10**10 / (8 x (L + 20)) frames a second of each port meet a trunk that carries as much of each of four as
# 10**10 / (8 x (L + 20 + added)).
@pytest.mark.parametrize(
    ("size", "mean", "added", "sent", "carried", "percent"),
    [
        ("64B", Fraction(64), 4, 14_880_952, 14_204_545, "4.5455"),
        ("256B", Fraction(256), 4, 4_528_985, 4_464_285, "1.4286"),
        ("594B", Fraction(594), 4, 2_035_830, 2_022_653, "0.6472"),
        ("1518B", Fraction(1518), 4, 812_743, 810_635, "0.2594"),
        ("imix/trex", MEAN, 4, 3_273_679, 3_239_740, "1.0367"),
        ("imix/trex", MEAN, 8, 3_273_679, 3_206_498, "2.0522"),
        ("imix/trex", MEAN, 24, 3_273_679, 3_080_082, "5.9138"),
    ],
)
def test_declared_trunk_explains_the_loss_of_its_tags(
    size: str, mean: Fraction, added: int, sent: int, carried: int, percent: str
) -> None:
    known = declared("external", "p0, p2, p4, p6", added, "40Gbps", size)
    found = tag_overhead(*full_ports(known, sent, carried, mean), known)
    assert found is not None
    assert (found.trunk_bps, found.tag_bytes) == (40_000_000_000, added)
    for share in (found.predicted, found.measured):
        assert abs(100 * share - Fraction(percent)) < Fraction(1, 5000)
    assert tag_overhead(*full_ports(known, sent, sent - 2 * (sent - carried), mean), known) is None


def test_declared_trunk_with_room_for_its_tags_explains_no_loss() -> None:
    known = declared("external", "p0, p1, p2, p3", 4, "40Gbps", "64B")
    # Each port sends to the next: one port's frames cross each way.
    assert tag_overhead(*full_ports(known, 14_880_952, 14_204_545, Fraction(64)), known) is None
