"""The live view's words and its estimate of what is left. Truth: a clock that the test moves by hand."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from campaigns import write_plan
from kinds import kind
from methodlab import text
from netdyno.campaign.events import Failed, Looked, TrialEnded, Wired
from netdyno.campaign.run import Selection
from netdyno.cli import live
from netdyno.plan import load, parse
from netdyno.testers.tester import Progress
from netdyno.values.finding import Value
from netdyno.values.load import Frames, Trial
from netdyno.values.records import CaseError, CaseWiring, StoredTrial
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from tendevices import measure, passes_everything
from words import said_each

ONE = Situation(("west-east",), Fraction(10_000_000), Fraction(64))


class Clock:
    """Time that passes when told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(live.time, "monotonic", lambda: self.now)


def looked(phase: str, percent: int) -> Looked:
    return Looked(0, "ramp", 0, Progress(phase, percent, 100))


def begun(folder: Path) -> tuple[live.PlainView, io.StringIO, list[Any]]:
    plan = load(write_plan(folder))
    cases = list(Selection().cases(plan))
    stream = io.StringIO()
    view = live.PlainView(stream)
    view.begin(plan, cases, 0)
    return view, stream, cases


def test_trial_and_phase_stand_apart(tmp_path: Path) -> None:
    view, _, cases = begun(tmp_path)
    now = live.Now(cases[0])
    assert now.where == "building the lab"
    now.look(looked("ramp", 61))
    assert now.where == "trial ramp, phase ramp, 61 %"
    now.look(looked("done", 97))
    assert now.where == "trial ramp has ended"
    assert view.left_s() is None


@pytest.mark.parametrize(
    ("number", "low", "high", "limit", "told"),
    [
        ("625000/7", "625000/7", "312500/3", "device", "89.28 kpps (89,285 to 104,166 pps)"),
        ("14880952", None, None, "line", "14.880 Mpps"),
        ("147999", None, None, "tester", ">= 147.9 kpps"),
        ("147999", None, None, "none", ">= 147.9 kpps"),
    ],
)
def test_progress_of_a_search_has_the_numbers_of_its_first_screen(
    number: str, low: str | None, high: str | None, limit: str, told: str
) -> None:
    bounds = [None if bound is None else Fraction(bound) for bound in (low, high)]
    value = Value(kind("throughput"), "sum", Fraction(number), *bounds, searched=True)
    assert live.describe_value(value, limit) == f"throughput {told}"


def test_progress_of_a_best_rate_is_cut_where_it_is_a_bound() -> None:
    value = Value(kind("ramp max Rx"), "sum", Fraction(147_999))
    assert live.describe_value(value, "tester") == "ramp max Rx >= 147 kpps"
    assert live.describe_value(value, "device") == "ramp max Rx 148 kpps"


def test_what_is_left_counts_down_and_does_not_jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    view, _, cases = begun(tmp_path)
    assert len(cases) == 8
    seen: list[float] = []
    for case in cases[:3]:
        for _ in range(10):
            clock.now += 1
            left = view.left_s()
            if left is not None:
                seen.append(left)
        view.event(Failed(case.number, CaseError("bug", "no")))
    # Ten seconds a case: from 70 s after the first case on, a second less each second.
    assert seen == [pytest.approx(70 - second) for second in range(1, 21)]
    clock.now += 100
    assert view.left_s() == pytest.approx(40), "a case that takes long makes nothing longer"


def test_a_soak_in_virtual_time_says_when_it_will_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten parts four were made before it was gone on with; two more take 20 s, so the last four 40 s."""
    clock = Clock(monkeypatch)
    plan = parse(text("soak: {duration: 10s, part: 1s}"))
    stream = io.StringIO()
    view = live.PlainView(stream)
    view.begin(plan, list(Selection().cases(plan)), 0)
    view.event(Wired(0, CaseWiring("virtual", Situation((), Fraction(1), Fraction(64)), True, (), "{}")))
    for number in range(4, 7):
        now = Progress("traffic", 0, 10**9)
        view.event(Looked(0, f"part {number + 1} of 10", number, now))
        clock.now += 10 if number < 6 else 0
    assert view.left_s() == pytest.approx(40)
    clock.now += live.PLAIN_EVERY_S
    view.tick()
    told = stream.getvalue().splitlines()[-1]
    found = re.search(r", about 0:30 left, until (?:[A-Z][a-z]+ )?([0-9:]{8})$", told)
    assert found is not None, told
    ends = {f"{datetime.now() + timedelta(seconds=30 - ago):%H:%M:%S}" for ago in range(5)}
    assert found[1] in ends


def test_attempts_in_a_row_that_do_not_count_are_one_line(tmp_path: Path) -> None:
    view, stream, _ = begun(tmp_path)

    def ended(name: str, number: int, attempt: int, gap_ns: int) -> None:
        outcome = measure(Trial(name, Frames.steady(FrameRate(1000), 10**9)), passes_everything(), ONE)
        reasons = (f"a pause of {gap_ns} ns",) if gap_ns else ()
        health = replace(outcome.health, longest_gap_ns=gap_ns)
        now = datetime.now(UTC)
        view.event(
            TrialEnded(
                0,
                StoredTrial(
                    case=0,
                    number=number,
                    attempt=attempt,
                    name=name,
                    state="invalid" if gap_ns else "done",
                    segments=(),
                    spec="{}",
                    result=replace(outcome, health=health, invalid=said_each(reasons)),
                    started=now,
                    ended=now,
                ),
            )
        )

    for attempt, gap_ns in enumerate((11, 13, 12, 0)):
        ended("first", 0, attempt, gap_ns)
    ended("second", 1, 0, 0)
    for attempt in range(3):
        ended("third", 2, attempt, 5)
    # A part that was given up: the next trial is another one, and follows it.
    ended("fourth", 3, 0, 7)
    ended("fourth", 3, 1, 0)
    ended("fifth", 4, 0, 6)
    view.event(Looked(0, "sixth", 5, Progress("traffic", 1, 100)))
    assert view.now[0].attempts[0] == 1
    assert re.findall("[0-9]+", view.now[0].not_counting) == ["5", "3"]
    ended("fifth", 4, 1, 0)
    ended("sixth", 5, 0, 0)
    ended("seventh", 6, 0, 7)
    view.event(Failed(0, CaseError("bug", "it went wrong")))
    lines = [line for line in stream.getvalue().splitlines() if line.startswith("warning: ")]
    # The last trial, the attempts, and the pause of the worst, ns.
    found = [
        (line.split("`")[-2], *map(int, re.findall(r"([0-9]+) (?:times|attempts|ns)", line)))
        for line in lines
    ]
    assert found == [("first", 3, 13), ("fifth", 5, 7), ("seventh", 7)]


def test_names_do_not_steer_the_terminal(tmp_path: Path) -> None:
    view, stream, _ = begun(tmp_path)
    view.say("a\x1b[2Jb")
    assert "\x1b" not in stream.getvalue()
