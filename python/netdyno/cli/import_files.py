"""`netdyno import`: load tests of other tools become a stored run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from netdyno.cli.console import RUNS
from netdyno.cli.quick import line_rate, wrong_value
from netdyno.errors import counted, suggestion

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


@click.command("import")
@click.argument("form", metavar="FORMAT")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--title", help="Of the run.  [default: Load tests of TOOL]")
@click.option("--device", default="device", show_default=True, help="What was tested.")
@click.option(
    "--size",
    metavar="64B|imix/bench",
    callback=_size,
    help="Frame sizes with FCS, where a file lacks them.",
)
@click.option(
    "--line", metavar="10Gbps", callback=_line, help="The line of each port, where a file is wrong."
)
@click.option(
    "--out", default=RUNS, show_default=True, type=click.Path(path_type=Path), help="Folder of the runs."
)
def import_files(
    form: str,
    files: tuple[Path, ...],
    title: str | None,
    device: str,
    size: Mix | None,
    line: L1Rate | None,
    out: Path,
) -> None:
    """Store load tests of other tools as a run, a case for each load test in each FILE.

    FORMAT is `ipng`, ramps of T-Rex as trex-loadtest-viz draws them, or `iperf3`, reports of `iperf3 -J` or
    `--json-stream`, one or several a file. The run is listed, reported, compared and verified like one of
    netdyno's own. What the other tool does not know is missing, and no limit is named.

    Of iperf3, TCP becomes cases of the method `tcp`. Rates are of payload. Equal tests of one file are
    repeats of a case.

    A file called `forwarding=ipv4,direction=bidir.json` has these axes, by which it is compared.

    \b
      netdyno import ipng old/*.json --device "Cisco ASR9006"
      netdyno import iperf3 old/*.json --device "office router"
      netdyno compare runs/OLD runs/NEW
    """
    from datetime import UTC, datetime

    from netdyno.imports.formats import IMPORTERS
    from netdyno.imports.imported import Known, Run, read_files, store_run

    if form not in IMPORTERS:
        raise click.UsageError(f"there is no format `{form}`; {suggestion(form, IMPORTERS, 'formats')}")
    importer = IMPORTERS[form]
    cases = read_files(importer, files, Known(size, line))
    run = Run(title or f"Load tests of {importer.tool}", device, importer, cases)
    folder = store_run(out, run, datetime.now(UTC))
    click.echo(f"{counted(len(cases), 'load test')} of {importer.tool} stored in {folder}")
    click.echo(f"hint: `netdyno report {folder}` shows it", err=True)
