"""Notes and tags: kept beside the record, of which they are no part."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from netdyno.store import StoreError, add_notes, open_run, read_notes
from netdyno.store.notes import MOST_BYTES, NOTES
from netdyno.values.records import Note, Notes
from test_store import NOW, new
from words import has_code

AT = "2026-11-21T19:12:03Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path, writer = new(tmp_path)
    with writer:
        writer.run_ended("done", NOW)
    return path


def test_notes_and_tags_come_back_in_order(folder: Path) -> None:
    assert read_notes(folder) == Notes()
    add_notes(folder, NOW, notes=["  new\nfirmware "], tags=["lab1", "fw:7.14"])
    add_notes(folder, NOW, notes=["café \N{EM DASH} 2"], tags=["lab1", "night"], untags=["fw:7.14"])
    found = read_notes(folder)
    assert found.tags == ("lab1", "night")
    assert found.notes == (Note(AT, "new firmware"), Note(AT, "café \N{EM DASH} 2"))
    with open_run(folder) as run:
        assert run.notes == run.summary().notes == found


def test_record_is_intact_though_its_notes_are_damaged(folder: Path) -> None:
    add_notes(folder, NOW, notes=["one"], tags=["lab1"])
    (folder / NOTES).write_bytes(b"\x00\xff{[\n" + (folder / NOTES).read_bytes()[:-9])
    with open_run(folder) as run:
        assert run.verify().damage == ()
        assert run.notes == Notes((), (Note(AT, "one"),), 2)
    # What is added next is not lost to the line that was cut off.
    add_notes(folder, NOW, tags=["lab2"])
    assert read_notes(folder) == Notes(("lab2",), (Note(AT, "one"),), 2)


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[]",
        "7",
        "null",
        '"x"',
        "[" * 100_000,
        f'{{"at": "{AT}"}}',
        '{"at": "now", "note": "x"}',
        '{"note": "x"}',
        f'{{"at": "{AT}", "note": 7}}',
        f'{{"at": "{AT}", "note": "{"x" * 2001}"}}',
        f'{{"at": "{AT}", "tag": "two words"}}',
        f'{{"at": "{AT}", "tag": null}}',
        f'{{"at": "{AT}", "tag": "a", "note": "b"}}',
        f'{{"at": "{AT}", "colour": "red"}}',
    ],
)
def test_line_that_says_nothing_costs_itself_alone(line: str, folder: Path) -> None:
    (folder / NOTES).write_text(f'{{"at": "{AT}", "tag": "a"}}\n{line}\n{{"at": "{AT}", "tag": "b"}}\n')
    assert read_notes(folder) == Notes(("a", "b"), (), 1)


def test_file_of_any_size_is_read_in_a_moment(folder: Path) -> None:
    (folder / NOTES).write_bytes(b"x" * (3 * MOST_BYTES))
    assert read_notes(folder) == Notes((), (), 1)


@pytest.mark.parametrize("tag", ["", "two words", "-x", "a\n", "\x1b[2J", "x" * 51])
def test_tag_that_is_no_word_is_refused(tag: str, folder: Path) -> None:
    with pytest.raises(StoreError, match="is no tag"):
        add_notes(folder, NOW, notes=["kept out too"], tags=[tag])
    assert not (folder / NOTES).exists()


def test_note_that_is_empty_or_endless_is_refused(folder: Path) -> None:
    for text in ("", " \n", "x" * 2001):
        with pytest.raises(StoreError) as caught:
            add_notes(folder, NOW, notes=[text])
        assert has_code("out-of-range")(caught.value)


def test_notes_move_with_their_run_and_no_run_has_none(folder: Path, tmp_path: Path) -> None:
    add_notes(folder, NOW, tags=["lab1"])
    moved = shutil.move(folder, tmp_path / "elsewhere")
    assert read_notes(Path(moved)).tags == ("lab1",)
    with pytest.raises(StoreError) as caught:
        add_notes(tmp_path, NOW, tags=["lab1"])
    assert has_code("no-such-run")(caught.value)
