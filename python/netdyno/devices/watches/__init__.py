"""Watches of a device beside the traffic: pings, routing adjacencies, answers of its command line.

ping       an instrument that pings one address, and its echo messages as bytes
adjacency  an instrument that asks a routing daemon for its neighbours
bird, frr  what BIRD and FRR say of their neighbours
by_cli     asks a device's routing daemons by its command line
"""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.values.breaks import ADJACENCY, ANSWERS, PING

DEVICE = "device"
NEIGHBOUR = "neighbour"
"""Names a plan may ping in place of addresses, of a router that netdyno builds."""


@dataclass(frozen=True)
class Ping:
    """A series of pings. to: an address, or a name that the lab has an address for. interface: of this
    machine, which they leave by; empty: the one of its route. every_ns: time from one to the next."""

    to: str
    interface: str = ""
    every_ns: int = 10**8


@dataclass(frozen=True)
class Watch:
    """What is watched beside the traffic.

    adjacencies: those of the device's routing protocols. cli_ns: the longest that its command line may take
    to answer; None: that is not watched. members: those of LAGs of the tester.
    """

    pings: tuple[Ping, ...] = ()
    adjacencies: bool = False
    cli_ns: int | None = None
    members: bool = False

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of the series of all that is watched."""
        asked = (
            (PING, bool(self.pings)),
            (ADJACENCY, self.adjacencies or self.members),
            (ANSWERS, self.cli_ns is not None),
        )
        return tuple(source for source, is_asked in asked if is_asked)
