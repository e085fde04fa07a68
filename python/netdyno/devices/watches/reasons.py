"""Why a watch has no value at some time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from netdyno.errors import counted
from netdyno.values.number import duration
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


LostAt: TypeAlias = Literal["policer", "ingress", "card", "box", "shaper", "priority", "class", "line"]
_PLACES: Mapping[LostAt, str] = {
    "policer": "the policer of {}",
    "ingress": "the ingress queue of {}",
    "card": "the queue of a card",
    "box": "the queue of the box",
    "shaper": "the queue of the shaper of {}",
    "priority": "the priority queue of the shaper of {}",
    "class": "the queue of class {}",
    "line": "the egress queue of {}",
}


class NeighbourSilent(Reason, code="neighbour-silent"):
    """An end of an adjacency heard no hello for its dead interval (RFC 2328 section 10.2, InactivityTimer).

    who: which end. within_ns: the interval. hellos: of the other end, that the device lost in it. place, of:
    where the last of them was lost.
    """

    who: Literal["tester", "device"]
    within_ns: int
    hellos: int
    place: LostAt
    of: str

    def __str__(self) -> str:
        place = _PLACES[self.place].format(self.of)
        whose = "of its own" if self.who == "tester" else "of the tester"
        lost = f"the device lost {counted(self.hellos, 'hello')} {whose} in {place}"
        return f"The {self.who} heard no hello for {duration(self.within_ns)}: {lost}."


class NeighbourLeftOut(Reason, code="neighbour-left-out"):
    """An end of an adjacency went down though no hello to it was lost in a queue.

    A link went down, or the other end had given it up (RFC 2328 section 10.2, 1-WayReceived)."""

    who: Literal["tester", "device"]
    says = "The {who} lost the adjacency, and no hello to it was lost in a queue."


REASONS: Codes = declared(globals())
