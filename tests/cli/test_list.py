"""`netdyno list`: which runs, in which order."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Literal

import pytest
from commands import said
from netdyno.cli import runs
from netdyno.store import FILE, RunWriter, new_folder
from netdyno.values.finding import Result
from netdyno.values.records import CaseHead, RunHead, StoredGoal
from report_sample import BEGIN
from words import said as sentence

State = Literal["done", "interrupted", "failed"]


def written(
    parent: Path, title: str, started: datetime, state: State = "done", goals: tuple[bool | None, ...] = ()
) -> None:
    """A run of one case that has ended so."""
    head = RunHead("p", title, "", "p.yaml", "", Fraction(1), {}, 1, {})
    case = CaseHead(0, "64b", {}, "emulated/router", "a router", True, {}, "ramp", "{}", 1)
    folder = new_folder(parent, title, started)
    with RunWriter.create(folder, head, [case], started) as writer:
        if state == "done":
            judged = [StoredGoal(f"g{place}", one, sentence("x")) for place, one in enumerate(goals)]
            writer.case_done(0, Result("ramp", (), ()), (), judged, started)
        writer.run_ended(state, started)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    parent = tmp_path_factory.mktemp("runs")
    written(parent, "Router A", BEGIN, goals=(True, True))
    written(parent, "switch b", BEGIN + timedelta(days=1), goals=(True, False))
    written(parent, "Router C", BEGIN + timedelta(days=2), "interrupted")
    written(parent, "router d", BEGIN + timedelta(days=3), goals=(True, None))
    torn = parent / "torn"
    torn.mkdir()
    (torn / FILE).write_bytes(b"no record")
    return parent


def titles(folder: Path, *options: str) -> list[str | None]:
    done = said("list", folder, *options, "--format", "json")
    assert done.returncode == 0, done.stderr
    return [row["title"] for row in json.loads(done.stdout)]


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        ("", ["Router A", "switch b", "Router C", "router d", None]),
        ("--state done", ["Router A", "switch b", "router d"]),
        ("--state interrupted --state unreadable", ["Router C", None]),
        ("--goal failed", ["switch b"]),
        ("--goal failed --goal undecided", ["switch b", "router d"]),
        ("--goal passed", ["Router A"]),
        ("--title ROUTER", ["Router A", "Router C", "router d"]),
        ("--title router --title c", ["Router C"]),
        ("--since 2026-11-22T19:12", ["switch b", "Router C", "router d"]),
        ("--since 2026-11-22T20:12+01:00 --until 2026-11-23", ["switch b", "Router C"]),
        ("--until 2026-11-21", ["Router A"]),
        ("--since 2000w --until 0m", ["Router A", "switch b", "Router C", "router d"]),
        ("--sort title", ["Router A", "Router C", "router d", "switch b", None]),
        ("--sort state", ["Router A", "switch b", "router d", "Router C", None]),
        ("--reverse", ["router d", "Router C", "switch b", "Router A", None]),
        ("-n 2", ["Router C", "router d"]),
        ("-n 2 --reverse", ["router d", "Router C"]),
        ("-n 3 --sort title --state done", ["Router A", "router d", "switch b"]),
    ],
)
def test_options_of_list_choose_and_order(options: str, listed: list[str | None], folder: Path) -> None:
    """Runs that cannot be read are at the end, and left out where something is asked of them."""
    if "w " in options and datetime.now(UTC) < BEGIN + timedelta(days=4):
        pytest.skip("this machine's clock is before the runs")
    assert titles(folder, *options.split()) == listed


@pytest.mark.parametrize("wrong", ["yesterday", "7y", "2026-13-01", "", "999999999999d"])
def test_time_that_is_none_is_refused(wrong: str, folder: Path) -> None:
    assert said("list", folder, "--since", wrong).returncode == 2


def test_run_that_cannot_be_read_is_named_always(folder: Path) -> None:
    done = said("list", folder, "--goal", "passed")
    assert "torn" in done.stderr
    assert "torn" not in done.stdout


def test_nothing_that_fits_is_no_table(folder: Path) -> None:
    done = said("list", folder, "--title", "nowhere")
    assert (done.returncode, done.stdout) == (0, "")
    assert said("list", folder, "--title", "nowhere", "--format", "json").stdout == "[]\n"
    assert runs.COLUMNS[0] in said("list", folder, "--title", "nowhere", "--format", "csv").stdout
