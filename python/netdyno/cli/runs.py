"""`netdyno list`: the runs in a folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.console import FORMATS, RUNS, format_option, print_error, print_table

if TYPE_CHECKING:
    from netdyno.values.records import RunSummary, UnreadableRun


COLUMNS = ["run", "title", "started", "state", "cases", "done", "failed", "limits", "goals"]


BESIDE = ["tags", "notes"]
"""Columns of what people added, which a table has if there is any."""

SHOWN = 40
"""Characters of the last note in a table."""

GOALS = {"failed": "FAIL", "undecided": "undecided", "passed": "PASS"}

STATES = ("running", "done", "interrupted", "failed", "unreadable")

ORDERS: Mapping[str, Callable[[RunSummary], Any]] = {
    "started": lambda run: run.started,
    "run": lambda run: run.folder.name,
    "title": lambda run: run.title.casefold(),
    "state": lambda run: STATES.index(run.state),
}

_AGO = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def _parse_time(_: click.Context, option: click.Parameter, text: str | None) -> datetime | None:
    """An instant, UTC unless it says otherwise: a date, a date with a time, or an age such as `7d`. Of
    `--until` a date is the end of its day."""
    if text is None:
        return None
    try:
        if age := re.fullmatch(r"([0-9]{1,5})([mhdw])", text):
            return datetime.now(UTC) - int(age[1]) * _AGO[age[2]]
        found = datetime.fromisoformat(text)
        if not re.search("[T ]", text) and option.name == "until":
            found += timedelta(days=1) - timedelta.resolution
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(
            f"`{text}` is no time, as `2026-11-01`, `2026-11-01T19:12` or `7d` (ago) are"
        ) from error


@dataclass(frozen=True)
class Filter:
    """What runs are asked for; what is not given asks nothing. Several states or goals: any of them."""

    states: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    titles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def takes(self, run: RunSummary) -> bool:
        """Whether a run is one of those asked for."""
        return (
            (not self.states or run.state in self.states)
            and (
                not self.goals or _worst_goal(_goal_counts(run), is_whole=run.done == run.cases) in self.goals
            )
            and (self.since is None or run.started >= self.since)
            and (self.until is None or run.started <= self.until)
            and all(text.casefold() in run.title.casefold() for text in self.titles)
            and set(self.tags) <= set(run.notes.tags)
        )

    def takes_unreadable(self) -> bool:
        """Whether runs of which nothing is known are asked for."""
        return "unreadable" in self.states or self == Filter()


@click.command("list")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The same as FOLDER.")
@click.option(
    "--state", "states", multiple=True, type=click.Choice(STATES), help="Runs in this state; may be repeated."
)
@click.option(
    "--goal",
    "goals",
    multiple=True,
    type=click.Choice(tuple(GOALS)),
    help="Runs whose worst goal is this, as the column `goals` has it; may be repeated.",
)
@click.option(
    "--since",
    metavar="TIME",
    callback=_parse_time,
    help="Runs that started then or later: 2026-11-01, 7d (ago).",
)
@click.option("--until", metavar="TIME", callback=_parse_time, help="Runs that started then or earlier.")
@click.option("--title", "titles", multiple=True, metavar="TEXT", help="Runs with this text in their title.")
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Runs with this tag (`netdyno note`); all of several."
)
@click.option(
    "--sort",
    default="started",
    type=click.Choice(tuple(ORDERS)),
    show_default=True,
    help="Order of the runs.",
)
@click.option("--reverse", is_flag=True, help="Reverse that order: with `started`, the newest first.")
@click.option("-n", "--last", type=click.IntRange(1), metavar="N", help="The N newest of these runs.")
@format_option(*FORMATS)
def list_(
    folder: Path | None,
    out: Path | None,
    states: tuple[str, ...],
    goals: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    titles: tuple[str, ...],
    tags: tuple[str, ...],
    sort: str,
    reverse: bool,
    last: int | None,
    form: str,
) -> None:
    """List the runs in FOLDER, `runs` unless given.

    Runs that meet all of the options given are listed, the oldest first.
    """
    if folder is not None and out is not None:
        raise click.UsageError("FOLDER and --out mean the same: give one of them")
    folder = folder or out or RUNS
    from netdyno.store import list_runs
    from netdyno.values.records import RunSummary, UnreadableRun

    asked = Filter(states, goals, since, until, titles, tags)
    listed = list(list_runs(folder))
    unreadable = [run for run in listed if isinstance(run, UnreadableRun)]
    runs = [run for run in listed if isinstance(run, RunSummary) and asked.takes(run)]
    runs = sorted(runs[-last:] if last else runs, key=ORDERS[sort], reverse=reverse)
    found = [_plain(run) for run in (*runs, *(unreadable if asked.takes_unreadable() and not last else ()))]
    if form == "json":
        import json

        click.echo(json.dumps(found, indent=2))
    elif not found and form == "table":
        click.echo(f"no such runs in {folder}" if listed else f"no runs in {folder}", err=True)
    else:
        more = [name for name in BESIDE if form != "table" or any(one[name] for one in found)]
        rows = [[*_row(one), *(_beside(one, name, form) for name in more)] for one in found]
        print_table([*COLUMNS, *more], rows, form, unbroken="started", shortened="title")
    # What was asked of those is unknown: they are named whatever was asked.
    for one in unreadable:
        print_error(one.reason, None)
    early = [run for run in runs if run.state == "interrupted"]
    if early:
        newest = max(early, key=ORDERS["started"]).folder
        click.echo(f"hint: `netdyno run --resume {newest}` goes on with an interrupted run", err=True)


def _row(plain: Mapping[str, Any]) -> list[str]:
    limits = (f"{limit}:{count}" for limit, count in (plain["limits"] or {}).items())
    is_whole = plain["done"] == plain["cases"]
    cells = {**plain, "limits": " ".join(limits), "goals": _goals(plain["goals"], is_whole=is_whole)}
    return ["" if cells[name] is None else str(cells[name]) for name in COLUMNS]


def _beside(plain: Mapping[str, Any], name: str, form: str) -> str:
    """The tags of a run; its notes, of which a table has the last one alone."""
    if name == "tags":
        return " ".join(plain["tags"] or ())
    texts = [one["text"] for one in plain["notes"] or ()]
    if form != "table" or not texts:
        return "; ".join(texts)
    return texts[-1] if len(texts[-1]) <= SHOWN else f"{texts[-1][: SHOWN - 1].rstrip()}…"


def _goals(goals: Mapping[str, int] | None, *, is_whole: bool) -> str:
    """`PASS`, `FAIL 2 of 6`, or how many were not decided. is_whole: whether every case was measured."""
    counts = goals or {}
    worst = _worst_goal(counts, is_whole=is_whole)
    if worst is None:
        return ""
    count, every = counts.get(worst, 0), sum(counts.values())
    return GOALS[worst] if count in (0, every) else f"{GOALS[worst]} {count} of {every}"


def _worst_goal(counts: Mapping[str, int], *, is_whole: bool) -> str | None:
    """`failed`, `undecided` or `passed`; None: the run has no goal that was judged."""
    worst = next((name for name in GOALS if counts.get(name)), None)
    # Goals of a case that was not measured are not recorded.
    return "undecided" if worst == "passed" and not is_whole else worst


def _goal_counts(run: RunSummary) -> dict[str, int]:
    return {
        "failed": run.goals.get(False, 0),
        "undecided": run.goals.get(None, 0),
        "passed": run.goals.get(True, 0),
    }


def _plain(run: RunSummary | UnreadableRun) -> dict[str, Any]:
    """A run with its numbers as numbers; null: unknown."""
    from netdyno.values.records import UnreadableRun

    if isinstance(run, UnreadableRun):
        names = ("title", "started", "cases", "done", "failed", "limits", "goals", *BESIDE)
        return {"run": str(run.folder), "state": "unreadable", **dict.fromkeys(names), "reason": run.reason}
    return {
        "run": str(run.folder),
        "title": run.title,
        "started": run.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "state": run.state,
        "cases": run.cases,
        "done": run.done,
        "failed": run.failed,
        "limits": dict(sorted(run.limits.items())),
        "goals": _goal_counts(run),
        "tags": list(run.notes.tags),
        "notes": [{"at": one.at, "text": one.text} for one in run.notes.notes],
    }
