"""The command line of a network operating system, as data; and the protocol of an open session with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Configuring:
    """How configuration is entered and takes effect.

    enter, leave: the commands of configuration mode. commit: makes the entered text effective; None: each
    line is effective at once. confirmed: commits for `{seconds}` only, unless `commit` follows; None: it
    cannot. abort: leaves without committing.
    """

    enter: str = "configure terminal"
    leave: str = "end"
    commit: str | None = None
    confirmed: str | None = None
    abort: str | None = None


@dataclass(frozen=True)
class Shell:
    """The command line of one operating system.

    netmiko: its device type there. refused: patterns of a line that refuses a command. running: the command
    that prints the running configuration. volatile: patterns of its lines that change by themselves, such as
    dates. comment: begins a line that the device ignores. grammar: its name in
    `configure.grammars`; None: it has none. echo: a command that prints `netdyno-{number}`, for a terminal
    that prints what is typed before it is read; empty: it prints a line when it takes it. user_mode: the end
    of the prompt of a login without privileges; empty: there is none.
    """

    netmiko: str
    refused: tuple[str, ...]
    running: str
    volatile: tuple[str, ...] = ()
    comment: str = "!"
    configuring: Configuring | None = None
    grammar: str | None = None
    echo: str = ""
    user_mode: str = ""


class Cli(Protocol):
    """An open session with a device's command line."""

    @property
    def shell(self) -> Shell:
        """What it speaks."""
        ...

    def ask(self, command: str, within_s: float = 15.0) -> str:
        """What the device prints for one command, without the echo and the prompt.

        Raises LabError: `device-silent`, `session-lost`, `command-refused`.
        """
        ...

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        """Enters configuration text as a whole and commits it; returns what the device printed.

        confirm_s: commits for so long only, where the system can. Nothing is effective if a line is refused
        and the system commits. Raises LabError as `ask`.
        """
        ...

    def confirm(self) -> None:
        """Makes a commit for a time permanent. Raises LabError as `ask`."""
        ...
