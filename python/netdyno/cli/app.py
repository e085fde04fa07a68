"""The command line: words, options and exit codes. What needs time to import is imported where it is used.

Exit codes: 0 all is well; 1 a goal was missed; 2 the command or the plan is wrong; 3 something could not
be measured; 4 all was measured and no case has a number; 130 interrupted, what was measured is kept. Data
goes to stdout, all else to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from netdyno.cli.calibrate import calibrate
from netdyno.errors import NetdynoError, PlanErrors, Problem, Problems, advice, counted, suggestion

if TYPE_CHECKING:
    from fractions import Fraction

    from netdyno.campaign.run import Outcome, Selection
    from netdyno.store import StoredRun

RUNS = Path("runs")
PASSED, MISSED, USAGE, NOT_MEASURED, NO_NUMBER, INTERRUPTED = 0, 1, 2, 3, 4, 130
FORMATS = click.Choice(["table", "json", "csv", "md"])


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from importlib.metadata import PackageNotFoundError
        from importlib.metadata import version as installed

        try:
            click.echo(f"netdyno {installed('netdyno')}")
        except PackageNotFoundError:
            click.echo("netdyno, not installed: its version is unknown")
        context.exit()


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit; `netdyno version` tells more.",
)
@click.pass_context
def cli(context: click.Context) -> None:
    """A dynamometer for routers and switches.

    Write a plan, check it, run it, read the report:

    \b
      netdyno check plan.yaml
      netdyno run plan.yaml --report html
      netdyno report runs/2026-11-21T1912Z-plan-ab12 --as markdown
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


cli.add_command(calibrate)


@cli.command()
@click.argument("plan", required=False, type=click.Path(path_type=Path))
@click.option(
    "--out", default=RUNS, show_default=True, type=click.Path(path_type=Path), help="Where runs go."
)
@click.option("--resume", type=click.Path(path_type=Path), help="Go on with the run in this folder.")
@click.option(
    "--scale",
    metavar="1/100",
    help="Fraction of the plan's durations to run, instead of the plan's own `scale`.",
)
@click.option("--only", multiple=True, metavar="AXIS=VALUE", help="Run these cases only; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Say what would be run, and start nothing.")
@click.option(
    "--report", "reports", multiple=True, metavar="NAME", help="Write a report when done; may be repeated."
)
def run(
    plan: Path | None,
    out: Path,
    resume: Path | None,
    scale: str | None,
    only: tuple[str, ...],
    dry_run: bool,
    reports: tuple[str, ...],
) -> None:
    """Run a PLAN, or go on with a run that was interrupted or killed."""
    for name in reports:
        _known_report(name)
    if (plan is None) == (resume is None):
        raise click.UsageError("give a plan, or a folder with --resume")
    if resume is not None and (only or scale or dry_run):
        raise click.UsageError(
            "a run goes on as it began: --resume goes without --scale, --only and --dry-run"
        )
    selection = _selection(scale, only)

    from netdyno.campaign import run as runner
    from netdyno.cli import live
    from netdyno.plan import load

    if resume is not None:
        outcome = runner.resume(resume, live.watcher())
    else:
        assert plan is not None
        loaded = load(plan)
        if dry_run:
            _dry_run(selection.plan(loaded), selection)
            return
        outcome = runner.run(loaded, out, live.watcher(), selection)
    _conclude(outcome, reports)


@cli.command()
@click.argument("plan", type=click.Path(path_type=Path))
def check(plan: Path) -> None:
    """Check a PLAN completely and start nothing."""
    from netdyno.campaign.run import Selection
    from netdyno.plan import load

    loaded = load(plan)
    count = len(Selection().cases(loaded))
    from netdyno.cli import outline
    from netdyno.values.printable import printable

    click.echo(f"{plan}: {printable(loaded.title)}: {counted(count, 'case')}, {_about(loaded, count)}")
    for line in outline.lines(loaded):
        click.echo(printable(line))
    for line in outline.beyond(loaded, os.sched_getaffinity(0)):
        click.echo(f"warning: {printable(line)}", err=True)


@cli.command()
@click.argument("plan", type=click.Path(path_type=Path))
def routes(plan: Path) -> None:
    """Print the routes that the device must have for a PLAN with the axis `routes`: prefix and next hop."""
    from netdyno.methods.wrap.routes import listed
    from netdyno.plan import load

    for line in listed(load(plan)):
        click.echo(line)


@cli.command()
@click.argument("plan", type=click.Path(path_type=Path))
def filters(plan: Path) -> None:
    """Print the packet filters that the device must have for a PLAN with the axis `modifier`, by port."""
    from netdyno.modifiers.filters import listed
    from netdyno.plan import load

    for line in listed(load(plan)):
        click.echo(line)


@cli.command()
def schema() -> None:
    """Print the JSON Schema of a plan, for editors."""
    import json

    from netdyno.plan import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


@cli.command()
@click.argument("rate")
@click.argument("size")
@click.option(
    "--tags", default=0, type=click.IntRange(0, 8), help="VLAN tags added on top of SIZE, 4 bytes each."
)
@click.option("--format", "form", default="table", type=FORMATS, show_default=True)
def rate(rate: str, size: str, tags: int, form: str) -> None:
    """What a RATE (`10Gbps`, `14.88Mpps`) is in frames and on each layer, for a SIZE or a mix.

    SIZE is `64B`, the name of a mix (`imix/bench`), or sizes with weights: `64:7,594:4`. Sizes count the
    FCS. They are those of untagged frames: tags given with --tags are added on top. (In a plan the size
    is that of the frame as sent, tags included.) Bit rates are L1 unless L2 is said: `9.5Gbps L2`.
    """
    from netdyno.values.rates import rate_table

    table = rate_table(rate, size, tags)
    if form == "json":
        import json

        click.echo(json.dumps(table, indent=2))
        return
    rows = [_rate_row(table["mix"], "", table["mean_size"]["printed"], table)]
    if len(table["sizes"]) > 1:
        rows += [
            _rate_row(f"{row['size']}B", str(row["weight"]), f"{row['tagged_size']} B", row)
            for row in table["sizes"]
        ]
    _print_table(["size", "weight", "frame with FCS and tags", "frames/s", "L1", "L2", "L3"], rows, form)


@cli.command("list")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="The same as FOLDER, as `run` and `calibrate` have it."
)
@click.option("--format", "form", default="table", type=FORMATS, show_default=True)
def list_(folder: Path | None, out: Path | None, form: str) -> None:
    """List the runs in FOLDER, `runs` unless given."""
    if folder is not None and out is not None:
        raise click.UsageError("give FOLDER or --out, which mean the same")
    folder = folder or out or RUNS
    from netdyno.store import RunSummary, UnreadableRun, list_runs

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
    if not rows and form == "table":
        click.echo(f"no runs in {folder}", err=True)
        return
    _print_table(columns, rows, form)
    for run in runs:
        if isinstance(run, UnreadableRun):
            _complain(run.reason, None)
    early = [run.folder for run in runs if isinstance(run, RunSummary) and run.state == "interrupted"]
    if early:
        click.echo(f"hint: `netdyno run --resume {early[-1]}` goes on with an interrupted run", err=True)


@cli.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--as", "name", default="terminal", show_default=True, metavar="NAME", help="See `netdyno reports`."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A file; stdout unless given.")
def report(run: Path, name: str, output: Path | None) -> None:
    """Render the RUN in a folder. Measures nothing and writes nothing into the store."""
    _known_report(name)
    from netdyno.store import open_run

    with open_run(run) as stored:
        text = _render(stored, name, colour=output is None)
        elsewhere = _elsewhere(stored, name)
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)
        click.echo(f"wrote {output}", err=True)
    if elsewhere:
        _hint(f"{elsewhere}: `netdyno report {run} --as tables`")


@cli.command()
@click.option("--format", "form", default="table", type=FORMATS, show_default=True)
def kinds(form: str) -> None:
    """List the kinds of devices a plan can name."""
    from netdyno.devices import KINDS

    rows = [
        [
            kind.name,
            kind.title,
            "yes" if kind.emulated else "no",
            f"{kind.links[0]}" if len(kind.links) == 1 else f"{kind.links[0]} to {kind.links[-1]}",
            "; ".join(f"{name}: {', '.join(values) or 'a number'}" for name, values in kind.settings.items()),
        ]
        for kind in KINDS.values()
    ]
    _print_table(["kind", "what it is", "emulated", "links", "settings"], rows, form)


@cli.command()
@click.option("--format", "form", default="table", type=FORMATS, show_default=True)
def methods(form: str) -> None:
    """List the methods a plan can name, with their parameters, and the goals.

    As CSV: the parameters alone.
    """
    from netdyno.cli import catalogue
    from netdyno.methods import METHODS

    found = list(catalogue.parameters())
    columns = ["parameter", "written as", "default", "meaning"]
    rows = {
        name: [[p.name, p.kind, p.default, p.meaning] for p in found if p.method == name] for name in METHODS
    }
    if form == "csv":
        _print_table(["method", *columns], [[name, *row] for name in METHODS for row in rows[name]], form)
        return
    if form == "json":
        import json

        listed = [
            {
                "method": method.name,
                "standard": method.standard,
                "what it finds": method.doc,
                "parameters": [dict(zip(columns, row, strict=True)) for row in rows[method.name]],
            }
            for method in METHODS.values()
        ]
        click.echo(json.dumps(listed, indent=2))
        return
    for method in METHODS.values():
        _say(f"{method.name}: {method.doc}")
        _say(f"standard: {method.standard}")
        click.echo()
        _print_table(columns, rows[method.name], form)
        click.echo()
    click.echo("Values that `goals:` can ask for, each with >=, <=, > or <:\n")
    _print_table(
        ["value", "meaning", "example"], [[g.value, g.meaning, g.example] for g in catalogue.goals()], form
    )


@cli.command()
@click.option("--format", "form", default="table", type=FORMATS, show_default=True)
def reports(form: str) -> None:
    """List the renderings of a run."""
    from netdyno.reports import REPORTS

    _print_table(["report", "what it is"], [[report.name, report.help] for report in REPORTS.values()], form)


@cli.group()
def dut() -> None:
    """Devices to test, made by netdyno itself."""


@dut.command()
@click.argument("kind")
@click.option(
    "--memif",
    "memifs",
    multiple=True,
    required=True,
    metavar="PORT=SOCKET",
    help="A port and the socket it listens at: a path, or `@name`. Once for each port, in order.",
)
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE", help="See `netdyno kinds`.")
@click.option("--rate", default="10Gbps", show_default=True, help="L1 rate of each port's line.")
@click.option("--delay", default="0us", show_default=True, help="What the device adds to each frame.")
@click.option(
    "--max-size", default="1522B", show_default=True, metavar="SIZE", help="The longest frame, with FCS."
)
@click.option("--core", type=click.IntRange(0), help="The core the device stays on; it takes all of it.")
@click.option("--duration", metavar="60s", help="How long; until it is interrupted unless given.")
@click.option("--stats", is_flag=True, help="Tell on stderr each second what passes.")
@click.option("--format", "form", default="table", type=FORMATS, show_default=True)
def serve(
    kind: str,
    memifs: tuple[str, ...],
    settings: tuple[str, ...],
    rate: str,
    delay: str,
    max_size: str,
    core: int | None,
    duration: str | None,
    stats: bool,
    form: str,
) -> None:
    """Serve an emulated device of this KIND in real time, for another tester to be pointed at.

    The tester connects to the memifs as their client. Counters are printed at the end.
    """
    import signal
    from threading import Event

    from netdyno.cli.serve import MEMIF_ID, Service, rates, table
    from netdyno.cli.serve import serve as served
    from netdyno.values.units import Duration, FrameSize, L1Rate, PositiveDuration

    wrong: list[Problem] = []

    def right(read: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return read()
        except Problem as problem:
            wrong.append(problem)
            return otherwise

    service = Service(
        kind,
        tuple(_pairs("--memif", memifs, "west=/tmp/west.sock")),
        dict(_pairs("--setting", settings, "capacity=1Mpps")),
        rate_bps=right(lambda: int(L1Rate.parse(rate).amount), 10**10),
        delay_ns=right(lambda: Duration.parse(delay).ns, 0),
        core=core,
        max_size=right(lambda: FrameSize.parse(max_size).octets, 1522),
    )
    length = right(lambda: None if duration is None else float(PositiveDuration.parse(duration).amount), 0.0)
    try:
        service.spec()
    except Problems as several:
        wrong += several.problems
    if wrong:
        raise Problems(wrong)
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())

    def begun() -> None:
        for name, at in service.ports:
            click.echo(f"{name} listens at {at}, id {MEMIF_ID}", err=True)

    def seen(before: dict[str, Any], now: dict[str, Any]) -> None:
        if stats:
            click.echo(rates(before, now), err=True)

    found = served(service, ended.wait, length, begun, seen)
    rows = table(found)
    _print_table(list(rows[0]), [[str(cell) for cell in row.values()] for row in rows], form)
    for why in found["failures"]:
        _complain(why, None)
    if found["failures"]:
        sys.exit(NOT_MEASURED)


def _pairs(option: str, given: Iterable[str], example: str) -> Iterable[tuple[str, str]]:
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.UsageError(f"{option}: `{text}` is not NAME=VALUE, as in `{option} {example}`")
        yield name, value


@cli.command()
@click.option("--format", "form", default="table", type=FORMATS, show_default=True)
def ports(form: str) -> None:
    """List this machine's interfaces, and which backend each can take.

    Needs no right and changes nothing. As JSON: everything known of each card.
    """
    from netdyno.ports.listing import COLUMNS, advices, look

    found = look()
    if form == "json":
        import json

        click.echo(json.dumps([one.table() for one in found], indent=2))
        return
    _print_table(list(COLUMNS), [one.row() for one in found], form)
    for line in advices(found):
        _hint(line)


@cli.command()
def version() -> None:
    """Print the versions of netdyno and of what it runs on."""
    from netdyno.campaign.run import versions

    for name, what in versions().items():
        click.echo(f"{name} {what}")


def main() -> NoReturn:
    """Runs the command line; never shows a traceback for a mistake of the user's."""
    try:
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except PlanErrors as error:
        for problem in error.errors:
            _complain(str(problem), problem.hint)
        sys.exit(USAGE)
    except NetdynoError as error:
        _complain(error.message, error.hint)
        sys.exit(_code(error))
    except Problems as error:
        for problem_ in error.problems:
            _complain(problem_.message, problem_.hint)
        sys.exit(USAGE)
    except Problem as error:
        _complain(error.message, error.hint)
        sys.exit(USAGE)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f"`{context.command_path} --help` shows how" if context is not None else None
        message = error.format_message()
        if isinstance(error, click.NoSuchOption) and error.option_name[1:2].isdigit():
            message = f"`{error.option_name}…` is negative or an option that does not exist"
            hint = "sizes and rates are above zero: `64B`, `10Gbps`"
        _complain(message, hint)
        sys.exit(USAGE)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted: nothing was measured, nothing is kept", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(PASSED)
    except OSError as error:
        where = error.filename or "the operating system refused"
        _complain(f"{where}: {error.strerror or error}", advice(error))
        sys.exit(NOT_MEASURED)
    sys.exit(code if isinstance(code, int) else PASSED)


def _code(error: NetdynoError) -> int:
    from netdyno.calibration import CalibrationError
    from netdyno.campaign.run import EngineMissingError
    from netdyno.devices.wiring import LabError
    from netdyno.store import NoRoomError

    not_measured = LabError | EngineMissingError | NoRoomError | CalibrationError
    return NOT_MEASURED if isinstance(error, not_measured) else USAGE


def _complain(message: str, hint: str | None) -> None:
    from netdyno.values.printable import printable

    click.echo(_unbroken(f"error: {printable(message)}"), err=True)
    if hint:
        _hint(hint)


def _hint(text: str) -> None:
    from netdyno.values.printable import printable

    click.echo(_unbroken(f"hint: {printable(text)}"), err=True)


def _unbroken(text: str) -> str:
    """A line for stderr: on a terminal broken between words as wide as that is, and within no command, which
    somebody may want to copy."""
    import re
    import shutil
    import textwrap

    if not sys.stderr.isatty():
        return text
    space = "\x1f"
    kept = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", space), text)
    width = max(shutil.get_terminal_size().columns, 40)
    lines = textwrap.wrap(kept, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(space, " ")


def _selection(scale: str | None, only: Iterable[str]) -> Selection:
    from netdyno.campaign.run import Selection

    chosen: dict[str, str] = {}
    for pair in only:
        axis, equals, value = pair.partition("=")
        if not equals or not axis or not value:
            raise click.UsageError(f"--only: `{pair}` is not AXIS=VALUE, as in `--only direction=bidir`")
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
    chosen = selection.cases(plan)
    for case in chosen:
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        click.echo(f"{case.number:4}  {case.name}  ({wiring.clock} time)")
    click.echo(f"{counted(len(chosen), 'case')}, {_about(plan, len(chosen))}; nothing was started", err=True)


def _about(plan: Any, count: int) -> str:
    from netdyno.campaign.run import traffic_seconds
    from netdyno.cli.live import clock

    return f"about {clock(float(traffic_seconds(plan, count)))} if run in real time"


def _conclude(outcome: Outcome, reports: Iterable[str]) -> NoReturn:
    from netdyno.reports import REPORTS
    from netdyno.reports.model import unfinished
    from netdyno.reports.model.from_store import view
    from netdyno.store import open_run

    with open_run(outcome.folder) as stored:
        sys.stdout.write(_render(stored, "terminal", colour=True))
        for name in dict.fromkeys(reports):
            file = outcome.folder / f"report{REPORTS[name].suffix}"
            _write(file, _render(stored, name, colour=False))
            click.echo(f"report: {file}", err=True)
            elsewhere = _elsewhere(stored, name)
            if elsewhere and "tables" not in reports:
                _hint(f"{elsewhere}: `netdyno report {outcome.folder} --as tables`")
        failures = [case for case in stored.cases if case.error]
        done = sum(case.state == "done" for case in stored.cases)
        some = f"{done} of {counted(len(stored.cases), 'case')}"
        trials = unfinished.kept(view(stored)) if outcome.exit_code == INTERRUPTED else ""
    # What went wrong stands in the report above; once for all cases, what to do about it.
    for hint in dict.fromkeys(case.hint for case in failures if case.hint):
        _hint(hint)
    click.echo(f"run: {outcome.folder}", err=True)
    if outcome.exit_code == NO_NUMBER:
        click.echo("no case has a number: the report says of each why not", err=True)
    if outcome.exit_code == INTERRUPTED:
        kept = f"{some} measured and kept" if done else "no case has a result yet"
        kept += f"; finished and kept, without a result yet: {trials}" if trials else ""
        click.echo(f"interrupted: {kept}", err=True)
        click.echo(f"hint: `netdyno run --resume {outcome.folder}` goes on with it", err=True)
    sys.stdout.flush()
    sys.exit(outcome.exit_code)


def _write(file: Path, text: str) -> None:
    """Writes a report. What the system says of a file that is open does not name it."""
    try:
        file.write_text(text)
    except OSError as error:
        error.filename = str(file)
        raise


def _known_report(name: str) -> None:
    from netdyno.reports import REPORTS

    if name not in REPORTS:
        raise NetdynoError(f"there is no report `{name}`", suggestion(name, REPORTS, "reports"))


def _render(stored: StoredRun, name: str, *, colour: bool) -> str:
    if name == "terminal":
        import shutil

        from netdyno.reports.formats import terminal
        from netdyno.reports.model.from_store import view

        # COLUMNS is heeded in a pipe too, which has no width of its own.
        width = shutil.get_terminal_size((terminal.USUAL, 24)).columns
        return terminal.render(view(stored), width=width, colour=colour and _colours())
    from netdyno.reports import render

    return render(stored, name)


def _elsewhere(stored: StoredRun, name: str) -> str:
    """What a report of one row a value has no room for: the tables by name, a clause; empty: nothing."""
    if name != "csv":
        return ""
    from netdyno.reports.model.details import details
    from netdyno.reports.model.from_store import view

    tables = [table.name for table in details(view(stored))]
    if not tables:
        return ""
    return f"the CSV has a row for each value; its tables ({', '.join(tables)}) are a file of their own"


def _colours() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _rate_row(name: str, weight: str, size: str, row: Any) -> list[str]:
    return [name, weight, size, *(row[layer]["printed"] for layer in ("fps", "L1", "L2", "L3"))]


def _print_table(columns: list[str], rows: list[list[str]], form: str) -> None:
    if form == "json":
        import json

        click.echo(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2))
        return
    from netdyno.values.printable import printable

    rows = [[printable(cell) for cell in row] for row in rows]
    if form == "csv":
        import csv

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        return
    if form == "md":
        for row in [columns, ["---"] * len(columns), *rows]:
            click.echo("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    else:
        from netdyno.cli.listing import lines

        for line in lines(columns, rows, _width()):
            click.echo(line)


def _say(text: str) -> None:
    import textwrap

    width = _width()
    click.echo(text if width is None else textwrap.fill(text, width, replace_whitespace=False))


def _width() -> int | None:
    """Columns of the terminal; None where there is none that knows: a line that is read by a program stays
    one line."""
    import shutil

    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        return None
    return max(shutil.get_terminal_size().columns, 40)
