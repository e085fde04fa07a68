"""Text of others on a terminal: a title from a plan must not steer the terminal that shows it."""

from __future__ import annotations

import re
import textwrap
from functools import lru_cache

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters (ECMA-48, C0 and C1) and those that turn the direction of what follows."""


_CONTROL_OF_A_PAGE = re.compile(r"(?![\t\n])" + _CONTROL.pattern)
"""The same without what only lays text out."""


def printable(text: str) -> str:
    """One line of text, each control character replaced by U+FFFD."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


@lru_cache(maxsize=4096)
def printable_lines(text: str) -> str:
    """The same of a text that may have several lines and tabs, such as a plan."""
    return _CONTROL_OF_A_PAGE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


_SPACE = "\x1f"


def wrap(text: str, width: int, first: str = "", other: str = "") -> list[str]:
    """A text in lines of a width. No path and no command is broken, which somebody may want to copy: such a
    line may be longer. first, other: what the first line, and each other one, begins with."""
    joined = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", _SPACE), text)
    lines = textwrap.wrap(
        joined,
        width,
        initial_indent=first,
        subsequent_indent=other,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_SPACE, " ") for line in lines]
