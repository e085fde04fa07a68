"""What is read of a device by its command line, as data: a command, how often, its quantities."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from netdyno.devices.live import Channel

_GROUPS = re.compile(r"[ ,]")
Row: TypeAlias = Mapping[str, str]
PORT = "{port}"
"""In a command: it is asked for each port of the lab, by the port's name on the device."""


class UnknownLineError(ValueError):
    """A line of a text has a form that is not known. number: its number, from 1."""

    def __init__(self, number: int, line: str) -> None:
        super().__init__(f"line {number}")
        self.number, self.line = number, line


@dataclass(frozen=True)
class Value:
    """A quantity found in a text. number: exact, in the channel's unit. window_ns: as `Sample` has it."""

    channel: Channel
    number: Fraction
    window_ns: int | None = None


@dataclass(frozen=True)
class Unread:
    """A quantity that stands in a text with something that is no number. at: its line, from 1."""

    channel: Channel
    at: int
    line: str


@dataclass(frozen=True)
class Quantity:
    """A quantity that a regular expression finds, whose group `n` is the number.

    subject: empty, that of the reading. Group `subject`, if there is one, names it; group `lane` is the
    number of a lane of it; group `window` in seconds, or `minutes`, is the time over which the device
    averaged. Each match is a value. factor: the unit that the device prints, in this one.
    """

    name: str
    unit: str
    pattern: str
    subject: str = ""
    scale: int = 0
    is_counter: bool = False
    counts_traffic: bool = False
    bits: int | None = None
    window_s: int | None = None
    unshown: str = ""
    """Pattern of a text that leaves the number out where it is 0."""
    factor: int = 1

    def values(self, text: str, subject: str) -> Iterator[Value]:
        """Those in a text, in its order."""
        return (value for _, value in self.find(text, subject) if isinstance(value, Value))

    def find(self, text: str, subject: str) -> Iterator[tuple[int, Value | Channel]]:
        """Those in a text, in its order, with the place of each number, in characters.

        Of one that is no number its channel alone.
        """
        several = list(re.finditer(self.pattern, text, re.MULTILINE))
        if not several and self.unshown and (shown := re.search(self.unshown, text, re.MULTILINE)):
            yield shown.start(), Value(self._channel(self.subject or subject), Fraction(0))
        for found in several:
            groups = found.groupdict()
            who = " ".join((groups.get("subject") or self.subject or subject).split())
            if groups.get("lane"):
                who = f"{who} lane {groups['lane']}"
            minutes = 60 * int(groups.get("minutes") or 0)
            window = groups.get("window") or minutes or self.window_s
            channel = self._channel(who[:100])
            try:
                number = Fraction(_GROUPS.sub("", groups["n"])) * self.factor
            except ValueError:
                yield found.start("n"), channel
                continue
            window_ns = None if window is None else int(window) * 10**9
            yield found.start("n"), Value(channel, number, window_ns)

    def _channel(self, who: str) -> Channel:
        return Channel(who, self.name, self.unit, self.scale, self.is_counter, self.counts_traffic, self.bits)


@dataclass(frozen=True)
class Reading:
    """A command that is asked again and again.

    by_rows: reads the rows of a text that `netdyno.devices.outputs` knows by this command. by_text: reads
    the text itself, and raises ValueError, LookupError or TypeError if it has another form. Quantities are
    found by their patterns. between: reads what an earlier and a later text have together, averaged over the
    time from one to the other. lines is a pattern of all lines that have one, and its group `broken` of those
    that no answer has. A value without a subject is of the reading's, or of the port that is asked for.
    """

    name: str
    command: str
    period_s: float
    quantities: tuple[Quantity, ...] = ()
    by_rows: Callable[[Sequence[Row]], Iterator[Value]] | None = None
    by_text: Callable[[str], Iterator[Value]] | None = None
    between: Callable[[str, str], Iterator[Value]] | None = None
    subject: str = "device"
    is_optional: bool = True
    """Whether a device that does not have it is read all the same: a version may print it in another way."""
    lines: str = ""

    @property
    def is_per_port(self) -> bool:
        """Whether it is asked for each port."""
        return PORT in self.command

    def find_quantities(self, text: str, subject: str) -> Iterator[Value | Unread]:
        """What the quantities find in a text.

        Raises UnknownLineError: one of `lines` has no quantity that is known, or a second one of a name.
        """
        ends = [found.start() for found in re.finditer("\n", text)]
        shown = text.split("\n")
        taken: set[Channel] = set()
        known: set[int] = set()
        for quantity in self.quantities:
            for at, value in quantity.find(text, subject):
                number = bisect_left(ends, at)
                channel = value.channel if isinstance(value, Value) else value
                if channel in taken:
                    raise UnknownLineError(number + 1, shown[number])
                taken.add(channel)
                known.add(number)
                yield value if isinstance(value, Value) else Unread(channel, number + 1, shown[number])
        for number, line in enumerate(shown if self.lines else ()):
            found = re.search(self.lines, line)
            if found is not None and (number not in known or found.groupdict().get("broken")):
                raise UnknownLineError(number + 1, line)


@dataclass(frozen=True)
class ByRow:
    """Reads each row by itself."""

    read: Callable[[Row], Iterator[Value]]

    def __call__(self, rows: Sequence[Row]) -> Iterator[Value]:
        for row in rows:
            yield from self.read(row)
