"""What is known of one output: its names, its template, its totals, and how sure its template is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from netdyno.devices.outputs.totals import Total

_PLACES = {
    "interface": r"[A-Za-z][A-Za-z-]* ?[0-9]+(?:[/.:][A-Za-z0-9]+)*",
    "number": r"[0-9]+",
}
"""What a command may have in place of `{interface}` and `{number}`; all other words match as they are."""

Proof = Literal["transcript", "written"]
"""`transcript`: somebody's session, with source and date. `written`: typed from documents."""


@dataclass(frozen=True)
class Output:
    """One output of one system.

    command: as a driver sends it; aliases: the same, abbreviated. source: author, title and date of the
    transcript that the template reads; empty: none. totals: what the device prints and the rows add up to.
    always: fields that each row has. unique: fields that no two rows share. is_table: a header without rows
    is right. file: of the template, where several outputs share it, or `ntc:` and a file of ntc-templates.
    """

    system: str
    command: str
    source: str = ""
    aliases: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()
    always: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()
    is_table: bool = False
    file: str = ""

    @property
    def template(self) -> str:
        """The file of its template: by default the system, and the command with dashes."""
        return self.file or f"{self.system}_{self.command.replace(' ', '-')}.textfsm"

    @property
    def proof(self) -> Proof:
        """How sure it is that devices print what the template reads."""
        return "transcript" if self.source else "written"

    def is_of(self, system: str, command: str) -> bool:
        """Whether a command of a system prints this. Spaces count as one; nothing else is abbreviated."""
        words = " ".join(command.split())
        return system == self.system and any(
            _pattern(name).fullmatch(words) for name in (self.command, *self.aliases)
        )


@cache
def _pattern(command: str) -> re.Pattern[str]:
    """A command with its places."""
    written = re.escape(command)
    for name, place in _PLACES.items():
        written = written.replace(re.escape(f"{{{name}}}"), place)
    return re.compile(written)
