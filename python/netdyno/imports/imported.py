"""A load test of another tool as a case, and several of them as a stored run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from netdyno.errors import NetdynoError
from netdyno.store import RunWriter, new_folder
from netdyno.values.finding import Result
from netdyno.values.load import Segment
from netdyno.values.mixes import Mix
from netdyno.values.outcome import Outcome
from netdyno.values.printable import printable
from netdyno.values.reason import Reason
from netdyno.values.records import (
    IMPORTED,
    CaseHead,
    CaseWiring,
    RunHead,
    StoredTrial,
    StoredVerdict,
    name_choice,
)
from netdyno.values.situation import Situation
from netdyno.values.units import L1Rate

EXTERNAL = "external"
"""The kind of a device that netdyno did not build."""
MOST_CASES = 1_000
FILE_AXIS = "file"
"""Tells cases apart that are alike in everything else."""
LONGEST_VALUE = 100
"""Characters of an axis and of its value."""


def as_text(name: str) -> str:
    """A name from the system or the command line as a record takes it: UTF-8 without control characters."""
    return printable(name.encode(errors="replace").decode())


def axes_of_name(path: Path) -> dict[str, str]:
    """The axes that a file is named by, `forwarding=ipv4,direction=bidir.json`; none by any other name."""
    pairs = [[unquote(one) for one in part.split("=", 1)] for part in as_text(path.stem).split(",")]
    if all(len(pair) == 2 and all(0 < len(one) <= LONGEST_VALUE for one in pair) for pair in pairs):
        return {printable(axis): printable(value) for axis, value in pairs}
    return {}


def take_repeat(axes: dict[str, str]) -> int:
    """Which repeat a file is named as, which is no axis: taken out of these."""
    repeat = axes.pop("repeat", "")
    return int(repeat) if re.fullmatch("[1-9][0-9]{0,4}", repeat) else 1


class ImportFileError(NetdynoError):
    """A file that is not what it is to be, or has no room in a run."""


@dataclass(frozen=True)
class Known:
    """What the user knows of load tests. mix: of those whose file does not say. line: of all, whatever their
    files say."""

    mix: Mix | None = None
    line: L1Rate | None = None


@dataclass(frozen=True)
class Imported:
    """A load test. axes: what it is, without `FILE_AXIS`. options: what else was asked of it: an axis where
    load tests with equal axes differ in it. spec: what is known of its streams, as in the spec of a trial.
    reason: why its limit is not judged. started, ended: None where its file has no times. versions: of the
    tool."""

    source: Path
    axes: Mapping[str, str]
    situation: Situation
    spec: Mapping[str, Any]
    segments: tuple[Segment, ...]
    outcome: Outcome
    result: Result
    reason: Reason
    started: datetime | None = None
    ended: datetime | None = None
    repeat: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Importer:
    """A format. tool: who writes it. most_bytes: of a file. read: a file's bytes as load tests; raises
    ImportFileError."""

    name: str
    tool: str
    help: str
    most_bytes: int
    read: Callable[[Path, bytes, Known], Sequence[Imported]]


@dataclass(frozen=True)
class Run:
    """What load tests are stored as. device: what was tested."""

    title: str
    device: str
    importer: Importer
    cases: Sequence[Imported]


def read_files(importer: Importer, files: Sequence[Path], known: Known) -> tuple[Imported, ...]:
    """The load tests in files, in their order, each with axes of its own. Raises ImportFileError."""
    _check_count(len(files), "files")
    for place, file in enumerate(files):
        # Else it would be a repeat of itself.
        if file in files[:place]:
            raise _given_twice(file)
    found = [one for file in files for one in importer.read(file, _content(file, importer.most_bytes), known)]
    _check_count(len(found), "load tests")
    return _apart(_numbered(_with_options(found)))


def _check_count(number: int, what: str) -> None:
    if number > MOST_CASES:
        raise ImportFileError(
            f"{number} {what}, and a run has {MOST_CASES} at most",
            "import them as several runs",
            code="too-many",
        )


def _content(file: Path, most: int) -> bytes:
    """What a regular file holds: a device or a FIFO may have no end."""
    if not file.exists():
        raise ImportFileError(f"{file}: no such file", code="no-such-file")
    if not file.is_file():
        raise ImportFileError(f"{file}: it is no regular file", code="cannot-read")
    try:
        with file.open("rb") as opened:
            content = opened.read(most + 1)
    except OSError as error:
        raise ImportFileError(f"{file}: {error.strerror or error}", code="cannot-read") from error
    if len(content) > most:
        raise ImportFileError(f"{file}: more than {most >> 20} MiB", code="too-large")
    return content


def _with_options(found: Sequence[Imported]) -> list[Imported]:
    """The same, with those of their options as axes in which any of them differ that have equal axes."""
    alike: dict[tuple[tuple[str, str], ...], list[Mapping[str, str]]] = {}
    for one in found:
        alike.setdefault(tuple(one.axes.items()), []).append(one.options)
    names = dict.fromkeys(name for one in found for name in one.options)
    varied = [
        name
        for name in names
        if any(len({one.get(name) for one in options}) > 1 for options in alike.values())
    ]
    return [
        replace(one, axes={**{name: one.options[name] for name in varied if name in one.options}, **one.axes})
        for one in found
    ]


def _numbered(found: Sequence[Imported]) -> list[Imported]:
    """The same; those of one file that are alike are repeats of one case, in their order."""
    seen: dict[tuple[object, ...], int] = {}
    numbered = []
    for one in found:
        key = (one.source, one.repeat, *sorted(one.axes.items()))
        more = seen.get(key, 0)
        seen[key] = more + 1
        numbered.append(replace(one, repeat=one.repeat + more))
    return numbered


def _apart(found: Sequence[Imported]) -> tuple[Imported, ...]:
    """The same, with the names of their files as an axis if two of them have equal axes."""

    def keys(cases: Sequence[Imported]) -> list[tuple[object, ...]]:
        return [(*sorted(one.axes.items()), one.repeat) for one in cases]

    if len(set(keys(found))) < len(found):
        found = [_with_file(one) for one in found]
    every = keys(found)
    for place, one in enumerate(found):
        if every.index(every[place]) < place:
            raise _given_twice(one.source)
    return tuple(found)


def _given_twice(file: Path) -> ImportFileError:
    return ImportFileError(
        f"{file}: another file of the same name and kind is given",
        "give each another name: it becomes the name of the case",
        code="given-twice",
    )


def _with_file(one: Imported) -> Imported:
    return replace(one, axes={FILE_AXIS: as_text(one.source.stem), **one.axes})


def store_run(parent: Path, run: Run, now: datetime) -> Path:
    """Stores load tests as a run in a new folder below `parent`; the folder. Nothing stays of one that fails.

    Raises StoreError and OSError.
    """
    begun = [one.started or now for one in run.cases]
    ended = [one.ended or now for one in run.cases]
    folder = new_folder(parent, run.title, min(begun))
    try:
        heads = [_case_head(run, number) for number in range(len(run.cases))]
        with RunWriter.create(folder, _head(run), heads, min(begun)) as writer:
            for number, case in enumerate(run.cases):
                _write_case(writer, number, case, begun[number], ended[number])
            writer.run_ended("done", max(ended))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _head(run: Run) -> RunHead:
    try:
        own = version("netdyno")
    except PackageNotFoundError:
        own = "unknown"
    return RunHead(
        name=run.importer.name,
        title=as_text(run.title),
        plan="",
        plan_path=", ".join(as_text(one.source.name) for one in run.cases),
        lab="",
        scale=Fraction(1),
        only={},
        seed=0,
        versions={"netdyno": own, IMPORTED: run.importer.tool, **_versions(run.cases)},
    )


def _versions(cases: Sequence[Imported]) -> Mapping[str, str]:
    """Of the tools, `3.12, 3.18` where several were used."""
    found: dict[str, dict[str, None]] = {}
    for one in cases:
        for tool, number in one.versions.items():
            found.setdefault(tool, {})[as_text(number)] = None
    return {tool: ", ".join(sorted(numbers)) for tool, numbers in found.items()}


def _case_head(run: Run, number: int) -> CaseHead:
    one = run.cases[number]
    return CaseHead(
        number=number,
        name=" / ".join(name_choice(axis, value) for axis, value in one.axes.items()),
        axes=one.axes,
        kind=EXTERNAL,
        kind_title=as_text(run.device),
        emulated=False,
        settings={},
        method=one.result.method,
        parameters="{}",
        seed=0,
        repeat=one.repeat,
    )


def _write_case(writer: RunWriter, number: int, case: Imported, started: datetime, ended: datetime) -> None:
    writer.case_wired(number, CaseWiring("real", case.situation, True, (), "{}"), started)
    name = case.segments[0].name if len(case.segments) == 1 else case.result.method
    spec = json.dumps(case.spec)
    writer.add_trial(
        StoredTrial(number, 0, 0, name, "done", case.segments, spec, case.outcome, started, ended)
    )
    verdicts = [
        StoredVerdict(scope, "inconclusive", case.reason, value)
        for value in case.result.judged
        for scope in case.situation.scopes
    ]
    writer.case_done(number, case.result, verdicts, (), ended)
