"""`netdyno send`: one load between two ports, a line a second."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.codes import INTERRUPTED
from netdyno.cli.console import RUNS, print_error
from netdyno.cli.quick import Asked, load_quick, seconds, without_places, wrong_value
from netdyno.cli.quick_options import QuickCommand, traffic_options

if TYPE_CHECKING:
    from netdyno.campaign.run import Outcome
    from netdyno.reports.model.view import RunView

RATE = "1%"
LONG_S = 3600
"""From this length on a sample is as long as an interval."""
MOST_INTERVALS = 10_000
LABEL = 9


@click.command(cls=QuickCommand)
@click.argument("ports", nargs=-1, metavar="PORT PORT")
@click.option("--rate", metavar="80%|1Gbps|100kpps", help="Load of each direction.  [default: 1%]")
@click.option("-b", "bitrate", metavar="100M", help="The load as iperf3 has it, in bit/s (L1).")
@click.option("-t", "--time", default="10", show_default=True, metavar="SECONDS", help="How long: 10, 5min.")
@click.option("-i", "--interval", metavar="SECONDS", help="Time of each line.  [default: 1]")
@traffic_options
@click.option("-u", "is_udp", is_flag=True, hidden=True, help="Frames are UDP already.")
@click.option("-J", "--json", "as_json", is_flag=True, help="One JSON object at the end, and nothing else.")
@click.option(
    "--out", default=RUNS, show_default=True, type=click.Path(path_type=Path), help="Folder of the runs."
)
def send(
    rate: str | None,
    bitrate: str | None,
    time: str,
    interval: str | None,
    is_udp: bool,
    as_json: bool,
    out: Path,
    **asked: Any,
) -> None:
    """Send one load from a PORT to another, with a line a second.

    \b
      netdyno send eth1 eth2 --rate 80% -t 30
      netdyno send eth1 eth2 --via 10.0.1.1,10.0.2.1 --bidir
      netdyno send --emulated router --setting capacity=1Mpps --rate 90%

    Frames go to the MAC address of the other port, as through a cable or a switch; with --via to a router.
    It is a run like any other: `netdyno report` and `verify` read it.
    """
    source = click.get_current_context().get_parameter_source
    if rate is not None and bitrate is not None:
        # Both say the load: the command line comes before a user's defaults.
        if source("rate") is not click.core.ParameterSource.COMMANDLINE:
            rate = None
        elif source("bitrate") is not click.core.ParameterSource.COMMANDLINE:
            bitrate = None
    wanted = Asked(**asked)
    length, every, sample = _times(time, interval)
    load = _load(rate, bitrate)
    parameters = {"load": load, "duration": length, "part": "0s", "interval": every}
    trial = {"settle": "100ms", "drain": "1s", "sample": sample}
    made = wanted.plan(f"Send {load}", "soak", parameters, trial)

    from netdyno.campaign import run as runner
    from netdyno.campaign.interrupts import Interrupts
    from netdyno.campaign.selection import Selection
    from netdyno.cli.send_view import SendView

    plan = load_quick(made, "send")
    lines = (sys.stderr if sys.stderr.isatty() else None) if as_json else sys.stdout
    width = shutil.get_terminal_size((100, 40)).columns
    view = SendView(lines, sys.stderr, plan.parameters.interval.ns, width)
    interrupts = Interrupts()
    with without_places(plan):
        outcome = runner.run(plan, out, view, Selection(), interrupts=interrupts)
    every_ns = plan.parameters.interval.ns
    _conclude(outcome, wanted, interrupts, width, every_ns if as_json else None)


def _times(time: str, interval: str | None) -> tuple[str, str, str]:
    """How long to send, the length of an interval, and that of a sample, as a plan has them."""
    length = seconds("-t", time)
    if interval == "0":
        # As in iperf3: no line but the last.
        interval = str(length)
    least_ns = -(-length.ns // (MOST_INTERVALS * 10**9)) * 10**9
    every = seconds("-i", interval or f"{least_ns // 10**9}")
    if every.ns * MOST_INTERVALS < length.ns:
        raise click.UsageError(f"-i: more than {MOST_INTERVALS} intervals in {length}: a longer one")
    if every.ns % 10**7:
        raise click.UsageError(f"-i: {every} is no whole number of 10 ms")
    sample_ns = every.ns if length.amount > LONG_S else every.ns // 10
    return str(length), str(every), str(type(length).of_ns(sample_ns))


def _load(rate: str | None, bitrate: str | None) -> str:
    """The load, as a plan has it."""
    from netdyno.values.units import PositiveLoad, UnitError

    if rate is not None and bitrate is not None:
        raise click.UsageError("-b and --rate are the same: give one of them")
    if bitrate is not None:
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kKmMgG]?)", bitrate)
        if match is None:
            raise click.UsageError(
                f"-b: `{bitrate}` is no bit rate of iperf3, such as 100M; `--rate` has more"
            )
        prefix = {"": "", "k": "k", "m": "M", "g": "G"}[match[2].lower()]
        # As in iperf3, 0 is as much as there is.
        rate = f"{match[1]}{prefix}bps" if float(match[1]) else "100%"
    try:
        PositiveLoad.parse(rate or RATE)
    except UnitError as error:
        raise wrong_value("--rate", error) from error
    return rate or RATE


def _conclude(outcome: Outcome, asked: Asked, interrupts: Any, width: int, interval_ns: int | None) -> None:
    """Prints what was sent, and exits with the run's code. interval_ns: of the intervals; None: no JSON."""
    from netdyno.campaign.reasons import REASONS
    from netdyno.reports.model.from_store import view
    from netdyno.store import open_run
    from netdyno.values.printable import printable, wrap

    interrupts.ignore()
    with open_run(outcome.folder, REASONS) as stored:
        run = view(stored)
    (case,) = run.cases
    if interval_ns is not None:
        click.echo(json.dumps(_table(run, outcome, interval_ns)))
    else:
        for label, text in _summary(run, outcome, asked):
            for line in wrap(printable(text), width, f"{label:<{LABEL - 1}} ", " " * LABEL):
                click.echo(line)
    if outcome.exit_code == INTERRUPTED and not any(trial.result.began for trial in case.trials):
        click.echo("interrupted: nothing was sent", err=True)
    if case.error is not None:
        print_error(case.error.message, case.error.hint)
    sys.exit(outcome.exit_code)


def _summary(run: RunView, outcome: Outcome, asked: Asked) -> Iterator[tuple[str, str]]:
    from fractions import Fraction

    from netdyno.reports.model.sent import NOT_JUDGED, find_limit, find_sent, find_uneven
    from netdyno.values import number as printed

    found = find_sent(run)
    if found is None:
        return
    share = f" ({printed.percent(found.loss, 2, trim=True)})" if found.loss else ""
    counts = f"{printed.count(found.sent)} sent, {printed.count(found.received)} received"
    yield printed.duration(found.duration_ns), f"{counts}, {printed.count(found.lost)} lost{share}"
    line = "" if found.share is None else f", {printed.percent(found.share)} of line"
    yield (
        "received",
        f"{printed.rate(found.fps, 'pps')}, {printed.rate(found.l1_bps, 'bit/s')} L1{line}",
    )
    times = [found.percentile_ns(one) for one in (Fraction(1, 2), Fraction(99, 100))]
    if found.longest_ns is not None:
        named = zip(("p50", "p99", "max"), (*times, found.longest_ns), strict=True)
        each = ", ".join(f"{name} {printed.duration(ns)}" for name, ns in named if ns is not None)
        late = f"late by {printed.duration(found.latest_ns)}" if found.latest_ns else "on time"
        yield "latency", f"{each}; tester {late}"
    limit, reason = find_limit(run)
    uneven = "".join(f"; {one}" for one in find_uneven(run))
    if outcome.exit_code == INTERRUPTED:
        yield "limit", "not judged: it was interrupted"
        yield "stored", f"{outcome.folder}; `netdyno run --resume {outcome.folder}` sends it anew"
        return
    elif limit == NOT_JUDGED:
        how = f" ({_calibrate(outcome, asked)})" if reason else ""
        yield "limit", f"not judged{': ' if reason else ''}{reason}{how}{uneven}"
    else:
        yield "limit", reason + uneven
    if found.sent and not found.received:
        router = "a router between the ports: `--via GATEWAY,GATEWAY`; a switch: both ports in one VLAN"
        yield "next", "the router's routes and filters, and the order of `--via`" if asked.via else router
    elif found.lost:
        again = shlex.join(["netdyno", "ndr", *asked.arguments()])
        yield "next", f"`{again}` finds the loss-free rate"
    elif asked.ports and not asked.via and found.sent:
        yield "between", "a cable, a bridge or a switch: frames kept their MAC addresses"
    yield "details", f"netdyno report {outcome.folder}"


def _calibrate(outcome: Outcome, asked: Asked) -> str:
    usual = asked.arguments() == list(asked.ports)
    named = asked.ports if usual and asked.ports else (str(outcome.folder),)
    cable = f"cable {asked.ports[0]} with {asked.ports[1]}, then " if asked.ports else ""
    return f"{cable}`{shlex.join(['netdyno', 'calibrate', *named, '--quick'])}`"


def _table(run: RunView, outcome: Outcome, interval_ns: int) -> dict[str, Any]:
    from dataclasses import asdict
    from fractions import Fraction

    from netdyno.reports.model.sent import find_limit, find_sent
    from netdyno.values.interval import intervals

    found, (limit, reason) = find_sent(run), find_limit(run)
    table: dict[str, Any] = {"run": str(outcome.folder), "exit_code": outcome.exit_code}
    if found is None:
        return table | {"limit": limit, "reason": reason}
    return table | {
        "seconds": found.duration_ns / 1e9,
        "sent": found.sent,
        "received": found.received,
        "lost": found.lost,
        "loss": None if found.loss is None else float(found.loss),
        "received_pps": float(found.fps),
        "received_l1_bps": float(found.l1_bps),
        "share_of_line": None if found.share is None else float(found.share),
        "latency_ns": {
            "p50": found.percentile_ns(Fraction(1, 2)),
            "p99": found.percentile_ns(Fraction(99, 100)),
            "max": found.longest_ns,
        },
        "latest_departure_ns": found.latest_ns,
        "limit": limit,
        "reason": reason,
        "streams": found.streams,
        "intervals": [asdict(one) for one in intervals(found.outcome, interval_ns)],
    }
