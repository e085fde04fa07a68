"""`netdyno routes`, `filters`, `schema`: what a plan wants of a device, and of an editor."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from netdyno.cli.console import print_hint
from netdyno.cli.lab_answers import complete_router
from netdyno.cli.plan_argument import load_plan, set_option
from netdyno.values.printable import printable


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.option(
    "--router",
    metavar="NAME",
    shell_complete=complete_router,
    help="Whose words to print the neighbours in; without it those of the plan's driver.",
)
@set_option
def routes(plan: Path, router: str | None, overrides: tuple[str, ...]) -> None:
    """Print what the device must have for a PLAN: routes, prefix and next hop, of the axis `routes` or of the
    VLANs of its links; and the routing neighbours of links with `routing`, in the device's words."""
    from netdyno.devices import own_router
    from netdyno.plan.device_lists import route_lines
    from netdyno.plan.device_neighbours import neighbour_lines

    nothing = (
        f"{plan} has no axis `routes`, no link with several VLANs, and none with `routing`: `netdyno check`"
        " prints what is behind each port"
    )
    loaded = load_plan(plan, overrides)
    if loaded.kind.configured and any(link.speaker for link in loaded.lab.links):
        nothing = f"{plan}: nothing to enter, for netdyno gives its `{loaded.kind.name}` its routing itself"
    try:
        system = own_router.find(router) if router else own_router.find_of_driver(loaded.lab.driver)
        neighbours = list(neighbour_lines(loaded, system))
    except ValueError as error:
        hint = "`--router other` prints the neighbours in plain words"
        raise click.UsageError(f"{error}; {hint}") from error
    _print((*route_lines(loaded), *neighbours), nothing)
    if neighbours and system.name == own_router.OTHER:
        known = [name for name, one in own_router.ROUTERS.items() if not one.lacks and one != system]
        print_hint(f"`--router NAME` prints the neighbours in the words of {', '.join(known)}")
    elif neighbours and system.name not in own_router.NEIGHBOURS_PROVEN:
        print_hint(
            "untested: no such device has taken these neighbours yet; read what it answers to each line"
        )


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@set_option
def filters(plan: Path, overrides: tuple[str, ...]) -> None:
    """Print the packet filters that the device must have for a PLAN with the axis `modifier`, by port."""
    from netdyno.plan.device_lists import filter_lines

    _print(filter_lines(load_plan(plan, overrides)), f"{plan} has no case with filters")


def _print(lines: Iterable[str], nothing: str) -> None:
    """Prints the lines; nothing: what is said on stderr if there are none."""
    count = 0
    for line in lines:
        click.echo(line)
        count += 1
    if not count:
        click.echo(printable(nothing), err=True)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a plan, for editors."""
    import json

    from netdyno.plan import json_schema
    from netdyno.testers import tables

    click.echo(json.dumps(json_schema(tables()), indent=2))
