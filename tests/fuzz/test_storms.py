"""Storms of Ctrl-C from a fixed seed, in virtual time; those on real ports: tests/real/test_storms_real.py.

NETDYNO_STORMS is how many; NETDYNO_FUZZ_SEED another seed.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from campaigns import TWO, essence, write_plan
from storms import COUNT, SEED, finish, finished_trials, pass_storm

PLAN = TWO.replace("duration: 10ms", "duration: 100ms")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A run that nothing interrupted, and how many seconds it took."""
    parent = tmp_path_factory.mktemp("unbroken")
    began = time.monotonic()
    code, err = finish(write_plan(parent, PLAN), "--out", parent / "runs")
    assert code == 0, err
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
    wait_s = chance.uniform(0.2, 0.9) * seconds
    passed = pass_storm(write_plan(tmp_path, PLAN), runs, chance, wait_s)
    if passed.folder is None:
        return
    kept = finished_trials(passed.folder)
    code, err = finish("--resume", passed.folder)
    assert code == 0, err
    assert kept.items() <= finished_trials(passed.folder).items()
    # A trial that was cut short stays in the record, and counts for nothing.
    assert counted(passed.folder) == counted(whole)


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
