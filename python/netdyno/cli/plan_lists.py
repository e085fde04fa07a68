"""`netdyno routes`, `filters`, `schema`: what a plan wants of a device, and of an editor."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
def routes(plan: Path) -> None:
    """Print the routes that the device must have for a PLAN with the axis `routes`: prefix and next hop."""
    from netdyno.plan import load
    from netdyno.plan.device_lists import route_lines
    from netdyno.testers import tables

    for line in route_lines(load(plan, tables=tables())):
        click.echo(line)


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
def filters(plan: Path) -> None:
    """Print the packet filters that the device must have for a PLAN with the axis `modifier`, by port."""
    from netdyno.plan import load
    from netdyno.plan.device_lists import filter_lines
    from netdyno.testers import tables

    for line in filter_lines(load(plan, tables=tables())):
        click.echo(line)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a plan, for editors."""
    import json

    from netdyno.plan import json_schema
    from netdyno.testers import tables

    click.echo(json.dumps(json_schema(tables()), indent=2))
