"""Storms of Ctrl-C from a fixed seed, on processes of the real command.

NETDYNO_STORMS is how many; NETDYNO_FUZZ_SEED another seed.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT, TWO, essence, is_gone, wait_for, write_plan
from netdyno.store import FILE, open_run

COUNT = int(os.environ.get("NETDYNO_STORMS", "5"))
SEED = int(os.environ.get("NETDYNO_FUZZ_SEED", "14"))
LIMIT_S = 90

PLAN = TWO.replace("duration: 10ms", "duration: 100ms")


def command(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "netdyno", "run", *map(str, arguments)],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A run that nothing interrupted, and how many seconds it took."""
    parent = tmp_path_factory.mktemp("unbroken")
    began = time.monotonic()
    process = command(write_plan(parent, PLAN), "--out", parent / "runs")
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, err
    (folder,) = (parent / "runs").iterdir()
    return folder, time.monotonic() - began


@pytest.mark.parametrize("number", range(COUNT))
def test_run_in_a_storm_of_ctrl_c_ends_with_130_and_goes_on(
    number: int, unbroken: tuple[Path, float], tmp_path: Path
) -> None:
    """The moments differ from storm to storm: before the run has begun, within a trial, at the last word."""
    whole, seconds = unbroken
    chance = random.Random(SEED * 1_000 + number)
    runs = tmp_path / "runs"
    process = command(write_plan(tmp_path, PLAN), "--out", runs)
    time.sleep(chance.uniform(0.2, 0.9) * seconds)
    while process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(chance.choice((0.0, 0.002, 0.02, 0.2)))
    _, err = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in err
    wait_for(lambda: is_gone(process.pid))
    folders = list(runs.glob("*")) if runs.exists() else []
    if not folders:
        assert process.returncode == 130, err
        return
    (folder,) = folders
    if not (folder / FILE).exists():
        # It was interrupted in the instant in which the run was made.
        assert process.returncode == 130, err
        return
    with open_run(folder) as run:
        finished = all(case.state == "done" for case in run.cases)
        trials = [trial for case in run.cases for trial in run.trials(case.head.number)]
        kept = run.trial_count()
    assert process.returncode == 130 or finished, err
    assert sum(trial.state == "done" for trial in trials) == kept
    if process.returncode == 130:
        assert f"{kept} trial" in err
    again = command("--resume", folder)
    _, err = again.communicate(timeout=LIMIT_S)
    assert again.returncode == 0, err
    # A trial that was cut short stays in the record, and counts for nothing.
    assert counted(folder) == counted(whole)


def counted(folder: Path) -> list[object]:
    """All of a run but times, versions and trials that were cut short; of trials what was asked and counted.

    How long addresses took to be resolved depends on the trials before it in the same session.
    """
    return [
        (
            *case[:-1],
            [
                (number, spec, [(one.offered, one.received, one.lost) for one in outcome.streams])
                for number, _, state, spec, outcome in case[-1]
                if state != "cancelled"
            ],
        )
        for case in essence(folder)
    ]
