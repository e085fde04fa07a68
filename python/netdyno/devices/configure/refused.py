"""The error of a text with lines that may not be entered: all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netdyno.devices.hiding import hide_secrets
from netdyno.devices.secrets import HIDDEN
from netdyno.devices.wiring import LabError
from netdyno.errors import counted

MOST_SHOWN = 10
"""Lines that the message has."""


@dataclass(frozen=True)
class RefusedLine:
    """A line that may not be entered. number: in the text, from 1.

    place: file and line of its template; empty: unknown. line: with the sections it is in, ` / ` between
    them. is_command: `allow:` does not allow it either. in_full: the lab's port that its name abbreviates.
    """

    number: int
    place: str
    line: str
    why: str
    is_command: bool = False
    in_full: str = ""

    @property
    def message(self) -> str:
        """Place, line and reason."""
        return f"{self.place or f'line {self.number}'}: `{hide_secrets(self.line)}`: {self.why}"

    @property
    def hint(self) -> str:
        """What to do about it."""
        if self.is_command:
            return "a template may only hold configuration: take the line out"
        if self.in_full:
            return f"write `{self.in_full}`, as the device prints it"
        # An entry of `allow` is the begin of a line: none need hold the secret.
        written = hide_secrets(self.line).replace(" / ", " ").partition(HIDDEN)[0].rstrip()
        allow = f"write `{written}` in `allow:` of the plan: a run then enters it, and undoes it at the end"
        return f"take the line out, or {allow}"


class NotAllowedError(LabError):
    """Lines of a text may not be entered. lines: all of them, in the order of the text."""

    def __init__(self, lines: Sequence[RefusedLine], *, code: str) -> None:
        self.lines = tuple(lines)
        count = len(self.lines)
        verb = "is" if count == 1 else "are"
        shown = [one.message for one in self.lines[:MOST_SHOWN]]
        shown += [f"and {count - MOST_SHOWN} more"] if count > MOST_SHOWN else []
        super().__init__(
            f"{counted(count, 'configuration line')} {verb} not allowed: {'; '.join(shown)}.",
            self._hint(),
            code=code,
        )

    def _hint(self) -> str:
        return next((one for one in self.lines if not one.is_command), self.lines[0]).hint
