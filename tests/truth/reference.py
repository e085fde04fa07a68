"""Devices frame by frame, by published rules: the reference where a class of device has no closed form.

No line of this is the engine's or the device's. Times are whole picoseconds and every rate divides them, so
nothing is rounded: 64 bytes are 6.72 us of a line of 100 Mbit/s, and 10 us of a bucket of 51.2 Mbit/s.

servers.py has what devices are made of, way.py the way out of a port.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from group import Group, spread
from holding import held_back
from model import Model
from servers import Gcra, Packet, Server, bits_time, line_time
from way import Way

BETWEEN = 20
"""Bytes of a line that are no frame's: preamble, start delimiter and gap."""


class _Policer:
    """Classes below a port; a frame that one drops costs the other nothing (MEF 10.3 section 12.2)."""

    def __init__(self, model: Model) -> None:
        self.classes = {name: Gcra(bucket) for name, bucket in model.police_classes.items()}
        self.port = [Gcra(one) for one in (model.police, model.excess) if one is not None]

    def passes(self, packet: Packet, at: int) -> bool:
        size = packet.size
        taken = []
        mine = self.classes.get(packet.traffic)
        for meters in ([] if mine is None else [mine], self.port):
            conforming = [meter for meter in meters if meter.ready(size) <= at]
            if meters and not conforming:
                return False
            taken += conforming[:1]
        for meter in taken:
            meter.take(at, size)
        return True


class Reference:
    """A device of so many ports, each with a line to one of a tester. It is as the last trial left it."""

    def __init__(self, model: Model, ports: int) -> None:
        self.model = model
        self.policers = [_Policer(model) for _ in range(ports)]
        self.ways = [Group(model) if model.members > 1 else Way(model) for _ in range(ports)]

    def others(self, counts: Sequence[int]) -> None:
        """Frames that are none of the test's have left by each port; nothing of theirs remains."""
        for way, count in zip(self.ways, counts, strict=True):
            way.count += count

    def forward(
        self,
        sent: Sequence[Sequence[Packet]],
        to: Callable[[Packet, int], Sequence[int]],
        until: int,
        reset: tuple[int, int] | None = None,
    ) -> list[list[Packet]]:
        """What comes back at each port of what each port sends.

        to: by which ports a frame leaves, which came in by one; asked in order of time. until: when nobody
        looks any more; what leaves later comes with what is sent next. reset: when it begins to forward
        nothing and when it is back; what has not begun to leave by then is lost.
        """
        if reset is None:
            out = self._switched(sent, to, until)
            return [way.leave(packets) for way, packets in zip(self.ways, out, strict=True)]
        begin, end = reset
        before = [[one for one in packets if _arrives(one) < begin] for packets in sent]
        behind = [[one for one in packets if _arrives(one) >= end] for packets in sent]
        out = self._switched(before, to, begin)
        came = [way.leave(packets, begin) for way, packets in zip(self.ways, out, strict=True)]
        for way in self.ways:
            way.reset(end)
        out = self._switched(behind, to, until)
        return [first + way.leave(packets) for first, way, packets in zip(came, self.ways, out, strict=True)]

    def _switched(
        self,
        sent: Sequence[Sequence[Packet]],
        to: Callable[[Packet, int], Sequence[int]],
        until: int,
    ) -> list[list[Packet]]:
        """What goes to each way out, behind its faults, by the time at which it does."""
        model = self.model
        came = [self._taken_in(port, packets) for port, packets in enumerate(sent)]
        out: list[list[Packet]] = [[] for _ in self.ways]
        last = [0] * len(out)
        for at, packet, ways in self._inside(came, to):
            leaves = at + model.delay_ns * 1000 + model.delay_per_byte_ps * packet.size
            for way in ways:
                # None overtakes another.
                packet.at = last[way] = max(last[way], leaves)
                out[way].append(packet if len(ways) == 1 else packet.again(packet.at))
        return [way.disturbed(packets, until) for way, packets in zip(self.ways, out, strict=True)]

    def _inside(
        self, came: Sequence[Sequence[tuple[int, Packet]]], to: Callable[[Packet, int], Sequence[int]]
    ) -> Iterable[tuple[int, Packet, Sequence[int]]]:
        """When each frame that is switched is, and by which ports it leaves; in order of time."""
        model = self.model
        if model.head_of_line:
            return held_back(model, came, to, [way.free for way in self.ways])
        inside = [(at, port, packet) for port, packets in enumerate(came) for at, packet in packets]
        inside.sort(key=lambda one: one[:2])
        for rate, bits in ((model.card_fps, False), (model.box_fps, False), (model.box_bps, True)):
            if rate is not None:
                inside = _through(Server(rate, model.in_queue, bits=bits), inside)
        return self._crossing(inside, to)

    def _crossing(
        self, inside: Iterable[tuple[int, int, Packet]], to: Callable[[Packet, int], Sequence[int]]
    ) -> Iterator[tuple[int, Packet, Sequence[int]]]:
        """The same, of frames that some have to cross from one side of the device to the other."""
        rate, queue = self.model.trunk, self.model.in_queue
        trunks = [Server(rate, queue, bits=True, beyond=BETWEEN) for _ in range(2)] if rate else []
        for at, port, packet in inside:
            packet.at = at
            ways = to(packet, port)
            if not trunks:
                yield at, packet, ways
                continue
            for way in ways:
                crosses = (port == 0) != (way == 0)
                across = trunks[port == 0].served(at, packet.size) if crosses else at
                if across is not None:
                    yield across, packet if len(ways) == 1 else packet.again(across), (way,)

    def _taken_in(self, port: int, packets: Sequence[Packet]) -> list[tuple[int, Packet]]:
        """What a port lets in, and when it has done its part with it."""
        model, policer = self.model, self.policers[port]
        came = [(packet.departure + bits_time(packet.size), packet) for packet in packets]
        if model.members > 1:
            came = spread(model, came)
        if model.police is not None or model.police_classes:
            came = [(at, packet) for at, packet in came if policer.passes(packet, at)]
        if model.port_fps is None:
            return came
        server = Server(model.port_fps, model.in_queue, model.weary)
        return [(done, packet) for at, packet in came if (done := server.served(at)) is not None]


def _arrives(packet: Packet) -> int:
    """When its last bit is in."""
    return packet.departure + bits_time(packet.size)


def _through(server: Server, frames: list[tuple[int, int, Packet]]) -> list[tuple[int, int, Packet]]:
    """What a server of all ports lets through of what comes in order of time, and when."""
    served = ((server.served(at, packet.size), port, packet) for at, port, packet in frames)
    return [(done, port, packet) for done, port, packet in served if done is not None]


Sent: TypeAlias = tuple[int, str, tuple[tuple[int, int], ...]]
"""A stream's number, its class, and when which size of frame departs."""


def from_a_port(streams: Sequence[Sent], begin: int) -> list[Packet]:
    """What a port sends of its streams from `begin` on.

    Frames leave in order of time, of the same time the first stream's first, and wait for the line.
    """
    return [
        Packet(stream, number, begin + leaves, begin + leaves, size, traffic)
        for leaves, stream, number, traffic, size in _one_after_the_other(tuple(streams))
    ]


@lru_cache(16)
def _one_after_the_other(streams: tuple[Sent, ...]) -> list[tuple[int, int, int, str, int]]:
    due = sorted(
        (time, stream, number, traffic, size)
        for stream, traffic, frames in streams
        for number, (time, size) in enumerate(frames)
    )
    free, sent = 0, []
    for time, stream, number, traffic, size in due:
        leaves = max(free, time)
        free = leaves + line_time(size)
        sent.append((leaves, stream, number, traffic, size))
    return sent
