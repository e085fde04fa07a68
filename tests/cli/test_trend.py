"""`netdyno trend`: a case over runs, and where its level changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import said
from report_sample import SMALL, write

RATES = (100, 101, 100, 99, 90, 91, 89, 90)
"""Of a device, per cent of its first rate, run by run."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight runs in the order of their folders; in a ninth is none that can be read."""
    parent = tmp_path_factory.mktemp("runs")
    for number, percent in enumerate(RATES):
        cases = tuple(
            replace(one, capacity_fps=one.capacity_fps and one.capacity_fps * percent // 100)
            for one in SMALL.cases
        )
        run = parent / f"run{number}"
        run.mkdir()
        write(run, replace(SMALL, cases=cases)).close()
    (parent / "run9").mkdir()
    (parent / "run9" / "run.sqlite").write_text("no store")
    return parent


def test_the_change_is_found_where_the_device_changed(folder: Path) -> None:
    done = said("trend", "l2-xconnect / 64b-multi / bidir", folder, "--format", "json")
    (found,) = json.loads(done.stdout)
    assert len(found["runs"]) == len(RATES)
    assert [level["first"] for level in found["levels"]] == [0, 4]
    assert found["levels"][1]["share"] == pytest.approx(90 / 100 - 1, abs=0.01)
    assert "run9" in done.stderr


def test_a_table_has_a_row_for_each_run(folder: Path) -> None:
    done = said("trend", "l2-xconnect/64b-multi/bidir", folder)
    assert done.returncode == 0
    assert sum(f"run{number}" in done.stdout for number in range(len(RATES))) == len(RATES)


@pytest.mark.parametrize("case", ["none", "64b-multi", "64b-multi / bidir / l3"])
def test_a_case_that_is_not_one_is_refused(folder: Path, case: str) -> None:
    done = said("trend", case, folder)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_value_that_no_run_has_is_refused(folder: Path) -> None:
    done = said("trend", "l2-xconnect/64b-multi/bidir", folder, "--value", "throughputs")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    assert said("trend", "64b", tmp_path).returncode == 2
