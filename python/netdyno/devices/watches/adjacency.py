"""An instrument that asks a routing daemon for its adjacencies, once a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netdyno.devices.live import Channel
from netdyno.devices.watches.bird import COMMANDS, Adjacency, ask_bird
from netdyno.values.breaks import ADJACENCY
from netdyno.values.sample import Printed, Sample

WITHIN_S = 1.0
ASKED = "; ".join(COMMANDS)
GONE = "gone"
"""State of a neighbour that is no longer listed."""


@dataclass
class AdjacencyInstrument:
    """Adjacencies of the BIRD with this control socket.

    A neighbour is watched from the first time that it is up: one that is only configured is none to lose.
    ask: how the daemon is asked; for tests.
    """

    path: Path
    period_s: float = 1.0
    ask: Callable[[Path, float], tuple[Adjacency, ...]] = ask_bird
    _known: dict[str, None] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The source of its series."""
        return ADJACENCY

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """1 for each neighbour that is up, 0 for one that was and is not. Raises LabError."""
        asked_ns = now()
        found = self.ask(self.path, WITHIN_S)
        answered_ns = now()
        states = {one.subject: one for one in found}
        self._known |= {one.subject: None for one in found if one.is_up}
        return {
            Channel(subject, "adjacency", "up"): Sample(
                asked_ns,
                answered_ns,
                int(subject in states and states[subject].is_up),
                raw=Printed(ASKED, f"{subject}: {states[subject].state if subject in states else GONE}"),
            )
            for subject in self._known
        }

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> Mapping[str, Any] | None:
        """Its series say all."""
        return None
