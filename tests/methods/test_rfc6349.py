"""RFC 6349: windows from the product, and the figures of its sections 3 and 4."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from netdyno.methods import METHODS
from netdyno.methods.rfc6349 import DELAY, EFFICIENCY, RATIO, Rfc6349Parameters, rfc6349
from netdyno.methods.tcp import PAYLOAD
from netdyno.plan.goals import goal_kinds, parse_goal
from netdyno.values.finding import Result, Value
from netdyno.values.health import Health
from netdyno.values.outcome import Carried, ConnectionCounts, Outcome
from netdyno.values.situation import Situation
from netdyno.values.unmeasured import NotMeasuredError, WindowNotHeld
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict import Evidence, judge_goal
from netdyno.verdict.reasons import NoValue
from tcp_outcomes import MS, NAME, S, connection, own_frames

LINE = Fraction(100 * 10**6, 8 * 1538)
SITUATION = Situation((NAME,), LINE, Fraction(1518))


def _carried(bps: float, rtt_ns: int, **more: int) -> Outcome:
    received = int(bps / 8 * 10)
    each = (connection(**more),)
    one = Carried(NAME, 1, received, 10 * S, received, 10 * S, 0, 1448, rtt_ns, "cubic", each=each)
    return Outcome(ConnectionCounts((one,), S), Health(0, 0, 0, 0, 0, None), ())


def _run(
    *windows: Outcome | NotMeasuredError, rtt_ns: int, parts: list[str], passed: Fraction = LINE
) -> tuple[Result, list[Any]]:
    """The result, and the segments under way that were asked for."""
    asked = Rfc6349Parameters.model_validate({"duration": "30s", "windows": parts})
    method = rfc6349(asked, SITUATION)
    next(method)
    method.send(own_frames(LINE, passed, MS))
    trial = method.send(own_frames(passed / 2, passed / 2, MS))
    assert trial.connections.streams == 1
    trial = method.send(_carried(1e6, rtt_ns, min_rtt_ns=rtt_ns))
    under_way = []
    for outcome in windows:
        under_way.append(trial.connections.segments_under_way)
        try:
            is_made = isinstance(outcome, Outcome)
            trial = method.send(outcome) if is_made else method.throw(outcome)
        except StopIteration as ended:
            return ended.value, under_way
    raise AssertionError("the method goes on")


def _number(result: Result, kind: Any) -> Fraction:
    value = result.value(kind.name, NAME)
    assert value is not None
    assert value.number is not None
    return value.number


def test_windows_are_parts_of_the_product_in_whole_segments() -> None:
    """94.15 Mbit/s of payload at 25 ms are 294,213 bytes: 203.2 segments of 1448."""
    made = [_carried(bps, 25 * MS) for bps in (23.5e6, 94.1e6, 94.1e6)]
    _, under_way = _run(*made, rtt_ns=25 * MS, parts=["25%", "100%", "200%"])
    assert under_way == [51, 203, 406]


def test_windows_below_four_segments_are_tried_once() -> None:
    result, under_way = _run(_carried(94.1e6, MS // 10), rtt_ns=MS // 10, parts=["25%", "100%", "200%"])
    assert under_way == [4]
    assert [note.code for note in result.notes] == ["small-product"]


def test_metrics_are_those_of_the_standards_examples() -> None:
    """Section 4.2: 100,000 bytes and 2,000 again are 98.04 % (98.03 there, cut). Section 4.3: 25 ms that
    become 32 are 28 %. Section 4.1: 12 s in place of 8 are 1.5."""
    path_bps = Fraction(3, 2) * 60 * 10**6
    passed = path_bps / (8 * 1448)
    made = _carried(60e6, 32 * MS, sent_bytes=102_000, retransmitted_bytes=2_000)
    result, _ = _run(made, rtt_ns=25 * MS, parts=["100%"], passed=passed)
    assert _number(result, EFFICIENCY) == 1 - Fraction(2, 102)
    assert _number(result, DELAY) == Fraction(28, 100)
    assert float(_number(result, RATIO)) == pytest.approx(1.5, rel=1e-3)


def test_window_that_cannot_be_measured_leaves_the_others() -> None:
    failed = NotMeasuredError(WindowNotHeld(NAME, 51, 400))
    result, _ = _run(failed, _carried(94.1e6, 25 * MS), rtt_ns=25 * MS, parts=["25%", "100%"])
    assert float(_number(result, PAYLOAD)) == pytest.approx(94.1e6, rel=1e-6)
    assert [note.all_codes for note in result.notes] == ["window-not-held"]
    nothing, _ = _run(failed, rtt_ns=25 * MS, parts=["25%"])
    assert nothing.value(PAYLOAD.name, NAME) == Value(PAYLOAD, NAME, None)


LIMITS: tuple[tuple[Limit, bool | None], ...] = (("line", True), ("tester", None), ("receive-window", None))


@pytest.mark.parametrize(("limit", "passed"), LIMITS)
@pytest.mark.parametrize("goal", ["buffer delay <= 50%", "TCP efficiency >= 99%"])
def test_goal_is_met_at_all_that_the_path_carries(goal: str, limit: Limit, passed: bool | None) -> None:
    """Less load makes queues shorter and losses fewer: at less it shows nothing."""
    result, _ = _run(_carried(50e6, 26 * MS, sent_bytes=10**6), rtt_ns=25 * MS, parts=["100%"])
    asked = parse_goal(goal, goal_kinds(METHODS))
    verdicts = {NAME: Verdict(limit, NoValue())}
    assert judge_goal(asked, result, verdicts, Evidence(SITUATION, "real", False, ())).passed is passed


def test_numbers_of_a_case_are_of_the_window_that_carried_most() -> None:
    made = [_carried(bps, 25 * MS) for bps in (23.5e6, 94.1e6, 90e6)]
    result, _ = _run(*made, rtt_ns=25 * MS, parts=["25%", "100%", "200%"])
    assert float(_number(result, PAYLOAD)) == pytest.approx(94.1e6, rel=1e-6)
    assert result.trials == (4,)
