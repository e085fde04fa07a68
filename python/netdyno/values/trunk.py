"""A line inside the device that frames between its halves share, and what tags on it take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from netdyno.values.rates import WIRE_OVERHEAD


@dataclass(frozen=True)
class Trunk:
    """A line between two halves of the device, as declared.

    rate_bps: L1 bits per second, each way. near: numbers of the tester's ports on its first half. more_bytes:
    what each frame has more on it than on the ports: a tag has 4. queue: frames that wait for it each way; 0:
    unknown.
    """

    rate_bps: int
    near: tuple[int, ...]
    more_bytes: int = 0
    queue: int = 0

    def side(self, tx: int, rx: int) -> bool | None:
        """Which way a stream between these ports crosses it: True from its near half; None: not at all."""
        is_near = tx in self.near
        return is_near if is_near != (rx in self.near) else None

    def lost_share(self, streams: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
        """The share of the frames of one way that it has no room for, 0 to 1.

        streams: frames per second and mean bytes a frame, FCS counted, of each stream that crosses. Frames of
        all sizes are taken to be lost alike: 1 - rate / (sum of fps x 8 x (bytes + 20 + more_bytes)).
        """
        extra = WIRE_OVERHEAD + self.more_bytes
        wanted = sum((fps * 8 * (size + extra) for fps, size in streams), Fraction(0))
        return max(1 - Fraction(self.rate_bps) / wanted, Fraction(0)) if wanted else Fraction(0)
