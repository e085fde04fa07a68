"""Goals of classes of traffic: what a tester may have caused is neither met nor missed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from netdyno.plan.goals import goal_kinds, parse_goal
from netdyno.values.finding import Result, Value
from netdyno.values.kind import class_latency, class_loss
from netdyno.values.situation import Situation
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict import Evidence
from netdyno.verdict.goals import judge_goal
from words import said

SITUATION = Situation(("a",), Fraction(10**6), Fraction(64), classes=("voice",))
MS = Fraction(10**6)


def judged(goal: str, value: Value, limit: Limit = "device", clock: str = "real") -> bool | None:
    read = parse_goal(goal, goal_kinds({}, ("voice",)))
    evidence = Evidence(SITUATION, clock, True, ())  # type: ignore[arg-type]
    verdicts = {"a": Verdict(limit, said(""))}
    return judge_goal(read, Result("sweep", (value,), ()), verdicts, evidence).passed


def loss(share: Fraction, frames: int = 100_000) -> Value:
    return Value(class_loss("voice"), "sum", share, of_frames=frames)


@pytest.mark.parametrize(
    ("goal", "share", "limit", "passed"),
    [
        ("loss of voice <= 0", Fraction(0), "device", True),
        ("loss of voice <= 0", Fraction(1, 1000), "device", False),
        # The tester may have lost them: met it can be, missed it cannot.
        ("loss of voice <= 0", Fraction(0), "tester", True),
        ("loss of voice <= 0", Fraction(1, 1000), "tester", None),
        ("loss of voice >= 1%", Fraction(1, 50), "tester", None),
        ("loss of voice >= 1%", Fraction(1, 1000), "tester", False),
        ("loss of voice <= 0", Fraction(0), "invalid", None),
    ],
)
def test_goal_of_a_class_is_judged_by_loss_and_limit(
    goal: str, share: Fraction, limit: Limit, passed: bool | None
) -> None:
    assert judged(goal, loss(share), limit) is passed


def test_too_few_frames_without_loss_show_no_small_share() -> None:
    # Of 100 frames without loss up to 3 % may be lost at 95 %; of 100,000 three in 100,000.
    assert judged("loss of voice <= 1%", loss(Fraction(0), 100)) is None
    assert judged("loss of voice <= 1%", loss(Fraction(0), 100_000)) is True


def test_latency_of_too_few_frames_is_at_most_the_longest() -> None:
    kind = class_latency("voice")
    for high, passed in ((Fraction(1, 2), True), (Fraction(2), None)):
        value = Value(kind, "sum", MS / 4, high=high * MS)
        assert judged("p99 of voice <= 1ms", value) is passed
    assert judged("p99 of voice <= 1ms", Value(kind, "sum", 3 * MS)) is False
    assert judged("p99 of voice <= 1ms", Value(kind, "sum", None)) is None
