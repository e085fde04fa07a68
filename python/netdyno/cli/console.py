"""What every command prints with: errors and hints on stderr, tables and text on stdout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

RUNS = Path("runs")
FORMATS = click.Choice(["table", "json", "csv", "md"])
FORMAT_HELP = "Format of the output."


def print_error(message: str, hint: str | None) -> None:
    from netdyno.values.printable import printable

    click.echo(_unbroken(f"error: {printable(message)}"), err=True)
    if hint:
        print_hint(hint)


def print_hint(text: str) -> None:
    from netdyno.values.printable import printable

    click.echo(_unbroken(f"hint: {printable(text)}"), err=True)


def _unbroken(text: str) -> str:
    """A line for stderr: on a terminal broken between words as wide as that is, and within no command, which
    somebody may want to copy."""
    import re
    import shutil
    import textwrap

    if not sys.stderr.isatty():
        return text
    space = "\x1f"
    kept = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", space), text)
    width = max(shutil.get_terminal_size().columns, 40)
    lines = textwrap.wrap(kept, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(space, " ")


def print_table(columns: list[str], rows: list[list[str]], form: str, piped: int | None = None) -> None:
    """Prints a table. piped: columns that it is wrapped to where no terminal says how wide it is."""
    if form == "json":
        import json

        click.echo(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2))
        return
    from netdyno.values.printable import printable

    rows = [[printable(cell) for cell in row] for row in rows]
    if form == "csv":
        import csv

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        return
    if form == "md":
        for row in [columns, ["---"] * len(columns), *rows]:
            click.echo("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    else:
        from netdyno.cli.listing import lines

        for line in lines(columns, rows, terminal_width() or piped):
            click.echo(line)


def print_wrapped(text: str) -> None:
    import textwrap

    width = terminal_width()
    click.echo(text if width is None else textwrap.fill(text, width, replace_whitespace=False))


def terminal_width() -> int | None:
    """Columns of the terminal; None where there is none that knows: a line that is read by a program stays
    one line."""
    import shutil

    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        return None
    return max(shutil.get_terminal_size().columns, 40)


def has_colours() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
