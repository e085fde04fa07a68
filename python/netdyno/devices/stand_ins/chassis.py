"""What all sessions of a stand-in share: counters, which an emulated device moves, and configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from netdyno.devices.stand_ins.routing import ROUTING, Routing
from netdyno.devices.stand_ins.sections import Sections

INSTANT = "netdyno-instant"
FCS = 4
COUNTED = ("rx", "tx", "in_drops", "out_drops")


def short(name: str) -> str:
    """`TenGigabitEthernet 0/1` as `Te0/1`; a name of one word as it is."""
    return re.sub(r"^([A-Z][a-zA-Z])[A-Za-z]* ?(?=\d)", r"\1", name)


@dataclass
class Chassis:
    """ports: counters by name, since the device was started."""

    ports: dict[str, dict[str, int]] = field(default_factory=dict)
    names: tuple[str, ...] = field(init=False)
    """Of its ports, as they were given."""
    before: dict[str, dict[str, int]] = field(init=False)
    last_ns: int = -1
    size: float = 64
    instants: int = 0
    leak: str = ""
    """What it prints with its version and behind every refusal."""
    description: str = ""
    """Of each port, as an IOS XR prints it among the counters."""
    device: Sections | None = None
    """Its configuration; None: it cannot be configured."""
    enable: str = ""
    """The password of privileged mode; empty: a login is privileged."""
    password: str = ""
    """Of the login: `login` asks for it at the prompt."""
    routing: Routing = field(default_factory=Routing)
    """What an IOS XR or IOS XE says of its table and its neighbours."""
    prints: dict[str, str] = field(default_factory=dict)
    """Commands and what they print instead of the usual."""

    @classmethod
    def new(cls, ports: Iterable[str], password: str) -> Chassis:
        """One that has counted nothing yet."""
        return cls({name: dict.fromkeys(COUNTED, 0) for name in ports}, password=password)

    def __post_init__(self) -> None:
        self.names = tuple(self.ports)
        self.ports = {short(name): dict(counted) for name, counted in self.ports.items()}
        self.before = {name: dict(counted) for name, counted in self.ports.items()}

    def stand_at(self, told: dict[str, Any]) -> None:
        """Counters of an emulated device, which begin anew with each trial; those of this one go on."""
        self.instants += 1
        if told["at_ns"] <= self.last_ns:
            self.before = {name: dict(counted) for name, counted in self.ports.items()}
        self.last_ns = told["at_ns"]
        self.size = told["mean_bytes"]
        for device in told["devices"]:
            for port in device["ports"]:
                name = short(port["name"])
                base = self.before.get(name, {})
                drops_in = port["in_drops"] + port["both_drops"] + port["weary_drops"]
                counted = {
                    "rx": port["rx_frames"],
                    "tx": port["tx_frames"],
                    "in_drops": drops_in,
                    "out_drops": port["out_drops"],
                }
                self.ports[name] = {what: number + base.get(what, 0) for what, number in counted.items()}

    def take(self, line: str) -> str | None:
        """Takes a comment that is for it, and returns the answer; None: it is none."""
        _, name, text = (*line.split(maxsplit=2), "", "", "")[:3]
        if name == INSTANT:
            self.stand_at(json.loads(text))
            return ""
        if name == ROUTING:
            wrong = self.routing.change(text)
            return f"% {ROUTING}: {wrong}" if wrong else ""
        return None

    def counted(self, name: str) -> dict[str, int] | None:
        """The counters of a port, its bytes without FCS; None: there is no such port."""
        found = self.ports.get(short(name))
        if found is None:
            return None
        size = self.size - FCS
        return {**found, "rx_bytes": round(found["rx"] * size), "tx_bytes": round(found["tx"] * size)}
