"""Notes and tags that people add to a run: a file beside its record, which does not cover it.

Each line of the file is JSON, `{"at": ..., "note": ...}`, or has `tag` or `untag` in the place of `note`.
Lines are only ever appended: two that write at once lose nothing, and a damaged line costs itself alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from netdyno.store.schema import FILE, RUNS, StoreError
from netdyno.values.records import Note, Notes

NOTES = "notes.jsonl"

TAG = re.compile(r"\w[\w.:/+-]{0,49}")
"""What a tag looks like."""

MOST_TEXT = 2000
"""Characters of a note."""

MOST_BYTES = 10**6
"""Of the file that are read: it may come from anywhere."""

_AT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def read_notes(folder: Path) -> Notes:
    """The notes and tags of the run in a folder; none if there is no such file, or it cannot be read."""
    try:
        with open(folder / NOTES, "rb") as file:
            lines = file.read(MOST_BYTES).splitlines()
    except OSError:
        return Notes()
    tags: dict[str, None] = {}
    notes: list[Note] = []
    unreadable = 0
    for line in filter(None, lines):
        try:
            found = json.loads(line)
            at = _matching(found.pop("at"), _AT)
            ((kind, text),) = found.items()
            if kind == "note" and isinstance(text, str) and len(text) <= MOST_TEXT:
                notes.append(Note(at, text))
            elif kind == "tag":
                tags[_matching(text, TAG)] = None
            elif kind == "untag":
                tags.pop(_matching(text, TAG), None)
            else:
                unreadable += 1
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            unreadable += 1
    return Notes(tuple(tags), tuple(notes), unreadable)


def add_notes(
    folder: Path,
    now: datetime,
    *,
    notes: Iterable[str] = (),
    tags: Iterable[str] = (),
    untags: Iterable[str] = (),
) -> None:
    """Adds to the notes of the run in a folder, and to its tags or takes from them. Raises OSError, and
    StoreError if no run is there or a text is none."""
    if not (folder / FILE).exists():
        raise StoreError(f"{folder}: no run is here (no such file: {FILE})", RUNS, code="no-such-run")
    at = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entries = [("note", _checked_text(text)) for text in notes]
    entries += [("tag", _checked_tag(tag)) for tag in tags]
    entries += [("untag", _checked_tag(tag)) for tag in untags]
    lines = "".join(json.dumps({"at": at, kind: text}, ensure_ascii=False) + "\n" for kind, text in entries)
    with open(folder / NOTES, "ab+") as file:
        # A line that was cut off ends here: it is not to cost the next one.
        is_torn = file.tell() > 0 and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
        file.write((b"\n" if is_torn else b"") + lines.encode())


def _matching(text: object, wanted: re.Pattern[str]) -> str:
    if not isinstance(text, str) or not wanted.fullmatch(text):
        raise ValueError(f"`{text}` is not of this form")
    return text


def _checked_text(text: str) -> str:
    text = " ".join(text.encode(errors="replace").decode().split())
    if not 0 < len(text) <= MOST_TEXT:
        raise StoreError(f"a note has 1 to {MOST_TEXT} characters, not {len(text)}", code="out-of-range")
    return text


def _checked_tag(tag: str) -> str:
    if not TAG.fullmatch(tag):
        raise StoreError(
            f"`{tag}` is no tag",
            "a tag is one word of letters, digits and `_ . : / + -`, up to 50 characters: `lab1`, `fw:7.14`",
            code="wrong-format",
        )
    return tag
