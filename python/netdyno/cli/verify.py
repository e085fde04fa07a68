"""`netdyno verify`: whether a stored run is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from netdyno.cli.codes import PASSED, USAGE
from netdyno.errors import counted

if TYPE_CHECKING:
    from netdyno.store import Verified

MOST_LINES = 20
"""Lines of damage that are printed; the further ones are counted."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
def verify(run: Path) -> int:
    """Check that the RUN in a folder is as it was written.

    Every byte of the record is compared with its hash. Hashes show accidental damage (bit rot), not forgery:
    whoever changes a record on purpose can write its hashes anew. Exits with 2 if the record is damaged.
    """
    from netdyno.campaign.reasons import REASONS
    from netdyno.store import DamagedError, open_run

    with open_run(run, REASONS) as stored:
        found = stored.verify()
    for error in found.damage[:MOST_LINES]:
        click.echo(f"damaged: {error.found if isinstance(error, DamagedError) else error.message}")
    if len(found.damage) > MOST_LINES:
        click.echo(f"damaged: {counted(len(found.damage) - MOST_LINES, 'further place')}")
    if found.damage:
        click.echo("hint: take the folder from a copy, or run the plan again", err=True)
        return USAGE
    click.echo(_intact(found))
    return PASSED


def _intact(found: Verified) -> str:
    """The answer for a record in which no damage was found."""
    every = f"{counted(found.cases, 'case')}, {counted(found.trials, 'trial')}"
    without = f"{counted(found.unsealed_cases, 'case')}, {counted(found.unsealed_trials, 'trial')}"
    if found.unsealed_cases == found.cases and found.unsealed_trials == found.trials:
        return f"without hashes: {every}: readable, but stored before runs had hashes"
    if found.unsealed_cases or found.unsealed_trials:
        return f"intact: {every}; of these without hashes, stored before runs had any: {without}"
    return f"intact: {every} (checked against bit rot, not forgery)"
