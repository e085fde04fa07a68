"""A session with a device whose configuration has sections, without SSH; it may be killed at each step."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

from netdyno.devices.shell import Configuring, Shell
from netdyno.devices.stand_ins.sections import Editor, RefusedError, Sections
from netdyno.devices.wiring import LabError

SHELLS = {
    "xr": Shell(
        "cisco_xr",
        (),
        "show running-config",
        (r"^!! ", r"^Building"),
        configuring=Configuring(commit="commit", confirmed="commit confirmed {seconds}", abort="abort"),
        grammar="cisco_xr",
    ),
    "ios": Shell(
        "cisco_ios", (), "show running-config", (r"^Current",), configuring=Configuring(), grammar="fs_os"
    ),
    "router": Shell(
        "cisco_ios", (), "show running-config", (r"^Current",), configuring=Configuring(), grammar="cisco_ios"
    ),
    "xe": Shell(
        "cisco_ios", (), "show running-config", (r"^Current",), configuring=Configuring(), grammar="cisco_ios"
    ),
    "asa": Shell(
        "cisco_asa",
        (),
        "show running-config",
        (r"^: (?:Saved|Serial)", r"^Cryptochecksum:"),
        configuring=Configuring(),
        grammar="cisco_asa",
    ),
}
FRAME = """\
Sun Nov  1 00:00:{clock:02}.123 UTC
Building configuration...
!! Last change {clock}
Current configuration : {clock} bytes
!
{text}end

"""
FRAMES = {"asa": ": Saved\n\n: Serial Number: JMX{clock}\n!\n{text}Cryptochecksum:{clock:032x}\n: end\n"}
"""What is printed around `{text}`, with a `{clock}` that counts."""


def _ignore(_what: str) -> None:
    pass


@dataclass
class FakeCli:
    """A session. step: called around everything that the device does, with what that is; it may kill."""

    device: Sections
    step: Callable[[str], None] = _ignore

    @property
    def shell(self) -> Shell:
        """Of its system."""
        return SHELLS[self.device.name]

    def ask(self, command: str, within_s: float = 15.0) -> str:
        """Only its running configuration."""
        assert command == self.shell.running
        self.step("ask")
        self.device.pass_time(1)
        clock = self.device.load()["clock"]
        text = self.device.text()
        self.step("asked")
        return FRAMES.get(self.device.name, FRAME).format(clock=clock % 60, text=text).replace("\n", "\r\n")

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        """Candidate and commit, or each line at once."""
        state = self.device.load()
        running = state["running"]
        if self.device.system.has_candidate:
            state["running"] = copy.deepcopy(running)
        editor = Editor(self.device.system, state["running"])
        for line in text.splitlines():
            self.step("line")
            try:
                editor.enter(line.strip())
            except RefusedError as error:
                raise LabError(f"refused: {line.strip()}", code="command-refused") from error
            if not self.device.system.has_candidate:
                self.device.save(state)
            self.step("entered")
        if self.device.system.has_candidate:
            self.step("commit")
            try:
                self.device.commit(state, running, confirm_s)
            except RefusedError as error:
                raise LabError(f"% Failed to commit: {error}", code="command-refused") from error
            self.step("committed")
        return ""

    def confirm(self) -> None:
        """Ends the time of a commit."""
        self.step("confirm")
        self.device.save(self.device.load() | {"trial": None})
        self.step("confirmed")
