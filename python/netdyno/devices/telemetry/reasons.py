"""Why a device's value is absent."""

from __future__ import annotations

from netdyno.values.reason import Codes, Reason, declared


class AgentSilent(Reason, code="agent-silent"):
    """A device's agent did not answer in time."""

    host: str
    says = "The agent of `{host}` did not answer in time."


class AgentRefused(Reason, code="agent-refused"):
    """A device's agent refused a request: the user, the password, or its own clock."""

    host: str
    says = "The agent of `{host}` refused the login."


class AnswerUnreadable(Reason, code="answer-unreadable"):
    """The answer of a device's agent is not SNMP, or reports an error."""

    host: str
    says = "The answer of the agent of `{host}` cannot be read."


class CommandRefused(Reason, code="reading-refused"):
    """A device does not take a command: its version, its hardware or the login has it not."""

    command: str
    says = "The device refused `{command}`."


class AnswerLate(Reason, code="reading-late"):
    """A device did not answer a command in time."""

    command: str
    says = "The device did not answer `{command}` in time."


class TextUnknown(Reason, code="reading-not-understood"):
    """What a device printed has a form that is not known. line: its number; None: the text as a whole."""

    command: str
    line: int | None
    shown: str
    says = """{line:?Line {line:d}|The text} that the device printed for `{command}` is not
        understood{shown:? (`{shown}`)}."""


class TextTooLong(Reason, code="reading-too-long"):
    """A device prints more for a command than is read. most: characters."""

    command: str
    most: int
    says = "The device printed more than {most} characters for `{command}`: not read."


class NothingPrinted(Reason, code="reading-empty"):
    """What a device printed for a command has none of the quantities."""

    command: str
    says = "The device printed no such quantity for `{command}`."


class ObjectMissing(Reason, code="object-missing"):
    """A device's agent has no such object."""

    name: str
    says = "The agent has no `{name}`."


class WrongType(Reason, code="object-wrong-type"):
    """The value of an object has another type, or is outside the range of its type."""

    name: str
    says = "The value of `{name}` has the wrong type or range."


class IndexMoved(Reason, code="interface-index-moved"):
    """The index of an interface is that of another one since the agent was last looked through."""

    interface: str
    says = "The index of `{interface}` belongs to another interface now."


class InterfaceUnlisted(Reason, code="interface-unlisted"):
    """The agent lists no interface of this name any more."""

    interface: str
    says = "The agent lists no interface `{interface}` any more."


class WideCounterStill(Reason, code="wide-counter-still"):
    """A counter of 64 bits is 0 beside one of 32 bits that counts the same: the latter is read."""

    name: str
    says = "The counter `{name}` stays 0 beside its counter of 32 bits, which counts."


class SensorsLeftOut(Reason, code="sensors-left-out"):
    """An agent has more sensors than a trial has room for. count: those that are not read."""

    count: int
    says = "{count:d} of the agent's sensors are not read: a trial has no room for more."


class SensorFailed(Reason, code="sensor-failed"):
    """A sensor has no value. status: 2 unavailable, 3 nonoperational, as of entPhySensorOperStatus."""

    status: int
    says = "The sensor has no value (status {status:d})."


REASONS: Codes = declared(globals())
