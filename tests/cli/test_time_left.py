"""The time left that the live view names, by a clock that a test moves: scripted runs, retries among them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import methodlab
import pytest
from netdyno.campaign.events import Event, Failed, Interrupted, Looked, TrialEnded, Wired
from netdyno.campaign.run import Selection
from netdyno.campaign.selection import Length
from netdyno.cli.live import PlainView
from netdyno.cli.time_left import TimeLeft
from netdyno.methods.reasons.tester import Preempted
from netdyno.plan import parse
from netdyno.testers.tester import Progress
from netdyno.values.records import CaseError, CaseWiring
from netdyno.values.situation import Situation

TRIALS = 10
TRIAL_S = 12.0
"""Of each trial, settling and overhead included; the plan says 10 s."""

PLAN = methodlab.text(
    f"order: {{repeats: {TRIALS}, duration: 10s}}",
    trial="settle: 0s, drain: 0s",
    matrix="direction: [uni, bidir]",
)

Script = dict[tuple[int, int], list[float]]
"""Seconds that each attempt took that did not count, by case and trial."""


def ended(case: int, number: int, state: str) -> TrialEnded:
    invalid = (Preempted(1),) if state == "invalid" else ()
    health = SimpleNamespace(longest_gap_ns=1, core_share_ppm=None)
    result = SimpleNamespace(invalid=invalid, began=True, health=health)
    trial: Any = SimpleNamespace(name=f"t{number}", number=number, state=state, result=result)
    return TrialEnded(case, trial)


def steps(script: Script, setup_s: float, clock: str) -> Iterator[tuple[float, Event]]:
    """Seconds that pass, and the event at their end."""
    wiring = CaseWiring(clock, Situation((), Fraction(1), Fraction(64)), False, (), "{}")  # type: ignore[arg-type]
    for case in (0, 1):
        yield setup_s, Wired(case, wiring)
        for number in range(TRIALS):
            for attempt_s, state in (
                *((one, "invalid") for one in script.get((case, number), [])),
                (TRIAL_S, "done"),
            ):
                yield 0.0, Looked(case, f"t{number}", number, Progress("traffic", 0, 10 * 10**9))
                yield (
                    attempt_s / 2,
                    Looked(case, f"t{number}", number, Progress("traffic", 5 * 10**9, 10 * 10**9)),
                )
                yield attempt_s / 2, ended(case, number, state)
        yield 0.5, Failed(case, CaseError("bug", "no"))


SCRIPTS: dict[str, Script] = {
    "none": {},
    "the first": {(0, 0): [TRIAL_S]},
    "every fifth": {(case, number): [TRIAL_S] for case in (0, 1) for number in (2, 7)},
    "every fourth, the first too": {(case, number): [TRIAL_S] for case in (0, 1) for number in (0, 4, 8)},
    "cut short": {(case, number): [4.0, 4.0] for case in (0, 1) for number in (0, 5)},
    "one many times": {(0, 3): [TRIAL_S] * 3},
}


@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize("setup_s", [0.0, 3.0])
@pytest.mark.parametrize("name", SCRIPTS)
def test_time_left_after_the_first_trial_is_within_a_quarter(name: str, setup_s: float, clock: str) -> None:
    now = 1000.0
    view = PlainView(io.StringIO(), clock=lambda: now)
    plan = parse(PLAN)
    view.begin(plan, list(Selection().cases(plan)), 0)
    script = list(steps(SCRIPTS[name], setup_s, clock))
    end = now + sum(passed for passed, _ in script)
    done = 0
    seen = []
    for passed, event in script:
        now += passed
        view.event(event)
        done += isinstance(event, TrialEnded) and event.trial.state == "done"
        # Of the last trials a retry more or less is more than a quarter of what is left.
        if done and end - now > 5 * TRIAL_S:
            left = view.left_s()
            assert left is not None
            seen.append(left / (end - now))
    assert len(seen) > TRIALS
    assert 0.75 <= seen[0] <= 1.25
    assert 0.5 <= min(seen) <= max(seen) <= 1.5


SEARCH_TRIALS, SEARCH_TRIAL_S, WAIT_S = 11, 60.0, 50.0
"""As many trials as a search for the throughput is planned with; each waits long around its traffic."""


def test_time_left_of_a_search_with_long_waits_is_within_a_quarter() -> None:
    now = 1000.0
    view = PlainView(io.StringIO(), clock=lambda: now)
    trial = f"settle: {WAIT_S / 2:g}s, drain: {WAIT_S / 2:g}s"
    plan = parse(methodlab.text(f"throughput: {{duration: {SEARCH_TRIAL_S:g}s}}", trial=trial))
    (case, *_) = cases = list(Selection().cases(plan))
    view.begin(plan, cases, 0)
    wiring = CaseWiring("real", Situation((), Fraction(1), Fraction(64)), False, (), "{}")  # type: ignore[arg-type]
    view.event(Wired(case.number, wiring))
    whole_s = SEARCH_TRIAL_S + WAIT_S
    for number in range(SEARCH_TRIALS - 2):
        view.event(Looked(case.number, "t", number, Progress("traffic", 0, int(whole_s * 1e9))))
        now += whole_s
        view.event(ended(case.number, number, "done"))
        left = view.left_s()
        assert left is not None
        to_come = (SEARCH_TRIALS - 1 - number) + SEARCH_TRIALS * (len(cases) - 1)
        assert 0.75 <= left / (to_come * whole_s) <= 1.25


def test_time_left_of_unequal_trials_is_within_a_half() -> None:
    now = 1000.0
    # A second for every route, which takes ten to prepare; loads; a withdrawal, an announcement, a cut.
    trials = [(1.0, 10.0), *3 * [(10.0, 2.0)], *3 * [(122.0, 5.0)]]
    planned = Fraction(sum(traffic for traffic, _ in trials))
    left = TimeLeft({0: Length(planned, Fraction(1, 2), None)}, lambda: now)
    left.begin_case(0, real=True)
    for number, (traffic, around) in enumerate(trials[:-1]):
        now += around
        left.look(0, number, 0, int((traffic + 0.5) * 1e9))
        now += traffic
        left.end_attempt(0, number, counts=True)
        to_come = sum(map(sum, trials[number + 1 :]))
        estimate = left.estimate_s()
        assert estimate is not None
        assert 0.75 <= estimate / to_come <= 1.5, number


def test_time_left_before_the_first_trial_is_the_plans() -> None:
    now = 1000.0
    view = PlainView(io.StringIO(), clock=lambda: now)
    plan = parse(PLAN)
    view.begin(plan, list(Selection().cases(plan)), 0)
    assert view.left_s() is None
    for _, event in list(steps({}, 0.0, "real"))[:2]:
        view.event(event)
    assert view.left_s() == pytest.approx(2 * TRIALS * 10)


def test_time_left_after_an_interrupted_case_does_not_fail() -> None:
    now = 1000.0
    view = PlainView(io.StringIO(), clock=lambda: now)
    plan = parse(PLAN)
    view.begin(plan, list(Selection().cases(plan)), 0)
    view.event(Interrupted(0))
    now += 5
    view.event(Interrupted(1))
    assert view.left_s() in (None, 0)


@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_time_left_of_the_last_trial_is_no_less_than_its_retries(attempt: int) -> None:
    now = 1000.0
    view = PlainView(io.StringIO(), clock=lambda: now)
    plan = parse(PLAN)
    (case, *_) = list(Selection().cases(plan))
    view.begin(plan, [case], 0)
    wiring = CaseWiring("real", Situation((), Fraction(1), Fraction(64)), False, (), "{}")
    view.event(Wired(case.number, wiring))
    for number in range(TRIALS):
        for state in ("done",) if number < TRIALS - 1 else ("invalid",) * attempt:
            view.event(Looked(case.number, f"t{number}", number, Progress("traffic", 0, 10 * 10**9)))
            now += TRIAL_S
            view.event(ended(case.number, number, state))
    view.event(Looked(case.number, f"t{TRIALS - 1}", TRIALS - 1, Progress("traffic", 0, 10 * 10**9)))
    now += 1
    left = view.left_s()
    assert left is not None
    assert left > TRIAL_S - 1.1
    if attempt:
        number, most = view.now[case.number].attempts
        assert (number, most) == (attempt + 1, plan.trial.retries + 1)
        assert left > (most - attempt) * TRIAL_S - 1.001
