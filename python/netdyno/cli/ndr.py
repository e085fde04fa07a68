"""`netdyno ndr`: the highest load between two ports that loses no frame."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.console import RUNS
from netdyno.cli.quick import Asked, load_quick, seconds, without_places
from netdyno.cli.quick_options import QuickCommand, traffic_options

if TYPE_CHECKING:
    from netdyno.campaign.run import Outcome


@click.command(cls=QuickCommand)
@click.argument("ports", nargs=-1, metavar="PORT PORT")
@click.option(
    "-t", "--time", metavar="SECONDS", help="Traffic that settles a load.  [default: 21, as CSIT has it]"
)
@traffic_options
@click.option("-J", "--json", "as_json", is_flag=True, help="One JSON object at the end, and nothing else.")
@click.option("--no-calibrate", is_flag=True, help="Do not measure the tester first (memif), up to 20 s.")
@click.option(
    "--out", default=RUNS, show_default=True, type=click.Path(path_type=Path), help="Folder of the runs."
)
def ndr(time: str | None, as_json: bool, no_calibrate: bool, out: Path, **asked: Any) -> None:
    """Find the highest load from a PORT to another without loss (NDR), and with 0.5 % of it (PDR).

    \b
      netdyno ndr eth1 eth2 --via 10.0.1.1,10.0.2.1 -t 5
      netdyno ndr --emulated router --setting capacity=1Mpps

    Ports and traffic are given as to `netdyno send`. It is a run like any other, of the method `ndr`.
    """
    from netdyno.campaign import run as runner
    from netdyno.campaign.interrupts import Interrupts
    from netdyno.campaign.selection import Selection
    from netdyno.cli import live
    from netdyno.cli.calibrate_first import calibrate_first
    from netdyno.cli.run import conclude
    from netdyno.cli.run_reports import Wanted

    goals = {"NDR": _goal("0%", time), "PDR": _goal("0.5%", time)}
    trial = {"settle": "200ms", "drain": "500ms"}
    made = Asked(**asked).plan("NDR", "ndr", {"goals": goals, "seed": "ramp"}, trial)
    plan = load_quick(made, "ndr")
    interrupts = Interrupts()
    prepare = (lambda plan, cases: None) if no_calibrate else partial(calibrate_first, out)
    with without_places(plan):
        outcome = runner.run(plan, out, live.watcher(), Selection(), interrupts=interrupts, prepare=prepare)
    if not as_json:
        conclude(outcome, Wanted(), interrupts)
    interrupts.ignore()
    click.echo(json.dumps(_table(outcome)))
    sys.exit(outcome.exit_code)


def _goal(loss: str, time: str | None) -> Any:
    """A goal of the search: CSIT's, or one that is settled sooner or later."""
    if time is None:
        return "csit-ndr" if loss == "0%" else "csit-pdr"
    settles = seconds("-t", time)
    one = min(settles, type(settles).parse("1s"), key=lambda duration: duration.ns)
    return {"loss": loss, "exceed": "50%", "duration": str(one), "sum": str(settles), "width": "0.5%"}


def _table(outcome: Outcome) -> dict[str, Any]:
    from netdyno.campaign.reasons import REASONS
    from netdyno.reports.model.from_store import view
    from netdyno.reports.model.sent import find_limit
    from netdyno.store import open_run

    with open_run(outcome.folder, REASONS) as stored:
        run = view(stored)
    (case,) = run.cases
    limit, reason = find_limit(run)
    found: dict[str, Any] = {"run": str(outcome.folder), "exit_code": outcome.exit_code}
    for value in case.values:
        if value.scope == (case.headline or value).scope and value.unit == "fps":
            share = case.share_of_line(value)
            found[value.name.lower()] = {
                "pps": None if value.number is None else float(value.number),
                "share_of_line": None if share is None else float(share),
            }
    return {**found, "limit": limit, "reason": reason}
