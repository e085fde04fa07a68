"""Totals that devices print: what of the rows adds up to each."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.devices.outputs.refused import OutputError
from netdyno.devices.outputs.rows import number

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
