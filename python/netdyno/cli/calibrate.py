"""`netdyno calibrate`: the command line's words for it."""

from __future__ import annotations

import shlex
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.console import format_option
from netdyno.cli.plan_argument import load_plan, set_option

if TYPE_CHECKING:
    from netdyno.calibration.document import Calibration
    from netdyno.calibration.effort import Effort
    from netdyno.calibration.ports import Source
    from netdyno.plan import Plan

INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Backends(click.Choice[str]):
    """The names of backends, read when somebody asks: the table takes longer to import than `--help`."""

    def __init__(self) -> None:
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """Those that work on an interface, and those that need none."""
        from netdyno.ports.backends import KERNEL, LOOPS, RING

        return (*KERNEL, *LOOPS, RING)

    @choices.setter
    def choices(self, _names: object) -> None:
        """They are the table's."""


@click.command()
@click.argument("plan", nargs=-1, metavar="[PLAN|RUN|PORT PORT]", type=click.Path(path_type=Path))
@click.option("--ports", metavar="A,B", help="Two interfaces with a cable between them, instead of a plan's.")
@click.option(
    "--backend",
    type=_Backends(),
    help="Backend, instead of a plan's `auto` or with --ports; alone if it uses no interface.",
)
@click.option("--quick", is_flag=True, help="About 20 s for one pair of ports, instead of minutes.")
@click.option(
    "--soak", metavar="DURATION", help="Time of each traffic at 99 % of its maximum: `10min`, `24h`."
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="COUNT",
    help="Threads of the tester, without a plan.",
)
@set_option
@click.option(
    "--out",
    default=Path("runs"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the runs; calibrations go beside them.",
)
@format_option("table", "json")
def calibrate(
    plan: tuple[Path, ...],
    ports: str | None,
    backend: str | None,
    quick: bool,
    soak: str | None,
    workers: int | None,
    overrides: tuple[str, ...],
    out: Path,
    form: str,
) -> None:
    """Measure the tester itself, without a device, with the ports and the traffic of PLAN, of a RUN, or of
    `netdyno send PORT PORT`.

    The ports are joined with each other, by a cable of yours or a link of ours. What is found is kept beside
    the runs, and `netdyno run` judges its results by it until something it rests on changes.
    """
    from netdyno.calibration import shelf, suite
    from netdyno.cli import calibration_table as told

    if overrides and len(plan) != 1:
        raise click.UsageError("--set is for a PLAN: give one")
    loaded = _load(plan, overrides)
    sources = _sources(loaded, ports, backend, workers)
    if isinstance(sources, str):
        click.echo(sources, err=True)
        return
    again = f"`{shlex.join(['netdyno', *sys.argv[1:]])}` begins again from the start"
    has_failed = False
    for source in sources:
        try:
            take_signals()
            shelf.prepare(out)
            found = _measured(loaded, source, _effort(quick, soak))
        except (suite.NothingMeasuredError, KeyboardInterrupt):
            before = "before any traffic was measured: nothing is kept, nothing is left"
            more = f"before any traffic of {source.what} was measured: nothing of it is kept"
            click.echo(f"interrupted {before if source is sources[0] else more}", err=True)
            click.echo(f"hint: {again}", err=True)
            sys.exit(INTERRUPTED)
        file = shelf.save(out, found)
        if form == "json":
            sys.stdout.write(found.to_json())
        else:
            for line in told.lines(found, shutil.get_terminal_size().columns):
                click.echo(line)
        click.echo(f"kept in {file}", err=True)
        if not found.complete:
            click.echo(f"hint: {again}; only a whole calibration proves what the tester can do", err=True)
            sys.exit(INTERRUPTED)
        has_failed = has_failed or bool(found.failed)
    if has_failed:
        sys.exit(1)


def _load(named: Sequence[Path], overrides: Sequence[str]) -> Plan | None:
    """The plan of a file, of a run's folder, or of what `send` does between two ports; None without names."""
    if not named:
        return None
    if len(named) > 1:
        from netdyno.cli.quick import Asked, load_quick

        asked = Asked(tuple(map(str, named)))
        return load_quick(asked.plan("Calibrate", "soak", {"load": "1%", "duration": "1s"}, {}), "calibrate")
    from netdyno.store import FILE, open_run

    if not (named[0] / FILE).exists():
        return load_plan(named[0], overrides)
    if overrides:
        raise click.UsageError("--set is for a PLAN: a run has what was set in it")
    from netdyno.campaign.reasons import REASONS
    from netdyno.campaign.run import plan_of

    with open_run(named[0], REASONS) as stored:
        return plan_of(stored)


def take_signals() -> dict[signal.Signals, Any]:
    """Has a signal that ends a program end the measuring, in order; the handlers there were.

    Ended by a supervisor or with its terminal, it keeps what it has as well; not under nohup.
    """
    before = {
        number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) != signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, _interrupt_once)
    return before


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    """Ends the measuring. What follows is short, and a further signal would lose what was measured."""
    _stay()
    raise KeyboardInterrupt


def _stay() -> None:
    """From now on a signal does nothing."""
    for number in _SIGNALS:
        if signal.getsignal(number) is _interrupt_once:
            # Not SIG_IGN, which programs that this process starts would inherit.
            signal.signal(number, lambda *_: None)


def _effort(quick: bool, soak: str | None) -> Effort:
    from netdyno.calibration.effort import FULL, QUICK
    from netdyno.cli.quick import wrong_value
    from netdyno.values.units import PositiveDuration, UnitError

    effort = QUICK if quick else FULL
    if soak is None:
        return effort
    try:
        return effort.soaking(PositiveDuration.parse(soak).ns)
    except UnitError as error:
        raise wrong_value("--soak", error) from error


def _sources(
    plan: Plan | None, names: str | None, backend: str | None, workers: int | None
) -> tuple[Source, ...] | str:
    """Which ports are meant, one source a calibration; a sentence where there is nothing to do."""
    from netdyno.calibration import ports
    from netdyno.ports.backends import AUTO, LOOPS, RING
    from netdyno.ports.threads import Threads

    if sum((plan is not None, names is not None, backend in (RING, *LOOPS))) != 1:
        others = "".join(f" or `{name}`" for name in LOOPS)
        raise click.UsageError(f"give a plan, or `--ports A,B`, or `--backend {RING}`{others}")
    if plan is not None and workers is not None:
        raise click.UsageError("--workers: leave it out with a plan, which has `workers` at its tester")
    threads = Threads(workers)
    if plan is not None:
        if backend is None or backend == AUTO:
            return ports.of_plan(plan)
        if not any(link.backend.kind == AUTO for link in plan.lab.links):
            raise click.UsageError("--backend: leave it out with a plan, which has `backend` at its links")
        return ports.of_plan(ports.with_backend(plan, backend))
    if names is None:
        assert backend is not None
        return (ports.of_backend(backend, threads),)
    pair = tuple(name.strip() for name in names.split(","))
    if len(pair) != 2 or pair[0] == pair[1] or not all(pair):
        raise click.UsageError("--ports: a loopback has two ends, as in `--ports eth1,eth2`")
    return (ports.of_interfaces((pair[0], pair[1]), backend or AUTO, threads),)


def _measured(plan: Plan | None, source: Source, effort: Effort) -> Calibration:
    from netdyno.calibration import by_host, ports, suite, traffic
    from netdyno.calibration.bench import load_tester
    from netdyno.calibration.effort import seconds
    from netdyno.campaign.versions import versions
    from netdyno.errors import counted
    from netdyno.plan.matrix import cases
    from netdyno.ports.threads import workers_of
    from netdyno.testers import TESTERS
    from netdyno.values.printable import printable

    plan = plan or ports.default_plan(quick=effort.name == "quick")
    entry = TESTERS[plan.tester]
    said = versions(entry, plan)
    tester = load_tester(entry)

    def say(line: str) -> None:
        click.echo(printable(line), err=True)

    if source.host:
        say(f"calibrating {source.what} there, which may take minutes")
        return by_host.calibrate(plan, source.host, source.names, source.cases, effort, said)
    with source.loop as wiring:
        chosen = traffic.pick_distinct(source.cases or cases(plan), wiring, verify=plan.trial.verify)
        about = seconds(effort, *suite.extent(chosen, wiring))
        kinds = f"{counted(len(chosen), 'kind')} of traffic"
        workers = workers_of(wiring.session)
        who = f"{source.what} with {workers} workers" if workers > 1 else source.what
        say(f"calibrating {who}: {kinds}, about {about:.0f} s")
        return suite.calibrate(tester, plan, chosen, wiring, effort, said, say, _stay)
