"""A time limit ends a run in order, as the first Ctrl-C does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from campaigns import SEARCH, TWO, write_plan
from commands import said
from netdyno.campaign import run as runner
from netdyno.campaign.events import TrialEnded
from netdyno.campaign.interrupts import Interrupts
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.selection import Selection
from netdyno.plan import parse
from netdyno.store import open_run


class Watching:
    """Sets a limit that has passed when the first trial ends."""

    def __init__(self, interrupts: Interrupts) -> None:
        self.interrupts = interrupts
        self.stops = 0

    def event(self, event: Any) -> None:
        if isinstance(event, TrialEnded):
            self.interrupts.limit(0)

    def stopping(self, *, is_configured: bool) -> None:
        self.stops += 1

    def __getattr__(self, _: str) -> Any:
        return lambda *values: None


def test_limit_in_a_case_interrupts_it_and_keeps_its_trials(tmp_path: Path) -> None:
    interrupts = Interrupts()
    watching = Watching(interrupts)
    plan = parse(SEARCH.replace("width: 1%", "width: 0.001%"))
    try:
        outcome = runner.run(plan, tmp_path, watching, Selection(), interrupts=interrupts)
    finally:
        interrupts.restore()
    assert outcome.exit_code == 124
    assert watching.stops == 1
    with open_run(outcome.folder, REASONS) as run:
        assert run.state == "interrupted"
        assert run.trial_count() >= 1
        assert "pending" in {case.state for case in run.cases}
    assert said("run", "--resume", outcome.folder).returncode == 0


def test_limit_before_the_first_case_leaves_all_to_resume(tmp_path: Path) -> None:
    plan, report = write_plan(tmp_path, TWO), tmp_path / "j.xml"
    done = said("run", plan, "--out", tmp_path / "runs", "--time-limit", "1ns", "--junit", report)
    assert done.returncode == 124
    assert "time limit reached: 0 trials kept, 0 of 2 cases measured" in done.stderr
    assert report.read_text().count("<skipped ") == 2
    (folder,) = (tmp_path / "runs").iterdir()
    assert f"netdyno run --resume {folder}" in done.stderr
    assert said("run", "--resume", folder, "--time-limit", "1h").returncode == 0
    assert said("run", "--resume", folder, "--time-limit", "1ns").returncode == 0, "nothing was left"


def test_signal_after_the_limit_decides_the_exit_code() -> None:
    interrupts = Interrupts()
    interrupts.look_at_clock()
    assert not interrupts.is_stopping
    interrupts.limit(0)
    interrupts.look_at_clock()
    assert (interrupts.is_stopping, interrupts.exit_code) == (True, 124)
    interrupts.seen.append(2)
    assert interrupts.exit_code == 130


def test_signal_before_the_limit_is_an_interrupt() -> None:
    interrupts = Interrupts()
    interrupts.seen.append(2)
    interrupts.limit(0)
    interrupts.look_at_clock()
    assert (interrupts.is_out_of_time, interrupts.exit_code) == (False, 130)


@pytest.mark.parametrize("wrong", ["soon", "0s", "-1h", "2 days"])
def test_limit_that_is_no_time_is_refused(wrong: str, tmp_path: Path) -> None:
    done = said("run", write_plan(tmp_path, TWO), "--out", tmp_path / "runs", "--time-limit", wrong)
    assert done.returncode == 2
    assert "--time-limit" in done.stderr
    assert not (tmp_path / "runs").exists()
