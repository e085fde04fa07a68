"""Searches whose trials are too short to fill a queue say what of their number it held."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.methods.reasons.searches import StillQueued
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.rehearsal import ShortRehearsal
from pages import report_text
from words import within

CAPACITY = 10_000
STEP = 100
"""Of the searches whose trials are long, frames per second at most."""
HELD = 1025
"""Frames the device keeps beside those it forwards: 1,024 in its queue, and one that it works on."""

PLAN = """\
title: A queue
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/router}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 20Mbps}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 20Mbps}}
traffic: {{it: {{size: 64B, flows: 1}}}}
matrix: {{capacity: [10kpps], direction: [uni]}}
method: {{{method}}}
trial: {{sample: 1ms, settle: 1ms, drain: 200ms}}
{more}
"""

SEARCHES = {
    "ndr": "ndr: {goals: {NDR: csit-ndr}}",
    "bisection": "bisection: {duration: 1s, width: 200pps, repeats: 0}",
    "throughput": "throughput: {duration: 1s, width: 200pps}",
}


def found(method: str, tmp_path: Path) -> tuple[Fraction, tuple[StillQueued, ...]]:
    """The load that passed, frames per second, and what was still queued."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    asked = parse(PLAN.format(method=method, more=""))
    outcome = runner.run(asked, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.result is not None, outcome
        value = case.result.values[0]
        assert value.load is not None
        assert value.number is not None
        # What stands for the device is what lasts, whatever a queue took in besides.
        assert value.number <= CAPACITY + (0 if value.as_searched else STEP)
        return value.load, within(StillQueued, case.result.notes)


@pytest.mark.parametrize("method", SEARCHES)
def test_search_of_short_trials_reports_frames_still_queued(method: str, tmp_path: Path) -> None:
    """A second at 11,025 fps passes a device of 10,000: 1,025 frames wait when the last one has left."""
    number, (queued,) = found(SEARCHES[method], tmp_path)
    assert CAPACITY < number <= CAPACITY + HELD
    assert queued.stream == "west-east"
    assert abs(queued.offered - number) <= 1
    # All but what it forwards in the second; ten frames a millisecond, which is a sample.
    assert abs(queued.frames - (queued.offered - CAPACITY)) <= 12
    assert abs(queued.rate_pps - queued.frames) <= 1


@pytest.mark.parametrize("method", ["ndr", "bisection"])
def test_one_of_long_trials_has_nothing_to_say(method: str, tmp_path: Path) -> None:
    """In a minute 1,025 frames are 17 a second, less than the load is known to."""
    longer = {
        "ndr": "ndr: {goals: {NDR: {loss: 0%, exceed: 0%, duration: 60s, sum: 60s, width: 1%}}}",
        "bisection": "bisection: {duration: 60s, width: 100pps, repeats: 0}",
    }
    number, queued = found(longer[method], tmp_path)
    assert number <= CAPACITY + 100
    assert queued == ()


@pytest.mark.parametrize(
    ("capacity", "scale", "width"), [("10kpps", Fraction(1, 60), 100), ("100kpps", Fraction(1, 100), 400)]
)
def test_rehearsal_that_fits_into_a_queue_names_the_smallest_safe_scale(
    capacity: str, scale: Fraction, width: int, tmp_path: Path
) -> None:
    """1,025 frames are held: of a step of 100 a second as many as 10.25 s, of 400 as many as 2.56 s."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    asked = parse(f"""\
title: A rehearsal
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/router}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 100Mbps}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 100Mbps}}
traffic: {{it: {{size: 64B, flows: 1}}}}
matrix: {{capacity: [{capacity}], direction: [uni]}}
method: {{throughput: {{duration: 60s, maximum: 130kpps, width: {width}pps}}}}
trial: {{sample: 100ms, settle: 1ms, drain: 200ms}}
""")
    truth = Fraction(capacity.removesuffix("kpps")) * 1000
    shown = {}

    def rehearse(at: Fraction) -> ShortRehearsal | None:
        outcome = runner.run(asked, tmp_path, watcher(), runner.Selection(at))
        with open_run(outcome.folder, REASONS) as run:
            shown[at] = view(run)
        return shown[at].rehearsal

    short = rehearse(scale)
    assert short is not None
    assert (short.scale, short.cases) == (scale, 1)
    assert short.safe is not None
    exact = Fraction(HELD, 60 * width)
    assert exact <= short.safe <= exact * Fraction(5, 4)
    assert [one["code"] for one in json.loads(report_text("json", shown[scale]))["notes"]][:1] == [short.code]
    assert rehearse(short.safe) is None
    for run_at in shown.values():
        (case,) = run_at.cases
        assert case.headline is not None
        assert case.headline.number is not None
        assert truth - 20 <= case.headline.number <= truth + width


@pytest.mark.parametrize(("duration", "passed"), [("100ms", None), ("10s", False)])
def test_goal_of_a_sweep_is_not_passed_by_what_a_queue_took(
    duration: str, passed: bool | None, tmp_path: Path
) -> None:
    """12 kpps pass a device of 10 in a short trial: no more of that is known than what lasts."""
    sweep = f"sweep: {{loads: [5kpps, 9kpps, 10900pps, 12kpps], duration: {duration}}}"
    asked = parse(PLAN.format(method=sweep, more="goals: [loss-free load >= 11kpps]"))
    outcome = runner.run(asked, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.result is not None
        value = next(one for one in case.result.values if one.name == "loss-free load")
        assert value.low is not None
        assert value.low <= CAPACITY
        assert [goal.passed for goal in case.goals] == [passed]
