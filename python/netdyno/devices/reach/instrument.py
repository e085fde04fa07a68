"""An instrument that asks a command again and again, over the session of its device."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock
from typing import Protocol

from netdyno.devices.drivers.reading import PORT, Reading, Row, UnknownLineError, Unread, Value
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.live import Channel, InSeries
from netdyno.devices.secrets import redact
from netdyno.devices.shell import Cli
from netdyno.devices.telemetry.reasons import (
    AnswerLate,
    CommandRefused,
    NothingPrinted,
    TextTooLong,
    TextUnknown,
)
from netdyno.devices.wiring import LabError
from netdyno.values.reason import Reason
from netdyno.values.sample import Absent, Printed, Sample

LONGEST_TEXT = 2**18
"""Characters of a text that is searched."""
LONGEST_RAW = 4_000
"""Characters of the device's own text that a sample keeps."""
UNREAD = "n/a"
"""Unit of what was asked for and never read: it stands for the reading, with the reason."""
_LOGGED = re.compile(
    # Of Cisco and FSOS; of RouterOS; of syslogd and `wall` on Linux.
    r"%[A-Z][A-Z0-9_]{0,40}(?:-[A-Z0-9_]{1,40}){0,4}-[0-7]-[A-Z0-9_]{1,60}:"
    r"|^[0-9:]{8} echo: [a-z]|^\(\d{1,9} messages not shown\)|^(?:Message|Broadcast message) from \S",
    re.MULTILINE,
)
"""A log message, which a device prints at any place of an answer: in the middle of a number as well."""

AGAIN_S = 10.0
"""After two failures in a row the device is asked anew after so long, s: each costs up to a login."""


class Turn:
    """The turn of an instrument among all of a session: what one waits for another is not the device's time.

    A device that did not answer two of them in a row is lost: for `AGAIN_S` the others fail at once.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._failed: LabError | None = None
        self._again_at: float | None = None

    @contextmanager
    def take(self) -> Iterator[None]:
        """The turn, for one command. Raises the last LabError again while the device is lost."""
        with self._lock:
            if self._failed is not None and self._again_at is not None and time.monotonic() < self._again_at:
                raise self._failed.with_traceback(None)
            try:
                yield
            except LabError as error:
                if error.code in ("command-refused", "too-long"):
                    raise
                is_lost = self._failed is not None
                self._failed, self._again_at = error, time.monotonic() + AGAIN_S if is_lost else None
                raise
            self._failed = self._again_at = None


class Rows(Protocol):
    """Reads a text that is known by its command, row by row."""

    def __call__(self, command: str, text: str) -> Sequence[Row]: ...


@dataclass(frozen=True)
class CliInstrument(InSeries):
    """ports: name in the lab and on the device of each. rows: how the system's texts are read."""

    name: str
    cli: Cli
    reading: Reading
    ports: tuple[tuple[str, str], ...]
    rows: Rows
    turn: Turn
    within_s: float = 5.0
    _found: dict[str, tuple[Channel, ...]] = field(default_factory=dict, repr=False, compare=False)
    """What each command ever gave."""
    _texts: dict[str, tuple[int, str]] = field(default_factory=dict, repr=False, compare=False)
    """The text of each command before, and when it was printed, of a reading between two."""
    _refused: set[str] = field(default_factory=set, repr=False, compare=False)

    @property
    def period_s(self) -> float:
        """Time between two readings, s."""
        return self.reading.period_s

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """The values now; absent, with the reason, for an optional reading that the device has not.

        Raises LabError.
        """
        found: dict[Channel, Sample] = {}
        for subject, command in self._commands():
            found |= self._ask(subject, command, now)
        reasons = [one.value.reason for one in found.values() if isinstance(one.value, Absent)]
        if len(reasons) == len(found) and not self.reading.is_optional and not self._found:
            command = next(self._commands())[1]
            why = f": {reasons[0]}" if reasons else ""
            raise LabError(
                f"the device prints none of its {self.reading.name} for `{command}`{why}",
                "check `driver` of the device, and the version of its system",
                code="not-understood",
            )
        return found

    def _commands(self) -> Iterator[tuple[str, str]]:
        """Each command with its subject."""
        if not self.reading.is_per_port:
            yield self.reading.subject, self.reading.command
            return
        for name, own in self.ports:
            yield name, self.reading.command.replace(PORT, own)

    def _ask(self, subject: str, command: str, now: Callable[[], int]) -> dict[Channel, Sample]:
        """What one command gives. Raises LabError."""
        if command in self._refused:
            return {}
        asked_ns = now()
        try:
            with self.turn.take():
                asked_ns = now()
                text = self.cli.ask(command, self.within_s)
                if _LOGGED.search(text[:LONGEST_TEXT]):
                    asked_ns = now()
                    text = self.cli.ask(command, self.within_s)
                answered_ns = now()
        except LabError as error:
            if not self.reading.is_optional or error.code not in ("command-refused", "device-silent"):
                raise
            if error.code == "device-silent":
                why: Reason = AnswerLate(command)
            else:
                # What it refuses once it refuses each time.
                self._refused.add(command)
                why = CommandRefused(command)
            return self._absent(subject, command, Sample(asked_ns, now(), Absent(why)))
        values = self._values(command, text, subject)
        may_hold_secrets = self.reading.is_per_port or isinstance(values, Reason)
        raw = Printed(command, _begin(text, may_hold_secrets=may_hold_secrets))
        if isinstance(values, Reason):
            return self._absent(subject, command, Sample(asked_ns, answered_ns, Absent(values), raw=raw))
        found = {
            value.channel: Sample(
                asked_ns, answered_ns, Absent(_unknown(command, value.at, value.line)), raw=raw
            )
            if isinstance(value, Unread)
            else Sample(asked_ns, answered_ns, _scaled(value), value.window_ns, raw)
            for value in (*values, *self._between(command, text, subject, (asked_ns + answered_ns) // 2))
        }
        gone = [channel for channel in self._found.get(command, ()) if channel not in found]
        found |= dict.fromkeys(gone, Sample(asked_ns, answered_ns, Absent(NothingPrinted(command)), raw=raw))
        self._found[command] = tuple(found)
        return found

    def _absent(self, subject: str, command: str, sample: Sample) -> dict[Channel, Sample]:
        """A reading without values: of what the command gave before, or of the reading as a whole."""
        unread = (Channel(subject, self.reading.name, UNREAD),)
        return dict.fromkeys(self._found.get(command, unread), sample)

    def _values(self, command: str, text: str, subject: str) -> tuple[Value | Unread, ...] | Reason:
        """The values of a text, or why it has none. Raises LabError for a reading that must have some."""
        try:
            found = tuple(self._parse(command, text, subject))
        except UnknownLineError as error:
            return _unknown(command, error.number, error.line)
        except LabError as error:
            if not self.reading.is_optional:
                raise
            if error.code == "command-refused":
                return CommandRefused(command)
            if error.code == "too-long":
                return TextTooLong(command, LONGEST_TEXT)
            return TextUnknown(command, getattr(error, "line", None), getattr(error, "shown", ""))
        except (ValueError, LookupError, TypeError):
            return TextUnknown(command, None, "")
        channels = [one.channel for one in found]
        if twice := next((one for one in channels if channels.count(one) > 1), None):
            return _unknown(command, None, f"{twice.name} of {twice.subject}: two values")
        return found or NothingPrinted(command)

    def _between(self, command: str, text: str, subject: str, at_ns: int) -> Iterator[Value]:
        """What this text and the one before have together; nothing of the first one."""
        if self.reading.between is None:
            return
        before_ns, before = self._texts.get(command, (at_ns, text))
        self._texts[command] = at_ns, text
        if at_ns > before_ns:
            for value in _of_subject(self.reading.between(before, text), subject):
                yield replace(value, window_ns=at_ns - before_ns)

    def _parse(self, command: str, text: str, subject: str) -> Iterator[Value | Unread]:
        if len(text) > LONGEST_TEXT:
            raise LabError(
                f"the device prints more than {LONGEST_TEXT:,} characters for `{command}`",
                "check `driver` of the device, and the version of its system",
                code="too-long",
            )
        if logged := _LOGGED.search(text):
            number = text.count("\n", 0, logged.start())
            raise UnknownLineError(number + 1, text.split("\n")[number])
        if self.reading.by_rows is not None:
            yield from _of_subject(self.reading.by_rows(self.rows(command, text)), subject)
        if self.reading.by_text is not None:
            yield from _of_subject(self.reading.by_text(text), subject)
        yield from self.reading.find_quantities(text, subject)


def _unknown(command: str, number: int | None, line: str) -> TextUnknown:
    # TextFSM comes with it: plans without such devices start faster.
    from netdyno.devices.outputs.refused import show

    return TextUnknown(command, number, show(line))


def _of_subject(values: Iterator[Value], subject: str) -> Iterator[Value]:
    """Values, those without a subject of this one."""
    for value in values:
        named = value.channel.subject or subject
        yield (
            value if value.channel.subject else replace(value, channel=replace(value.channel, subject=named))
        )


def _begin(text: str, *, may_hold_secrets: bool) -> str:
    """The begin of a text without secrets, and how much is behind it.

    may_hold_secrets: a user may have written some of it, such as the description of a port, or it is unknown.
    """
    text = redact(text)
    begin = text[:LONGEST_RAW]
    if len(begin) < len(text):
        # A line that is cut may hold the half of a secret: no rule knows it.
        begin = begin[: begin.rfind("\n") + 1] or begin
    more = len(text) - len(begin)
    shown = hide_secrets(begin) if may_hold_secrets else begin
    return f"{shown.rstrip()}\n[{more:,} more characters]" if more else shown


def _scaled(value: Value) -> int:
    """The number at the channel's scale, to the nearest."""
    return round(value.number * Fraction(10**value.channel.scale))
