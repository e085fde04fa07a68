"""Reasons of ports about a trial or a lab: interfaces that changed, ports without a line."""

from __future__ import annotations

from typing import ClassVar, Literal

from netdyno.values.reason import Codes, PortNote, Reason, declared


class InterfaceGone(Reason, code="interface-gone"):
    """The interface under a port was removed during the trial."""

    port: str
    interface: str
    says = "interface `{interface}` of `{port}` was taken away during the trial"


class LinkWentDown(Reason, code="link-went-down"):
    """The link of a port went down during the trial, so many times."""

    port: str
    interface: str
    times: int

    def __str__(self) -> str:
        times = "once" if self.times == 1 else f"{self.times} times"
        return f"the link of `{self.port}` (interface `{self.interface}`) went down {times}"


class InterfaceSwitchedOff(Reason, code="interface-switched-off"):
    """The interface under a port was switched off during the trial."""

    port: str
    interface: str
    says = "interface `{interface}` of `{port}` was switched off"


class InterfaceReset(Reason, code="interface-reset"):
    """The interface under a port was reset or set up anew during the trial. what: counters or settings."""

    port: str
    interface: str
    what: tuple[str, ...]
    says = """interface `{interface}` of `{port}` was reset or set up anew during the trial: {what:names}
        changed"""


class SpeedChanged(Reason, code="speed-changed"):
    """The interface under a port has another speed than when the trial began."""

    port: str
    interface: str
    before_bps: int
    now_bps: int
    says = """interface `{interface}` of `{port}` changed its speed during the trial: {before_bps}, then
        {now_bps}"""


class DuplexChanged(Reason, code="duplex-changed"):
    """The interface under a port has another duplex mode than when the trial began."""

    port: str
    interface: str
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

    def __str__(self) -> str:
        if self.pairs == 1:
            return "One memif, both ends opened by netdyno."
        return f"{self.pairs} memifs, both ends of each opened by netdyno."


REASONS: Codes = declared(globals())
