"""Why a watch has no value at some time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class NoAnswer(Reason):
    """A ping was sent, and no answer came in time. within_ns: how long it was waited for."""

    code: ClassVar[str] = "no-answer"
    within_ns: int

    def __str__(self) -> str:
        return f"No answer came within {self.within_ns / 1e6:g} ms."


@dataclass(frozen=True)
class PingNotSent(Reason):
    """The kernel refused to send a ping. error: the name of the error, `ENETUNREACH`."""

    code: ClassVar[str] = "ping-not-sent"
    error: str

    def __str__(self) -> str:
        return f"The kernel did not send the ping ({self.error})."


REASONS: Codes = declared(globals())
