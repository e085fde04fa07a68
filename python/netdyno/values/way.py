"""A way: which port sends to which, and with whose addresses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["uni", "uni-reverse", "bidir"]

To: TypeAlias = Literal["", "sources", "destinations", "all"]
"""What the MAC addresses of a way are, if not the ports': each flow is a station of its own, which sends
(`sources`) or is sent to (`destinations`), or frames go to all (`all`, broadcast)."""


@dataclass(frozen=True)
class Way:
    """A way from port to port. reverse: with source and destination of the profile swapped. share: of its
    sending port's load; None: as much as each other way of that port."""

    tx: int
    rx: int
    reverse: bool = False
    share: Fraction | None = None
    to: To = ""
