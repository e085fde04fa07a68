"""An instrument that asks routing daemons for their adjacencies, once a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from netdyno.devices.live import Channel, InSeries
from netdyno.values.breaks import ADJACENCY
from netdyno.values.sample import Printed, Sample

WITHIN_S = 1.0
GONE = "gone"
"""State of a neighbour that is no longer listed."""


@dataclass(frozen=True)
class Adjacency:
    """A neighbour of a routing protocol, and whether routes are exchanged with it.

    state: in the protocol's words. is_up: of OSPF in state Full (RFC 2328 section 10.1), of BGP in state
    Established (RFC 4271 section 8.2.2).
    """

    protocol: str
    neighbour: str
    state: str
    is_up: bool

    @property
    def subject(self) -> str:
        """`OSPF neighbour 192.0.2.1`."""
        return f"{self.protocol} neighbour {self.neighbour}"


@dataclass
class AdjacencyInstrument(InSeries):
    """Adjacencies of a device's routing daemons.

    A neighbour is watched from the first time that it is up: one that is only configured is none to lose.
    ask: returns its neighbours within so many seconds, or raises LabError. asked: the commands, for the
    transcript.
    """

    ask: Callable[[float], tuple[Adjacency, ...]]
    asked: str
    within_s: float = WITHIN_S
    period_s: float = 1.0
    _known: dict[str, None] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The source of its series."""
        return ADJACENCY

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """1 for each neighbour that is up, 0 for one that was and is not. Raises LabError."""
        asked_ns = now()
        found = self.ask(self.within_s)
        answered_ns = now()
        states = {one.subject: one for one in found}
        self._known |= {one.subject: None for one in found if one.is_up}
        return {
            Channel(subject, "adjacency", "up"): Sample(
                asked_ns,
                answered_ns,
                int(subject in states and states[subject].is_up),
                raw=Printed(self.asked, f"{subject}: {states[subject].state if subject in states else GONE}"),
            )
            for subject in self._known
        }
