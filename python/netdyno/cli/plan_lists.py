"""`netdyno routes`, `filters`, `schema`: what a plan wants of a device, and of an editor."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from netdyno.cli.plan_argument import load_plan, set_option
from netdyno.values.printable import printable


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@set_option
def routes(plan: Path, overrides: tuple[str, ...]) -> None:
    """Print the routes that the device must have for a PLAN, prefix and next hop: those of the axis `routes`,
    or those of the VLANs of its links."""
    from netdyno.plan.device_lists import route_lines

    nothing = (
        f"{plan} has no axis `routes`, and no link with several VLANs: `netdyno check` prints what is behind"
        " each port"
    )
    _print(route_lines(load_plan(plan, overrides)), nothing)


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
