"""The runs in a folder: what the index remembers, and what it never shows."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from netdyno.store import FILE, RunWriter, add_notes, list_runs, listing, open_run
from netdyno.values.records import CaseError, Note, Notes, RunSummary
from netdyno.values.verdict import Limit
from test_store import HEAD, NOW, WIRING, new


@pytest.fixture(autouse=True)
def indexed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder has an index, and of a change of this moment."""
    monkeypatch.setattr(listing, "INDEXED", 1)
    monkeypatch.setattr(listing, "SETTLED_NS", -(10**18))


def ended(parent: Path) -> Path:
    folder, writer = new(parent)
    with writer:
        writer.run_ended("interrupted", NOW)
    return folder


def only(parent: Path) -> RunSummary:
    (run,) = list_runs(parent)
    assert isinstance(run, RunSummary)
    return run


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The records that are opened."""
    seen: list[Path] = []
    real = listing.open_run

    def open_run(folder: Path) -> object:
        seen.append(folder)
        return real(folder)

    monkeypatch.setattr(listing, "open_run", open_run)
    return seen


def test_run_at_rest_is_read_once_and_listed_the_same(tmp_path: Path, opened: list[Path]) -> None:
    folder = ended(tmp_path)
    first, second = only(tmp_path), only(tmp_path)
    assert first == second
    assert first.state == "interrupted"
    assert opened == [folder]
    (tmp_path / listing.INDEX).unlink()
    assert only(tmp_path) == first
    assert opened == [folder, folder]


def test_run_in_progress_is_listed_as_it_is_now(tmp_path: Path) -> None:
    folder = ended(tmp_path)
    assert only(tmp_path).state == "interrupted"
    with RunWriter.resume(folder) as writer:
        assert only(tmp_path).state == "running"
        writer.case_wired(3, WIRING, NOW)
        writer.case_ended(3, "failed", CaseError("a", "b"), NOW)
        assert (only(tmp_path).state, only(tmp_path).failed) == ("running", 1)
        writer.run_ended("failed", NOW)
        # Its writer has not closed it yet: all of it stands in the log.
        assert only(tmp_path).state == "failed"
    assert only(tmp_path).state == "failed"
    # Goes on again, and is killed.
    RunWriter.resume(folder).close()
    assert only(tmp_path).state == "interrupted"


def test_every_kind_of_summary_comes_back_from_the_index() -> None:
    limits: dict[Limit, int] = {"device": 3}
    goals = {True: 1, False: 2, None: 3}
    for end in (None, NOW + timedelta(hours=2)):
        notes = Notes(("a", "b"), (Note("2026-11-21T19:12:03Z", "text"),), 1)
        run = RunSummary(Path("r"), "title", "done", NOW, end, 3, 2, 1, limits, goals, notes)
        row = json.loads(json.dumps(listing._to_row(run)))
        assert listing._from_row(Path("r"), row) == run


def test_note_that_is_added_is_listed_at_once(tmp_path: Path) -> None:
    folder = ended(tmp_path)
    assert only(tmp_path).notes.tags == ()
    add_notes(folder, NOW, tags=["lab1"], notes=["x"])
    for _ in range(2):
        assert (only(tmp_path).notes.tags, len(only(tmp_path).notes.notes)) == (("lab1",), 1)
    add_notes(folder, NOW, untags=["lab1"])
    assert only(tmp_path).notes.tags == ()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 1, "runs": 3}', '{"version": 0}', "null"])
def test_index_that_is_none_is_passed_over(text: str, tmp_path: Path) -> None:
    folder = ended(tmp_path)
    (tmp_path / listing.INDEX).write_text(text)
    assert only(tmp_path).folder == folder


def test_row_of_another_version_is_passed_over(tmp_path: Path) -> None:
    ended(tmp_path)
    assert only(tmp_path)
    index = tmp_path / listing.INDEX
    for planted in ({}, {"colour": 1}, 7, None, []):
        found = json.loads(index.read_text())
        for kept in found["runs"].values():
            kept[1] = planted
        index.write_text(json.dumps(found))
        assert only(tmp_path).title == HEAD.title


def test_runs_that_were_copied_moved_or_merged_are_read_anew(tmp_path: Path, opened: list[Path]) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    first, second = ended(one), ended(other)
    assert only(one)
    assert only(other)
    shutil.copytree(one, other, dirs_exist_ok=True)
    second.rename(other / "renamed")
    opened.clear()
    assert {run.folder for run in list_runs(other)} == {other / first.name, other / "renamed"}
    assert len(opened) == 2


def test_record_of_a_run_that_ended_is_whole_without_its_log(tmp_path: Path) -> None:
    """Mailed as one file, and read where nothing may be written."""
    folder, alone = ended(tmp_path / "runs"), tmp_path / "alone"
    assert only(tmp_path / "runs")
    alone.mkdir()
    shutil.copy(folder / FILE, alone)
    alone.chmod(0o500)
    try:
        with open_run(alone) as run:
            assert run.state == "interrupted"
            assert run.verify().damage == ()
    finally:
        alone.chmod(0o700)


def test_young_change_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[Path]
) -> None:
    """A change in the same tick of the file system's clock would not be seen."""
    monkeypatch.setattr(listing, "SETTLED_NS", 10**18)
    folder = ended(tmp_path)
    assert only(tmp_path) == only(tmp_path)
    assert opened == [folder, folder]


def test_folder_with_few_runs_has_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "INDEXED", 2)
    folder = ended(tmp_path)
    assert only(tmp_path)
    assert list(tmp_path.iterdir()) == [folder]
