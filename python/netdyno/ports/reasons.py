"""Reasons of ports about a trial or a lab: interfaces that changed, ports without a line."""

from __future__ import annotations

from typing import ClassVar, Literal

from netdyno.values.reason import Codes, PortNote, Reason, declared


class InterfaceReason(Reason):
    """What an interface under a port did during a trial."""

    port: str
    interface: str


class InterfaceGone(InterfaceReason, code="interface-gone"):
    """The interface under a port was removed during the trial."""

    says = "interface `{interface}` of `{port}` was taken away during the trial"


class LinkWentDown(InterfaceReason, code="link-went-down"):
    """The link of a port went down during the trial, so many times."""

    times: int
    says = "the link of `{port}` (interface `{interface}`) went down {times:=1?once|{times:d} times}"


class InterfaceSwitchedOff(InterfaceReason, code="interface-switched-off"):
    """The interface under a port was switched off during the trial."""

    says = "interface `{interface}` of `{port}` was switched off"


class InterfaceReset(InterfaceReason, code="interface-reset"):
    """The interface under a port was reset or set up anew during the trial. what: counters or settings."""

    what: tuple[str, ...]
    says = """interface `{interface}` of `{port}` was reset or set up anew during the trial: {what:names}
        changed"""


class SpeedChanged(InterfaceReason, code="speed-changed"):
    """The interface under a port has another speed than when the trial began."""

    before_bps: int
    now_bps: int
    says = """interface `{interface}` of `{port}` changed its speed during the trial: {before_bps}, then
        {now_bps}"""


class DuplexChanged(InterfaceReason, code="duplex-changed"):
    """The interface under a port has another duplex mode than when the trial began."""

    before: Literal["full", "half"]
    now: Literal["full", "half"]
    says = """interface `{interface}` of `{port}` changed its duplex mode during the trial: {before}, then
        {now}"""


class SharedMemoryPort(PortNote, code="shared-memory-port"):
    """A port is a memif: memory shared with the device, without a line rate."""

    medium: ClassVar[str] = "memif, memory that tester and device share"
    port: str
    id: int
    socket: str
    says = """`{port}` is memory shared with the device (memif {id:d} at `{socket}`), which has no line rate:
        the plan's `rate` is not enforced."""


class MemifLoop(Reason, code="memif-loop"):
    """A calibration joins client and server of memifs, one for each two ports. pairs: how many."""

    pairs: int = 1
    says = "{pairs:=1?One memif, both ends|{pairs:d} memifs, both ends of each} opened by netdyno."


REASONS: Codes = declared(globals())
