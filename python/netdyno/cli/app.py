"""The command line: words, options and exit codes. What needs time to import is imported where it is used.

Exit codes: 0 all is well; 1 a goal was missed; 2 the command or the plan is wrong; 3 something could not
be measured; 4 all was measured, and no case has a number of the device or the tester limited every case; 124
the time limit ended the run, 130 a signal did: what was measured is kept. Data goes to stdout, all else to
stderr.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

import click

from netdyno.cli import streams
from netdyno.cli.calibrate import calibrate
from netdyno.cli.check import check
from netdyno.cli.codes import INTERRUPTED, NOT_MEASURED, PASSED, USAGE, code_of
from netdyno.cli.compare import compare
from netdyno.cli.console import print_error
from netdyno.cli.defaults import find_named, name_variables, place_of, read_defaults
from netdyno.cli.dut import dut
from netdyno.cli.examples import examples
from netdyno.cli.hosts import hosts
from netdyno.cli.import_files import import_files
from netdyno.cli.listings import drivers, kinds, methods, ports, reports, version
from netdyno.cli.ndr import ndr
from netdyno.cli.new import new
from netdyno.cli.note import note
from netdyno.cli.plan_lists import filters, routes, schema
from netdyno.cli.rate import rate
from netdyno.cli.report import report
from netdyno.cli.run import run
from netdyno.cli.runs import list_
from netdyno.cli.send import send
from netdyno.cli.trend import trend
from netdyno.cli.trex import trex
from netdyno.cli.verify import verify
from netdyno.cli.worker import scheduler, worker
from netdyno.errors import NetdynoError, PlanErrors, Problem, Problems, advice


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

    Send one load; or make a plan, check it, run it, read the report:

    \b
      netdyno send eth1 eth2 --rate 80%
      netdyno new router.yaml
      netdyno check router.yaml
      netdyno run router.yaml --report html
      netdyno report runs/2026-11-21T1912Z-plan-ab12 --as markdown
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    else:
        context.default_map = read_defaults(context)


for command in (
    new,
    send,
    ndr,
    run,
    check,
    report,
    compare,
    trend,
    list_,
    note,
    verify,
    import_files,
    trex,
    calibrate,
    routes,
    filters,
    schema,
    rate,
    kinds,
    drivers,
    examples,
    methods,
    reports,
    dut,
    hosts,
    worker,
    scheduler,
    ports,
    version,
):
    cli.add_command(command)
name_variables(cli)


def main() -> NoReturn:
    """Runs the command line; never shows a traceback for a mistake of the user's."""
    streams.prepare()
    try:
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except PlanErrors as error:
        for problem in error.errors:
            print_error(str(problem), problem.hint)
        sys.exit(USAGE)
    except NetdynoError as error:
        print_error(error.message, error.hint)
        sys.exit(code_of(error))
    except Problems as error:
        for problem_ in error.problems:
            print_error(problem_.message, problem_.hint)
        sys.exit(USAGE)
    except Problem as error:
        print_error(error.message, error.hint)
        sys.exit(USAGE)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f"`{context.command_path} --help` shows how" if context is not None else None
        message = error.format_message()
        if isinstance(error, click.NoSuchOption) and error.option_name[1:2].isdigit():
            message = f"`{error.option_name}…` is negative or an option that does not exist"
            hint = "sizes and rates are above zero: `64B`, `10Gbps`"
        option = getattr(error, "param", None) or find_named(context, message)
        print_error(place_of(context, option) + message, hint)
        sys.exit(USAGE)
    except (click.Abort, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        click.echo("interrupted: nothing was measured and nothing was changed", err=True)
        sys.exit(INTERRUPTED)
    except OSError as error:
        where = error.filename or "the operating system refused"
        print_error(f"{where}: {error.strerror or error}", advice(error))
        streams.discard_what_fails()
        sys.exit(NOT_MEASURED)
    sys.exit(code if isinstance(code, int) else PASSED)
