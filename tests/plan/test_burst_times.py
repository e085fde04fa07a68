"""Finite bursts and chains of classes: which frame leaves when, how many leave, and what cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest
from netdyno.calibration.traffic import pick_distinct
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, load, parse
from netdyno.plan.bursts import Bursts, Sending, list_bursts, list_segments
from netdyno.plan.matrix import cases, situation, taken_by_classes
from netdyno.store import open_run
from netdyno.values.units import Duration, Percent

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAN = """\
title: Bursts
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/router}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps}}
traffic:
  mixed:
    size: 1518B
    flows: 4
    classes: {{default: {{}}, {classes}}}
matrix: {{direction: [uni]}}
method: {{sweep: {{loads: [10%], duration: 20ms}}}}
trial: {{sample: 1ms}}
"""
BITS = 84 * 8
"""Of a frame of 64 bytes on the line."""


def plan_of(classes: str) -> Plan:
    return parse(PLAN.format(classes=classes))


def departures(one: Sending, sendings: tuple[Sending, ...], duration_ns: int) -> list[Fraction]:
    """When the frames of a class depart, ns: each when the bits of all before it have been offered."""
    found, offered, at = [], Fraction(0), 0
    for length, begin, end in list_segments(one, list_bursts(sendings, duration_ns)[one.name], duration_ns):
        assert max(begin, end) <= one.bps
        whole = Fraction((begin + end) * length, 2 * 10**9)
        while begin and offered <= (due := len(found) * one.bits) < offered + whole:
            found.append(at + (due - offered) * 10**9 / begin)
        offered, at = offered + whole, at + length
    assert at <= duration_ns
    return found


@pytest.mark.parametrize("bps", [672 * 33_333, 999_999_937, 10_000_000_019])
def test_frame_of_a_burst_leaves_when_its_closed_form_says(bps: int) -> None:
    bursts = Bursts(frames=7, count=20, gap=Duration.of_ns(700_001))
    one = Sending("x", bps, BITS, bursts, delay_ns=10_003)
    apart = Fraction(BITS * 10**9, bps)
    begins = [ceil(10_003 + burst * (6 * apart + 700_001)) for burst in range(20)]
    assert departures(one, (one,), 10**9) == [begin + k * apart for begin in begins for k in range(7)]


def test_burst_goes_on_where_the_gap_is_no_longer_than_frames_are_apart() -> None:
    one = Sending("x", BITS * 1000, BITS, Bursts(frames=3, count=4, gap=Duration.of_ns(1_000_000)))
    assert departures(one, (one,), 10**9) == [k * 10**6 for k in range(12)]


def test_load_that_ends_within_a_burst_has_the_frames_that_fit() -> None:
    one = Sending("x", BITS * 1000, BITS, Bursts(frames=3, gap=Duration.of_ns(8_000_000)))
    # At 0, 1, 2, then 10, 11, 12 ms; the load ends 11.5 ms after it began.
    assert departures(one, (one,), 11_500_000) == [k * 10**6 for k in (0, 1, 2, 10, 11)]


CHAIN = (
    Sending("a", BITS * 1000, BITS, Bursts(frames=2, count=2, gap=Duration.of_ns(3 * 10**6)), 10**6, "b"),
    Sending("b", BITS * 500, BITS, Bursts(frames=3, count=1), 500_000, "a", starts=False, loops=2),
)


def test_chain_begins_each_class_behind_the_last_frame_of_the_one_before() -> None:
    ms = 10**6
    a, b = (departures(one, CHAIN, 10**9) for one in CHAIN)
    # a: 1 ms after the begin, then 1 ms after the last frame of b. b: half a ms after the last frame of a.
    assert a == [
        k * ms for k in (1, 2, 5, 6, Fraction("11.5"), Fraction("12.5"), Fraction("15.5"), Fraction("16.5"))
    ]
    assert b == [Fraction(k) * ms for k in ("6.5", "8.5", "10.5", "17", "19", "21")]


def test_class_that_still_sends_is_not_begun_again() -> None:
    first = Sending("a", BITS * 1000, BITS, Bursts(frames=2, count=1), 0, "b")
    second = Sending("b", BITS * 1000, BITS, Bursts(frames=9, count=1))
    assert len(departures(second, (first, second), 10**9)) == 9


def counts(folder: Path) -> Iterator[Mapping[str, tuple[int, int]]]:
    with open_run(folder, REASONS) as run:
        for trial in run.trials(0):
            assert trial.result is not None
            every = (*trial.result.streams, *trial.result.beside)
            yield {one.name.rpartition("/")[2]: (one.offered, one.missing) for one in every}


def test_engine_sends_exactly_the_frames_of_bursts_and_chains(tmp_path: Path) -> None:
    classes = """\
      a: {rate: 33333pps, size: 64B, bursts: {frames: 10, count: 3, gap: 1ms}, delay: 10us, then: b},
      b: {rate: 50%, size: 300B, starts: false, bursts: {frames: 7, count: 1}, then: a, loops: 2},
      c: {rate: 77777pps, size: 100B, bursts: {frames: 3, gap: 700us}},
      d: {rate: 1kpps, size: 100B, delay: 5500us}"""
    folder = runner.run(plan_of(classes), tmp_path, watcher(), runner.Selection()).folder
    (found,) = counts(folder)
    # c: a burst each two intervals and 700 us, 725.7 us, of which 28 begin in 20 ms; d from 5.5 ms on.
    assert {name: found[name] for name in "abcd"} == {"a": (60, 0), "b": (14, 0), "c": (84, 0), "d": (15, 0)}


def test_example_sends_the_frames_that_it_says(tmp_path: Path) -> None:
    folder = runner.run(load(EXAMPLES / "streams.yaml"), tmp_path, watcher(), runner.Selection()).folder
    trials = list(counts(folder))
    assert len(trials) == 3
    for found in trials:
        assert (found["sync"], found["reply"]) == ((4 * 3 * 10, 0), (4 * 5, 0))
        assert {missing for _, missing in found.values()} == {0}


ALONE = """\
{s0: {rate: 100%, size: 64B, bursts: {frames: 3, count: 1}, then: s1}, s1: {rate: 10kpps, size: 300B,
    starts: false, bursts: {frames: 2, count: 1}, then: s2}, s2: {rate: 10kpps, starts: false, bursts:
    {frames: 3, count: 1}, then: s0, loops: 2}}"""
"""As T-Rex's burst_3st_loop_x_times.py: 3, 2 and 3 frames, the whole twice."""


def alone(method: str) -> Plan:
    text = PLAN.format(classes="").replace("{default: {}, }", ALONE)
    return parse(text.replace("{sweep: {loads: [10%], duration: 20ms}}", method))


def test_soak_of_classes_that_send_by_themselves_needs_no_load(tmp_path: Path) -> None:
    plan = alone("{soak: {duration: 20ms, part: 0s}}")
    folder = runner.run(plan, tmp_path, watcher(), runner.Selection()).folder
    assert list(counts(folder)) == [{"s0": (6, 0), "s1": (4, 0), "s2": (6, 0)}]
    (case,) = cases(plan)
    known = situation(case, plan.kind.wire(plan.lab.links, case.settings))
    assert known.streams == ("west-east/s0", "west-east/s1", "west-east/s2")
    # Of the three one sends at once, at the most the whole line.
    assert known.own_fps == Fraction(10**9, BITS)
    (calibrated,) = pick_distinct([case], plan.kind.wire(plan.lab.links, case.settings), verify=False)
    assert [one.share for one in calibrated.profile.classes.values()] == [Percent(Fraction(1, 3))] * 3


@pytest.mark.parametrize(
    ("method", "code", "place"),
    [
        ("{sweep: {loads: [10%], duration: 20ms}}", "missing-field", "traffic.mixed.classes"),
        ("{soak: {load: 10%, duration: 20ms, part: 0s}}", "conflict", "method.soak.load"),
    ],
)
def test_load_for_classes_that_send_by_themselves_is_refused(method: str, code: str, place: str) -> None:
    with pytest.raises(PlanErrors) as caught:
        alone(method)
    (error,) = caught.value.errors
    assert (error.code, error.path) == (code, place), error


def test_classes_of_a_chain_take_the_line_one_at_a_time() -> None:
    plan = plan_of(
        "a: {rate: 70%, bursts: {frames: 3, count: 1}, then: b},"
        "b: {rate: 60%, starts: false, bursts: {frames: 3, count: 1}}, c: {rate: 20%}"
    )
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    assert taken_by_classes(case, wiring.ports[0]) == Fraction(9, 10)


@pytest.mark.parametrize(
    ("classes", "code", "field"),
    [
        ("x: {bursts: {frames: 1}}", "missing-field", "x.bursts"),
        ("x: {rate: 1kpps, bursts: {frames: 0}}", "out-of-range", "x.bursts.frames"),
        ("x: {rate: 1kpps, bursts: {frames: 2}, burst: 2}", "conflict", "x.burst"),
        ("x: {rate: 1kpps, delay: 1ms, arrival: poisson}", "conflict", "x.arrival"),
        ("x: {rate: 1kpps, then: y}, y: {rate: 1kpps}", "missing-field", "x.then"),
        ("x: {rate: 1kpps, bursts: {frames: 2, count: 1}, then: z}", "unknown-name", "x.then"),
        ("x: {rate: 1kpps, bursts: {frames: 2, count: 1}, then: default}", "conflict", "x.then"),
        ("x: {rate: 1kpps, starts: false}", "conflict", "x.starts"),
        ("x: {rate: 1kpps, loops: 2}", "missing-field", "x.loops"),
        ("x: {rate: 1kpps, size: imix/trex, bursts: {frames: 2}}", "unsupported", "x.bursts"),
        ("x: {rate: 50%, size: 64B, bursts: {frames: 1, gap: 5us}}", "too-many", "x.bursts"),
        ("x: {rate: 70%, bursts: {frames: 1}}, y: {rate: 30%}", "load-above-line", "x.rate"),
    ],
)
def test_burst_that_cannot_be_is_reported(classes: str, code: str, field: str) -> None:
    with pytest.raises(PlanErrors) as caught:
        plan_of(classes)
    (error,) = caught.value.errors
    assert (error.code, error.path) == (code, f"traffic.mixed.classes.{field}"), error
