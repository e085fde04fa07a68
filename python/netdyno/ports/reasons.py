"""Reasons of ports about a trial or a lab: interfaces that changed, ports without a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from netdyno.values.number import bits
from netdyno.values.reason import Codes, PortNote, Reason, declared


@dataclass(frozen=True)
class InterfaceGone(Reason):
    """The interface under a port was removed during the trial."""

    code: ClassVar[str] = "interface-gone"
    port: str
    interface: str

    def __str__(self) -> str:
        return f"interface `{self.interface}` of `{self.port}` was taken away during the trial"


@dataclass(frozen=True)
class LinkWentDown(Reason):
    """The link of a port went down during the trial, so many times."""

    code: ClassVar[str] = "link-went-down"
    port: str
    interface: str
    times: int

    def __str__(self) -> str:
        times = "once" if self.times == 1 else f"{self.times} times"
        return f"the link of `{self.port}` (interface `{self.interface}`) went down {times}"


@dataclass(frozen=True)
class InterfaceSwitchedOff(Reason):
    """The interface under a port was switched off during the trial."""

    code: ClassVar[str] = "interface-switched-off"
    port: str
    interface: str

    def __str__(self) -> str:
        return f"interface `{self.interface}` of `{self.port}` was switched off"


@dataclass(frozen=True)
class InterfaceReset(Reason):
    """The interface under a port was reset or set up anew during the trial. what: counters or settings."""

    code: ClassVar[str] = "interface-reset"
    port: str
    interface: str
    what: tuple[str, ...]

    def __str__(self) -> str:
        what = ", ".join(f"`{one}`" for one in self.what)
        return (
            f"interface `{self.interface}` of `{self.port}` was reset or set up anew during the trial:"
            f" {what} changed"
        )


@dataclass(frozen=True)
class SpeedChanged(Reason):
    """The interface under a port has another speed than when the trial began."""

    code: ClassVar[str] = "speed-changed"
    port: str
    interface: str
    before_bps: int
    now_bps: int

    def __str__(self) -> str:
        return (
            f"interface `{self.interface}` of `{self.port}` changed its speed during the trial:"
            f" {bits(self.before_bps)}, then {bits(self.now_bps)}"
        )


@dataclass(frozen=True)
class DuplexChanged(Reason):
    """The interface under a port has another duplex mode than when the trial began."""

    code: ClassVar[str] = "duplex-changed"
    port: str
    interface: str
    before: Literal["full", "half"]
    now: Literal["full", "half"]

    def __str__(self) -> str:
        return (
            f"interface `{self.interface}` of `{self.port}` changed its duplex mode during the trial:"
            f" {self.before}, then {self.now}"
        )


@dataclass(frozen=True)
class SharedMemoryPort(PortNote):
    """A port is a memif: memory shared with the device, without a line rate."""

    code: ClassVar[str] = "shared-memory-port"
    medium: ClassVar[str] = "memif, memory that tester and device share"
    port: str
    id: int
    socket: str

    def __str__(self) -> str:
        return (
            f"`{self.port}` is memory shared with the device (memif {self.id} at `{self.socket}`), which has"
            " no line rate: the plan's `rate` is not enforced."
        )


@dataclass(frozen=True)
class MemifLoop(Reason):
    """A calibration joins client and server of memifs, one for each two ports. pairs: how many."""

    code: ClassVar[str] = "memif-loop"
    pairs: int = 1

    def __str__(self) -> str:
        if self.pairs == 1:
            return "One memif, both ends opened by netdyno."
        return f"{self.pairs} memifs, both ends of each opened by netdyno."


REASONS: Codes = declared(globals())
