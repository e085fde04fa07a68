"""`netdyno rate`: a rate in frames and on each layer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from netdyno.cli.console import FORMATS, format_option, print_table


@click.command()
@click.argument("rate")
@click.argument("size")
@click.option(
    "--tags", default=0, type=click.IntRange(0, 8), help="VLAN tags added on top of SIZE, 4 bytes each."
)
@format_option(*FORMATS)
def rate(rate: str, size: str, tags: int, form: str) -> None:
    """Convert a RATE (`10Gbps`, `14.88Mpps`) to frames per second, L1, L2 and L3, for a SIZE or a mix.

    SIZE is `64B`, the name of a mix (`imix/bench`), or sizes with weights: `64:7,594:4`. Sizes count the
    FCS. They are those of untagged frames: tags given with --tags are added on top. (In a plan the size
    is that of the frame as sent, tags included.) Bit rates are L1 unless L2 is said: `9.5Gbps L2`.
    """
    from netdyno.values.rates import rate_table

    table = rate_table(rate, size, tags)
    if form == "json":
        import json

        click.echo(json.dumps(_plain(table), indent=2))
        return
    rows = [_rate_row(table["mix"], "", table["mean_size"]["printed"], table)]
    if len(table["sizes"]) > 1:
        rows += [
            _rate_row(f"{row['size']}B", str(row["weight"]), f"{row['tagged_size']} B", row)
            for row in table["sizes"]
        ]
    print_table(["size", "weight", "frame with FCS and tags", "frames/s", "L1", "L2", "L3"], rows, form)


def _rate_row(name: str, weight: str, size: str, row: Any) -> list[str]:
    return [name, weight, size, *(row[layer]["printed"] for layer in ("fps", "L1", "L2", "L3"))]


_KEYS = {"fps": "rate_pps", "L1": "l1_bps", "L2": "l2_bps", "L3": "l3_bps"}


def _plain(table: Any) -> dict[str, Any]:
    """The table with each quantity as a number, its unit in the key, and the exact fraction beside it."""
    return {
        **{key: table[key] for key in ("rate", "mix", "genome", "tags")},
        **_number("mean_size_bytes", table["mean_size"]["exact"]),
        **_layers(table),
        "sizes": [
            {
                "size_bytes": row["size"],
                "tagged_size_bytes": row["tagged_size"],
                "weight": row["weight"],
                **_layers(row),
            }
            for row in table["sizes"]
        ],
    }


def _layers(row: Any) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for layer, key in _KEYS.items():
        numbers |= _number(key, row[layer]["exact"])
    return numbers


def _number(key: str, exact: str) -> dict[str, Any]:
    number = Fraction(exact)
    return {key: int(number) if number.denominator == 1 else float(number), f"{key}_exact": exact}
