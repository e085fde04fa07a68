"""The files that a run leaves when it ends: its reports, and those for a CI server."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from netdyno.cli.console import print_error, print_hint
from netdyno.cli.report import hint_at_tables, look, write_cases, write_report
from netdyno.errors import NetdynoError, advice

if TYPE_CHECKING:
    from netdyno.reports.model.view import RunView

JOB = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub names the file whose Markdown it shows on the page of a job."""

OF_JOB = "markdown-summary"
"""The report that is appended to it."""


@dataclass(frozen=True)
class Wanted:
    """Reports asked for by name; a file for the report `junit`; whether to append to the page of the job."""

    reports: tuple[str, ...] = ()
    junit: Path | None = None
    github_summary: bool = False


def write_reports(run: RunView, wanted: Wanted, folder: Path) -> tuple[list[Path], bool]:
    """Writes the reports into the run's folder, and the others where they are asked for.

    Returns the files of reports, and whether all could be written: one that cannot costs no other.
    """
    from netdyno.reports import FORMATS, render

    files: list[Path] = []
    is_whole = True
    named = [(name, _file_of(name, folder)) for name in dict.fromkeys(wanted.reports)]
    named += [] if wanted.junit is None else [("junit", wanted.junit)]
    for name, file in named:
        try:
            if FORMATS[name].is_of_a_case:
                write_cases(run, name, file)
            else:
                write_report(file, render([run], name, look(colour=False)))
        except (OSError, NetdynoError) as error:
            is_whole = False
            _print_failure(error, file)
            continue
        files.append(file)
        if "tables" not in wanted.reports:
            hint_at_tables(run, name, folder)
    if wanted.github_summary:
        is_whole = _append_to_job(render([run], OF_JOB)) and is_whole
    return files, is_whole


def _file_of(name: str, folder: Path) -> Path:
    from netdyno.reports import FORMATS

    return folder / (f"report.{name}" if FORMATS[name].is_of_a_case else f"report{FORMATS[name].suffix}")


def _append_to_job(page: bytes) -> bool:
    """Appends to the page of the job, which other steps write too; False if that fails."""
    page_of_job = os.environ.get(JOB)
    if not page_of_job:
        print_hint(f"{JOB} is not set, as outside of a GitHub job: no summary was written")
        return True
    try:
        with open(page_of_job, "ab") as file:
            file.write(page)
    except OSError as error:
        _print_failure(error, Path(page_of_job))
        return False
    return True


def _print_failure(error: OSError | NetdynoError, file: Path) -> None:
    if isinstance(error, NetdynoError):
        print_error(error.message, error.hint)
    else:
        print_error(f"{error.filename or file}: {error.strerror or error}", advice(error))


def shows_texts(names: Iterable[str]) -> bool:
    """Whether any of these reports shows what devices printed."""
    from netdyno.reports import FORMATS

    return any(FORMATS[name].shows_texts for name in names)
