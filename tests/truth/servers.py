"""What devices are made of, by published rules: frames, token buckets, servers. Times are whole picoseconds.

No line of this is the engine's or the device's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from closed_forms import SECOND, last_bit_ps, wire_bits
from model import Bucket, whole

LINE = 100_000_000
"""L1 rate of every line, bits per second."""


@cache
def line_time(size: int, rate: int = LINE) -> int:
    """How long a frame holds a line, gap and preamble counted, ps."""
    return whole(wire_bits(size) * SECOND, rate)


@cache
def bits_time(size: int, rate: int = LINE) -> int:
    """From the first bit of the preamble to the last bit of the frame, ps."""
    return last_bit_ps(size, rate)


@dataclass(slots=True)
class Packet:
    """A frame on its way."""

    stream: int
    number: int
    """In its stream, from 0."""
    departure: int
    at: int
    size: int
    traffic: str = ""
    """The class it is of."""
    corrupted: bool = False

    def again(self, at: int) -> Packet:
        """Another one of it, at another time."""
        return Packet(self.stream, self.number, self.departure, at, self.size, self.traffic, self.corrupted)


class Gcra:
    """A token bucket, full at first, of L2 bits: the virtual scheduling algorithm of ITU-T I.371 Annex A.

    A frame of cost T conforms at t if the theoretical arrival time, TAT, is not beyond t + depth - T, and
    moves it to max(TAT, t) + T.
    """

    def __init__(self, bucket: Bucket) -> None:
        self.rate, self.depth = bucket.rate, whole(bucket.depth * 8 * SECOND, bucket.rate)
        self.tat = 0
        self.costs: dict[int, int] = {}

    def cost(self, size: int) -> int:
        """How long the bits of a frame take to come in."""
        if size not in self.costs:
            self.costs[size] = whole(size * 8 * SECOND, self.rate)
        return self.costs[size]

    def ready(self, size: int) -> int:
        """From when on a frame conforms."""
        return self.tat + self.cost(size) - self.depth

    def take(self, at: int, size: int) -> None:
        self.tat = max(self.tat, at) + self.cost(size)


class Server:
    """Takes the same time for each frame, or for each of its bits; `queue` wait (D/D/1/K).

    weary: for so long after a frame found no room every so many of those that come is lost, counted from the
    first behind the first that found none. beyond: bytes that count besides those of a frame.
    """

    def __init__(
        self,
        rate: int,
        queue: int,
        weary: tuple[int, int] | None = None,
        *,
        bits: bool = False,
        beyond: int = 0,
    ) -> None:
        self.rate, self.bits, self.queue, self.beyond = rate, bits, queue, beyond
        self.inside: deque[int] = deque()
        self.weary, self.until, self.since = weary, 0, 0
        self.times: dict[int, int] = {}

    def served(self, at: int, size: int = 0) -> int | None:
        """When a frame is done that comes at `at`; None if there is no room for it."""
        inside = self.inside
        while inside and inside[0] <= at:
            inside.popleft()
        if self.weary is not None:
            self.since = self.since + 1 if at < self.until else 0
            if self.since and self.since % self.weary[1] == 0:
                return None
        if len(inside) > self.queue:
            self.until = at + (self.weary[0] if self.weary is not None else 0)
            return None
        done = max(inside[-1] if inside else 0, at) + self._time(size)
        inside.append(done)
        return done

    def _time(self, size: int) -> int:
        if size not in self.times:
            cost = (size + self.beyond) * 8 if self.bits else 1
            self.times[size] = whole(cost * SECOND, self.rate)
        return self.times[size]


def line(packets: Iterable[Packet], room: int, free: int, rate: int) -> tuple[list[tuple[int, Packet]], int]:
    """When each frame begins that finds room at a line, and when the line is free then (D. V. Lindley 1952).

    packets: in order of time, of which `room` may wait. free: from when on the line is.
    """
    waiting: deque[int] = deque()
    begun = []
    for packet in packets:
        at = packet.at
        while waiting and waiting[0] <= at:
            waiting.popleft()
        if len(waiting) >= room:
            continue
        begin = max(free, at)
        if begin > at:
            waiting.append(begin)
        free = begin + line_time(packet.size, rate)
        begun.append((begin, packet))
    return begun, free
