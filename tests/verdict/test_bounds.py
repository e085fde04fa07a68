"""An upper bound stands where more was lost than the tester explains; else a number is known from below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from netdyno.methods import METHODS
from netdyno.plan import Goal
from netdyno.reports.model import grid
from netdyno.values.finding import Result, Value
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Lag, LatePeriod, Outcome
from netdyno.values.proven import Proven
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate, Load
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, judge, judge_goal, with_proven_bounds
from netdyno.verdict.words import at_rate
from tendevices import Device, drive, measure, wall

LINE = Fraction(10_000_000)
ONE = Situation(("a-b",), LINE, Fraction(64), places=(Place(0, 1),))
SECOND = 10**9


def late(outcome: Outcome, from_s: int, until_s: int, frames: int) -> Outcome:
    """The trial, of whose frames so many were sent late, in one time."""
    (stream,) = outcome.streams
    span = (until_s - from_s) * SECOND
    period = LatePeriod(from_s * SECOND, until_s * SECOND, span, span, 1, frames)
    lag = Lag(stream.offered, 0, span, span, 0, "", frames, 10_000, (period,))
    return outcome.with_counts(streams=(replace(stream, lag=lag),))


def leaky(device: Device, above: int, share: Fraction) -> Device:
    """Above a load a share is lost of what the device passes."""

    def passes(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent, received = device(fps, seconds, stream)
        return sent, received - (int(sent * share) if fps > above else 0)

    return passes


def judged(
    result: Result, trials: Mapping[int, tuple[Trial, Outcome]], goal: str
) -> tuple[Result, Mapping[str, Verdict], bool | None]:
    """The result as it stands, the verdicts on its headline, and whether that is at least a rate."""
    known = Evidence(ONE, "real", True, (), proven=Proven("c", datetime(2026, 11, 29, tzinfo=UTC), LINE))
    own = [trials[number] for number in result.trials]
    evidence = replace(
        known,
        trials=tuple(outcome for _, outcome in own),
        planned_ns=tuple(trial.duration_ns for trial, _ in own),
    )
    verdicts = {name: judge(result, evidence, name) for name in result.judged}
    found = with_proven_bounds(result, verdicts, trials, known)
    name = result.headlines[0]
    asked = Goal(goal, ">=", Load.parse("60%"))
    return found, verdicts[name], judge_goal(asked, found, verdicts[name], evidence).passed


@pytest.mark.parametrize(("lost_late", "high"), [(0, 4_100_000), (1_300_000, 8_100_000), (10**9, None)])
def test_knee_stands_where_more_was_lost_than_pauses_explain(lost_late: int, high: int | None) -> None:
    """1 in 200 is lost from 4 Mpps on, and all above 8 Mpps: to a pause at 4 Mpps that is worth so many."""
    method = METHODS["ramp"]
    parameters = method.parameters(warmup=None, ramp="100s to 100%", hold=None)
    device = leaky(wall(8_000_000), 4_000_000, Fraction(1, 200))
    result, outcomes = drive(method.start(parameters, ONE), device, ONE)
    trial = next(method.start(parameters, ONE))
    outcome = late(outcomes[0], 39, 80, lost_late) if lost_late else outcomes[0]
    found, verdicts, met = judged(result, {0: (trial, outcome)}, "knee")
    knee, best = found.value("knee", "a-b"), found.value("ramp max Rx", "a-b")
    assert knee is not None
    assert best is not None
    assert knee.low is not None
    assert 3_800_000 <= knee.low <= 4_000_000
    assert (knee.high is None) is (high is None)
    assert met is (False if high == 4_100_000 else None)
    if high is not None:
        assert knee.high is not None
        assert 0 <= knee.high - (high - 100_000) <= 200_000
        assert best.high is not None
    else:
        assert verdicts["a-b"].limit in ("tester", "inconclusive")
        assert (knee.number, knee.is_count_at_least) == (knee.low, True)
        assert best.high is None


@pytest.mark.parametrize("lost_late", [0, 10**9])
def test_goal_on_a_load_that_only_the_tester_ended_is_undecided(lost_late: int) -> None:
    """50 % lost 1 in 5: of a device that does 4 Mpps, or in a pause of the tester."""
    method = METHODS["sweep"]
    parameters = method.parameters(loads=["10%", "50%"], duration="1s")
    result, _ = drive(method.start(parameters, ONE), wall(4_000_000), ONE)
    trials = {}
    for number, share in enumerate((Fraction(1, 10), Fraction(1, 2))):
        trial = Trial("t", Frames.steady(FrameRate(share * LINE), SECOND))
        outcome = measure(trial, wall(4_000_000), ONE)
        trials[number] = (trial, late(outcome, 0, 1, lost_late) if lost_late and number else outcome)
    found, _, met = judged(result, trials, "loss-free load")
    value = found.value("loss-free load", "a-b")
    assert value is not None
    assert (value.number, value.high) == (LINE / 10, None if lost_late else LINE / 2)
    assert met is (None if lost_late else False)


def test_search_of_which_the_tester_lost_the_lowest_load_has_no_number() -> None:
    method = METHODS["sweep"]
    parameters = method.parameters(loads=["50%"], duration="1s")
    result, _ = drive(method.start(parameters, ONE), wall(4_000_000), ONE)
    trial = Trial("t", Frames.steady(FrameRate(LINE / 2), SECOND))
    found, _, met = judged(
        result, {0: (trial, late(measure(trial, wall(4_000_000), ONE), 0, 1, 10**9))}, "loss-free load"
    )
    value = found.value("loss-free load", "a-b")
    assert value is not None
    assert (value.number, value.high, met) == (None, None, None)


@pytest.mark.parametrize("is_searched", [True, False])
@pytest.mark.parametrize("rate", [Fraction(19_996), Fraction(99_960), Fraction(14_880), Fraction(29_761)])
def test_rate_of_a_reason_has_the_digits_of_tables(rate: Fraction, is_searched: bool) -> None:
    """One number, one rounding: of what was found and of what is known from below alone."""
    kind = ValueKind("rate", "fps", "a rate")
    value = Value(kind, "sum", rate, low=rate, high=None, searched=is_searched, by_stream=False)
    found = at_rate(value)
    assert found.is_searched == is_searched
    # Printed of a case without bounds, and of a lower bound.
    measured = replace(value, low=None)
    assert str(found) == grid.number(measured).split(" (")[0]
    assert found.bound == f"at least {grid.number(measured, 'at least').split(' (')[0]}"
