"""`netdyno new`: a first plan for the user's own router, and what to enter there."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from ipaddress import IPv4Interface
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netdyno.cli import lab_answers as answers
from netdyno.cli.console import lines, print_hint, print_wrapped
from netdyno.cli.questions import Questions
from netdyno.values.printable import printable

if TYPE_CHECKING:
    from netdyno.plan import Plan
    from netdyno.plan.first import Cable, FirstPlan
    from netdyno.ports.proposed import Seen

PROOFS = {
    "real": "tested on such a system",
    "stand-in": "tested on a stand-in, not on a device",
    "none": "untested",
}


@click.command(name="new")
@click.argument("plan", default="router.yaml", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--ports", metavar="eth1,eth2", help="The two interfaces of this machine. eth2+eth3 are one LAG."
)
@click.option(
    "--router",
    metavar="NAME",
    shell_complete=answers.complete_router,
    help="Whose words to print: ios, routeros, ...; `?` lists them.",
)
@click.option(
    "--router-ports",
    metavar="Gi0/0,Gi0/1",
    help="Its two ports, in the order of --ports; a LAG's as Gi0/1+Gi0/2.",
)
@click.option("--addresses", metavar="IP/LEN,IP/LEN", help="Its addresses on them.")
@click.option("--vlan", metavar="10|10,20|none", help="The VLAN tag on both cables, or on each.")
@click.option("--host", metavar="[USER@]HOST", help="Where its driver logs in by SSH to read counters.")
@click.option("--driver/--no-driver", default=None, help="Whether its counters are read.")
@click.option("--rate", metavar="10Gbps", help="Of both lines, instead of what the interfaces say.")
@click.option("--static-arp", is_flag=True, help="Give the router ARP entries for the tester's ports.")
@click.option("--yes", is_flag=True, help="Take what is proposed, ask nothing.")
@click.option("--force", is_flag=True, help="Overwrite PLAN; take interfaces that are in use, or not here.")
@click.pass_context
def new(
    context: click.Context,
    plan: Path,
    ports: str | None,
    router: str | None,
    router_ports: str | None,
    addresses: str | None,
    vlan: str | None,
    host: str | None,
    driver: bool | None,
    rate: str | None,
    static_arp: bool,
    yes: bool,
    force: bool,
) -> None:
    """Write a first PLAN for your own router, and print what to enter there.

    Looks at this machine's interfaces and asks up to six questions; flags answer them. The plan surveys each
    case for half a minute, and then searches. Nothing is changed on this machine or on the router.
    """
    from netdyno.campaign.selection import missing_extra
    from netdyno.cli.quick import line_rate
    from netdyno.devices import own_router
    from netdyno.plan import parse
    from netdyno.plan.first import FirstPlan
    from netdyno.ports.proposed import propose, see
    from netdyno.testers import tables

    if router == "?":
        _list_routers()
        context.exit()
    if plan.exists() and not force:
        raise click.UsageError(f"{plan} exists: name another file, or overwrite it with --force")
    if driver is False and host is not None:
        raise click.UsageError("--no-driver and --host exclude each other")
    if rate is not None:
        line_rate("--rate", rate)
    seen = see()
    ask = Questions(yes)
    names = ask.answer(
        "--ports",
        ports,
        "Interfaces of this machine that are cabled to the router",
        ",".join(propose(seen)),
        lambda text: answers.parse_interfaces(text, seen, force=force),
        lambda: _list_interfaces(seen),
    )
    system = ask.answer(
        "--router", router, "The router", own_router.OTHER, own_router.find, lambda: _list_routers(err=True)
    )
    system = system or own_router.ROUTERS[own_router.OTHER]
    first, second = map("+".join, names or (("the first",), ("the second",)))
    has_lags = names is not None and max(map(len, names)) > 1
    theirs = ask.answer(
        "--router-ports",
        router_ports,
        f"Its ports at {first} and {second}",
        "" if has_lags else ",".join(system.ports),
        lambda text: answers.parse_router_ports(text, system, names),
    )
    nets = ask.answer(
        "--addresses",
        addresses,
        "Its addresses there",
        "100.64.0.1/30,100.64.1.1/30",
        answers.parse_addresses,
    )
    tags = ask.answer("--vlan", vlan, "VLAN tag on the cables", answers.NONE, answers.parse_tags)
    user, at = "", ""
    if host is not None and not system.driver:
        raise click.UsageError(f"--host: netdyno has no driver for {system.title}")
    if system.driver and driver is not False:
        found = ask.answer(
            "--host",
            host,
            "USER@HOST to read its counters and CPU from, by SSH",
            "" if driver else answers.NONE,
            answers.parse_login,
        )
        user, at = found or ("", "")
    ask.refuse_missing()
    assert names is not None
    assert theirs is not None
    assert nets is not None
    assert tags is not None
    cables = tuple(
        _cable(tuple(zip(own, ports, strict=True)), address, tag, rate, seen)
        for own, ports, address, tag in zip(names, theirs, nets, tags, strict=True)
    )
    if static_arp and not all(one.mac for one in cables):
        raise click.UsageError("--static-arp: an interface that is not here has no known MAC address")
    made = FirstPlan(shlex.quote(str(plan)), system, (cables[0], cables[1]), at, user, static_arp)
    text = made.text()
    checked = parse(text, name=str(plan), tables=tables())
    with plan.open("w" if force else "x") as file:
        file.write(text)
    _print_steps(made, checked, seen)
    if missing := missing_extra(checked):
        print_hint(f"{missing.message}: {missing.hint}")


def _cable(
    joined: tuple[tuple[str, str], ...],
    address: IPv4Interface,
    tag: int | None,
    rate: str | None,
    seen: Sequence[Seen],
) -> Cable:
    from fractions import Fraction

    from netdyno.cli.quick import DEFAULT_LINE, line_rate
    from netdyno.plan.first import Cable
    from netdyno.values.units import L1Rate

    (interface, port), *more = joined
    nic = next((one.port.nic for one in seen if one.port.nic.name == interface), None)
    # A virtual interface tells a speed that nothing holds it to.
    said = nic.card.speed_bps if nic is not None and nic.card.has_line else None
    given = line_rate("--rate", rate or DEFAULT_LINE) if rate or said is None else L1Rate(Fraction(said))
    mac = "" if nic is None else nic.link.mac
    is_known = rate is not None or said is not None
    return Cable(interface, port, address, given, is_known, mac, tag, tuple(more))


def _has_no_carrier(interface: str, seen: Sequence[Seen]) -> bool:
    return any(one.port.nic.link.carrier is False for one in seen if one.port.nic.name == interface)


def _list_interfaces(seen: Sequence[Seen]) -> None:
    rows = [[*one.port.row()[:4], f"no: {one.why_not}" if one.why_not else "free"] for one in seen]
    _echo_table(["interface", "state", "speed", "driver", "for a test"], rows, err=True)


def _list_routers(*, err: bool = False) -> None:
    from netdyno.devices.own_router import ROUTERS

    proofs = {"real": "such a system", "stand-in": "a stand-in", "none": "nothing"}
    rows = [[one.name, one.title, proofs[one.proof]] for one in ROUTERS.values()]
    _echo_table(["router", "what it is", "tested on"], rows, err=err)


def _echo_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, err: bool) -> None:
    click.echo(err=err)
    rows = [[printable(cell) for cell in row] for row in rows]
    for line in lines(columns, rows, max(shutil.get_terminal_size().columns, 40)):
        click.echo(line, err=err)
    click.echo(err=err)


def _print_steps(made: FirstPlan, checked: Plan, seen: Sequence[Seen]) -> None:
    """What to do now, in order."""
    from netdyno.campaign.selection import Selection
    from netdyno.cli.run import about
    from netdyno.errors import as_cabling, counted

    cases = Selection().cases(checked)
    router = made.router
    click.echo(f"\nWrote {made.file}: {counted(len(cases), 'case')}, {about(checked, cases)}.\n")
    joined = [one for cable in made.cables for one in cable.joined]
    commands = [
        line for cable in made.cables for name, _ in cable.joined for line in _preparation(name, cable, seen)
    ]
    click.echo(f"1. This machine{', as root (`netdyno ports` says why)' if commands else ''}:\n")
    for line in commands or ["nothing to change"]:
        click.echo(f"    {line}")
    click.echo("\n2. Cables:\n")
    wide = max(len(interface) for interface, _ in joined)
    for interface, port in joined:
        click.echo(f"    {interface.ljust(wide)}  to  {router.long_name(port)}")
    dark = [interface for interface, _ in joined if _has_no_carrier(interface, seen)]
    if dark:
        click.echo()
        print_wrapped(f"Warning: no carrier at {' and '.join(dark)}: no cable, or nothing at its other end.")
    if not all(cable.rate_known for cable in made.cables):
        click.echo()
        rate = str(made.cables[0].rate).removesuffix(" L1")
        print_wrapped(f"The plan takes {rate} for the lines: the interfaces do not say. `--rate` changes it.")
    click.echo(f"\n3. {router.title.partition(' (')[0]}, {router.at}; {PROOFS[router.proof]}:\n")
    click.echo(made.router_text)
    before = "Log in by another port than these, and look at them first: their addresses are replaced."
    if len(joined) > len(made.cables):
        before += (
            " The LAG is to have a number that is free: change it, in the undo too, if this one is taken."
        )
    print_wrapped(f"{before} {router.note}".rstrip())
    click.echo()
    click.echo("4. Then:\n")
    root = _as_root("netdyno")
    steps = [f"netdyno check {made.file}", f"{root} run {made.file}"]
    if made.host:
        login = f"{made.user}@{made.host}" if made.user else made.host
        with_password = _as_root("netdyno", keeps="NETDYNO_PASSWORD,SSH_AUTH_SOCK")
        steps = [
            f"{_as_root('ssh')} {shlex.quote(login)}   # once: accept its host key, and log out",
            "read -rs NETDYNO_PASSWORD; export NETDYNO_PASSWORD",
            f"{with_password} check --device {made.file}",
            f"{with_password} run {made.file}",
        ]
    for step in steps:
        click.echo(f"    {step}")
    click.echo()
    print_wrapped("Each case begins with a survey of 25 s: does traffic pass at all, and up to which load?")
    click.echo()
    names = [interface for interface, _ in joined]
    cabling = "plug the two interfaces into each other"
    if len(names) > 2:
        cabling = as_cabling([names[at : at + 2] for at in range(0, len(names), 2)])
    print_wrapped(
        f"5. Only a calibrated tester names the router as the limit: {cabling}, run this (a minute), and plug"
        " them back:"
    )
    click.echo()
    click.echo(f"    {root} calibrate {made.file} --quick")
    click.echo("\n6. Afterwards, on the router, to take it back; the plan has both texts too:\n")
    click.echo(made.undo_text, nl=False)


def _preparation(interface: str, cable: Cable, seen: Sequence[Seen]) -> list[str]:
    """Commands that make an interface of a link fit for a test."""
    from netdyno.ports.nic import advice

    nic = next((one.port.nic for one in seen if one.port.nic.name == interface), None)
    if nic is None:
        return [f"# {interface} is not on this machine"]
    flush = [f"ip address flush dev {nic.name}"] if nic.addresses else []
    found = advice.findings(nic, rate_bps=int(cable.rate.amount))
    tagged = cable.vlan is not None
    return flush + [one.command for one in found if one.command and (tagged or not one.tags)]


def _as_root(name: str, keeps: str = "") -> str:
    """A program as root has it, who does not search a user's folders. keeps: variables that it is to have."""
    if os.geteuid() == 0:
        return name
    found = shutil.which(sys.argv[0]) if name == "netdyno" else None
    if found and not found.startswith(("/usr/", "/bin/")):
        name = shlex.quote(str(Path(found).absolute()))
    return f"sudo {f'--preserve-env={keeps} ' if keeps else ''}{name}"
