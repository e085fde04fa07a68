"""What every command prints with: errors and hints on stderr, tables and text on stdout."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

GAP = "  "
NARROWEST = 5
"""Columns a word is broken into at the least, where not even words fit."""


def lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None,
    *,
    unbroken: str = "",
    shortened: str = "",
) -> Iterator[str]:
    """The table line by line: the columns' names, then the rows. Without a width each row is one line.

    unbroken: the column whose words are never broken. shortened: the one whose cells have one line, and an
    ellipsis where they lose their end.

    Where not even the words fit beside each other, the first cell, which is what a row is called and what
    is copied from it, stands on a line of its own, above the others.
    """
    table = [list(columns), *map(list, rows)]
    short = columns.index(shortened) if shortened else None
    alone = width is not None and _least(table, short) > width and len(columns) > 1
    if short is not None and width is not None:
        _shorten(table, short, width - len(GAP) if alone else width, int(alone))
    if width is None or not alone:
        for row in _beside(table, width, unbroken):
            yield from row
        return
    for name, row in zip(table, _beside([row[1:] for row in table], width - len(GAP), unbroken), strict=True):
        yield name[0]
        yield from (GAP + line for line in row)


def _shorten(table: Sequence[list[str]], place: int, width: int, first: int) -> None:
    """Cuts the cells of a column to what the words of the others leave of the width. first: the first column
    that stands beside it."""
    words = _words([row[first:] for row in table])
    words.pop(place - first)
    room = max(width - sum(words) - len(GAP) * len(words), NARROWEST)
    for row in table:
        row[place] = row[place] if len(row[place]) <= room else f"{row[place][: room - 1].rstrip()}…"


def _beside(table: Sequence[Sequence[str]], width: int | None, unbroken: str) -> Iterator[list[str]]:
    """The lines of each row."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if width is not None:
        widths = _fit_columns(table, widths, width - len(GAP) * (len(widths) - 1), unbroken)
    for row in table:
        wrapped = [_wrap(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        yield [
            GAP.join(part.ljust(wide) for part, wide in zip(parts, widths, strict=True)).rstrip()
            for parts in zip_longest(*wrapped, fillvalue="")
        ]


def _words(table: Sequence[Sequence[str]]) -> list[int]:
    """The longest word of each column."""
    return [
        max(len(word) for cell in column for word in cell.split() or [""])
        for column in zip(*table, strict=True)
    ]


def _least(table: Sequence[Sequence[str]], shortened: int | None = None) -> int:
    words = _words(table)
    if shortened is not None:
        words[shortened] = min(words[shortened], NARROWEST)
    return sum(words) + len(GAP) * (len(words) - 1)


def _fit_columns(
    table: Sequence[Sequence[str]], widths: Sequence[int], room: int, unbroken: str
) -> list[int]:
    """The widest column gives way first: to its longest word, and if that is not enough, beyond."""
    fitted, words = list(widths), _words(table)
    narrowest = [
        word if name == unbroken else min(NARROWEST, wide)
        for name, word, wide in zip(table[0], words, fitted, strict=True)
    ]
    for least in (words, narrowest):
        while sum(fitted) > room:
            loose = [place for place in range(len(fitted)) if fitted[place] > least[place]]
            if not loose:
                break
            fitted[max(loose, key=lambda place: fitted[place])] -= 1
    return fitted


def _wrap(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_on_hyphens=False)


RUNS = Path("runs")
FORMATS = ("table", "json", "csv", "md")


def format_option(*formats: str) -> Callable[[Command], Command]:
    """The option `--format`; the first one is what is printed unless it is given."""
    return click.option(
        "--format",
        "form",
        default=formats[0],
        type=click.Choice(formats),
        show_default=True,
        help="Format of the output.",
    )


def parse_pairs(option: str, given: Iterable[str], wanted: str, example: str) -> Iterator[tuple[str, str]]:
    """Names and values of an option that may be repeated. wanted: such as `NAME=VALUE`."""
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.UsageError(f"{option}: `{text}` is not {wanted}, as in `{option} {example}`")
        yield name, value


def print_error(message: str, hint: str | None) -> None:
    from netdyno.values.printable import printable

    click.echo(_wrap_text(f"error: {printable(message)}"), err=True)
    if hint:
        print_hint(hint)


def print_hint(text: str) -> None:
    from netdyno.values.printable import printable

    click.echo(_wrap_text(f"hint: {printable(text)}"), err=True)


def _wrap_text(text: str) -> str:
    """A line for stderr: on a terminal broken between words as wide as that is, and within no command, which
    somebody may want to copy."""
    import shutil

    from netdyno.values.printable import wrap

    if not sys.stderr.isatty():
        return text
    return "\n".join(wrap(text, max(shutil.get_terminal_size().columns, 40), other="  "))


def print_table(
    columns: list[str],
    rows: list[list[str]],
    form: str,
    piped: int | None = None,
    *,
    unbroken: str = "",
    shortened: str = "",
) -> None:
    """Prints a table. piped: columns that it is wrapped to where no terminal says how wide it is. unbroken,
    shortened: as of `lines`."""
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
        for line in lines(columns, rows, terminal_width() or piped, unbroken=unbroken, shortened=shortened):
            click.echo(line)


def print_wrapped(text: str) -> None:
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
