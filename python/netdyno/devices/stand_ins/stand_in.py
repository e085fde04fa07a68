"""What a command line that stands in for a device is, as data, and one that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from netdyno.devices.stand_ins.chassis import Chassis
from netdyno.devices.stand_ins.terminal import Terminal

TEXTS = Path(__file__).parent / "texts"
_COMMAND = "=== "
RUNNING = "show running-config"


def texts(name: str) -> dict[str, str]:
    """What a system prints, by command: of `texts/NAME.txt`. Of a port: with fields of `Chassis.counted`."""
    found: dict[str, str] = {}
    command = ""
    for line in (TEXTS / f"{name}.txt").read_text().splitlines(keepends=True):
        if line.startswith(_COMMAND):
            command = line.removeprefix(_COMMAND).rstrip("\n")
            found[command] = ""
        else:
            found[command] += line
    return found


class Device(Protocol):
    """The configuration behind a command line."""

    def text(self) -> str:
        """All of it, as the system prints it."""
        ...


@dataclass(frozen=True)
class Opened:
    """One that runs. session: what a login speaks with."""

    chassis: Chassis
    device: Device
    session: Callable[[], Terminal]


@dataclass(frozen=True)
class StandIn:
    """opens: starts it with these counters, and a folder for its configuration.

    driver: which reaches it. kind: the emulated device whose counters it has in a rehearsal. ports: that it
    has unless others are asked for, as a plan names them.
    """

    driver: str
    kind: str
    ports: tuple[str, ...]
    opens: Callable[[Chassis, Path], Opened]
    has_routing: bool = False
    """Whether it has a routing table and neighbours."""
