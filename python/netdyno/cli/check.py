"""`netdyno check`: a plan is read and checked, nothing is started."""

from __future__ import annotations

import os
from pathlib import Path

import click

from netdyno.cli.run import about
from netdyno.errors import counted


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
def check(plan: Path) -> None:
    """Check a PLAN completely and start nothing."""
    from netdyno.campaign.run import Selection
    from netdyno.plan import load
    from netdyno.testers import tables

    loaded = load(plan, tables=tables())
    count = len(Selection().cases(loaded))
    from netdyno.cli import outline
    from netdyno.values.printable import printable

    click.echo(f"{plan}: {printable(loaded.title)}: {counted(count, 'case')}, {about(loaded, count)}")
    for line in outline.lines(loaded):
        click.echo(printable(line))
    for line in (*outline.beyond(loaded, os.sched_getaffinity(0)), *outline.without_interface(loaded)):
        click.echo(f"warning: {printable(line)}", err=True)
