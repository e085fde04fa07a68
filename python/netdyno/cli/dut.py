"""`netdyno dut`: devices to test, made by netdyno itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from netdyno.cli.codes import NOT_MEASURED
from netdyno.cli.console import FORMATS, format_option, parse_pairs, print_error, print_table
from netdyno.cli.defaults import find_named, place_of
from netdyno.errors import Problem, Problems, counted

USER, PASSWORD = "lab", "rehearsal"
"""Of a command line that is served: on the loopback, and nothing is behind it."""


@click.group()
def dut() -> None:
    """Devices to test, made by netdyno itself."""


@dut.command()
@click.argument("kind", required=False)
@click.option(
    "--memif",
    "memifs",
    multiple=True,
    metavar="PORT=SOCKET",
    help="A port and the socket it listens at: a path, or `@name`. Once for each port, in order.",
)
@click.option(
    "--interface",
    "interfaces",
    multiple=True,
    metavar="PORT=IFNAME",
    help="A port and the interface of this machine it is, by packet sockets. In place of --memif.",
)
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE", help="See `netdyno kinds`.")
@click.option("--rate", default="10Gbps", show_default=True, help="L1 rate of each port's line.")
@click.option(
    "--delay", metavar="50us", help="Delay of the device, added to each frame; its model's, else 0."
)
@click.option(
    "--max-size", default="1522B", show_default=True, metavar="SIZE", help="The longest frame, with FCS."
)
@click.option("--core", type=click.IntRange(0), help="Core of the device; it takes all of it.")
@click.option(
    "--cli",
    metavar="DRIVER",
    help="Serve a command line instead, by SSH on the loopback, that this driver takes for its device.",
)
@click.option(
    "--port", "names", multiple=True, metavar="NAME", help="A port of that device; may be repeated."
)
@click.option("--ssh-port", type=click.IntRange(0, 65535), default=0, help="TCP port; any unless given.")
@click.option("--duration", metavar="60s", help="Time to serve; until interrupted unless given.")
@click.option("--stats", is_flag=True, help="Print the rates on stderr each second.")
@format_option(*FORMATS)
def serve(
    kind: str | None,
    memifs: tuple[str, ...],
    interfaces: tuple[str, ...],
    settings: tuple[str, ...],
    rate: str,
    delay: str | None,
    max_size: str,
    core: int | None,
    cli: str | None,
    names: tuple[str, ...],
    ssh_port: int,
    duration: str | None,
    stats: bool,
    form: str,
) -> None:
    """Serve an emulated device of this KIND in real time to another tester.

    The tester connects to the memifs as their client, or sends into the far ends of the interfaces.
    Counters are printed at the end. With --cli a command line is served, to log in to by hand or by
    scripts; `netdyno run --rehearse` has one of its own.
    """
    import signal
    from threading import Event

    from netdyno.cli.serve import MEMIF_ID, Service, elsewhere, rates, table
    from netdyno.cli.serve import serve as served
    from netdyno.values.units import Duration, FrameSize, L1Rate, PositiveDuration

    if cli is not None:
        if kind or memifs or interfaces:
            raise click.UsageError("--cli serves no traffic: leave out KIND, --memif and --interface")
        _serve_cli(cli, names, ssh_port, duration)
        return
    if kind is None or bool(memifs) == bool(interfaces):
        raise click.UsageError("give a KIND and a --memif or an --interface for each of its ports, or --cli")
    wrong: list[Problem] = []

    def right(option: str, read: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return read()
        except Problem as problem:
            context = click.get_current_context()
            problem.message = f"{place_of(context, find_named(context, option))}{option}: {problem.message}"
            wrong.append(problem)
            return otherwise

    service = Service(
        kind,
        tuple(parse_pairs("--memif", memifs, "NAME=VALUE", "west=/tmp/west.sock"))
        or tuple(parse_pairs("--interface", interfaces, "NAME=VALUE", "west=eth1")),
        dict(parse_pairs("--setting", settings, "NAME=VALUE", "capacity=1Mpps")),
        rate_bps=right("--rate", lambda: int(L1Rate.parse(rate).amount), 10**10),
        delay_ns=right("--delay", lambda: None if delay is None else Duration.parse(delay).ns, None),
        core=core,
        max_size=right("--max-size", lambda: FrameSize.parse(max_size).octets, 1522),
        on_interfaces=bool(interfaces),
    )
    length = right(
        "--duration",
        lambda: None if duration is None else float(PositiveDuration.parse(duration).amount),
        0.0,
    )
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
        for (name, at), address in zip(service.ports, service.addresses(), strict=True):
            own = f"; its address is {address}" if address else ""
            where = f"is {at}" if interfaces else f"listens at {at}, id {MEMIF_ID}"
            click.echo(f"{name} {where}{own}", err=True)

    def print_rates(before: dict[str, Any], now: dict[str, Any]) -> None:
        if stats:
            click.echo(rates(before, now), err=True)

    found = served(service, ended.wait, length, begun, print_rates)
    rows = table(found)
    print_table(list(rows[0]), [[str(cell) for cell in row.values()] for row in rows], form)
    for what, count in elsewhere(found).items():
        click.echo(f"{counted(count, 'frame')} {what}", err=True)
    for why in found["failures"]:
        print_error(why, None)
    if found["failures"]:
        sys.exit(NOT_MEASURED)


@dut.command("serve-spec", hidden=True)
def serve_spec() -> None:
    """Serve the device of a ServeSpec on standard input, a line; print how it fares for each further line."""
    from netdyno.cli.serve import answer_looks

    answer_looks(sys.stdin, lambda line: click.echo(line))


def _serve_cli(driver: str, names: tuple[str, ...], ssh_port: int, duration: str | None) -> None:
    """Serves the command line of a device until it is interrupted or the time is over."""
    import signal
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from threading import Event

    from netdyno.devices.stand_ins import STAND_INS
    from netdyno.devices.stand_ins.chassis import Chassis
    from netdyno.devices.stand_ins.server import LOOPBACK, serve
    from netdyno.errors import NetdynoError, suggestion
    from netdyno.values.units import PositiveDuration

    if driver not in STAND_INS:
        known = suggestion(driver, STAND_INS, "served are")
        raise NetdynoError(f"--cli: no command line stands in for `{driver}`", known, code="unknown-name")
    length = None if duration is None else float(PositiveDuration.parse(duration).amount)
    stand_in = STAND_INS[driver]
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with TemporaryDirectory(prefix="netdyno-cli-") as name:
        opened = stand_in.opens(Chassis.new(names or stand_in.ports, PASSWORD), Path(name))
        with serve(opened.session, USER, PASSWORD, ssh_port) as door:
            click.echo(f"{driver}: ssh -p {door.port} {USER}@{LOOPBACK}, password {PASSWORD}", err=True)
            click.echo(f"host key: {door.known_host}", nl=False, err=True)
            click.echo(
                f"in a plan: kind: {stand_in.kind}, driver: {driver}, host: {LOOPBACK}, user: {USER},"
                f" ssh: {{port: {door.port}, known_hosts: FILE}}",
                err=True,
            )
            ended.wait(length)
