"""The log file of a run: its lines, its rights, and files that cannot be written."""

from __future__ import annotations

import logging
import os
import re
import stat
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import methodlab
import pytest
from commands import said
from netdyno.campaign import run as runner
from netdyno.campaign.busy import BusyMachine
from netdyno.campaign.events import Failed, TrialEnded
from netdyno.campaign.logged import LOG, warn
from netdyno.cli.live import watcher
from netdyno.cli.log import Logged, log_to
from netdyno.methods.reasons.tester import Preempted
from netdyno.plan import parse
from netdyno.values.records import CaseError

LINE = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (INFO|WARNING|ERROR) event=([a-z-]+)((?: \w+=\S.*)?)"
)
PLAN = methodlab.text("throughput: {duration: 10ms, width: 10%}")


def events(path: Path) -> list[tuple[str, str, str]]:
    """Level, event and the rest of each line; every line is one event with a time."""
    found = []
    for line in path.read_text().splitlines():
        match = LINE.fullmatch(line)
        assert match is not None, line
        found.append((match[2], match[3], match[4]))
    return found


class Quiet:
    """A view that shows nothing."""

    def begin(self, *_: object) -> None: ...
    def event(self, _: object) -> None: ...
    def tick(self) -> None: ...
    def stopping(self, **_: bool) -> None: ...
    def end(self) -> None: ...


def invalid_trial(text: str = "one") -> TrialEnded:
    trial: Any = SimpleNamespace(
        number=3,
        name=text,
        attempt=1,
        state="invalid",
        result=SimpleNamespace(invalid=(Preempted(72_000_000),)),
    )
    return TrialEnded(5, trial)


def test_log_of_a_run_has_a_line_for_each_trial_and_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "Workers", methodlab.OneProcess)
    path = tmp_path / "run.log"
    with log_to(path):
        outcome = runner.run(parse(PLAN), tmp_path, Logged(watcher()), runner.Selection())
    with runner.open_run(outcome.folder, runner.REASONS) as stored:
        trials = stored.trial_count()
    counts = Counter(event for _, event, _ in events(path))
    assert counts == {"run-begin": 1, "case-begin": 1, "trial-end": trials, "case-end": 1}
    assert all(isinstance(handler, logging.NullHandler) for handler in LOG.handlers)


def test_log_of_an_invalid_attempt_has_number_and_reason_code(tmp_path: Path) -> None:
    with log_to(tmp_path / "log"):
        Logged(Quiet()).event(invalid_trial())
    ((level, event, rest),) = events(tmp_path / "log")
    assert (level, event) == ("WARNING", "trial-end")
    for pair in ("case=5", "trial=3", "attempt=2", 'state="invalid"', 'reasons="preempted"'):
        assert f" {pair} " in f"{rest} "


def test_log_of_a_text_with_line_ends_is_one_line_without_trace(tmp_path: Path) -> None:
    with log_to(tmp_path / "log"):
        Logged(Quiet()).event(invalid_trial("a\nb\x1b[2J"))
        Logged(Quiet()).event(Failed(1, CaseError("bug", "no\r\nway"), trace="Traceback: hunter2"))
    assert len(events(tmp_path / "log")) == 2
    assert "hunter2" not in (tmp_path / "log").read_text()


def test_log_of_a_warning_has_its_code(tmp_path: Path) -> None:
    with log_to(tmp_path / "log"):
        warn(BusyMachine(90, "make", 7, 80))
    ((level, event, rest),) = events(tmp_path / "log")
    assert (level, event) == ("WARNING", "warning")
    assert ' code="busy-machine" ' in rest


def test_log_file_is_its_owners_alone_and_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "log"
    before = os.umask(0)
    try:
        for number in (0, 3):
            with pytest.raises(SystemExit), log_to(path):
                raise SystemExit(number)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [rest for _, _, rest in events(path)] == [" exit_code=0", " exit_code=3"]


def test_log_file_that_is_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    with pytest.raises(click.UsageError), log_to(tmp_path / "log"):
        pass


def test_log_file_on_a_full_disk_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    with log_to(Path("/dev/full")):
        for _ in range(3):
            Logged(Quiet()).event(invalid_trial())
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert os.strerror(28) in err


@pytest.mark.parametrize("path", ["none/log", "."])
def test_run_with_a_log_that_cannot_be_written_measures_nothing(path: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    done = said("run", "plan.yaml", "--log-file", path, cwd=tmp_path)
    assert done.returncode == 2
    assert "--log-file" in done.stderr
    assert not (tmp_path / "runs").exists()
