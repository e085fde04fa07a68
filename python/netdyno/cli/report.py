"""`netdyno report`: a run in a folder is rendered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netdyno.cli.console import has_colours, print_hint
from netdyno.errors import NetdynoError, suggestion

if TYPE_CHECKING:
    from netdyno.store import StoredRun


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--as", "name", default="terminal", show_default=True, metavar="NAME", help="See `netdyno reports`."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A file; stdout unless given.")
def report(run: Path, name: str, output: Path | None) -> None:
    """Render the RUN in a folder. Measures nothing and writes nothing into the store."""
    check_report_name(name)
    from netdyno.campaign.reasons import REASONS
    from netdyno.store import open_run

    with open_run(run, REASONS) as stored:
        text = render_report(stored, name, colour=output is None)
        elsewhere = tables_elsewhere(stored, name)
    if output is None:
        sys.stdout.write(text)
    else:
        write_report(output, text)
        click.echo(f"wrote {output}", err=True)
    if elsewhere:
        print_hint(f"{elsewhere}: `netdyno report {run} --as tables`")


def check_report_name(name: str) -> None:
    from netdyno.reports import REPORTS

    if name not in REPORTS:
        raise NetdynoError(f"there is no report `{name}`", suggestion(name, REPORTS, "reports"))


def write_report(file: Path, text: str) -> None:
    """Writes a report. What the system says of a file that is open does not name it."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        error.filename = str(file)
        raise


def render_report(stored: StoredRun, name: str, *, colour: bool) -> str:
    if name == "terminal":
        import shutil

        from netdyno.reports.formats import terminal
        from netdyno.reports.model.from_store import view

        # COLUMNS is heeded in a pipe too, which has no width of its own.
        width = shutil.get_terminal_size((terminal.USUAL, 24)).columns
        return terminal.render(view(stored), width=width, colour=colour and has_colours())
    from netdyno.reports import render

    return render(stored, name)


def tables_elsewhere(stored: StoredRun, name: str) -> str:
    """What a report of one row a value has no room for: the tables by name, a clause; empty: nothing."""
    if name != "csv":
        return ""
    from netdyno.reports.model.details import details
    from netdyno.reports.model.from_store import view

    tables = [table.name for table in details(view(stored))]
    if not tables:
        return ""
    return f"the CSV has a row for each value; its tables ({', '.join(tables)}) are a file of their own"
