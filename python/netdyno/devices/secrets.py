"""Secrets of devices: from the environment alone, never shown.

A host's own name comes first: `NETDYNO_FRIDGE_PASSWORD` before `NETDYNO_PASSWORD`.
"""

from __future__ import annotations

import os
import re

PREFIX = "NETDYNO"
HIDDEN = "***"
USER, PASSWORD, ENABLE = "USER", "PASSWORD", "ENABLE"
_SHORTEST = 3
"""Shorter ones are not searched for in texts: they would be found in any word."""

_read: set[str] = set()


class Secret:
    """A secret that no text shows. `reveal` gives it to the library that sends it."""

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself."""
        return self._value

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        raise TypeError("a secret is not stored or sent to another process")


def names(name: str, host: str) -> tuple[str, str]:
    """The variables that may hold a secret, the host's own first."""
    own = re.sub(r"[^A-Z0-9]+", "_", host.upper()).strip("_")
    return f"{PREFIX}_{own}_{name}", f"{PREFIX}_{name}"


def find(name: str, host: str) -> Secret | None:
    """The secret of a host; None if no variable has it."""
    for variable in names(name, host):
        value = os.environ.get(variable)
        if value:
            _read.add(value)
            return Secret(value)
    return None


def redact(text: str) -> str:
    """The text with every secret that this process has read replaced by `***`."""
    for value in sorted(_read, key=len, reverse=True):
        if len(value) >= _SHORTEST:
            text = text.replace(value, HIDDEN)
    return text
