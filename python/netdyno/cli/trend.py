"""`netdyno trend`: a case over the runs of a folder, and where its level changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.console import RUNS, format_option, print_hint, print_table
from netdyno.errors import NetdynoError, counted, suggestion

if TYPE_CHECKING:
    from netdyno.reports.model.trend import Level, Trend
    from netdyno.reports.model.view import RunView

COLUMNS = ["started", "run", "number", "limit", "level"]


@click.command()
@click.argument("case", metavar="CASE")
@click.argument("folder", required=False, type=click.Path(path_type=Path), default=RUNS)
@click.option("--value", "wanted", metavar="NAME", help="One of the values that stand for the case.")
@format_option("table", "json")
def trend(case: str, folder: Path, wanted: str | None, form: str) -> None:
    """Show a CASE over the runs in FOLDER, `runs` unless given, and where its level changed.

    CASE is a case's name, `64b / uni`, or some of its parts. A level changes where the mean ranks of the runs
    before and behind are farthest apart, if fewer than one in twenty random orders of the runs have them as
    far apart (permutation test, again within each part). One run that is off is no change; eight tell one.
    """
    from netdyno.reports.model.trend import find, names, trends

    runs = list(_runs(folder))
    places = find(runs, case)
    if len(places) != 1:
        every = names(runs)
        if not every:
            raise NetdynoError(
                f"{folder}: no run in it has a case", "`netdyno list` shows the runs", code="no-such-run"
            )
        why = "no case of these runs is" if not places else f"{len(places)} cases of these runs are"
        raise NetdynoError(f"{why} `{case}`", suggestion(case, places or every, "cases"), code="unknown-name")
    shown = list(trends(runs, places[0]))
    found = [one for one in shown if wanted in (None, one.kind.name)]
    if not found:
        known = dict.fromkeys(one.kind.name for one in shown)
        hint = suggestion(wanted, known, "values") if wanted is not None else None
        raise NetdynoError(f"no run has a number for `{wanted or places[0]}`", hint, code="unknown-name")
    if form == "json":
        click.echo(json.dumps([_plain(one) for one in found], indent=1))
        return
    for one in found:
        _print(one)


def _runs(folder: Path) -> Iterator[RunView]:
    """The runs that can be read, oldest first, without their trials."""
    from netdyno.campaign.reasons import REASONS
    from netdyno.reports.model.from_store import view
    from netdyno.store import StoreError, list_runs, open_run
    from netdyno.values.records import RunSummary

    for summary in list_runs(folder):
        if not isinstance(summary, RunSummary):
            click.echo(f"left out: {summary.reason}", err=True)
            continue
        try:
            with open_run(summary.folder, REASONS) as stored:
                yield view(stored, with_trials=False)
        except StoreError as error:
            click.echo(f"left out: {error.message}", err=True)


def _print(found: Trend) -> None:
    from netdyno.reports.model.compared import number_text
    from netdyno.values.printable import printable

    runs = counted(len(found.points), "run")
    click.echo(printable(f"{found.place}: {found.kind.display_name} of {found.device}, {runs}"))
    starts = {level.first: level for level in found.levels}
    rows = []
    for place, point in enumerate(found.points):
        level = starts.get(place)
        said = "" if level is None else _said(found, level)
        number = number_text(point.found, found.kind.unit)
        rows.append([point.run.started[:16].replace("T", " "), point.run.id, number, point.limits, said])
    print_table(COLUMNS, rows, "table", unbroken="run")
    for run in found.left_out:
        click.echo(f"left out: {printable(run)} sent other frames", err=True)
    if not found.is_enough:
        from netdyno.reports.model.trend import ENOUGH

        print_hint(f"{ENOUGH} runs tell a change of level; this case has {runs}")
    click.echo("")


def _said(found: Trend, level: Level) -> str:
    """`3.870 Mpps, -6.1 %`."""
    from netdyno.reports.model.compared import number_text
    from netdyno.values.number import fixed

    mean, share = number_text(level.found, found.kind.unit), level.share
    if level.before is None:
        return mean if len(found.levels) > 1 else f"{mean}: no change"
    return mean if share is None else f"{mean}, {'+' if share > 0 else ''}{fixed(100 * share, 1)} %"


def _plain(found: Trend) -> dict[str, Any]:
    return {
        "case": found.place,
        "device": found.device,
        "value": found.kind.name,
        "unit": found.kind.unit,
        "better": found.kind.better or None,
        "runs": [
            {
                "run": point.run.id,
                "started": point.run.started,
                "mean": float(point.found.mean),
                "numbers": [float(one) for one in point.found.numbers],
                "limits": list(point.found.limits),
            }
            for point in found.points
        ],
        "levels": [
            {
                "first": level.first,
                "mean": float(level.found.mean),
                "share": None if level.share is None else float(level.share),
            }
            for level in found.levels
        ],
        "left_out": list(found.left_out),
    }
