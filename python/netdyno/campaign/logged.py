"""Logs the events of a run by Python's `logging`: one line an event, as `key=value` pairs."""

from __future__ import annotations

import json
import logging
import sys

from netdyno.values.printable import printable
from netdyno.values.reason import Reason

LOG = logging.getLogger("netdyno")
LOG.addHandler(logging.NullHandler())


def log_event(level: int, event: str, **fields: object) -> None:
    """Logs an event and its fields."""
    pairs = (f"{name}={_plain(value)}" for name, value in fields.items())
    LOG.log(level, "%s", " ".join((f"event={event}", *pairs)))


def warn(reason: Reason) -> None:
    """Prints a warning on stderr, and logs it with the code of its reason."""
    # Commands to enter by hand stand in lines of their own.
    for line in f"warning: {reason.in_lines}".splitlines():
        print(printable(line), file=sys.stderr)
    log_event(logging.WARNING, "warning", code=reason.code, text=reason)


def _plain(value: object) -> str:
    """A value in one line; texts in quotes, as JSON has them."""
    return str(value) if isinstance(value, int) else json.dumps(printable(str(value)), ensure_ascii=False)
