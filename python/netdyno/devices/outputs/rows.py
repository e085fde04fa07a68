"""What a parsed output is: rows of texts, and the numbers in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from netdyno.devices.wiring import LabError

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
