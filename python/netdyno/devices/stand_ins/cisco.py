"""A command line as IOS, IOS XE, ASA and FSOS have it: privileges, configuration mode, refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from netdyno.devices.drivers.system import System
from netdyno.devices.stand_ins.chassis import Chassis, short
from netdyno.devices.stand_ins.routing import Routing
from netdyno.devices.stand_ins.sections import Editor, RefusedError, Sections
from netdyno.devices.stand_ins.stand_in import RUNNING, Opened, texts
from netdyno.devices.stand_ins.terminal import BACKSPACES, Terminal


@dataclass(frozen=True)
class Model:
    """One system. texts: what its commands print, of `texts/NAME.txt`. port: the command for a port.

    running: frames its configuration. sections: the prompt of each kind of section. invalid: how it refuses.
    denied: what it prints for a wrong password of privileged mode, and at the last one. paging: the command
    that sets the lines of a page. quiet: commands that print nothing. begins: what it prints as configuration
    mode begins. wraps: of the counters of frames. routing: its commands of routing, and what they print.
    asks: what it asks at privileged mode.
    """

    texts: str
    host: str
    port: str
    running: Callable[[str], str]
    sections: Mapping[str, str]
    invalid: str
    denied: tuple[str, str]
    paging: str = "terminal length"
    quiet: tuple[str, ...] = ()
    begins: str = "Enter configuration commands, one per line.  End with CNTL/Z."
    banner: str = ""
    more: str = " --More-- "
    erase: str = BACKSPACES
    asks: str = "Password: "
    space: str = ""
    """Behind a prompt."""
    wraps: int = 2**64
    routing: Callable[[Routing], Mapping[str, str]] = lambda _: {}
    shows: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shows", texts(self.texts))


class Session(Terminal):
    """One login."""

    def __init__(self, model: Model, chassis: Chassis) -> None:
        self.model, self.chassis = model, chassis
        self.banner, self.more, self.erase = model.banner, model.more, model.erase
        self.privileged = not chassis.enable
        self.asking: list[str] = []
        """What it waits for: `user`, `login`, or `enable` as often as that may still be wrong."""
        self.editor: Editor | None = None
        self.section = ""
        """What the line that began the section names."""

    @property
    def silent_s(self) -> float:  # type: ignore[override]
        return self.chassis.routing.silent_s

    @property
    def hidden(self) -> bool:  # type: ignore[override]
        return bool(self.asking) and self.asking[0] != "user"

    @property
    def prompt(self) -> str:
        if self.asking:
            return "Username: " if self.asking[0] == "user" else self.model.asks
        mode = ""
        if self.editor is not None:
            name = self.model.sections.get(self.editor.stack[-1][0], "").format(self.section)
            mode = f"(config{name})"
        return f"{self.model.host}{mode}{'#' if self.privileged else '>'}{self.model.space}"

    def run(self, line: str) -> str | None:
        words = line.split()
        plain = " ".join(words)
        if self.asking:
            return self._take(line)
        if not words or words[0] == "!":
            return self.chassis.take(line) or ""
        if self.editor is not None and not plain.startswith("show "):
            return self._configure(plain)
        if plain in ("exit", "logout", "quit"):
            return None
        if plain == "enable":
            self.asking = [] if self.privileged else ["enable"] * 3
            return ""
        if plain == "login":
            self.asking = ["user", "login"]
            return ""
        if plain.startswith(f"{self.model.paging} "):
            self.page = int(words[-1])
            return ""
        if plain.startswith(self.model.quiet or "\n"):
            return ""
        if plain == "configure terminal" and self.privileged and self.chassis.device is not None:
            self.state = self.chassis.device.load()
            self.editor = Editor(self.chassis.device.system, self.state["running"])
            return self.model.begins
        answer = self._show(plain)
        return f"{self.model.invalid} {self.chassis.leak}" if answer is None else answer

    def _take(self, line: str) -> str:
        """What is entered at the prompt for a name or a password."""
        what = self.asking.pop(0)
        if what == "user":
            return ""
        right = {"enable": self.chassis.enable, "login": self.chassis.password}[what]
        if line == right:
            self.privileged, self.asking = True, []
            return ""
        return self.model.denied[0 if self.asking else 1]

    def _configure(self, line: str) -> str:
        """A line of configuration mode, effective at once."""
        assert self.chassis.device is not None
        assert self.editor is not None
        if line == "end" or (line == "exit" and len(self.editor.stack) == 1):
            self.editor = None
            return ""
        try:
            self.editor.enter(line)
        except RefusedError:
            return self.model.invalid
        if line.startswith("interface "):
            self.section = line.partition(" ")[2]
        self.chassis.device.save(self.state)
        return ""

    def _show(self, plain: str) -> str | None:
        if plain in self.chassis.prints:
            return self.chassis.prints[plain]
        if plain == RUNNING:
            device = self.chassis.device
            return None if device is None or not self.privileged else self.model.running(device.text())
        form = self.model.shows[f"{self.model.port} {{name}}"]
        if plain.startswith(f"{self.model.port} ") and plain not in self.model.shows:
            name = plain[len(self.model.port) + 1 :]
            counted = self.chassis.counted(name)
            if counted is None:
                return None
            return form.format(name=name, **{what: n % self.model.wraps for what, n in counted.items()})
        shown = self.model.shows.get(plain) or self.model.routing(self.chassis.routing).get(plain)
        return shown + self.chassis.leak if plain == "show version" and shown else shown


def opens(model: Model, system: str, driver: System) -> Callable[[Chassis, Path], Opened]:
    """Starts one of this model. system: in `lines.SYSTEMS`. driver: knows the long names of ports."""

    def opened(chassis: Chassis, folder: Path) -> Opened:
        device = chassis.device = Sections(folder / "device.json", system)
        text = model.shows[RUNNING]
        own = {short(name) for name in re.findall(r"^interface (.+)$", text, re.MULTILINE)}
        others = [f"interface {driver.long_name(name)}\n" for name in chassis.names if short(name) not in own]
        device.create(text + "".join(others))
        return Opened(chassis, device, lambda: Session(model, chassis))

    return opened
