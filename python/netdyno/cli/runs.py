"""`netdyno list`: the runs in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.console import FORMATS, RUNS, format_option, print_error, print_table

if TYPE_CHECKING:
    from netdyno.values.records import RunSummary, UnreadableRun


@click.command("list")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The same as FOLDER.")
@format_option(*FORMATS)
def list_(folder: Path | None, out: Path | None, form: str) -> None:
    """List the runs in FOLDER, `runs` unless given."""
    if folder is not None and out is not None:
        raise click.UsageError("FOLDER and --out mean the same: give one of them")
    folder = folder or out or RUNS
    from netdyno.store import list_runs
    from netdyno.values.records import RunSummary, UnreadableRun

    columns = ["run", "title", "started", "state", "cases", "done", "failed", "limits"]
    runs = list(list_runs(folder))
    rows = [
        [str(run.folder), "", "", "unreadable", *[""] * 4]
        if isinstance(run, UnreadableRun)
        else [
            str(run.folder),
            run.head.title,
            run.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
            run.state,
            str(run.cases),
            str(run.done),
            str(run.failed),
            " ".join(f"{limit}:{count}" for limit, count in sorted(run.limits.items())),
        ]
        for run in runs
    ]
    if form == "json":
        import json

        click.echo(json.dumps([_plain(run) for run in runs], indent=2))
    elif not rows and form == "table":
        click.echo(f"no runs in {folder}", err=True)
        return
    else:
        print_table(columns, rows, form)
    for run in runs:
        if isinstance(run, UnreadableRun):
            print_error(run.reason, None)
    early = [run.folder for run in runs if isinstance(run, RunSummary) and run.state == "interrupted"]
    if early:
        click.echo(f"hint: `netdyno run --resume {early[-1]}` goes on with an interrupted run", err=True)


def _plain(run: RunSummary | UnreadableRun) -> dict[str, Any]:
    """A run with its numbers as numbers; null: unknown."""
    from netdyno.values.records import UnreadableRun

    if isinstance(run, UnreadableRun):
        names = ("title", "started", "cases", "done", "failed", "limits")
        return {"run": str(run.folder), "state": "unreadable", **dict.fromkeys(names), "reason": run.reason}
    return {
        "run": str(run.folder),
        "title": run.head.title,
        "started": run.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "state": run.state,
        "cases": run.cases,
        "done": run.done,
        "failed": run.failed,
        "limits": dict(sorted(run.limits.items())),
    }
