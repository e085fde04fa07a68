"""The argument PLAN, and what is set in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netdyno.cli.console import Command, parse_pairs

if TYPE_CHECKING:
    from netdyno.plan import Plan


def set_option(command: Command) -> Command:
    """The option `--set`."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="PATH=VALUE",
        help="Put this value into the plan, as in `--set traffic.64b.size=128B`; may be repeated.",
    )(command)


def load_plan(path: Path, overrides: Sequence[str] = ()) -> Plan:
    """The plan of a file, or of standard input for `-`, with what is set in it. Raises PlanErrors."""
    from netdyno.plan import load
    from netdyno.testers import tables

    for _ in parse_pairs("--set", overrides, "PATH=VALUE", "traffic.64b.size=128B"):
        pass
    return load(path, tables=tables(), overrides=overrides)
