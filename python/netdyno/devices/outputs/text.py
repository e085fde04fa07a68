"""The lines of an output, bounded and without what terminals add: the first look at hostile text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from netdyno.devices.outputs.refused import OutputError, not_understood, show

LONGEST_TEXT = 8 * 2**20
"""Bytes of an output, at most: 8 MiB."""

MOST_LINES = 200_000
"""Lines of an output, at most."""

LONGEST_LINE = 2048
"""Characters of a line, at most: the longest description of IOS-XR has half of that. It bounds each rule."""

_ESCAPES = re.compile(r"\x1b\[[0-9:;<=>?]*[ -/]*[@-~]")
"""Colours and cursor movements, which RouterOS prints into its tables."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_PAGING = re.compile(r"-- ?More ?--|<--- More --->|-- \[Q quit", re.IGNORECASE)

_REFUSAL = re.compile(
    r"(?:ERROR: )?% +[A-Za-z]"
    r"|bad command name |syntax error \(line |expected end of command |input does not match any value"
)
"""How a line begins with which a device refuses a command. A log message has no space after its `%`."""

_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} {1,2}[0-9]{1,2}"
_PREFACE = {
    "cisco_iosxr": re.compile(rf"{_DAY} [0-9:.]{{8,12}} \S+"),
    "cisco_iosxe": re.compile(r"Load for five secs: \S.*|Time source is \S.*"),
    "cisco_ios": re.compile(r"Load for five secs: \S.*|Time source is \S.*"),
}
"""Lines before the output proper: the time, as IOS-XR prints it, and IOS with `exec prompt timestamp`."""

_PAGING_HINT = "the device waits for a key at each page: switch paging off, `terminal length 0`"
_GARBLED_HINT = "a serial line or a pager garbles the text: repeat the command, with paging off"


class Line(NamedTuple):
    """A line that is not blank, without spaces around it. number: from 1, of the output as it came."""

    number: int
    text: str


def read_lines(system: str, command: str, text: str) -> tuple[Line, ...]:
    """The lines of an output that are not blank, without colours and the time printed in front.

    Raises OutputError: `too-long`; `command-refused`; `not-understood` for a pager, a control character, a
    line above `LONGEST_LINE` characters, or an output without any line.
    """
    # Each character has at least one byte: what is too long is not encoded first.
    is_long = len(text) > LONGEST_TEXT or len(text.encode("utf-8", "surrogatepass")) > LONGEST_TEXT
    if is_long or text.count("\n") > MOST_LINES:
        raise OutputError(
            f"`{command}`: the device printed more than {LONGEST_TEXT // 2**20} MiB or {MOST_LINES:,} lines",
            "ask for less: one interface, one VRF",
            code="too-long",
        )
    lines = tuple(_readable(command, text))
    preface = _PREFACE.get(system)
    while preface and lines and preface.fullmatch(lines[0].text):
        lines = lines[1:]
    if not lines:
        raise not_understood(command, None, "", "the device printed nothing: ask the device by hand")
    return lines


def _readable(command: str, text: str) -> Iterator[Line]:
    """Each line, or the error for the first that no device prints as an answer."""
    for number, raw in enumerate(text.split("\n"), 1):
        if len(raw) > 4 * LONGEST_LINE:
            raise not_understood(command, number, raw.strip(), _GARBLED_HINT)
        line = _ESCAPES.sub("", raw).rstrip("\r").strip(" \t")
        if len(line) > LONGEST_LINE:
            raise not_understood(command, number, line, _GARBLED_HINT)
        if _PAGING.search(line):
            raise not_understood(command, number, line, _PAGING_HINT)
        if _CONTROL.search(line):
            raise not_understood(command, number, line, _GARBLED_HINT)
        if _REFUSAL.match(line):
            raise OutputError(
                f"the device refused `{command}`: `{show(line)}`",
                "the login may lack the right, or the release may lack the command: try it by hand",
                code="command-refused",
                line=number,
                shown=show(line),
            )
        if line:
            yield Line(number, line)
