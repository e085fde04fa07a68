"""`netdyno run`: the plan is run or gone on with, and its reports are written."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from netdyno.cli import baselines
from netdyno.cli.codes import INTERRUPTED, MISSED, NO_NUMBER, NOT_MEASURED, OUT_OF_TIME, PASSED
from netdyno.cli.console import RUNS, parse_pairs, print_error, print_hint
from netdyno.cli.plan_argument import load_plan, set_option
from netdyno.cli.rehearse import HELP as REHEARSE
from netdyno.cli.report import check_folder, check_report_names, look
from netdyno.cli.run_reports import Wanted, shows_texts, write_reports
from netdyno.cli.streams import discard_what_fails
from netdyno.errors import advice, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from netdyno.campaign.interrupts import Interrupts
    from netdyno.campaign.run import Outcome
    from netdyno.campaign.selection import Selection
    from netdyno.devices.configure.apply import DryRun
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case
    from netdyno.store import StoredRun


@click.command()
@click.argument("plan", required=False, type=click.Path(path_type=Path))
@click.option(
    "--out", default=RUNS, show_default=True, type=click.Path(path_type=Path), help="Folder of the runs."
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    help="Continue the run in this folder, with the plan as it was when the run began.",
)
@set_option
@click.option(
    "--scale",
    metavar="1/100",
    help="Fraction of the plan's durations to run, instead of the plan's own `scale`.",
)
@click.option("--only", multiple=True, metavar="AXIS=VALUE", help="Run these cases only; may be repeated.")
@click.option(
    "--dry-run", is_flag=True, help="List the cases, with what each would enter on the device; start nothing."
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="NAME",
    callback=check_report_names,
    help="Write a report when done; may be repeated.",
)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the report `junit` to this file when done: a test for each case and goal, for a CI server.",
)
@click.option(
    "--github-summary",
    is_flag=True,
    help="Append goals and headline numbers to the page of this GitHub job (GITHUB_STEP_SUMMARY).",
)
@click.option(
    "--time-limit",
    metavar="TIME",
    help="End the run in order after this time, as Ctrl-C does: the case in progress is interrupted, finished"
    " trials are kept, --resume continues. Exits with 124 if a case is left.",
)
@click.option(
    "--log-file",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Append a line for each event, with its time, to this file.",
)
@click.option(
    "--no-calibrate",
    is_flag=True,
    help="Do not measure the tester first, which takes up to about 20 s, once.",
)
@click.option("--rehearse", is_flag=True, help=REHEARSE)
@click.option(
    "--on",
    default="",
    metavar="CLUSTER",
    help="Run the cases, of emulated devices, on the workers of a Dask cluster: `local:4` starts four here,"
    " `tcp://scheduler:8786` is one that runs.",
)
@click.option("-v", "--verbose", is_flag=True, help="Print the whole report, not one screen of it.")
@click.pass_context
def run(
    context: click.Context,
    plan: Path | None,
    out: Path,
    resume: Path | None,
    overrides: tuple[str, ...],
    scale: str | None,
    only: tuple[str, ...],
    dry_run: bool,
    reports: tuple[str, ...],
    junit: Path | None,
    github_summary: bool,
    time_limit: str | None,
    log_file: Path | None,
    no_calibrate: bool,
    rehearse: bool,
    on: str,
    verbose: bool,
) -> None:
    """Run a PLAN, or continue a run that was interrupted or killed."""
    if (plan is None) == (resume is None):
        raise click.UsageError("give a plan, or a folder with --resume")
    left_out = {"overrides", "scale", "only", "dry_run", "rehearse", "on"}
    if resume is not None and any(
        context.get_parameter_source(one) is ParameterSource.COMMANDLINE for one in left_out
    ):
        raise click.UsageError(
            "--resume continues a run as it began: leave out --set, --scale, --only, --dry-run, --rehearse"
            " and --on"
        )
    selection = _selection(scale, only)
    check_folder(junit)
    if on:
        from netdyno.campaign.cluster import check_address

        if wrong := check_address(on):
            raise click.UsageError(f"--on: {wrong}")

    from netdyno.campaign import run as runner
    from netdyno.campaign.interrupts import Interrupts
    from netdyno.cli import live
    from netdyno.cli.calibrate_first import calibrate_first
    from netdyno.cli.log import Logged, log_to
    from netdyno.cli.rehearse import rehearsal

    interrupts = Interrupts()
    if time_limit is not None:
        from netdyno.cli.quick import seconds

        interrupts.limit(float(seconds("--time-limit", time_limit).amount))
    with ExitStack() as stack:
        loaded = None
        if plan is not None:
            loaded = load_plan(plan, overrides)
            loaded = stack.enter_context(rehearsal(loaded)) if rehearse else loaded
            baselines.refuse_missing(loaded)
        if dry_run and loaded is not None:
            _dry_run(selection.plan(loaded), selection)
            return
        stack.enter_context(log_to(log_file))
        view = live.watcher() if log_file is None else Logged(live.watcher())
        if resume is not None:
            outcome = runner.resume(resume, view, interrupts=interrupts)
        else:
            assert loaded is not None
            prepare = (lambda plan, cases: None) if no_calibrate else partial(calibrate_first, out)
            outcome = runner.run(loaded, out, view, selection, interrupts=interrupts, prepare=prepare, on=on)
        wanted = Wanted(reports, junit, github_summary)
        conclude(outcome, wanted, interrupts, verbose=verbose)


def _selection(scale: str | None, only: Iterable[str]) -> Selection:
    from netdyno.campaign.selection import Selection

    chosen: dict[str, str] = {}
    for axis, value in parse_pairs("--only", only, "AXIS=VALUE", "direction=bidir"):
        if chosen.get(axis, value) != value:
            raise click.UsageError(f"--only: `{axis}` is given twice")
        chosen[axis] = value
    return Selection(None if scale is None else _scale(scale), chosen)


def _scale(text: str) -> Fraction:
    from fractions import Fraction

    try:
        scale = Fraction(text)
    except (ValueError, ZeroDivisionError):
        scale = Fraction(0)
    if not 0 < scale <= 1:
        raise click.UsageError(
            f"--scale: `{text}` is not a fraction of the plan's durations, as in `--scale 1/100`"
        )
    return scale


def _dry_run(plan: Any, selection: Selection) -> None:
    from netdyno.values.printable import printable

    chosen = selection.cases(plan)
    entered: dict[str, str] = {}
    warnings: dict[str, None] = {}
    for case in chosen:
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        click.echo(f"{case.number:4}  {case.name}  ({wiring.clock} time)")
        if plan.lab.configuration:
            found = plan.kind.driver.dry_run(plan.kind.reached, case.settings)
            warnings |= dict.fromkeys(map(str, found.warnings))
            _show_configuration(found, case.name, entered)
    for warning in warnings:
        click.echo(f"warning: {printable(warning)}", err=True)
    click.echo(f"{counted(len(chosen), 'case')}, {about(plan, chosen)}; nothing was started", err=True)


def _show_configuration(found: DryRun, case: str, entered: dict[str, str]) -> None:
    """Prints what a case would enter, unless an earlier case has shown the same."""
    from netdyno.values.printable import printable

    if not found.sent:
        click.echo("      enters nothing: the device has all of it")
        return
    if found.sent in entered:
        click.echo(f"      enters the same as `{printable(entered[found.sent])}`")
        return
    entered[found.sent] = case
    changed = found.diff if any(line.startswith("-") for line in found.diff.splitlines()) else ""
    for title, text in (("enters", found.sent), ("changes", changed), ("undone by", found.undo)):
        if not text:
            continue
        click.echo(f"      {title}:")
        for line in text.splitlines():
            click.echo(f"        {printable(line)}")


def about(plan: Plan, cases: Sequence[Case]) -> str:
    """How long cases take."""
    from netdyno.campaign.selection import total_seconds
    from netdyno.values.number import clock

    seconds = float(total_seconds(plan, cases))
    return f"{'under 1 s' if seconds < 1 else f'about {clock(seconds)}'} if run in real time"


def conclude(
    outcome: Outcome, wanted: Wanted, interrupts: Interrupts | None = None, *, verbose: bool = False
) -> NoReturn:
    """Writes the reports, then prints the summary, and exits with the run's code.

    A report that cannot be written costs neither the other ones nor the summary.
    """
    from netdyno.campaign.reasons import REASONS
    from netdyno.campaign.run import has_number
    from netdyno.reports import render
    from netdyno.reports.formats import terminal
    from netdyno.reports.model.from_store import view
    from netdyno.reports.model.goals import OUTCOMES
    from netdyno.reports.model.headline import headline
    from netdyno.store import open_run
    from netdyno.values.printable import printable, wrap

    if interrupts is not None:
        # A run that was complete when it was resumed has not taken the signals over.
        interrupts.install()
    with open_run(outcome.folder, REASONS) as stored:
        kept = _kept(stored, outcome)
        if interrupts is not None:
            interrupts.end_with("".join(f"{line}\n" for line in kept))
        run = view(stored, with_texts=shows_texts(wanted.reports))
        compared, run_goals = baselines.judge(run, outcome.folder)
        run = replace(run, run_goals=run_goals)
        files, is_written = write_reports(run, wanted, outcome.folder)
        shown = headline(run)
        text = render([run], "terminal", look(colour=True)).decode() + "\n" if verbose else ""
        links = [("report", file.resolve().as_uri()) for file in files]
        details = ("details", f"netdyno report {outcome.folder} [--as html|markdown|csv|json]")
        width = get_terminal_size((terminal.WIDTH, terminal.LINES)).columns
        text += "\n".join(terminal.first_screen(shown, width, (*links, details))) + "\n"
        failures = [case.error for case in stored.cases if case.error]
        has_numbers = any(has_number(case) for case in stored.cases)
    label, other = f"  {'goal':<{terminal.LABEL}}", " " * (terminal.LABEL + 2)
    goals = [f"{goal}: {OUTCOMES[passed]}: {why}" for goal, passed, why in run_goals]
    text += "".join(f"{line}\n" for one in goals for line in wrap(printable(one), width, label, other))
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What was measured is not worth less because it could not be printed.
        print_error(f"stdout: {error.strerror or error}", advice(error))
        discard_what_fails()
    # What went wrong stands in the summary; once for all cases, what to do about it.
    for hint in dict.fromkeys(error.hint for error in failures if error.hint):
        print_hint(hint)
    if outcome.exit_code == NO_NUMBER:
        why = (
            "the tester was the limit in every case" if has_numbers else "no case has a number of the device"
        )
        click.echo(f"{why}: the report gives the reason of each", err=True)
    if interrupts is not None:
        interrupts.ignore()
    if outcome.exit_code in (INTERRUPTED, OUT_OF_TIME):
        for line in kept:
            click.echo(line, err=True)
    code = outcome.exit_code
    if compared == MISSED and code in (PASSED, NOT_MEASURED, NO_NUMBER):
        code = MISSED
    if code == PASSED:
        # A device that failed its acceptance test missed a goal; one with parts unknown is no pass.
        code = MISSED if shown.passed is False else compared
        if code == PASSED and shown.is_undecided:
            code = NOT_MEASURED
    sys.exit(NOT_MEASURED if not is_written and code == PASSED else code)


def _kept(stored: StoredRun, outcome: Outcome) -> tuple[str, str]:
    """What an interrupted run has kept, and the command that goes on with it."""
    from netdyno.reports.model import unfinished
    from netdyno.reports.model.from_store import view

    trials = counted(stored.trial_count(), "trial")
    if outcome.exit_code not in (INTERRUPTED, OUT_OF_TIME):
        return (
            f"interrupted: the run is complete, {trials} kept in {outcome.folder}",
            f"hint: `netdyno report {outcome.folder}` prints its results",
        )
    done = sum(case.state == "done" for case in stored.cases)
    also = unfinished.describe_stored_trials(view(stored))
    why = "interrupted" if outcome.exit_code == INTERRUPTED else "time limit reached"
    return (
        f"{why}: {trials} kept, {done} of {counted(len(stored.cases), 'case')} measured"
        + (f"; finished and kept, without a result yet: {also}" if also else ""),
        f"hint: `netdyno run --resume {outcome.folder}` goes on with it",
    )
