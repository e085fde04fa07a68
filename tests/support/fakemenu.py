"""A session with a RouterOS, without SSH; it may be killed at each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from netdyno.devices.drivers.routeros import DRIVER
from netdyno.devices.shell import Shell
from netdyno.devices.stand_ins.menus import MenuDevice, RefusedError
from netdyno.devices.wiring import LabError


@dataclass
class FakeConsole:
    """A session as `Cli`. step: called around everything that the device does; it may kill."""

    device: MenuDevice
    step: Callable[[str], None] = lambda _what: None

    @property
    def shell(self) -> Shell:
        """RouterOS's."""
        return DRIVER.shell

    def ask(self, command: str, within_s: float = 15.0) -> str:
        """Only its configuration."""
        assert command == self.shell.running
        self.step("ask")
        text = self.device.text()
        self.step("asked")
        return f"# jan/02/1970 00:00:11 by RouterOS 6.44.2\n{text}".replace("\n", "\r\n")

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        """Each line at once."""
        refused = ""
        for line in text.splitlines():
            self.step("line")
            try:
                self.device.enter(line)
            except RefusedError as error:
                refused = refused or str(error)
            self.step("entered")
        if refused:
            raise LabError(refused, code="command-refused")
        return ""

    def confirm(self) -> None:
        """It has none."""
        raise AssertionError
