"""A trial that could not be measured: the error that is thrown into its method, and its reasons."""

from __future__ import annotations

from netdyno.errors import NetdynoError, counted
from netdyno.values.reason import Codes, Reason, declared, in_short


class NotMeasuredError(NetdynoError):
    """No attempt at a trial was valid, or none can be: the case has no result, or a part of it is missing.

    Its code is that of its reason.
    """

    def __init__(self, reason: Reason, hint: str | None = None) -> None:
        super().__init__(str(reason), hint, code=reason.code)
        self.reason = reason


class TrialNotBegun(Reason, code="trial-not-begun"):
    """A trial could not begin: a port had no peer for as long as it waits for one."""

    trial: str
    causes: tuple[Reason, ...]

    def __str__(self) -> str:
        return f"trial `{self.trial}` could not begin: {in_short(self.causes)}"


class TrialInvalid(Reason, code="trial-invalid"):
    """Every attempt at a trial was invalid. causes: those of the last attempt."""

    trial: str
    attempts: int
    causes: tuple[Reason, ...]

    def __str__(self) -> str:
        times = counted(self.attempts, "time")
        return f"trial `{self.trial}` was invalid {times}: {in_short(self.causes)}"


class NotAskable(Reason, code="not-askable"):
    """A trial has events, and netdyno cannot make them happen in this device."""

    events: tuple[str, ...]
    says = "netdyno cannot ask this device for {events:names}"


class ProgramFailed(Reason, code="program-failed"):
    """A program that makes the load of a stream failed. said: its error, or the end of what it printed."""

    program: str
    stream: str
    said: str
    says = "{program} failed on {stream}: {said}"


class ProgramHung(Reason, code="program-hung", is_lasting=True):
    """A program that makes the load of a stream had not ended long after its time."""

    program: str
    stream: str
    within_ns: int
    says = "{program} did not end on {stream} within {within_ns}"


class WindowNotHeld(Reason, code="window-not-held"):
    """A connection had more segments under way than it was to have."""

    stream: str
    asked: int
    seen: int
    says = "a connection of {stream} had {seen:segment} under way, and was to have {asked} at most"


class NotConnected(Reason, code="not-connected", is_lasting=True):
    """The first connection of a stream did not open. to: `ADDRESS:PORT`. said: the system's reason."""

    program: str
    stream: str
    to: str
    said: str
    says = "{program} could not connect to {to} on {stream}: {said}"


class ServerBusy(Reason, code="server-busy", is_lasting=True):
    """A server on another host runs a test of somebody else. server: `ADDRESS:PORT`."""

    program: str
    stream: str
    server: str
    says = "the {program} server {server} of {stream} is busy with another test"


class CongestionRefused(Reason, code="congestion-refused", is_lasting=True):
    """The kernel of a sender does not have the congestion control of a plan, or does not allow it."""

    program: str
    stream: str
    congestion: str
    says = "{program} failed on {stream}: the kernel refused the congestion control `{congestion}`"


class HostLate(Reason, code="host-late"):
    """A generator host started its programs long after the instant that all hosts had."""

    host: str
    late_ns: int
    says = "host `{host}` started its programs {late_ns} late"


class FarServer(Reason, code="far-server"):
    """Frames of the tester's own have no port to come back to: a server on another host is in its place."""

    servers: tuple[str, ...]
    says = "no frames of the tester's own: {servers:names} on another host would not receive them"


REASONS: Codes = declared(globals())
