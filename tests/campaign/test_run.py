"""A run from plan to record on a fake engine: order, retries, failures, signals, exit codes."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT, ONE, SEARCH, TWO, finish, is_gone, start, wait_for, write_plan
from netdyno.campaign.reasons import REASONS
from netdyno.methods.reasons.deviations import OutsideRule
from netdyno.methods.reasons.tester import Preempted
from netdyno.store import FILE, open_run
from netdyno.values.reason import Reason
from netdyno.verdict import OWN_DROPS
from words import as_text

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
    with open_run(folder, REASONS) as run:
        assert run.state == "done"
        assert run.head.title == "A small search"
        assert run.head.plan == SEARCH
        made_with = {"netdyno", "engine", "level", "build", "python", "sqlite", "kernel", "cpu"}
        assert set(run.head.versions) == made_with
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
    with open_run(folder, REASONS) as run:
        result = run.cases[0].result
        assert result is not None
        assert "RFC 2544 section 23 phase d" in {one.fields().get("section") for one in result.compliance}
        numbers = {one.section: one.found for one in result.recommended if isinstance(one, OutsideRule)}
        assert numbers["RFC 2544 section 9"] == 2
        assert numbers["RFC 2544 section 24"] < 60 * 10**9
        assert (result.standard, result.conformity) == ("RFC 2544 section 26.1", "deviating")


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
    with open_run(folder, REASONS) as run:
        trials = list(run.trials(0))
        assert [(trial.number, trial.attempt, trial.state) for trial in trials] == [
            (0, 0, "invalid"),
            (0, 1, "invalid"),
            (0, 2, "done"),
        ]
        assert as_text(trials[0].result.invalid) == ("the link went down",)
    (told,) = (line for line in err.splitlines() if "does not count" in line)
    assert told.endswith("does not count, 2 times, at worst: the link went down")


def test_long_pause_retries_a_constant_load_and_keeps_a_ramp(tmp_path: Path) -> None:
    first: list[tuple[str, tuple[Reason, ...]]] = []
    for name, plan in (("ramp", RAMP), ("search", SEARCH)):
        place = tmp_path / name
        place.mkdir()
        (place / "away").write_text("once\n")
        for axis in ("[l2-xconnect, ipv4]", "[64b, 512b]", "[uni, bidir]"):
            plan = plan.replace(axis, axis.split(",")[0] + "]")
        code, folder, _ = finish("run", write_plan(place, plan), place, FAKE_AWAY=str(place / "away"))
        assert code == 0
        with open_run(folder, REASONS) as run:
            trial = next(iter(run.trials(0)))
            first.append((trial.state, trial.result.invalid))
            assert trial.result.health.longest_gap_ns == 250_000_000
    ramp, search = first
    assert ramp == ("done", ())
    assert search == ("invalid", (Preempted(250_000_000),))


@pytest.mark.parametrize(("pauses", "retries"), [(1, 2), (8, 2), (5, 0)])
def test_trial_spoiled_by_a_pause_is_retried_passed_or_failed(
    tmp_path: Path, pauses: int, retries: int
) -> None:
    """By the pause alone: it is in each of the first attempts, of which some lose frames and some do not."""
    plan = SEARCH
    for axis in ("[l2-xconnect, ipv4]", "[64b, 512b]", "[uni, bidir]"):
        plan = plan.replace(axis, axis.split(",")[0] + "]")
    plan = plan.replace("trial: {", f"trial: {{retries: {retries}, ")
    (tmp_path / "pause").write_text("once\n" * pauses)
    code, folder, _ = finish("run", write_plan(tmp_path, plan), tmp_path, FAKE_PAUSE=str(tmp_path / "pause"))
    assert code == 0
    with open_run(folder, REASONS) as run:
        trials = list(run.trials(0))
    states = [(one.number, one.attempt, one.state) for one in trials]
    # Each trial at most once more than `retries` says, and the last of them stands.
    spoiled = [one for one in trials if one.result.health.longest_gap_ns]
    assert len(spoiled) == pauses
    assert all((one.state == "invalid") == (one.attempt < retries) for one in spoiled), states
    reasons = {one.result.invalid for one in spoiled if one.state == "invalid"}
    assert reasons <= {(Preempted(25_000_000),)}
    assert all(one.state == "done" for one in trials if not one.result.health.longest_gap_ns)
    if retries and pauses > retries:
        lossy = {any(stream.lost for stream in one.result.streams) for one in spoiled}
        assert lossy == {True, False}, "one that failed and one that passed"


def test_frames_that_come_late_in_a_spoiled_attempt_count_in_the_next_one(tmp_path: Path) -> None:
    """Two attempts that a pause spoiled, each with 7 frames of an earlier trial at each port."""
    plan = SEARCH
    for axis in ("[l2-xconnect, ipv4]", "[64b, 512b]", "[uni, bidir]"):
        plan = plan.replace(axis, axis.split(",")[0] + "]")
    for name in ("stale", "pause"):
        (tmp_path / name).write_text("once\n" * 2)
    files = {"FAKE_STALE": str(tmp_path / "stale"), "FAKE_PAUSE": str(tmp_path / "pause")}
    code, folder, _ = finish("run", write_plan(tmp_path, plan), tmp_path, **files)
    assert code == 0
    with open_run(folder, REASONS) as run:
        first, second, third, *rest = run.trials(0)
    assert [one.number for one in (first, second, third)] == [0, 0, 0]
    each = [[port.stale for port in one.result.ports] for one in (first, second, third, rest[0])]
    assert each == [[7, 7], [14, 14], [14, 14], [0, 0]]


def test_a_spoiled_load_takes_no_attempt_from_an_invalid_one(tmp_path: Path) -> None:
    """The link down twice, then two pauses of 25 ms: three attempts and two more, and the fifth is good."""
    plan = SEARCH
    for axis in ("[l2-xconnect, ipv4]", "[64b, 512b]", "[uni, bidir]"):
        plan = plan.replace(axis, axis.split(",")[0] + "]")
    for name, times in (("down", 2), ("pause", 4)):
        (tmp_path / name).write_text("once\n" * times)
    files = {"FAKE_INVALID": str(tmp_path / "down"), "FAKE_PAUSE": str(tmp_path / "pause")}
    code, folder, _ = finish("run", write_plan(tmp_path, plan), tmp_path, **files)
    assert code == 0
    with open_run(folder, REASONS) as run:
        first = [one for one in run.trials(0) if one.number == 0]
    assert ["the link went down" in as_text(one.result.invalid) for one in first] == [True] * 2 + [False] * 3
    assert [one.state for one in first] == ["invalid"] * 4 + ["done"]


@pytest.mark.parametrize(
    ("away", "paused", "code", "states"),
    [(2, 1, 0, ["invalid"] * 3 + ["done"]), (4, 0, 3, ["invalid"] * 3)],
)
def test_a_pause_in_which_no_load_is_constant_takes_no_turn_of_the_spoiled(
    tmp_path: Path, away: int, paused: int, code: int, states: list[str]
) -> None:
    """Pauses of 250 ms are invalid trials like others, three in all; one of 25 ms has a turn of its own."""
    plan = SEARCH
    for axis in ("[l2-xconnect, ipv4]", "[64b, 512b]", "[uni, bidir]"):
        plan = plan.replace(axis, axis.split(",")[0] + "]")
    files = {"FAKE_AWAY": ("away", away), "FAKE_PAUSE": ("pause", paused)}
    for name, times in files.values():
        (tmp_path / name).write_text("once\n" * times)
    given = {variable: str(tmp_path / name) for variable, (name, _) in files.items()}
    found, folder, _ = finish("run", write_plan(tmp_path, plan), tmp_path, **given)
    assert found == code
    with open_run(folder, REASONS) as run:
        assert [one.state for one in run.trials(0) if one.number == 0] == states


def test_a_trial_that_stays_invalid_fails_its_case_only(tmp_path: Path) -> None:
    """Whatever sends in both directions stays invalid; what sends in one is measured."""
    plan = write_plan(tmp_path, RAMP.replace("[l2-xconnect, ipv4]", "[ipv4]"))
    code, folder, err = finish("run", plan, tmp_path, FAKE_INVALID_STREAMS="2")
    assert code == 3
    with open_run(folder, REASONS) as run:
        assert run.state == "failed"
        states = {(case.head.axes["direction"], case.state) for case in run.cases}
        assert states == {("uni", "done"), ("bidir", "failed")}
        for case in run.cases:
            if case.state == "failed":
                assert "invalid 3 times: the link went down" in str(case.error)
                kept = [(trial.attempt, trial.state) for trial in run.trials(case.head.number)]
                assert kept == [(0, "invalid"), (1, "invalid"), (2, "invalid")]
    assert "not measured" in err


def test_engine_error_is_reported_in_its_own_words(tmp_path: Path) -> None:
    code, folder, _ = finish("run", write_plan(tmp_path), tmp_path, FAKE_REFUSES="1")
    assert code == 3
    with open_run(folder, REASONS) as run:
        told = {(case.error.message, case.error.hint) for case in run.cases if case.error}
        assert told == {("the port went away", "do otherwise")}
    assert not (folder / "bugs.txt").exists()


def test_a_crash_of_the_engine_fails_the_case_and_not_the_run(tmp_path: Path) -> None:
    code, folder, err = finish("run", write_plan(tmp_path, TWO), tmp_path, FAKE_CRASH="1")
    assert code == 3
    with open_run(folder, REASONS) as run:
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
    with open_run(folder, REASONS) as run:
        judged = {(case.head.axes["profile"], goal.passed) for case in run.cases for goal in case.goals}
        assert judged == {("64b", False), ("512b", True)}
    assert "goal `throughput >= 99%` missed" in err


def test_a_run_without_any_number_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    """A tester that sends half of what it is asked to, at every load: nothing is found."""
    code, folder, err = finish("run", write_plan(tmp_path), tmp_path / "runs", FAKE_STARVED="1")
    assert code == 4
    with open_run(folder, REASONS) as run:
        assert {case.state for case in run.cases} == {"done"}
    # One judgement a line: what was not found and why, and the limit.
    lines = [line for line in err.splitlines() if line.startswith("[")]
    assert len(lines) == 8
    assert all("no throughput was found (" in line for line in lines)
    assert not any("inconclusive" in line and "limit: tester" in line for line in lines)
    assert finish("resume", folder, FAKE_STARVED="1")[0] == 4


@pytest.mark.parametrize(
    "method",
    [
        "throughput: {duration: 10ms, width: 1%}",
        "sweep: {loads: [50%, 100%], duration: 10ms}",
        "frame-loss: {duration: 10ms}",
        "soak: {load: 50%, duration: 20ms}",
        "ramp: {warmup: 1ms at 10kpps, ramp: 20ms to 100%, hold: 1ms}",
    ],
)
def test_a_run_in_which_nothing_came_back_has_no_number(tmp_path: Path, method: str) -> None:
    plan = re.sub("(?m)^method: .*$", f"method: {{{method}}}", ONE)
    assert finish("run", write_plan(tmp_path, plan), tmp_path / "runs", FAKE_CAPACITY="0")[0] == 4


@contextlib.contextmanager
def _hang_up(handler: signal.Handlers) -> Iterator[None]:
    """What is started inside begins so, whether these tests run under nohup or not."""
    before = signal.signal(signal.SIGHUP, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_in_order_and_keeps_what_was_measured(
    tmp_path: Path, which: signal.Signals
) -> None:
    """Ctrl-C on a terminal and its closing reach every process of the run, SIGTERM its first one only."""
    with _hang_up(signal.SIG_DFL):
        process = start("run", write_plan(tmp_path), tmp_path / "runs", FAKE_TRIAL_S="0.4")
    wait_for(lambda: list((tmp_path / "runs").glob("*/" + FILE)))
    folder = only_folder(tmp_path / "runs")

    def some() -> bool:
        with open_run(folder, REASONS) as run:
            return any(True for case in run.cases for _ in run.trials(case.head.number))

    wait_for(some)
    if which != signal.SIGTERM:
        os.killpg(process.pid, which)
    else:
        process.send_signal(which)
    out, err = process.communicate(timeout=60)
    assert out.split()[0] == "130", err
    assert "Traceback" not in err
    wait_for(lambda: is_gone(process.pid), seconds=60)
    with open_run(folder, REASONS) as run:
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
    with open_run(folder, REASONS) as run:
        assert run.state == "done"
        assert {trial.state for case in run.cases for trial in run.trials(case.head.number)} == {"done"}


CLI = """
import sys
import fake_engine
from netdyno import cli, testers
testers.TESTERS["netdyno"] = fake_engine.ENTRY
cli.main()
"""


def test_a_terminal_that_is_closed_ends_the_run_in_order(tmp_path: Path) -> None:
    """The kernel hangs up on the session; nothing can be written to that terminal any more."""
    ours, theirs = pty.openpty()
    with _hang_up(signal.SIG_DFL):
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n" + CLI,
                "run",
                str(write_plan(tmp_path)),
                "--out",
                str(tmp_path / "runs"),
            ],
            env={**ENVIRONMENT, "FAKE_TRIAL_S": "0.4"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
    os.close(theirs)
    wait_for(lambda: list((tmp_path / "runs").glob("*/" + FILE)))
    folder = only_folder(tmp_path / "runs")

    def some() -> bool:
        os.set_blocking(ours, False)
        with contextlib.suppress(BlockingIOError):
            os.read(ours, 65536)
        with open_run(folder, REASONS) as run:
            return any(True for case in run.cases for _ in run.trials(case.head.number))

    wait_for(some)
    os.close(ours)
    assert process.wait(60) == 130
    wait_for(lambda: is_gone(process.pid), seconds=60)
    with open_run(folder, REASONS) as run:
        assert run.ended is not None
        assert run.state == "interrupted"


def test_a_hang_up_under_nohup_is_survived(tmp_path: Path) -> None:
    with _hang_up(signal.SIG_IGN):
        process = start("run", write_plan(tmp_path), tmp_path / "runs", FAKE_TRIAL_S="0.05")
    wait_for(lambda: list((tmp_path / "runs").glob("*/" + FILE)))
    os.killpg(process.pid, signal.SIGHUP)
    out, err = process.communicate(timeout=60)
    assert out.split()[0] == "0", err


@pytest.mark.skipif(importlib.util.find_spec("netdyno._engine") is None, reason="the engine is not built")
def test_the_counters_a_verdict_looks_for_are_those_of_the_devices(tmp_path: Path) -> None:
    """A name that no device counts by would sum up to zero, and nobody would see it."""
    one = RAMP.replace("[l2-xconnect, ipv4]", "[ipv4]").replace("[64b, 512b]", "[64b]")
    # Drained, so that what is missing was dropped and is not still inside.
    one = one.replace("[uni, bidir]", "[bidir]").replace("drain: 0s", "drain: 50ms")
    plan = write_plan(tmp_path, one)
    _, folder, err = finish("run", plan, tmp_path, CAMPAIGN_ENGINE="netdyno._engine")
    with open_run(folder, REASONS) as run:
        (case,) = run.cases
        trial = run.trial(0, 0)
        assert trial is not None, err
        assert case.result is not None
        (device,) = trial.result.devices
        assert len(device["ports"]) == 2
        for name in (*OWN_DROPS, "partner_drops"):
            holders = [device] if name in ("box_drops", "card_drops") else device["ports"]
            assert all(isinstance(holder[name], int) for holder in holders), name
        own = sum(holder.get(name, 0) for name in OWN_DROPS for holder in (device, *device["ports"]))
        assert own == trial.result.lost > 0
