"""An instrument that asks a command again and again, over the session of its device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any, Protocol

from netdyno.devices.drivers.reading import PORT, Reading, Value
from netdyno.devices.live import Channel
from netdyno.devices.shell import Cli
from netdyno.devices.wiring import LabError
from netdyno.values.sample import Sample

LONGEST_TEXT = 2**18
"""Characters of a text that is searched."""
LONGEST_RAW = 4_000
"""Characters of the device's own text that a sample keeps."""


class Rows(Protocol):
    """Reads a text that is known by its command, row by row."""

    def __call__(self, command: str, text: str) -> tuple[Mapping[str, str], ...]: ...


@dataclass(frozen=True)
class CliInstrument:
    """ports: name in the lab and on the device of each. rows: how the system's texts are read."""

    name: str
    cli: Cli
    reading: Reading
    ports: tuple[tuple[str, str], ...]
    rows: Rows
    turn: Lock
    """Of all instruments of a session: the time that one waits for another is not the device's."""
    within_s: float = 5.0

    @property
    def period_s(self) -> float:
        """Time between two readings, s."""
        return self.reading.period_s

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """The values now. Raises LabError."""
        found: dict[Channel, Sample] = {}
        for subject, command in self._commands():
            with self.turn:
                asked_ns = now()
                try:
                    text = self.cli.ask(command, self.within_s)
                except LabError as error:
                    if self.reading.is_optional and error.code == "command-refused":
                        continue
                    raise
                answered_ns = now()
            if len(text) > LONGEST_TEXT:
                raise LabError(
                    f"the device prints more than {LONGEST_TEXT:,} characters for `{command}`",
                    "check `driver` of the device, and the version of its system",
                    code="too-long",
                )
            for value in self._values(command, text, subject):
                found[value.channel] = Sample(
                    asked_ns, answered_ns, _scaled(value), value.window_ns, text[:LONGEST_RAW]
                )
        if not found and not self.reading.is_optional:
            command = next(self._commands())[1]
            raise LabError(
                f"the device prints none of its {self.reading.name} for `{command}`",
                "check `driver` of the device, and the version of its system",
                code="not-understood",
            )
        return found

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> Mapping[str, Any] | None:
        """Its series say all."""
        return None

    def _commands(self) -> Iterator[tuple[str, str]]:
        """Each command with its subject."""
        if not self.reading.is_per_port:
            yield self.reading.subject, self.reading.command
            return
        for name, own in self.ports:
            yield name, self.reading.command.replace(PORT, own)

    def _values(self, command: str, text: str, subject: str) -> Iterator[Value]:
        if self.reading.by_rows is not None:
            try:
                rows = self.rows(command, text)
            except LabError:
                if not self.reading.is_optional:
                    raise
                rows = ()
            for row in rows:
                yield from self.reading.by_rows(row)
        for quantity in self.reading.quantities:
            yield from quantity.values(text, subject)


def _scaled(value: Value) -> int:
    """The number at the channel's scale, to the nearest."""
    return round(value.number * Fraction(10**value.channel.scale))
