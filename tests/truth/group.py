"""Link aggregation groups: members are lines of their own; which has a frame is the hash of its addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from model import Model, member
from servers import LINE, Packet, bits_time, line, line_time
from way import Way


def _apart(packets: Iterable[Packet], members: int) -> list[list[Packet]]:
    lanes: list[list[Packet]] = [[] for _ in range(members)]
    for packet in packets:
        lanes[member(packet.number, members)].append(packet)
    return lanes


def spread(model: Model, came: Sequence[tuple[int, Packet]]) -> list[tuple[int, Packet]]:
    """What the far end hands on by its members, and when: at the same time the first member first."""
    rate = LINE // model.members
    for at, packet in came:
        packet.at = at
    through = [
        (begin + bits_time(packet.size, rate), number, packet)
        for number, lane in enumerate(_apart((packet for _, packet in came), model.members))
        for begin, packet in line(lane, model.partner_queue, 0, rate)[0]
    ]
    return [(at, packet) for at, _, packet in sorted(through, key=lambda one: one[:2])]


class Group(Way):
    """The way out of a port with members: a frame leaves when its member begins with it and the cable to the
    tester, which is as fast as all of them, is free."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.rate = LINE // model.members
        self.frees = [0] * model.members

    def reset(self, end: int) -> None:
        """Nothing is held any more, and nothing leaves until `end`."""
        super().reset(end)
        self.frees = [max(free, end) for free in self.frees]

    def leave(self, packets: Iterable[Packet], until: int | None = None) -> list[Packet]:
        """Those that find room, when their last bits are at the tester; none that begins after `until`."""
        begun = []
        for number, lane in enumerate(_apart(packets, self.model.members)):
            of_lane, self.frees[number] = line(lane, self.rooms[0], self.frees[number], self.rate)
            begun += [(begin, number, packet) for begin, packet in of_lane if until is None or begin <= until]
        gone = []
        for begin, _, packet in sorted(begun, key=lambda one: one[:2]):
            first = max(self.free, begin)
            self.free = first + line_time(packet.size)
            packet.at = first + bits_time(packet.size)
            gone.append(packet)
        return gone
