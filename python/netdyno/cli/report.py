"""`netdyno report`: runs in folders are rendered."""

from __future__ import annotations

import gc
import os
import shlex
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netdyno.cli.console import has_colours, print_hint
from netdyno.cli.defaults import place_of
from netdyno.errors import NetdynoError, suggestion

if TYPE_CHECKING:
    from netdyno.reports import Look
    from netdyno.reports.model.view import RunView


@contextmanager
def _without_collector() -> Iterator[None]:
    """No search for objects that hold each other: a report makes hardly any, and of 480 cases the search
    took a twentieth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def check_report_names(
    context: click.Context, option: click.Parameter, given: str | tuple[str, ...]
) -> str | tuple[str, ...]:
    """The names of reports that an option was given. Raises NetdynoError."""
    if context.resilient_parsing:
        return given
    for name in (given,) if isinstance(given, str) else given:
        from netdyno.reports import FORMATS

        if name not in FORMATS:
            message = f"{place_of(context, option)}there is no report `{name}`"
            raise NetdynoError(message, suggestion(name, FORMATS, "reports"), code="unknown-name")
    return given


@click.command()
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--as",
    "name",
    default="terminal",
    show_default=True,
    metavar="NAME",
    callback=check_report_names,
    help="See `netdyno reports`.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A file, or a folder for a file of each case; stdout unless given, and for a page on a terminal the"
    " run's folder.",
)
@_without_collector()
def report(runs: tuple[Path, ...], name: str, output: Path | None) -> None:
    """Render the RUN in a folder, or several. Measures nothing and writes nothing into the store."""
    from netdyno.campaign.reasons import REASONS
    from netdyno.reports import FORMATS, render
    from netdyno.reports.model.from_store import view
    from netdyno.store import open_run

    if len(runs) > 1 and not FORMATS[name].takes_several:
        several = ", ".join(f"`{one.name}`" for one in FORMATS.values() if one.takes_several)
        raise click.UsageError(f"`--as {name}` shows one run, {len(runs)} are given; several: {several}")
    if output is None and name == "html" and sys.stdout.isatty():
        # A page is for a browser: it goes where `run --report html` puts it.
        output = runs[0] / f"report{FORMATS[name].suffix}"
    check_folder(output)
    shown = []
    for run in runs:
        with open_run(run, REASONS) as stored:
            shown.append(view(stored, with_texts=FORMATS[name].shows_texts))
    if FORMATS[name].is_of_a_case and output is not None and (output.is_dir() or not output.suffix):
        write_cases(shown[0], name, output)
        return
    deliver(render(shown, name, look(colour=output is None)), output)
    hint_at_tables(shown[0], name, runs[0])


def deliver(page: bytes, output: Path | None) -> None:
    """Writes a report to a file, and says so; without one to stdout."""
    if output is None:
        print_page(page)
    else:
        write_report(output, page)
        click.echo(f"wrote {output}", err=True)


def check_folder(file: Path | None) -> None:
    """Refuses a file in a folder that is not there: before the report is made, which takes its time."""
    if file is not None and not file.parent.is_dir():
        raise NetdynoError(
            f"{file}: there is no folder `{file.parent}`",
            f"make it first: `mkdir -p {shlex.quote(str(file.parent))}`",
            code="cannot-write",
        )


def write_cases(run: RunView, name: str, folder: Path) -> None:
    """Writes a file for each case that the format has room for; prints how many, and why others are left out.

    Raises the NetdynoError of the first case if it has room for none, and OSError.
    """
    from netdyno.errors import counted
    from netdyno.reports.each_case import render_each

    found = list(render_each(run, name))
    pages = {file: page for file, page in found if isinstance(page, bytes)}
    left_out = [error for _, error in found if isinstance(error, NetdynoError)]
    if not pages and left_out:
        raise left_out[0]
    folder.mkdir(exist_ok=True)
    for file, page in pages.items():
        write_report(folder / file, page)
    click.echo(f"wrote {counted(len(pages), 'file')} into {folder}", err=True)
    for error in left_out:
        print_hint(f"left out {error.message}")


def write_report(file: Path, page: bytes) -> None:
    """Writes a report: the file has the whole page, or what it had before. Raises OSError that names it.

    A device, a FIFO and a socket are written in place.
    """
    try:
        if file.is_file() or not file.exists():
            _replace(file.resolve(), page)
        else:
            file.write_bytes(page)
    except OSError as error:
        error.filename, error.filename2 = str(file), None
        raise


def _replace(file: Path, page: bytes) -> None:
    """Gives a regular file a new content in one step, which no signal interrupts."""
    unborn = file.with_name(f".netdyno-{os.getpid()}.new")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        unborn.write_bytes(page)
        if file.exists():
            unborn.chmod(stat.S_IMODE(file.stat().st_mode))
        unborn.replace(file)
    except PermissionError:
        # A file may be ours to write in a folder that is not.
        file.write_bytes(page)
    finally:
        with suppress(OSError):
            unborn.unlink(missing_ok=True)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def print_page(page: bytes) -> None:
    """Writes a report to stdout: text in the encoding of stdout, anything else as it is."""
    try:
        text = page.decode()
    except UnicodeDecodeError:
        sys.stdout.buffer.write(page)
    else:
        sys.stdout.write(text)


def look(*, colour: bool) -> Look:
    """How stdout shows a report."""
    import shutil

    from netdyno.reports import Look

    # COLUMNS is heeded in a pipe too, which has no width of its own.
    width = shutil.get_terminal_size((Look.width, 24)).columns
    return Look(width, colour and has_colours())


def hint_at_tables(run: RunView, name: str, folder: Path) -> None:
    """Prints a hint at the tables that a report of one row a value has no room for."""
    from netdyno.reports.model.details import details

    tables = [table.name for table in details(run)] if name == "csv" else []
    if tables:
        one_by_one = f"the CSV has a row for each value; its tables ({', '.join(tables)})"
        print_hint(f"{one_by_one} are a file of their own: `netdyno report {folder} --as tables`")
