"""A Cisco ASR9006's command line as IOS XR 4 and 5 print it, with counters that an emulated device moves."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from netdyno.devices.stand_ins.chassis import Chassis
from netdyno.devices.stand_ins.routing import print_xr
from netdyno.devices.stand_ins.sections import Editor, RefusedError, Sections
from netdyno.devices.stand_ins.stand_in import RUNNING, Opened, StandIn, texts
from netdyno.devices.stand_ins.terminal import Terminal

HOST = "RP/0/RSP0/CPU0:fridge"
DATE = "Sun Feb 20 19:14:21.775 UTC"
INVALID = "                 ^\n% Invalid input detected at '^' marker."
FAILED = (
    "\n% Failed to commit one or more configuration items during a pseudo-atomic operation. All changes made"
    " have been reverted. Please issue 'show configuration failed' from this session to view the errors"
)
HEAD = """\
Building configuration...
!! IOS XR Configuration 5.3.4
!! Last configuration change at Sun Feb 20 19:02:03 2022 by pim
!
"""
SHOWS = texts("iosxr")
PORTS = tuple(f"Te0/{slot}/0/{port}" for slot in (1, 2) for port in (0, 1))


class Session(Terminal):
    """One login."""

    banner = "\n\nWelcome to the fridge\n\n"

    def __init__(self, chassis: Chassis) -> None:
        self.chassis = chassis
        self.editor: Editor | None = None
        self.state: dict[str, Any] = {}

    @property
    def silent_s(self) -> float:  # type: ignore[override]
        return self.chassis.routing.silent_s

    @property
    def prompt(self) -> str:
        return f"{HOST}#" if self.editor is None else f"{HOST}(config{self._mode})#"

    @property
    def _mode(self) -> str:
        mode = self.editor.stack[-1][0] if self.editor else ""
        return f"-{mode}" if mode else ""

    def run(self, line: str) -> str | None:
        """The answer to a line."""
        words = line.split()
        if not words or words[0] == "!":
            return self.chassis.take(line) or ""
        if self.editor is not None:
            return self._configure(line.strip())
        if words == ["configure", "terminal"] and self.chassis.device is not None:
            self._begin()
            return DATE
        if words[0] == "exit":
            return None
        if words[:2] == ["terminal", "length"]:
            self.page = int(words[2])
            return DATE
        if words[0] == "terminal":
            return DATE
        answer = self._show(words)
        return f"{INVALID} {self.chassis.leak}" if answer is None else f"{DATE}\n{answer}"

    def _begin(self) -> None:
        assert self.chassis.device is not None
        self.state = self.chassis.device.load()
        self.running = self.state["running"]
        self.state["running"] = copy.deepcopy(self.running)
        self.editor = Editor(self.chassis.device.system, self.state["running"])

    def _configure(self, line: str) -> str:
        """A line of configuration mode: nothing is in effect before a commit."""
        assert self.chassis.device is not None
        assert self.editor is not None
        if line in ("abort", "end"):
            self.editor = None
            return ""
        words = line.split()
        if words[0] == "commit":
            confirm_s = int(words[2]) if words[1:2] == ["confirmed"] else None
            try:
                self.chassis.device.commit(self.state, self.running, confirm_s)
            except RefusedError:
                return FAILED
            self._begin()
            return DATE
        try:
            self.editor.enter(line)
        except RefusedError:
            return INVALID
        return ""

    def _show(self, words: list[str]) -> str | None:
        plain = " ".join(words)
        if plain in self.chassis.prints:
            return self.chassis.prints[plain]
        if plain == RUNNING:
            device = self.chassis.device
            return None if device is None else f"{HEAD}{device.text()}end\n"
        if words[:2] == ["show", "interfaces"] and len(words) == 3:
            return self._interface(words[2])
        shown = SHOWS.get(plain) or print_xr(self.chassis.routing).get(plain)
        return shown + self.chassis.leak if plain == "show version" and shown else shown

    def _interface(self, name: str) -> str | None:
        counted = self.chassis.counted(name)
        if counted is None:
            return None
        text = SHOWS["show interfaces {name}"].format(name=name, **counted)
        begin, *rest = text.splitlines(keepends=True)
        described = [f"  Description: {self.chassis.description}\n"] if self.chassis.description else []
        return "".join([begin, *rest[:2], *described, *rest[2:]])


def opens(chassis: Chassis, folder: Path) -> Opened:
    """Starts it."""
    device = chassis.device = Sections(folder / "device.json", "xr")
    device.create(SHOWS[RUNNING])
    return Opened(chassis, device, lambda: Session(chassis))


STAND_IN = StandIn("cisco_iosxr", "emulated/asr9006", PORTS, opens, has_routing=True)
