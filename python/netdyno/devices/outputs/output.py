"""What is known of one output: its names, its template, its totals, and how sure its template is."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from netdyno.devices.outputs.refused import OutputError
from netdyno.devices.wiring import LabError

Records = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Total:
    """A total of an output. field: the template's value that has it, alone in its record.

    Where it is printed more than once, as for each process, the sum is checked. holds: whether the total of
    the rows, given first, agrees with the printed one.
    """

    field: str
    add_up: Callable[[Records], Fraction]
    holds: Callable[[Fraction, Fraction], bool] = operator.eq


def count_rows(rows: Records) -> Fraction:
    """The number of rows."""
    return Fraction(len(rows))


def sum_of(field: str) -> Callable[[Records], Fraction]:
    """The exact sum of a field."""
    return lambda rows: sum((number(row[field]) for row in rows), Fraction())


def sum_where_printed(field: str) -> Callable[[Records], Fraction]:
    """The exact sum of a field in those rows that have it."""
    return lambda rows: sum((number(row[field]) for row in rows if row[field]), Fraction())


def count_begun(field: str, begin: str) -> Callable[[Records], Fraction]:
    """The number of rows whose field begins so, upper or lower case."""
    return lambda rows: Fraction(sum(row[field].lower().startswith(begin) for row in rows))


ROWS = Total("total", count_rows)
AT_LEAST = Total("total", count_rows, operator.ge)
"""A device counts one thing and prints a row for several, as for each next hop of a route."""
AT_MOST = Total("total", count_rows, operator.le)
"""The command asks for the first rows only."""


def check_totals(command: str, totals: Sequence[Total], rows: Records, printed: Records) -> str | None:
    """The first total as printed, once each has agreed with the rows; None: none was printed.

    printed: the records that have totals. Raises OutputError `total-differs`.
    """
    first: str | None = None
    for total in totals:
        texts = [record[total.field] for record in printed if record[total.field]]
        if not texts:
            continue
        wanted = sum(map(number, texts), Fraction())
        counted = total.add_up(rows)
        as_printed = texts[0] if len(texts) == 1 else _plain(wanted)
        if not total.holds(counted, wanted):
            raise OutputError(
                f"`{command}`: the rows add up to {_plain(counted)}, the printed total is {as_printed}",
                "the output is not complete, or changed while it was printed: repeat the command",
                code="total-differs",
                printed=as_printed,
                counted=_plain(counted),
            )
        first = first or as_printed
    return first


def _plain(value: Fraction) -> str:
    """A number as devices print it: `5`, `2219.3`."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.12g}"


_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")

LONGEST_NUMBER = 60
"""Characters of a number, at most."""


@dataclass(frozen=True)
class Rows:
    """What one command printed.

    fields: names of the columns, in the order of the template. rows: a text for each field, as printed but
    for units; empty: not printed. total: the printed total that the rows were checked against; None: none.
    """

    fields: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    total: str | None = None


def number(text: str) -> Fraction:
    """The exact value of a printed number: `1,234`, `54.9`, `-0.10`. The unit is the field's.

    Raises LabError `wrong-format` for everything else, `Unknown` and the empty text among it.
    """
    if len(text) > LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise LabError(f"`{text[:LONGEST_NUMBER]!a}` is not a number", code="wrong-format")
    return Fraction(text.replace(",", ""))


_PLACES = {
    "interface": r"[A-Za-z][A-Za-z-]* ?[0-9]+(?:[/.:][A-Za-z0-9]+)*",
    "number": r"[0-9]+",
}
"""What a command may have in place of `{interface}` and `{number}`; all other words match as they are."""

Proof = Literal["transcript", "written"]
"""`transcript`: somebody's session, with source and date. `written`: typed from documents."""


@dataclass(frozen=True)
class Output:
    """One output of one system.

    command: as a driver sends it; aliases: the same, abbreviated. source: author, title and date of the
    transcript that the template reads; empty: none. totals: what the device prints and the rows add up to.
    always: fields that each row has. unique: fields that no two rows share. is_table: a header without rows
    is right. file: of the template, where several outputs share it, or `ntc:` and a file of ntc-templates.
    """

    system: str
    command: str
    source: str = ""
    aliases: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()
    always: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()
    is_table: bool = False
    file: str = ""

    @property
    def template(self) -> str:
        """The file of its template: by default the system, and the command with dashes."""
        return self.file or f"{self.system}_{self.command.replace(' ', '-')}.textfsm"

    @property
    def proof(self) -> Proof:
        """How sure it is that devices print what the template reads."""
        return "transcript" if self.source else "written"

    def is_of(self, system: str, command: str) -> bool:
        """Whether a command of a system prints this. Spaces count as one; nothing else is abbreviated."""
        words = " ".join(command.split())
        return system == self.system and any(
            _pattern(name).fullmatch(words) for name in (self.command, *self.aliases)
        )


@cache
def _pattern(command: str) -> re.Pattern[str]:
    """A command with its places."""
    written = re.escape(command)
    for name, place in _PLACES.items():
        written = written.replace(re.escape(f"{{{name}}}"), place)
    return re.compile(written)
