"""`netdyno import`: load tests of other tools become a stored run, traffic profiles a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.console import RUNS, Command
from netdyno.cli.quick import line_rate, wrong_value
from netdyno.cli.trex import import_stl
from netdyno.errors import counted

if TYPE_CHECKING:
    from netdyno.values.mixes import Mix
    from netdyno.values.units import L1Rate


def _size(context: click.Context, option: click.Parameter, given: str | None) -> Mix | None:
    from netdyno.errors import Problem
    from netdyno.values.mixes import mix_of_text

    try:
        return None if given is None else mix_of_text(given)
    except Problem as error:
        raise wrong_value("--size", error) from error


def _line(context: click.Context, option: click.Parameter, given: str | None) -> L1Rate | None:
    if given is None:
        return None
    found = line_rate("--line", given)
    if not found.amount:
        raise click.UsageError("--line: `0` is no line: write its rate, `10Gbps`")
    return found


OPTIONS = (
    click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."),
    click.option("--title", help="Of the run.  [default: Load tests of TOOL]"),
    click.option("--device", default="device", show_default=True, help="What was tested."),
    click.option(
        "--size",
        metavar="64B|imix/bench",
        callback=_size,
        help="Frame sizes with FCS, where a file lacks them.",
    ),
    click.option(
        "--line", metavar="10Gbps", callback=_line, help="The line of each port, where a file is wrong."
    ),
    click.option(
        "--out", default=RUNS, show_default=True, type=click.Path(path_type=Path), help="Folder of the runs."
    ),
)


@click.group("import")
def import_files() -> None:
    """Read what other tools left: load tests become a run, traffic profiles a plan.

    \b
      netdyno import ipng old/*.json --device "Cisco ASR9006"
      netdyno import iperf3 old/*.json --device "office router"
      netdyno import stl stl/bench.py -t size=64,vm=var2
    """


def _of_tests(command: Command) -> Command:
    """The argument and the options of load tests."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@import_files.command()
@_of_tests
def ipng(files: tuple[Path, ...], **asked: Any) -> None:
    """Store ramps of T-Rex, the JSON of IPng's load tester, as a run: a case for each load test in each FILE.

    The run is listed, reported, compared and verified like one of netdyno's own. What T-Rex does not know is
    missing, and no limit is named. A file called `forwarding=ipv4,direction=bidir.json` has these axes, by
    which it is compared.

    \b
      netdyno import ipng old/*.json --device "Cisco ASR9006"
      netdyno compare runs/OLD runs/NEW
    """
    _store("ipng", files, **asked)


@import_files.command()
@_of_tests
def iperf3(files: tuple[Path, ...], **asked: Any) -> None:
    """Store reports of `iperf3 -J` or `--json-stream` as a run: a case for each load test in each FILE.

    A file has one report or several. The run is listed, reported, compared and verified like one of netdyno's
    own. What iperf3 does not know is missing, and no limit is named. TCP becomes cases of the method `tcp`.
    Rates are of payload. Equal tests of one file are repeats of a case. A file called
    `forwarding=ipv4,direction=bidir.json` has these axes, by which it is compared.

    \b
      netdyno import iperf3 old/*.json --device "office router"
      netdyno compare runs/OLD runs/NEW
    """
    _store("iperf3", files, **asked)


import_files.add_command(import_stl)


def _store(
    form: str,
    files: tuple[Path, ...],
    *,
    title: str | None,
    device: str,
    size: Mix | None,
    line: L1Rate | None,
    out: Path,
) -> None:
    from datetime import UTC, datetime

    from netdyno.imports.formats import IMPORTERS
    from netdyno.imports.imported import Known, Run, read_files, store_run

    importer = IMPORTERS[form]
    cases = read_files(importer, files, Known(size, line))
    run = Run(title or f"Load tests of {importer.tool}", device, importer, cases)
    folder = store_run(out, run, datetime.now(UTC))
    click.echo(f"{counted(len(cases), 'load test')} of {importer.tool} stored in {folder}")
    click.echo(f"hint: `netdyno report {folder}` shows it", err=True)
