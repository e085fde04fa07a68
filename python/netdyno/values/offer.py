"""What a tester can offer and a method can need."""

from __future__ import annotations

from enum import StrEnum


class Offer(StrEnum):
    """One thing that a tester can do. The text is how people read it."""

    FRAMES = "loads of frames"
    CONNECTIONS = "loads of connections"
    SERVERS = "a server on another host in place of a port"
    LATENCY = "latency of frames"
    FLOW_LOSS = "loss of each stream"
    ORDER = "order of frames"
    VIRTUAL_TIME = "virtual time"
    EVENTS = "events while traffic runs"


EVERY_OFFER = frozenset(Offer)
ENGINE_OFFERS = EVERY_OFFER - {Offer.CONNECTIONS, Offer.SERVERS}
"""Of the engine, which sends frames and opens no connections."""
