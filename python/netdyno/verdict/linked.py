"""What links without carrier lost in the trials of some evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdyno.stats.carrier import CarrierSpan
from netdyno.values.outcome import CarrierCause


@dataclass(frozen=True)
class Linked:
    """What links without carrier lost in some trials.

    losses: of the carrier. lost: frames, by stream. undated: of these, those that may as well have been lost
    otherwise. behind: those lost after a link was there again, while others came back.
    """

    losses: tuple[CarrierSpan, ...]
    lost: Mapping[str, int] = field(default_factory=dict)
    undated: int = 0
    behind: int = 0

    def lost_of(self, scope: str) -> int:
        """Frames of one stream, or of all."""
        return sum(self.lost.values()) if scope == "sum" else self.lost.get(scope, 0)

    @property
    def times(self) -> int:
        """How often a carrier was lost."""
        return sum(loss.times for loss in self.losses)

    @property
    def without_ns(self) -> int:
        """How long there was no carrier, all ports together."""
        return sum(loss.duration_ns for loss in self.losses)

    @property
    def ports(self) -> tuple[str, ...]:
        """Ports whose carrier was lost."""
        return tuple(dict.fromkeys(loss.port for loss in self.losses))

    @property
    def cause(self) -> CarrierCause:
        """`device` only if the device did it each time, and every frame was lost to that."""
        is_sure = not self.undated and all(loss.cause == "device" for loss in self.losses)
        return "device" if is_sure else "link"
