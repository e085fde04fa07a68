"""`netdyno list`: the runs in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.console import FORMATS, RUNS, format_option, print_error, print_table

if TYPE_CHECKING:
    from netdyno.values.records import RunSummary, UnreadableRun


COLUMNS = ["run", "title", "started", "state", "cases", "done", "failed", "limits", "goals"]


GOALS = {"failed": "FAIL", "undecided": "undecided", "passed": "PASS"}


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

    runs = list(list_runs(folder))
    found = [_plain(run) for run in runs]
    if form == "json":
        import json

        click.echo(json.dumps(found, indent=2))
    elif not runs and form == "table":
        click.echo(f"no runs in {folder}", err=True)
        return
    else:
        print_table(COLUMNS, [_row(one) for one in found], form, unbroken="started", shortened="title")
    for run in runs:
        if isinstance(run, UnreadableRun):
            print_error(run.reason, None)
    early = [run.folder for run in runs if isinstance(run, RunSummary) and run.state == "interrupted"]
    if early:
        click.echo(f"hint: `netdyno run --resume {early[-1]}` goes on with an interrupted run", err=True)


def _row(plain: Mapping[str, Any]) -> list[str]:
    limits = (f"{limit}:{count}" for limit, count in (plain["limits"] or {}).items())
    is_whole = plain["done"] == plain["cases"]
    cells = {**plain, "limits": " ".join(limits), "goals": _goals(plain["goals"], is_whole=is_whole)}
    return ["" if cells[name] is None else str(cells[name]) for name in COLUMNS]


def _goals(goals: Mapping[str, int] | None, *, is_whole: bool) -> str:
    """`PASS`, `FAIL 2 of 6`, or how many were not decided. is_whole: whether every case was measured."""
    counts = {name: count for name, count in (goals or {}).items() if count}
    worst = next((name for name in GOALS if name in counts), None)
    if worst is None:
        return ""
    if worst == "passed" and not is_whole:
        # Goals of a case that was not measured are not recorded.
        return GOALS["undecided"]
    of = "" if len(counts) == 1 else f" {counts[worst]} of {sum(counts.values())}"
    return f"{GOALS[worst]}{of}"


def _plain(run: RunSummary | UnreadableRun) -> dict[str, Any]:
    """A run with its numbers as numbers; null: unknown."""
    from netdyno.values.records import UnreadableRun

    if isinstance(run, UnreadableRun):
        names = ("title", "started", "cases", "done", "failed", "limits", "goals")
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
        "goals": {
            "failed": run.goals.get(False, 0),
            "undecided": run.goals.get(None, 0),
            "passed": run.goals.get(True, 0),
        },
    }
