"""Classes with frames of their own: how a load is divided among frames of several sizes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases, situation
from netdyno.store import open_run
from netdyno.values.units import L1Rate, Percent

PLAN = """\
title: Streams of several sizes
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/router}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps}}
traffic:
  mixed: {{size: {size}, flows: 16, classes: {{{classes}}}}}
matrix: {{direction: [uni]}}
method: {{sweep: {{loads: [{load}], duration: 100ms}}}}
"""

IMIX = "a: {rate: 28pps, size: 64B}, b: {rate: 16pps, size: 594B}, c: {rate: 4pps, size: 1518B}"
"""T-Rex's imix.py: 28, 16 and 4 frames a second of 60, 590 and 1514 bytes, and the FCS."""

ROUND = 28 * 84 + 16 * 614 + 4 * 1538
"""Bytes on the line of a round of 48 frames: 18328."""


def plan_of(classes: str, load: str = "50%", size: str = "64B") -> Plan:
    return parse(PLAN.format(classes=classes, load=load, size=size))


def test_streams_of_an_imix_are_the_mix_of_its_sizes() -> None:
    plan, mixed = plan_of(IMIX), plan_of("all: {}", size="imix/trex")
    (case,), (other) = cases(plan), cases(mixed)[0]
    three, one = (situation(each, plan.kind.wire(plan.lab.links, {})) for each in (case, other))
    assert three.mean_size == one.mean_size == Fraction(28 * 64 + 16 * 594 + 4 * 1518, 48)
    assert three.line_fps == one.line_fps == Fraction(48 * 10**9, 8 * ROUND)
    for load in (Percent(Fraction(1, 2)), L1Rate(Fraction(10**8))):
        assert three.fps(load) == one.fps(load)
    # Of frames 28, 16 and 4 in 48; of a full line what 48 of them take.
    assert [three.share(name) for name in three.streams] == [Fraction(n, 48) for n in (28, 16, 4)]
    assert [three.size(name) for name in three.streams] == [64, 594, 1518]
    assert three.line("west-east/c") == Fraction(4 * 10**9, 8 * ROUND)


def test_shares_are_of_the_line_and_frames_of_their_sizes() -> None:
    plan = plan_of("small: {share: 25%, size: 64B, flows: 4}, large: {size: 1518B}")
    (case,) = cases(plan)
    known = situation(case, plan.kind.wire(plan.lab.links, case.settings))
    # A quarter of 1 Gbit/s in frames that take 84 bytes, the rest in some that take 1538.
    small, large = Fraction(250_000_000, 84 * 8), Fraction(750_000_000, 1538 * 8)
    assert known.line_fps == small + large
    assert [known.line(name) for name in known.streams] == [small, large]
    assert known.line("sum") == small + large


def test_streams_of_an_imix_send_as_many_frames_of_each(tmp_path: Path) -> None:
    folder = runner.run(plan_of(IMIX), tmp_path, watcher(), runner.Selection()).folder
    with open_run(folder, REASONS) as run:
        (trial,) = (one for one in run.trials(0) if one.result is not None)
        assert trial.result is not None
        sent = {one.name.rpartition("/")[2]: one.offered for one in trial.result.streams}
    # Half of 1 Gbit/s for 100 ms are 341 rounds and a part; each stream begins with a frame.
    rounds = Fraction(5 * 10**7, 8 * ROUND)
    assert sent == {name: -(-rounds * of // 1) for name, of in (("a", 28), ("b", 16), ("c", 4))}
