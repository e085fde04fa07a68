"""The runs in a folder, in a line each; of a folder with many what was read before is kept beside them."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from netdyno.store.notes import NOTES
from netdyno.store.read import open_run
from netdyno.store.schema import FILE, StoreError
from netdyno.values.records import Note, Notes, RunSummary, UnreadableRun

INDEX = ".netdyno-list.json"
"""The summaries of runs at rest, which may be deleted at any time: to open 10,000 takes half a minute."""

INDEXED = 100
"""Runs from which on a folder has an index: fewer are read in a moment."""

SETTLED_NS = 2 * 10**9
"""Age of the last change from which on a later one cannot have the same time: file systems count in steps."""

_VERSION = 2
_GOALS = {"true": True, "false": False, "null": None}

_Key = list[int]
"""What tells that a record changed: identity, size and times of its record, its log, and its notes."""


def list_runs(parent: Path) -> Iterator[RunSummary | UnreadableRun]:
    """The runs in the folders of `parent`, oldest first, then those that cannot be read.

    Folders that hold none are passed over. A run that goes on or that changed is read anew.
    """
    known = _read_index(parent)
    index: dict[str, Any] = {}
    found: list[RunSummary] = []
    unreadable: list[UnreadableRun] = []
    for name in sorted(os.listdir(parent)) if parent.is_dir() else ():
        # Looked at before it is read: what changes meanwhile has other times the next time.
        key = _key(os.path.join(parent, name))
        if key is None:
            continue
        kept = known.get(name)
        summary = _from_row(parent / name, kept[1]) if kept is not None and kept[0] == key else None
        if summary is None:
            try:
                with open_run(parent / name) as run:
                    summary = run.summary()
            except StoreError as error:
                unreadable.append(UnreadableRun(parent / name, error.message))
                continue
            kept = [key, _to_row(summary)]
        found.append(summary)
        if summary.state != "running" and time.time_ns() - _changed_ns(key) > SETTLED_NS:
            index[name] = kept
    if index != known and len(found) >= INDEXED:
        _write_index(parent, index)
    # A folder's name has the minute, and then the name of the plan.
    yield from sorted(found, key=lambda one: one.started)
    yield from unreadable


def _key(folder: str) -> _Key | None:
    """None if there is no record. A log that is empty holds no change: each reader leaves one behind."""
    record = _times(os.path.join(folder, FILE))
    if record is None:
        return None
    log = _times(os.path.join(folder, f"{FILE}-wal"))
    return [
        *record,
        *(log if log is not None and log[2] else _ABSENT),
        *(_times(os.path.join(folder, NOTES)) or _ABSENT),
    ]


_ABSENT = [0, 0, 0, 0, 0]


def _times(path: str) -> list[int] | None:
    try:
        file = os.stat(path)
    except OSError:
        return None
    return [file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns]


def _changed_ns(key: _Key) -> int:
    """When one of the files last changed."""
    return max(key[3::5] + key[4::5])


def _read_index(parent: Path) -> Mapping[str, Any]:
    """By name of the folder its key and its row; empty if there is no index, or none of this version."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        found = json.loads((parent / INDEX).read_bytes())
        if found["version"] == _VERSION and isinstance(found["runs"], dict):
            return found["runs"]
    return {}


def _write_index(parent: Path, runs: Mapping[str, Any]) -> None:
    """In one step. A folder that may not be written has none."""
    with suppress(OSError):
        descriptor, name = tempfile.mkstemp(prefix=INDEX, dir=parent)
        try:
            with open(descriptor, "w") as file:
                json.dump({"version": _VERSION, "runs": runs}, file)
                os.fchmod(descriptor, 0o644)
            os.replace(name, parent / INDEX)
        except BaseException:
            os.unlink(name)
            raise


_FIELDS = [one.name for one in fields(RunSummary) if one.name != "folder"]


def _to_row(run: RunSummary) -> dict[str, Any]:
    row = {name: getattr(run, name) for name in _FIELDS}
    return row | {
        "started": run.started.isoformat(),
        "ended": run.ended and run.ended.isoformat(),
        "notes": asdict(run.notes),
        "goals": {json.dumps(passed): count for passed, count in run.goals.items()},
    }


def _from_row(folder: Path, row: Mapping[str, Any]) -> RunSummary | None:
    """None for a row that this version did not write."""
    try:
        return RunSummary(
            folder,
            **{
                **row,
                "started": datetime.fromisoformat(row["started"]),
                "ended": row["ended"] and datetime.fromisoformat(row["ended"]),
                "goals": {_GOALS[passed]: count for passed, count in row["goals"].items()},
                "notes": Notes(
                    tuple(row["notes"]["tags"]),
                    tuple(Note(**one) for one in row["notes"]["notes"]),
                    row["notes"]["unreadable"],
                ),
            },
        )
    except (LookupError, ValueError, TypeError, AttributeError):
        return None
