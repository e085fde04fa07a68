"""Killed at any moment: no acknowledged trial is lost, and going on ends where not stopping would have."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT, ONE, SEARCH, TWO, essence, finish, is_gone, start, wait_for, write_plan
from commands import netdyno, said
from netdyno.campaign.reasons import REASONS
from netdyno.reports.model.from_store import view
from netdyno.store import FILE, Hold, StoreError, list_runs, open_run
from netdyno.values.records import RESUMED, RunSummary
from pages import report_text
from sampling import SAMPLE
from sealing import changing

KILLS = 12 // SAMPLE
LIMIT_S = 120.0


def acknowledged(folder: Path) -> dict[tuple[int, int, int], str]:
    """What the record holds: trial -> its counts."""
    try:
        with open_run(folder, REASONS) as run:
            return {
                (trial.case, trial.number, trial.attempt): repr(trial.result)
                for case in run.cases
                for trial in run.trials(case.head.number)
                if trial.state == "done"
            }
    except StoreError:
        return {}


def test_a_run_killed_again_and_again_ends_like_one_that_was_not(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    code, whole, _ = finish("run", plan, tmp_path / "whole")
    assert code == 0

    seed = int(os.environ.get("NETDYNO_FUZZ_SEED", "40"))
    moments = random.Random(seed)
    parent = tmp_path / "killed"
    process = start("run", plan, parent, FAKE_TRIAL_S="0.05")
    wait_for(lambda: list(parent.glob("*/" + FILE)) or process.poll() is not None)
    (folder,) = parent.iterdir()
    known: dict[tuple[int, int, int], str] = {}
    kills = 0
    for _ in range(KILLS):
        time.sleep(moments.uniform(0.0, 1.0))
        # What a reader was shown before the kill is acknowledged.
        seen = acknowledged(folder)
        # The first process alone is killed: its workers have to notice.
        process.kill()
        process.wait()
        kills += 1
        wait_for(lambda group=process.pid: is_gone(group))  # type: ignore[misc]
        connection = sqlite3.connect(folder / FILE)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), f"seed {seed}"
        connection.close()
        now = acknowledged(folder)
        assert known.items() <= seen.items() <= now.items(), f"seed {seed}: an acknowledged trial is lost"
        known = now
        if done(folder):
            break
        if not recorded(folder):
            # Killed before the record had begun: there is nothing to go on with, and it says so.
            assert finish_fails("resume", folder)
            process = start("run", plan, parent, FAKE_TRIAL_S="0.05")
            wait_for(lambda: len(list(parent.glob("*/" + FILE))) > 1)
            folder = max(parent.iterdir(), key=lambda path: path.stat().st_mtime)
            continue
        process = start("resume", folder, FAKE_TRIAL_S="0.05")
    assert kills > 0
    # After the last of the kills it was started once more.
    process.kill()
    process.wait()
    wait_for(lambda: is_gone(process.pid))
    code, _, _ = finish("resume", folder)
    assert code == 0
    assert known.items() <= acknowledged(folder).items()
    assert essence(folder) == essence(whole), f"seed {seed}"


@pytest.mark.skipif(importlib.util.find_spec("netdyno._engine") is None, reason="the engine is not built")
def test_the_engine_itself_gives_the_same_after_a_kill(tmp_path: Path) -> None:
    """Virtual time: a campaign on emulated devices, killed twice, equals one that was not, counts and all."""
    ramp = "{ramp: {warmup: 1ms at 1Mpps, ramp: 20ms to 100%, hold: 5ms}}"
    plan = write_plan(tmp_path, SEARCH.replace("{throughput: {duration: 10ms, width: 1%}}", ramp))
    engine = {"CAMPAIGN_ENGINE": "netdyno._engine"}
    code, whole, _ = finish("run", plan, tmp_path / "whole", **engine)
    assert code == 0
    process = start("run", plan, tmp_path / "killed", **engine)
    wait_for(lambda: list((tmp_path / "killed").glob("*/" + FILE)))
    (folder,) = (tmp_path / "killed").iterdir()
    for _ in range(2):
        measured = len(acknowledged(folder))
        wait_for(lambda before=measured: len(acknowledged(folder)) > before or done(folder))  # type: ignore[misc]
        process.kill()
        process.communicate()
        wait_for(lambda group=process.pid: is_gone(group))  # type: ignore[misc]
        process = start("resume", folder, **engine)
    process.communicate(timeout=120)
    assert essence(folder) == essence(whole)


def done(folder: Path) -> bool:
    try:
        with open_run(folder, REASONS) as run:
            return run.state == "done"
    except StoreError:
        return False


def recorded(folder: Path) -> bool:
    try:
        with open_run(folder, REASONS):
            return True
    except StoreError:
        return False


def finish_fails(*arguments: object) -> bool:
    process = start(*arguments)
    process.communicate(timeout=60)
    return process.returncode != 0


def test_a_finished_run_resumes_to_itself(tmp_path: Path) -> None:
    _, folder, _ = finish("run", write_plan(tmp_path), tmp_path)
    record = (folder / FILE).read_bytes()
    code, _, _ = finish("resume", folder)
    assert code == 0
    assert (folder / FILE).read_bytes() == record, "when it ended, too"


def test_a_finished_run_that_missed_its_goal_resumes_to_that(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, ONE + 'goals: ["throughput >= 99%"]\n')
    code, folder, _ = finish("run", plan, tmp_path)
    assert code == 1
    record = (folder / FILE).read_bytes()
    assert finish("resume", folder)[:2] == (1, folder)
    assert (folder / FILE).read_bytes() == record


def test_a_run_killed_before_its_last_word_is_ended(tmp_path: Path) -> None:
    """Every case was done; that the run is, was not written."""
    _, folder, _ = finish("run", write_plan(tmp_path, ONE), tmp_path)
    before = essence(folder)
    with changing(folder) as connection:
        connection.execute("UPDATE run SET state = 'running', ended = NULL")
    assert finish("resume", folder)[0] == 0
    with open_run(folder, REASONS) as run:
        assert (run.state, run.ended is None) == ("done", False)
    assert essence(folder) == before


def test_stored_trials_are_fed_back_and_not_measured_again(tmp_path: Path) -> None:
    """The engine would crash: so whatever the method asks for comes from the record."""
    _, folder, _ = finish("run", write_plan(tmp_path), tmp_path)
    before = essence(folder)
    with changing(folder) as connection:
        for table in ("verdicts", "goals"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("UPDATE cases SET state = 'running', result = NULL")
    code, _, err = finish("resume", folder, FAKE_CRASH="1")
    assert code == 0, err
    assert essence(folder) == before


def test_a_case_that_failed_is_tried_again_when_resumed(tmp_path: Path) -> None:
    faults = tmp_path / "faults"
    faults.write_text("x\n" * 3)
    plan = write_plan(tmp_path, ONE)
    code, folder, _ = finish("run", plan, tmp_path, FAKE_INVALID=str(faults))
    assert code == 3
    code, _, err = finish("resume", folder)
    assert code == 0, err
    with open_run(folder, REASONS) as run:
        first = [(trial.attempt, trial.state) for trial in run.trials(0) if trial.number == 0]
        assert first == [
            (0, "invalid"),
            (1, "invalid"),
            (2, "invalid"),
            (3, "done"),
        ]


def children_of(pid: int) -> str:
    """The processes that a process has started."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


def test_workers_of_a_killed_run_do_not_outlive_it(tmp_path: Path) -> None:
    process = start("run", write_plan(tmp_path), tmp_path, FAKE_TRIAL_S="30")
    wait_for(lambda: list(tmp_path.glob("*/" + FILE)))
    # Its workers have begun: each is a child of the run.
    wait_for(lambda: children_of(process.pid))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for(lambda: is_gone(process.pid), seconds=60)


def test_a_killed_run_is_listed_as_interrupted(tmp_path: Path) -> None:
    process = start("run", write_plan(tmp_path, ONE), tmp_path / "runs", FAKE_TRIAL_S="0.4")
    wait_for(lambda: list((tmp_path / "runs").glob("*/" + FILE)))
    (summary,) = list_runs(tmp_path / "runs")
    assert isinstance(summary, RunSummary)
    assert summary.state == "running"
    process.kill()
    process.communicate()
    wait_for(lambda: is_gone(process.pid), seconds=60)
    (summary,) = list_runs(tmp_path / "runs")
    assert isinstance(summary, RunSummary)
    assert summary.state == "interrupted"
    with open_run(summary.folder, REASONS) as run:
        assert "running" not in {case.state for case in run.cases}
    listed = said("list", tmp_path / "runs")
    assert "interrupted" in listed.stdout
    assert f"`netdyno run --resume {summary.folder}`" in listed.stderr


def test_going_on_with_a_run_twice_at_once_is_refused(tmp_path: Path) -> None:
    _, folder, _ = finish("run", write_plan(tmp_path, ONE), tmp_path)
    with Hold(folder):
        done = netdyno("run", "--resume", folder)
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error == f"error: {folder}: another process is writing this run"
    assert hint.startswith("hint: ")
    with open_run(folder, REASONS) as run:
        assert run.state == "done"


def test_other_versions_are_noted_when_a_run_goes_on(tmp_path: Path) -> None:
    _, folder, _ = finish("run", write_plan(tmp_path, TWO), tmp_path, FAKE_INVALID_STREAMS="2")
    with open_run(folder, REASONS) as run:
        begun = dict(run.head.versions)
    code, _, _ = finish("resume", folder, FAKE_INVALID_STREAMS="2")
    with open_run(folder, REASONS) as run:
        assert run.head.versions == begun, "the same versions are no news"
    code, _, err = finish("resume", folder, FAKE_VERSION="fake 2")
    assert code == 0, err
    with open_run(folder, REASONS) as run:
        assert run.head.versions == {**begun, RESUMED: "engine fake 2"}
    read = json.loads(said("report", folder, "--as", "json").stdout)
    assert read["versions"][RESUMED] == "engine fake 2"
    sentence = "A part of this run was resumed with other versions: engine fake 2."
    # Markdown and the page say it on their first screen too.
    wanted = {"terminal": 1, "markdown": 2, "html": 2}
    with open_run(folder, REASONS) as run:
        found = {name: " ".join(report_text(name, view(run)).split()).count(sentence) for name in wanted}
    assert found == wanted


@pytest.mark.parametrize("name", ["run.sqlite", "deep/lab.yaml"])
def test_included_lab_of_any_name_is_stored_with_the_run(name: str, tmp_path: Path) -> None:
    head, lab, rest = TWO[: TWO.index("lab:")], TWO[TWO.index("  nodes") :], ""
    lab, rest = lab[: lab.index("traffic:")], lab[lab.index("traffic:") :]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(lab.replace("\n  ", "\n")[2:])
    plan = write_plan(tmp_path, f"{head}lab: {name}\n{rest}")
    code, folder, err = finish("run", plan, tmp_path / "runs", FAKE_INVALID_STREAMS="2")
    assert code == 3, err
    assert (folder / "included" / name).exists()
    code, _, err = finish("resume", folder)
    assert code == 0, err


def test_included_lab_that_changed_is_not_resumed_with(tmp_path: Path) -> None:
    head, lab, rest = TWO[: TWO.index("lab:")], TWO[TWO.index("  nodes") :], ""
    lab, rest = lab[: lab.index("traffic:")], lab[lab.index("traffic:") :]
    (tmp_path / "lab.yaml").write_text(lab.replace("\n  ", "\n")[2:])
    plan = write_plan(tmp_path, f"{head}lab: lab.yaml\n{rest}")
    code, folder, err = finish("run", plan, tmp_path / "runs", FAKE_INVALID_STREAMS="2")
    assert code == 3, err
    kept = folder / "included" / "lab.yaml"
    kept.write_text(kept.read_text().replace("10Gbps", "40Gbps"))
    before = (folder / FILE).read_bytes()
    process = start("resume", folder)
    _, err = process.communicate(timeout=60)
    assert "DamagedError" in err
    assert (folder / FILE).read_bytes() == before


FULL = """\
mount -t tmpfs -o size="$1" none "$2" || exit 99
trap 'cp -r "$2"/. "$3"' EXIT
"$4" -c "$5" run "$6" --out "$2"
"""
"""A disk of its own for one process, gone with it; what was on it is copied away."""

ON_THE_FAKE_ENGINE = (
    "import fake_engine, netdyno.testers as testers, netdyno.cli as cli\n"
    "testers.TESTERS['netdyno'] = fake_engine.ENTRY\n"
    "cli.main()\n"
)


def on_a_full_disk(size: str, folder: Path, plan: str) -> tuple[subprocess.CompletedProcess[str], Path, Path]:
    """The ended run, where its disk was, and what was on it."""
    disk, left = folder / "disk", folder / "left"
    disk.mkdir()
    left.mkdir()
    arguments = [size, disk, left, sys.executable, ON_THE_FAKE_ENGINE, write_plan(folder, plan)]
    command = ["unshare", "--mount", "bash", "-c", FULL, "bash", *map(str, arguments)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    if "unshare" in done.stderr or done.returncode == 99:
        pytest.skip("no file system can be mounted here")
    return done, disk, left


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_run_on_a_full_disk_ends_with_a_message_and_resumes_later(tmp_path: Path) -> None:
    # Long series, so that a few cases take more than there is: all eight take 1.6 MB. How many are whole when
    # the disk is full differs, since two workers write in turns: 4 or 5 with this much room, and none with a
    # third of it.
    plan = SEARCH.replace("duration: 10ms", "duration: 100ms")
    done, disk, left = on_a_full_disk("1200k", tmp_path, plan)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    *_, error, hint = done.stderr.splitlines()
    (folder,) = left.iterdir()
    assert error.startswith(f"error: {disk / folder.name}: the disk is full")
    assert f"`netdyno run --resume {disk / folder.name}`" in hint
    told = done.stderr.count("] ")
    with open_run(folder, REASONS) as run:
        kept = sum(case.state == "done" for case in run.cases)
        assert 0 < kept < 8
        assert kept == told
    code, _, err = finish("resume", folder)
    assert code == 0, err
    with open_run(folder, REASONS) as run:
        assert {case.state for case in run.cases} == {"done"}


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
@pytest.mark.parametrize("size", ["4k", "100k"])
def test_run_without_room_for_its_record_is_refused_and_leaves_nothing(size: str, tmp_path: Path) -> None:
    done, disk, left = on_a_full_disk(size, tmp_path, SEARCH)
    assert done.returncode == 3, done.stderr
    error, hint = done.stderr.splitlines()
    assert error.startswith(f"error: {disk}")
    assert "the disk is full" in error
    assert "make room" in hint
    assert not list(left.iterdir())


def test_a_run_of_repeats_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """Stopped in the middle and gone on with, it ends as one that was not stopped, every repeat by itself."""
    plan = write_plan(tmp_path, f"{TWO}repeat: {{count: 3, seeds: each}}\n")
    code, whole, _ = finish("run", plan, tmp_path / "whole")
    assert code == 0
    parent = tmp_path / "stopped"
    process = start("run", plan, parent, FAKE_TRIAL_S="0.05")
    wait_for(lambda: any(acknowledged(folder) for folder in parent.glob("*")))
    process.send_signal(signal.SIGTERM)
    process.wait(LIMIT_S)
    (folder,) = parent.iterdir()
    code, _, _ = finish("resume", folder)
    assert code == 0
    assert essence(folder) == essence(whole)
    with open_run(folder, REASONS) as run:
        assert [case.head.repeat for case in run.cases] == [1, 1, 2, 2, 3, 3]
        assert len({case.head.name for case in run.cases}) == 2
        assert len({case.head.seed for case in run.cases}) == 6
        for name in ("terminal", "markdown", "csv", "tables", "json"):
            assert report_text(name, view(run))
