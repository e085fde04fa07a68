"""Passwords and communities of devices: from the environment alone, and never printed.

A variable for one device comes first, `NETDYNO_<HOST>_<NAME>`, then the one for all, `NETDYNO_<NAME>`. HOST
is the device's host in capitals with `_` for all but letters and digits: `NETDYNO_R1_EXAMPLE_NET_PASSWORD`.
"""

from __future__ import annotations

import json
import os
import re
import resource
from contextlib import suppress
from threading import Lock
from typing import NoReturn

PREFIX = "NETDYNO_"
HIDDEN = "***"
PUBLIC = ("USER", "SNMP_USER")
"""Names of users: not printed here either, but no secrets, and words that a device's own text may hold."""

_read: set[str] = set()
"""Every secret that was read in this process, and how JSON and Python write it."""
_lock = Lock()


class Secret:
    """A secret. Printed or formatted it shows nothing; it cannot be copied to another process."""

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        self.__value = value

    def reveal(self) -> str:
        """The secret itself, for whoever logs in with it."""
        return self.__value

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})"

    def __str__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere")


def variables(name: str, host: str) -> tuple[str, str]:
    """The environment variables that `find` looks at, in order."""
    own = re.sub(r"[^A-Z0-9]", "_", host.upper())
    return f"{PREFIX}{own}_{name}", f"{PREFIX}{name}"


def find(name: str, host: str) -> Secret | None:
    """The secret of this name for a host; None if no variable has it, or an empty one.

    name: without `NETDYNO_`: `USER`, `PASSWORD`, `ENABLE`, `SNMP_COMMUNITY`, `SNMP_USER`, `SNMP_AUTH`,
    `SNMP_PRIV`. From then on `redact` hides it, unless it is the name of a user.
    """
    value = next((found for found in map(os.environ.get, variables(name, host)) if found), None)
    if value is None:
        return None
    if name not in PUBLIC:
        hide(value)
        _prevent_core_dumps()
    return Secret(value)


def _prevent_core_dumps() -> None:
    """Keeps the memory of this process, and of those that it starts from now on, from any core dump.

    A limit of 1 byte: where a program takes the dumps, Linux asks it in spite of a limit of 0 (core(5)).
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (hard if 0 <= hard < 1 else 1, hard))


def hide(value: str) -> None:
    """From now on `redact` hides this: a part of a secret, or one from elsewhere."""
    if value:
        with _lock:
            _read.update((value, json.dumps(value)[1:-1], repr(value)[1:-1]))


def redact(text: str) -> str:
    """The text with `***` for every secret that was read in this process."""
    with _lock:
        known = sorted(_read, key=len, reverse=True)
    if not known:
        return text
    # In one pass: what stands for one secret is not searched for another.
    return re.sub("|".join(map(re.escape, known)), HIDDEN, text)
