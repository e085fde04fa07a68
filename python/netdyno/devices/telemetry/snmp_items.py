"""One value of an agent that is read each time, and what of its tables names it."""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.devices.live import Channel
from netdyno.values.series import LONGEST_NAME

Index = tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """One value of a reading. least, limit: it is at least the one and below the other. factor: the channel
    has the value times this. status: of a sensor, the OID of its state. window_ns: as of `Sample`. narrow: of
    a counter that is 0, the one of 32 bits that counts the same."""

    channel: Channel
    oid: str
    limit: int
    least: int = 0
    factor: int = 1
    status: str | None = None
    window_ns: int | None = None
    narrow: Item | None = None


def to_text(found: object) -> str:
    """A text of the agent: printable, and no longer than a name of a series."""
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    return "".join(one if one.isprintable() else "?" for one in text.rstrip("\0"))[:LONGEST_NAME]


def at(column: str, index: Index) -> str:
    """The OID of a column's object."""
    return ".".join((column, *map(str, index)))
