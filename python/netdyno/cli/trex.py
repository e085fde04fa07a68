"""T-Rex's profiles as plans: `netdyno import stl`, and the console's `start` as `netdyno trex start`."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.console import RUNS, Command, print_hint
from netdyno.errors import NetdynoError, PlanErrors, Problem

if TYPE_CHECKING:
    from netdyno.plan.quick import QuickPort

UNKNOWN = ("eth1", "eth2")
"""The interfaces of a plan for which none are given: the user writes others."""
OF_TREX = {
    "--pin": "T-Rex's --pin: cores are `cores` of the tester",
    "--core_mask": "T-Rex's --core_mask: cores are `cores` of the tester",
    "--sync": "T-Rex's --sync: ports of netdyno always begin together",
    "--force": "T-Rex's --force: netdyno never sends above the line",
}
"""Options of T-Rex's that change nothing here, and why."""


class TrexCommand(click.Command):
    """A command whose `-t` takes the tunables of a profile, and whose `--port` takes several numbers."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As any command; tunables and ports are in the context's `meta`."""
        from netdyno.profiles.console import split_ports, split_tunables

        if "--help" not in args and "-h" not in args:
            args, tunables = split_tunables(args)
            try:
                args, ports = split_ports(args)
            except Problem as error:
                raise click.UsageError(f"{error.message}; {error.hint}", ctx) from error
            ctx.meta["netdyno.trex"] = tunables, ports
        return super().parse_args(ctx, args)


def _asked() -> tuple[tuple[str, ...], tuple[int, ...] | None]:
    found: tuple[tuple[str, ...], tuple[int, ...] | None] = click.get_current_context().meta["netdyno.trex"]
    return found


def _profile_options(command: Command) -> Command:
    """What both commands have in common."""
    options = (
        click.option(
            "-m", "--mult", default="1", metavar="2|50%|30mpps", help="T-Rex's multiplier: the load."
        ),
        click.option("-d", "--duration", default="60", metavar="SECONDS", help="How long: 60, 10m, 1h."),
        click.option("-p", "--port", "port", metavar="0 1", help="T-Rex's ports that send.  [default: 0 1]"),
        click.option(
            "-t",
            "--tunables",
            metavar="a=1,b=x",
            help="Of the profile; `-t --a 1` takes all the rest of the line.",
        ),
        click.option(
            "--interfaces", metavar="eth1,eth2", help="This machine's, in place of T-Rex's ports 0 and 1."
        ),
        click.option("--via", metavar="GATEWAY,GATEWAY", help="The router's address at each interface."),
        click.option("--address", metavar="ADDRESS/LEN,...", help="The tester's own at each interface."),
        click.option("--line", metavar="10Gbps", help="L1 rate of the lines, if not the interfaces'."),
        click.option(
            "--library", metavar="FOLDER", type=click.Path(path_type=Path), help="Of your own T-Rex."
        ),
        click.option("--exact", is_flag=True, help="Frames byte by byte as T-Rex's, without a probe."),
        click.option(
            "--plan",
            type=click.Path(path_type=Path, allow_dash=True),
            help="Where to write the plan; `-`: to stdout.  [default: PROFILE.yaml]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command("stl", cls=TrexCommand)
@click.argument("profile", type=click.Path(path_type=Path), metavar="FILE")
@_profile_options
def import_stl(profile: Path, plan: Path | None, **asked: Any) -> None:
    """Write a plan of T-Rex's stateless profile FILE, a Python program.

    \b
      netdyno import stl stl/bench.py -m 100% -t size=64,vm=var2
      netdyno check bench.yaml

    The profile runs in a process of its own, with little time and memory, no network and no right to write.
    Without --library netdyno reads it by its own words for T-Rex's and Scapy's; what these lack is named, and
    no plan is written. Comments in the plan say what differs from what T-Rex sends.
    """
    text = _text(profile, asked, ())
    _write(text, plan or Path(f"{profile.stem}.yaml"), is_named=asked["interfaces"] is not None)


@click.group()
def trex() -> None:
    """What users of T-Rex type in its console."""


@trex.command(cls=TrexCommand)
@click.argument("names", nargs=-1, metavar="[INTERFACE INTERFACE]")
@click.option("-f", "--file", "profile", required=True, type=click.Path(path_type=Path), metavar="FILE")
@_profile_options
@click.option("--total", is_flag=True, help="The multiplier is of all ports together.")
@click.option("--dry", is_flag=True, help="Write the plan and send nothing.")
@click.option("--pin", is_flag=True, hidden=True)
@click.option("--sync", is_flag=True, hidden=True)
@click.option("--force", is_flag=True, hidden=True)
@click.option("--core_mask", hidden=True)
@click.option(
    "--out", default=RUNS, show_default=True, type=click.Path(path_type=Path), help="Folder of the runs."
)
def start(
    names: tuple[str, ...],
    profile: Path,
    plan: Path | None,
    dry: bool,
    total: bool,
    out: Path,
    pin: bool,
    sync: bool,
    force: bool,
    core_mask: str | None,
    **asked: Any,
) -> None:
    """Send what a profile of T-Rex says, as its console's `start` does.

    \b
      netdyno trex start -f stl/bench.py -m 100% --port 0 1 -d 60 -t size=64,vm=var2 --interfaces eth1,eth2

    Port 0 is the first interface, port 1 the second. They are given by name, by --interfaces or in the file
    of defaults; without them a plan is written.
    """
    if names:
        asked["interfaces"] = ",".join(names)
    given = {"--pin": pin, "--sync": sync, "--force": force, "--core_mask": core_mask is not None}
    comments = tuple(OF_TREX[name] for name, is_given in given.items() if is_given)
    text = _text(profile, {**asked, "total": total}, comments)
    if dry or asked["interfaces"] is None:
        _write(text, plan or Path(f"{profile.stem}.yaml"), is_named=asked["interfaces"] is not None)
        return
    if plan is not None:
        _write(text, plan, is_named=True)
    _run(text, f"{profile.stem}.yaml", out)


def _text(profile: Path, asked: dict[str, Any], comments: tuple[str, ...]) -> str:
    """The plan. Raises NetdynoError, UsageError."""
    from netdyno.profiles.child import Request, read_profile
    from netdyno.profiles.console import duration, multiplier, split_ports
    from netdyno.profiles.plan import Wanted, plan_text
    from netdyno.profiles.streams import read_streams

    tunables, named = _asked()
    if not tunables and asked["tunables"]:
        # Of the file of defaults.
        tunables = tuple(asked["tunables"].split())
    try:
        if named is None and asked["port"]:
            _, named = split_ports(["--port", *asked["port"].split()])
        ports = named or (0, 1)
        factor = multiplier(asked["mult"], len(ports) if asked.get("total") else 1)
        length = duration(asked["duration"])
    except Problem as error:
        raise click.UsageError(f"{error.message}; {error.hint}") from error
    links = _links(asked)
    read = read_profile(Request(profile, tunables, asked["library"]))
    if len(read.ports) <= max(ports):
        raise click.UsageError(f"--port {max(ports)}: the profile has streams of one port")
    words = ["-m", asked["mult"], *(("-t", *tunables) if tunables else ())]
    with_ = f", {shlex.join(words)}"
    wanted = Wanted(
        title=f"{profile.name}{' ' if tunables else ''}{' '.join(tunables)}",
        source=f"Made of T-Rex's profile {profile.name}{with_}. Sizes have the FCS, loads are of each port.",
        links=links,
        multiplier=factor,
        duration=length,
        ports=ports,
        exact=asked["exact"],
        comments=(*comments, *read.notes),
    )
    try:
        text = plan_text([read_streams(port) for port in read.ports], wanted)
    except NetdynoError as error:
        # `line 12: stream 1: ...` of the profile.
        at_line = error.message.startswith("line ")
        error.message = f"{profile}:{error.message[5:]}" if at_line else f"{profile}: {error.message}"
        raise
    _refuse_mistakes(text, profile)
    return text


def _refuse_mistakes(text: str, profile: Path) -> None:
    """Raises NetdynoError if the streams make no plan: what is sent must be told apart where it arrives."""
    from netdyno.plan import parse
    from netdyno.testers import tables

    try:
        parse(text, name=f"{profile.stem}.yaml", tables=tables())
    except PlanErrors as error:
        first = error.errors[0]
        raise NetdynoError(f"{profile}: {first.message}", first.hint, code="unsupported") from error


def _links(asked: dict[str, Any]) -> tuple[QuickPort, QuickPort]:
    """The ports: interfaces of this machine if they are given, else names to be replaced."""
    from netdyno.cli.quick import DEFAULT_LINE, Asked, find_ports, line_rate
    from netdyno.plan.quick import QuickPort

    if asked["interfaces"] is None:
        rate = line_rate("--line", asked["line"] or DEFAULT_LINE)
        return QuickPort(UNKNOWN[0], rate), QuickPort(UNKNOWN[1], rate)
    ports = tuple(one.strip() for one in asked["interfaces"].split(","))
    if len(ports) != 2:
        raise click.UsageError(f"--interfaces: two, `eth1,eth2`, not `{asked['interfaces']}`")
    given = {name: asked[name] for name in ("via", "address", "line")}
    return find_ports(Asked(ports=ports, **given))


def _write(text: str, path: Path, *, is_named: bool) -> None:
    """Writes the plan, and says what to do with it."""
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise click.UsageError(f"{path} exists: name another file with --plan") from None
    click.echo(f"plan written to {path}")
    if not is_named:
        print_hint(f"name your interfaces with --interfaces, or in {path}: `netdyno ports` lists them")
    print_hint(f"`netdyno check {shlex.quote(str(path))}`, then `netdyno run {shlex.quote(str(path))}`")


def _run(text: str, name: str, out: Path) -> None:
    from netdyno.campaign import run as runner
    from netdyno.campaign.interrupts import Interrupts
    from netdyno.campaign.selection import Selection
    from netdyno.cli import live
    from netdyno.cli.calibrate_first import calibrate_first
    from netdyno.cli.run import conclude
    from netdyno.cli.run_reports import Wanted as Reports
    from netdyno.plan import parse
    from netdyno.testers import tables

    loaded = parse(text, name=name, tables=tables())
    interrupts = Interrupts()
    prepare = partial(calibrate_first, out)
    outcome = runner.run(loaded, out, live.watcher(), Selection(), interrupts=interrupts, prepare=prepare)
    conclude(outcome, Reports((), None, False), interrupts)
