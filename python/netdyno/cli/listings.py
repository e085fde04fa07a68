"""`netdyno kinds`, `drivers`, `methods`, `reports`, `ports`, `version`: what there is to choose from."""

from __future__ import annotations

import click

from netdyno.cli.console import FORMATS, format_option, print_hint, print_table, print_wrapped

PIPED = 110
"""Columns of a table with sentences, where no terminal says how wide it is."""


@click.command()
@format_option(*FORMATS)
def kinds(form: str) -> None:
    """List the kinds of devices a plan can name."""
    from netdyno.devices import KINDS

    rows = [
        [
            kind.name,
            kind.title,
            "yes" if kind.emulated else "no",
            f"{kind.links[0]}" if len(kind.links) == 1 else f"{kind.links[0]} to {kind.links[-1]}",
            "; ".join(f"{name}: {', '.join(values) or 'a number'}" for name, values in kind.settings.items()),
        ]
        for kind in KINDS.values()
    ]
    print_table(["kind", "what it is", "emulated", "links", "settings"], rows, form)


@click.command()
@format_option(*FORMATS)
def drivers(form: str) -> None:
    """List the drivers that reach a device, what each can do, and its proof.

    Proof: `real` was run on the device, `transcript` on texts that somebody published, `written` on neither.
    """
    from netdyno.devices.drivers import DRIVERS

    rows = [[one.name, one.title, one.proof, one.does] for one in DRIVERS.values()]
    print_table(["driver", "device", "proof", "what it does"], rows, form, piped=PIPED)


@click.command()
@format_option(*FORMATS)
def methods(form: str) -> None:
    """List the methods a plan can name, with their parameters, and the goals.

    As CSV: the parameters alone.
    """
    from netdyno.cli import catalogue
    from netdyno.methods import METHODS

    found = list(catalogue.parameters())
    columns = ["parameter", "written as", "default", "meaning"]
    rows = {
        name: [[p.name, p.kind, p.default, p.meaning] for p in found if p.method == name] for name in METHODS
    }
    if form == "csv":
        print_table(["method", *columns], [[name, *row] for name in METHODS for row in rows[name]], form)
        return
    if form == "json":
        import json

        listed = [
            {
                "method": method.name,
                "standard": method.described_standard,
                "what it finds": method.doc,
                "values": [
                    {"value": one.value, "unit": one.unit, "meaning": one.meaning}
                    for one in catalogue.values()
                    if method.name in one.methods
                ],
                "parameters": [dict(zip(columns, row, strict=True)) for row in rows[method.name]],
            }
            for method in METHODS.values()
        ]
        click.echo(json.dumps(listed, indent=2))
        return
    for method in METHODS.values():
        print_wrapped(f"{method.name}: {method.doc}")
        print_wrapped(f"standard: {method.described_standard}")
        print_wrapped(f"values: {'; '.join(kind.display_name for kind in method.values)}")
        click.echo()
        print_table(columns, rows[method.name], form)
        click.echo()
    click.echo("Values that `goals:` can ask for, each with >=, <=, > or <:\n")
    print_table(
        ["value", "of", "meaning", "example"],
        [
            [one.value, ", ".join(one.methods) or "any other method", one.meaning, one.example]
            for one in catalogue.goals()
        ],
        form,
    )


@click.command()
@format_option(*FORMATS)
def reports(form: str) -> None:
    """List the formats of reports."""
    from netdyno import reports as known

    rows = [[one.name, one.help] for one in known.FORMATS.values()]
    print_table(["report", "what it is"], rows, form)


@click.command()
@format_option(*FORMATS)
def ports(form: str) -> None:
    """List this machine's interfaces, and which backend each can take.

    Needs no right and changes nothing. As JSON: everything known of each card.
    """
    from netdyno.ports.listing import COLUMNS, advices, look

    found = look()
    if form == "json":
        import json

        click.echo(json.dumps([one.table() for one in found], indent=2))
        return
    print_table(list(COLUMNS), [one.row() for one in found], form)
    for line in advices(found):
        print_hint(line)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def version(as_json: bool) -> None:
    """Print the versions of netdyno and of what it runs on.

    `level` is the processor that the engine was built for. A wheel has engines for x86-64-v2, -v3 and -v4 and
    takes the best that this processor runs; NETDYNO_LEVEL=v3 has it take another.
    """
    from netdyno.campaign.versions import versions
    from netdyno.plan.models import TESTER
    from netdyno.testers import TESTERS

    found = versions(TESTERS[TESTER])
    if as_json:
        import json

        click.echo(json.dumps(found, indent=2))
        return
    for name, what in found.items():
        click.echo(f"{name} {what}")
