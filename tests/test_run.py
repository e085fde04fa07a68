"""A run from plan to record on a fake engine: order, retries, failures, signals, exit codes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from campaigns import SEARCH, finish, gone, start, wait_for, write_plan
from netdyno.store import FILE, open_run

RAMP = SEARCH.replace(
    "{throughput: {duration: 10ms, width: 1%}}",
    "{ramp: {warmup: 10ms at 1Mpps, ramp: 100ms to 100%, hold: 20ms}}",
)


def only_folder(parent: Path) -> Path:
    (folder,) = [folder for folder in parent.iterdir() if (folder / FILE).exists()]
    return folder


def test_a_campaign_is_recorded_completely(tmp_path: Path) -> None:
    code, folder, err = finish("run", write_plan(tmp_path), tmp_path)
    assert code == 0
    with open_run(folder) as run:
        assert run.state == "done"
        assert run.head.title == "A small search"
        assert run.head.plan == SEARCH
        assert {"netdyno", "engine", "python", "sqlite", "kernel", "cpu"} == set(run.head.versions)
        cases = run.cases
        assert [case.head.number for case in cases] == list(range(8))
        assert {case.state for case in cases} == {"done"}
        assert len({case.head.seed for case in cases}) == 8
        for case in cases:
            assert case.result is not None
            assert case.wiring is not None
            trials = list(run.trials(case.head.number))
            assert [trial.number for trial in trials] == list(range(len(trials)))
            assert set(case.result.trials) <= {trial.number for trial in trials}
            assert all(f'"seed": {case.head.seed}' in trial.spec for trial in trials)
            # The fake device forwards 5 Mpps; 512 B frames fill the line first.
            limit = "device" if case.head.axes["profile"] == "64b" else "line"
            assert {verdict.limit for verdict in case.verdicts} == {limit}
        values = {case.head.name: case.result.values[0] for case in cases if case.result}
        found = values["l2-xconnect / 64b / uni"]
        assert found.number is not None
        assert found.high is not None
        assert found.number <= 5_000_000 < found.high
    assert "[8/8]" in err


def test_compliance_counts_sizes_and_phases(tmp_path: Path) -> None:
    _, folder, _ = finish(
        "run", write_plan(tmp_path, SEARCH.replace("direction: [uni, bidir]", "direction: [uni]")), tmp_path
    )
    with open_run(folder) as run:
        result = run.cases[0].result
        assert result is not None
        text = "\n".join(result.compliance)
        assert "at least 60 s" in text
        assert "2 frame sizes are tested" in text
        assert "section 23 phase d" in text


def test_an_invalid_trial_is_repeated_and_every_attempt_kept(tmp_path: Path) -> None:
    (tmp_path / "faults").write_text("one\ntwo\n")
    plan = write_plan(
        tmp_path,
        RAMP.replace("[l2-xconnect, ipv4]", "[ipv4]")
        .replace("[64b, 512b]", "[64b]")
        .replace("[uni, bidir]", "[uni]"),
    )
    code, folder, err = finish("run", plan, tmp_path, FAKE_INVALID=str(tmp_path / "faults"))
    assert code == 0
    with open_run(folder) as run:
        trials = list(run.trials(0))
        assert [(trial.number, trial.attempt, trial.state) for trial in trials] == [
            (0, 0, "invalid"),
            (0, 1, "invalid"),
            (0, 2, "done"),
        ]
        assert trials[0].result.invalid == ("the link went down",)
    assert "does not count: the link went down" in err


def test_a_trial_that_stays_invalid_fails_its_case_only(tmp_path: Path) -> None:
    (tmp_path / "faults").write_text("x\n" * 3)
    plan = write_plan(tmp_path, RAMP.replace("[l2-xconnect, ipv4]", "[ipv4]").replace("[64b, 512b]", "[64b]"))
    # One worker at a time would be needed to say which case fails: any one may, the others are done.
    code, folder, _ = finish("run", plan, tmp_path, FAKE_INVALID=str(tmp_path / "faults"))
    with open_run(folder) as run:
        failed = [case for case in run.cases if case.state == "failed"]
        assert code == (3 if failed else 0)
        assert run.state == ("failed" if failed else "done")
        for case in failed:
            assert case.error is not None
            assert "invalid 3 times: the link went down" in case.error


def test_a_crash_of_the_engine_fails_the_case_and_not_the_run(tmp_path: Path) -> None:
    code, folder, err = finish("run", write_plan(tmp_path), tmp_path, FAKE_CRASH="1")
    assert code == 3
    with open_run(folder) as run:
        assert run.state == "failed"
        assert {case.state for case in run.cases} == {"failed"}
        assert all("exit code 7" in str(case.error) for case in run.cases)
    assert "not measured" in err


def test_goals_decide_the_exit_code(tmp_path: Path) -> None:
    met = write_plan(tmp_path, SEARCH + 'goals: ["throughput >= 4.9Mpps"]\nskip: [{profile: 512b}]\n')
    assert finish("run", met, tmp_path / "met")[0] == 0
    missed = write_plan(tmp_path, SEARCH + 'goals: ["throughput >= 99%"]\n')
    code, folder, err = finish("run", missed, tmp_path / "missed")
    assert code == 1
    with open_run(folder) as run:
        judged = {(case.head.axes["profile"], goal.passed) for case in run.cases for goal in case.goals}
        assert judged == {("64b", False), ("512b", True)}
    assert "goal `throughput >= 99%` missed" in err


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_in_order_and_keeps_what_was_measured(
    tmp_path: Path, which: signal.Signals
) -> None:
    """Ctrl-C on a terminal reaches every process of the run, SIGTERM its first one only."""
    process = start("run", write_plan(tmp_path), tmp_path / "runs", FAKE_TRIAL_S="0.4")
    wait_for(lambda: list((tmp_path / "runs").glob("*/" + FILE)))
    folder = only_folder(tmp_path / "runs")

    def some() -> bool:
        with open_run(folder) as run:
            return any(True for case in run.cases for _ in run.trials(case.head.number))

    wait_for(some)
    if which == signal.SIGINT:
        os.killpg(process.pid, which)
    else:
        process.send_signal(which)
    out, err = process.communicate(timeout=60)
    assert out.split()[0] == "130", err
    assert "Traceback" not in err
    wait_for(lambda: gone(process.pid), seconds=10)
    with open_run(folder) as run:
        assert run.state == "interrupted"
        states = {case.state for case in run.cases}
        assert "interrupted" in states
        assert states <= {"pending", "interrupted", "done"}
        trials = [trial for case in run.cases for trial in run.trials(case.head.number)]
        assert any(trial.state == "done" for trial in trials)
        for case in run.cases:
            kept = list(run.trials(case.head.number))
            assert all(trial.state == "done" for trial in kept[:-1])
    code, again, _ = finish("resume", folder)
    assert (code, again) == (0, folder)
    with open_run(folder) as run:
        assert run.state == "done"
        assert {trial.state for case in run.cases for trial in run.trials(case.head.number)} == {"done"}
