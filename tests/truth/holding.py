"""Inputs that hold frames back: head-of-line blocking as RFC 2889 section 5.5.3 has it, by simulation.

A frame whose output has no room waits at the head of its input, and all that came in behind it wait too. Who
came in first has the room at an output. A frame takes its place at the output when it leaves its input.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from model import Model
from servers import Packet, line_time


class _Output:
    """A line and the frames that wait for it."""

    def __init__(self, room: int, free: int) -> None:
        self.room, self.free = room, free
        self.begins: deque[int] = deque(maxlen=room)
        """When the last ones that had to wait begin."""

    def room_at(self, at: int) -> int:
        """When a frame finds room that comes at `at` or later: fewer than `room` have yet to begin then."""
        return max(at, self.begins[0]) if len(self.begins) == self.room else at

    def enter(self, at: int, size: int) -> None:
        begin = max(self.free, at)
        if begin > at:
            self.begins.append(begin)
        self.free = begin + line_time(size)


def held_back(
    model: Model,
    came: Sequence[Sequence[tuple[int, Packet]]],
    to: Callable[[Packet, int], Sequence[int]],
    free: Sequence[int],
) -> list[tuple[int, Packet, Sequence[int]]]:
    """When each frame leaves its input and to where, in order of time; none of those that are lost.

    came: of each port, what comes when. to: as of `Reference.forward`. free: when each line is. A frame for
    several outputs waits for none.
    """
    outputs = [_Output(model.queue, at) for at in free]
    delay = model.delay_ns * 1000
    coming = [deque(packets) for packets in came]
    inputs: list[deque[tuple[int, Packet]]] = [deque() for _ in came]
    since = [0] * len(came)
    """When the frame before the one at the head left."""
    ways: list[Sequence[int]] = [()] * len(came)
    """By which the one at the head is to leave."""
    gone = []
    while True:
        heads = []
        for port, waiting in enumerate(inputs):
            if waiting:
                at, packet = waiting[0]
                packet.at = max(at, since[port])
                reaches = packet.at + delay
                way = ways[port] = ways[port] or to(packet, port)
                heads.append(
                    ((outputs[way[0]].room_at(reaches) if len(way) == 1 else reaches) - delay, at, port)
                )
        first = min(heads, default=None)
        arrival = min(((packets[0][0], port) for port, packets in enumerate(coming) if packets), default=None)
        # At the same time a frame that waits leaves before another comes, which so has its place.
        if arrival is not None and (first is None or arrival[0] < first[0]):
            port = arrival[1]
            one = coming[port].popleft()
            if len(inputs[port]) < model.in_queue:
                inputs[port].append(one)
            continue
        if first is None:
            return gone
        leaves, _, port = first
        _, packet = inputs[port].popleft()
        for number in ways[port]:
            if outputs[number].room_at(leaves + delay) == leaves + delay:
                outputs[number].enter(leaves + delay, packet.size)
        gone.append((leaves, packet, ways[port]))
        since[port], ways[port] = leaves, ()
