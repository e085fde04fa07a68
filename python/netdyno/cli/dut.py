"""`netdyno dut`: devices to test, made by netdyno itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from netdyno.cli.codes import NOT_MEASURED
from netdyno.cli.console import FORMATS, format_option, parse_pairs, print_error, print_table
from netdyno.errors import Problem, Problems


@click.group()
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
@click.option("--delay", default="0us", show_default=True, help="Delay of the device, added to each frame.")
@click.option(
    "--max-size", default="1522B", show_default=True, metavar="SIZE", help="The longest frame, with FCS."
)
@click.option("--core", type=click.IntRange(0), help="Core of the device; it takes all of it.")
@click.option("--duration", metavar="60s", help="Time to serve; until interrupted unless given.")
@click.option("--stats", is_flag=True, help="Print the rates on stderr each second.")
@format_option(*FORMATS)
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
    """Serve an emulated device of this KIND in real time to another tester.

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
        tuple(parse_pairs("--memif", memifs, "NAME=VALUE", "west=/tmp/west.sock")),
        dict(parse_pairs("--setting", settings, "NAME=VALUE", "capacity=1Mpps")),
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

    def print_rates(before: dict[str, Any], now: dict[str, Any]) -> None:
        if stats:
            click.echo(rates(before, now), err=True)

    found = served(service, ended.wait, length, begun, print_rates)
    rows = table(found)
    print_table(list(rows[0]), [[str(cell) for cell in row.values()] for row in rows], form)
    for why in found["failures"]:
        print_error(why, None)
    if found["failures"]:
        sys.exit(NOT_MEASURED)
