"""Why an output cannot be parsed: the error of this package, with its fields."""

from __future__ import annotations

from netdyno.devices.hiding import hide_secrets
from netdyno.devices.wiring import LabError

LONGEST_SHOWN = 80
"""Printable characters of a line in a message, at most."""


class OutputError(LabError):
    """An output of a device has no rows that can be relied on. Exit code 3.

    line: number of the line, from 1; None: the output as a whole. shown: that line, printable, at most 80
    characters. printed, counted: the total that the device printed, and the one of its rows.
    """

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        code: str,
        line: int | None = None,
        shown: str = "",
        printed: str | None = None,
        counted: str | None = None,
    ) -> None:
        super().__init__(message, hint, code=code)
        self.line = line
        self.shown = shown
        self.printed = printed
        self.counted = counted


def show(line: str) -> str:
    """A line of a device for a message: printable, at most 80 characters, without secrets."""
    cut = hide_secrets(line[: 4 * LONGEST_SHOWN])[:LONGEST_SHOWN]
    escaped = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in cut)
    return escaped if len(escaped) <= LONGEST_SHOWN else f"{escaped[: LONGEST_SHOWN - 3]}..."


def not_understood(command: str, line: int | None, text: str, hint: str) -> OutputError:
    """The error for a line that no rule of the template knows; line None: for what is missing at the end."""
    shown = show(text)
    place = f"line {line}" if line else "the end"
    return OutputError(
        f"`{command}`: {place} of the output is not understood: `{shown}`",
        hint,
        code="not-understood",
        line=line,
        shown=shown,
    )
