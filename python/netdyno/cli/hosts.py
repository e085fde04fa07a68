"""`netdyno hosts`: whether the generator hosts of a plan can run it, and what to do where one cannot."""

from __future__ import annotations

from pathlib import Path

import click

from netdyno.cli.codes import NOT_MEASURED, PASSED
from netdyno.cli.console import print_error, print_hint
from netdyno.cli.plan_argument import load_plan, set_option

STATES = {
    "started": "started",
    "there": "was running already",
    "ended": "ended",
    "none": "--start began nothing here",
}


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@set_option
@click.option("--start", "is_start", is_flag=True, help="Start scheduler and workers by ssh, then look.")
@click.option("--stop", "is_stop", is_flag=True, help="End what --start began.")
def hosts(plan: Path, overrides: tuple[str, ...], is_start: bool, is_stop: bool) -> int:
    """Look at the generator hosts of a PLAN: version, ports, links, clocks and rights.

    Changes nothing without --start and --stop, which log in as `ssh HOST` does, with no password asked for.

    Prints what to do where a host cannot run the plan; the exit code is then 3.
    """
    from netdyno.errors import NetdynoError
    from netdyno.hosts import login
    from netdyno.hosts.door import connect
    from netdyno.hosts.facts import read_host
    from netdyno.hosts.inspect import Clock, describe, inspect_ports, list_lacks
    from netdyno.hosts.resident import describe_host
    from netdyno.reports.model.hosts_table import describe_clock, describe_processor
    from netdyno.testers import read_versions

    if is_start and is_stop:
        raise click.UsageError("--start and --stop are two commands: give one")
    read = load_plan(plan, overrides)
    lab = read.lab
    if lab.hosts is None:
        click.echo(f"{plan} has no generator hosts: all its ports are on this one")
        return PASSED
    services = login.find_services(lab.hosts.scheduler, tuple(lab.hosts.threads), lab.hosts.logins)
    is_ready = True
    asked = login.stop if is_stop else login.start if is_start else None
    for name, came in ({} if asked is None else asked(*services)).items():
        if isinstance(came, NetdynoError):
            is_ready = False
            print_error(came.message, came.hint)
        else:
            click.echo(f"{name or 'scheduler'}  {STATES[came]}")
    if is_stop or not is_ready:
        return PASSED if is_ready else NOT_MEASURED
    door = connect(lab.hosts.scheduler)
    for host in lab.hosts.threads:
        links = [link for link in lab.links if link.host == host]
        named = [(link.interface or link.tester_port, link.backend.kind) for link in links]
        try:
            click.echo(f"{host}  {describe(door.call(host, describe_host))}, {door.address(host)}")
            bound_us = door.create(host, Clock).offset().bound_ps / 1e6
            states = door.call(host, inspect_ports, named)
            lacks = door.call(host, list_lacks)
            facts = door.call(host, read_host, host, [(interface, interface) for interface, _ in named])
            versions = door.call(host, read_versions, read.tester)
        except NetdynoError as error:
            is_ready = False
            print_error(error.message, error.hint)
            continue
        if read.tester in versions:
            click.echo(f"  tester  {read.tester} {versions[read.tester]}")
        click.echo(f"  cpu  {describe_processor(facts)}")
        known = f"known here to {bound_us:.0f} us, which is enough"
        click.echo(f"  clock  {describe_clock(facts.clock)}; {known}")
        for link, state, port in zip(links, states, facts.ports, strict=True):
            if state.why is None:
                offloads = ", ".join(port.offloads) or "none"
                click.echo(f"  {link.tester_port}  {state.interface}: {state.described}, offloads {offloads}")
            else:
                is_ready = False
                print_error(f"`{state.interface}` of `{link.tester_port}` on {host}: {state.why}", None)
            for hint in state.hints:
                print_hint(f"{host}: {hint}")
        for lack in lacks:
            print_hint(f"{host}: {lack}")
    return PASSED if is_ready else NOT_MEASURED
