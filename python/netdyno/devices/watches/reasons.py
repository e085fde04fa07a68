"""Why a watch has no value at some time."""

from __future__ import annotations

from netdyno.values.reason import Codes, Reason, declared


class NoAnswer(Reason, code="no-answer"):
    """A ping was sent, and no answer came in time. within_ns: how long it was waited for."""

    within_ns: int

    def __str__(self) -> str:
        return f"No answer came within {self.within_ns / 1e6:g} ms."


class PingNotSent(Reason, code="ping-not-sent"):
    """The kernel refused to send a ping. error: the name of the error, `ENETUNREACH`."""

    error: str
    says = "The kernel did not send the ping ({error})."


REASONS: Codes = declared(globals())
