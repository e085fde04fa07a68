"""Why a device's value is absent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class AgentSilent(Reason):
    """A device's agent did not answer in time."""

    code: ClassVar[str] = "agent-silent"
    host: str

    def __str__(self) -> str:
        return f"The agent of `{self.host}` did not answer in time."


@dataclass(frozen=True)
class AgentRefused(Reason):
    """A device's agent refused a request: the user, the password, or its own clock."""

    code: ClassVar[str] = "agent-refused"
    host: str

    def __str__(self) -> str:
        return f"The agent of `{self.host}` refused the login."


@dataclass(frozen=True)
class AnswerUnreadable(Reason):
    """The answer of a device's agent is not SNMP, or reports an error."""

    code: ClassVar[str] = "answer-unreadable"
    host: str

    def __str__(self) -> str:
        return f"The answer of the agent of `{self.host}` cannot be read."


@dataclass(frozen=True)
class CommandRefused(Reason):
    """A device does not take a command: its version, its hardware or the login has it not."""

    code: ClassVar[str] = "reading-refused"
    command: str

    def __str__(self) -> str:
        return f"The device refused `{self.command}`."


@dataclass(frozen=True)
class TextUnknown(Reason):
    """What a device printed has a form that is not known. line: its number; None: the text as a whole."""

    code: ClassVar[str] = "reading-not-understood"
    command: str
    line: int | None
    shown: str

    def __str__(self) -> str:
        where = "The text" if self.line is None else f"Line {self.line}"
        what = f" (`{self.shown}`)" if self.shown else ""
        return f"{where} that the device printed for `{self.command}` is not understood{what}."


@dataclass(frozen=True)
class TextTooLong(Reason):
    """A device prints more for a command than is read. most: characters."""

    code: ClassVar[str] = "reading-too-long"
    command: str
    most: int

    def __str__(self) -> str:
        return f"The device printed more than {self.most:,} characters for `{self.command}`: not read."


@dataclass(frozen=True)
class NothingPrinted(Reason):
    """What a device printed for a command has none of the quantities."""

    code: ClassVar[str] = "reading-empty"
    command: str

    def __str__(self) -> str:
        return f"The device printed no such quantity for `{self.command}`."


@dataclass(frozen=True)
class ObjectMissing(Reason):
    """A device's agent has no such object."""

    code: ClassVar[str] = "object-missing"
    name: str

    def __str__(self) -> str:
        return f"The agent has no `{self.name}`."


@dataclass(frozen=True)
class WrongType(Reason):
    """The value of an object has another type, or is outside the range of its type."""

    code: ClassVar[str] = "object-wrong-type"
    name: str

    def __str__(self) -> str:
        return f"The value of `{self.name}` has the wrong type or range."


@dataclass(frozen=True)
class IndexMoved(Reason):
    """The index of an interface is that of another one since the agent was last looked through."""

    code: ClassVar[str] = "interface-index-moved"
    interface: str

    def __str__(self) -> str:
        return f"The index of `{self.interface}` belongs to another interface now."


@dataclass(frozen=True)
class InterfaceUnlisted(Reason):
    """The agent lists no interface of this name any more."""

    code: ClassVar[str] = "interface-unlisted"
    interface: str

    def __str__(self) -> str:
        return f"The agent lists no interface `{self.interface}` any more."


@dataclass(frozen=True)
class SensorFailed(Reason):
    """A sensor has no value. status: 2 unavailable, 3 nonoperational, as of entPhySensorOperStatus."""

    code: ClassVar[str] = "sensor-failed"
    status: int

    def __str__(self) -> str:
        return f"The sensor has no value (status {self.status})."


REASONS: Codes = declared(globals())
