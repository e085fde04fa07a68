"""Devices frame by frame, by published rules: the reference where a class of device has no closed form.

No line of this is the engine's or the device's. Times are whole picoseconds and every rate divides them, so
nothing is rounded: 64 bytes are 6.72 us of a line of 100 Mbit/s, and 10 us of a bucket of 51.2 Mbit/s.

- A token bucket is the virtual scheduling algorithm of ITU-T I.371 Annex A (GCRA): a frame of cost T conforms
  at t if the theoretical arrival time, TAT, is not beyond t + depth - T, and moves it to max(TAT, t) + T.
- A line serves one frame at a time and never stops in one (D. V. Lindley 1952); of several queues the one of
  the highest priority first (A. Cobham 1954).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from closed_forms import SECOND, last_bit_ps, wire_bits

LINE = 100_000_000
"""L1 rate of every line, bits per second."""
HELD_PS = 100 * 10**9
"""A frame held back to be overtaken is let go after so long, if nobody comes (crates/dut/src/impair.rs)."""


def whole(numerator: int, denominator: int) -> int:
    """A quotient that there must be."""
    quotient, rest = divmod(numerator, denominator)
    assert rest == 0, "choose a rate that divides"
    return quotient


def line_time(size: int) -> int:
    """How long a frame holds a line, gap and preamble counted, ps."""
    return whole(wire_bits(size) * SECOND, LINE)


@dataclass
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


class Gcra:
    """A token bucket, full at first, of L2 bits. rate: of filling, bits per second."""

    def __init__(self, rate: int, depth_bytes: int) -> None:
        self.rate, self.depth = rate, whole(depth_bytes * 8 * SECOND, rate)
        self.tat = 0

    def cost(self, size: int) -> int:
        """How long the bits of a frame take to come in."""
        return whole(size * 8 * SECOND, self.rate)

    def ready(self, size: int) -> int:
        """From when on a frame conforms."""
        return self.tat + self.cost(size) - self.depth

    def take(self, at: int, size: int) -> None:
        self.tat = max(self.tat, at) + self.cost(size)


@dataclass(frozen=True)
class Bucket:
    """What makes a token bucket: bits per second, and bytes."""

    rate: int
    depth: int

    def made(self) -> Gcra:
        return Gcra(self.rate, self.depth)

    def spec(self, excess: Bucket | None = None) -> dict[str, object]:
        """As crates/dut/src/spec.rs has it."""
        more = None if excess is None else {"rate_bps": excess.rate, "burst_bytes": excess.depth}
        return {"rate_bps": self.rate, "layer": "l2", "burst_bytes": self.depth, "excess": more}


@dataclass(frozen=True)
class Model:
    """A device, the same at each of its ports."""

    delay_ns: int = 5_000
    delay_per_byte_ps: int = 0
    port_fps: int | None = None
    """What a port takes in, frames per second; of them `in_queue` wait."""
    box_fps: int | None = None
    """What the device takes in of all ports, in order of time; of them `in_queue` wait."""
    in_queue: int = 1024
    queue: int = 1024
    """Frames that wait for the line out."""
    queues: Mapping[str, int] = field(default_factory=dict)
    """Queues by class of traffic, the highest priority first; the last takes what no other does."""
    shape: Bucket | None = None
    """In front of the line out."""
    police: Bucket | None = None
    excess: Bucket | None = None
    """The second bucket of `police`."""
    police_classes: Mapping[str, Bucket] = field(default_factory=dict)
    """Below the policer of the port."""
    stall: tuple[int, int, int] | None = None
    """Nothing begins to leave from `first` on for `length`, and so again `every`; ps since it was made."""
    lose: tuple[int, int] | None = None
    """Of the frames to a port, number `first`, `first + every`, ..."""
    corrupt: tuple[int, int] | None = None
    """The same, one bit of them flipped."""
    reorder: tuple[int, int, int] | None = None
    """The same, held back until `by` more have passed."""

    def spec(self, marks: Mapping[str, int]) -> Callable[[dict[str, object]], None]:
        """What it is of an emulated device. marks: the DSCP of each class."""

        def change(device: dict[str, object]) -> None:
            ports = device["ports"]
            assert isinstance(ports, list)
            faults: list[dict[str, object]] = []
            if self.stall is not None:
                first, every, length = (whole(time, 1000) for time in self.stall)
                period = {"first_ns": first, "every_ns": every, "for_ns": length}
                faults.append({"fault": {"stall": {"for_ns": length}}, "when": {"period": period}})
            if self.lose is not None:
                faults.append({"fault": "lose", "when": _every(*self.lose)})
            if self.corrupt is not None:
                faults.append({"fault": "corrupt", "when": _every(*self.corrupt)})
            if self.reorder is not None:
                first, every, by = self.reorder
                faults.append({"fault": {"reorder": {"by": by}}, "when": _every(first, every)})
            device["impairments"] = faults
            device["delay_ns"], device["delay_per_byte_ps"] = self.delay_ns, self.delay_per_byte_ps
            device["box_fps"], device["box_queue"] = _rate(self.box_fps), self.in_queue
            for port in ports:
                port["in_fps"], port["in_queue"] = _rate(self.port_fps), self.in_queue
                port["out_queue"] = self.queue
                port["classes"] = [
                    {
                        "name": name,
                        "dscp": [marks[name]] if name in marks else [],
                        "priority": place,
                        "queue": room,
                    }
                    for place, (name, room) in enumerate(self.queues.items())
                ]
                port["shape"] = None if self.shape is None else self.shape.spec()
                port["police"] = None if self.police is None else self.police.spec(self.excess)
                port["police_classes"] = [
                    {"dscp": [marks[name]], "police": bucket.spec()}
                    for name, bucket in self.police_classes.items()
                    if name in marks
                ]

        return change


def _every(first: int, every: int) -> dict[str, object]:
    return {"every": {"first": first, "every": every}}


def _rate(fps: int | None) -> list[int] | None:
    return None if fps is None else [fps, 1]


class Server:
    """Takes the same time for each frame; `queue` wait (D/D/1/K)."""

    def __init__(self, fps: int, queue: int) -> None:
        self.service, self.queue = whole(SECOND, fps), queue
        self.inside: deque[int] = deque()

    def served(self, at: int) -> int | None:
        """When a frame is done that comes at `at`; None if there is no room for it."""
        while self.inside and self.inside[0] <= at:
            self.inside.popleft()
        if len(self.inside) > self.queue:
            return None
        self.inside.append(max(self.inside[-1] if self.inside else 0, at) + self.service)
        return self.inside[-1]


class _Policer:
    """Classes below a port; a frame that one drops costs the other nothing (MEF 10.3 section 12.2)."""

    def __init__(self, model: Model) -> None:
        self.classes = {name: bucket.made() for name, bucket in model.police_classes.items()}
        self.port = [one.made() for one in (model.police, model.excess) if one is not None]

    def passes(self, packet: Packet) -> bool:
        at, size = packet.at, packet.size
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


class _Way:
    """The way out of a port: faults, queues and a line."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.count = 0
        self.held: list[tuple[int, int, Packet]] = []
        """Frames held back: how many have yet to pass, until when at most."""
        self.shaper = None if model.shape is None else model.shape.made()
        self.names = list(model.queues)
        self.rooms = list(model.queues.values()) or [model.queue]
        self.free = 0

    def disturbed(self, packets: Iterable[Packet]) -> list[Packet]:
        """Behind the faults: which is before which, and what is broken."""
        passed: list[Packet] = []
        for packet in packets:
            passed += self._let_go(packet.at)
            number, self.count = self.count, self.count + 1
            if _hit(self.model.lose, number):
                continue
            packet.corrupted = _hit(self.model.corrupt, number)
            if self.model.reorder is not None and _hit(self.model.reorder[:2], number):
                self.held.append((self.model.reorder[2], packet.at + HELD_PS, packet))
                continue
            passed.append(packet)
            waiting = [(left - 1, until, one) for left, until, one in self.held]
            passed += [replace(one, at=packet.at) for left, _, one in waiting if left == 0]
            self.held = [one for one in waiting if one[0]]
        return passed + self._let_go(None)

    def _let_go(self, at: int | None) -> list[Packet]:
        """Those nobody passed for too long, by `at`; None: all that are left in the end."""
        late = [one for one in self.held if at is None or one[1] <= at]
        self.held = [one for one in self.held if one not in late]
        return [replace(packet, at=until) for _, until, packet in late]

    def leave(self, packets: Iterable[Packet], until: int | None = None) -> list[Packet]:
        """Those that find room, when their last bits are at the tester; none that begins after `until`.

        packets: in order of time.
        """
        waiting: list[deque[Packet]] = [deque() for _ in self.rooms]
        coming, gone = deque(packets), []
        while True:
            begin = self._begin(waiting)
            # At the same picosecond a frame that waits begins before another comes.
            if coming and (begin is None or coming[0].at < begin):
                packet = coming.popleft()
                mine = waiting[self._queue(packet)]
                if len(mine) < self.rooms[self._queue(packet)]:
                    mine.append(packet)
                continue
            if begin is None or (until is not None and begin > until):
                return gone
            packet = next(queue for queue in waiting if queue).popleft()
            if self.shaper is not None:
                self.shaper.take(begin, packet.size)
            self.free = begin + line_time(packet.size)
            packet.at = begin + last_bit_ps(packet.size, LINE)
            gone.append(packet)

    def _queue(self, packet: Packet) -> int:
        if packet.traffic in self.names:
            return self.names.index(packet.traffic)
        return len(self.rooms) - 1

    def _begin(self, waiting: Sequence[deque[Packet]]) -> int | None:
        """When the first frame of the first queue that has one begins."""
        first = next((queue[0] for queue in waiting if queue), None)
        if first is None:
            return None
        begin = max(self.free, min(queue[0].at for queue in waiting if queue))
        if self.shaper is not None:
            begin = max(begin, self.shaper.ready(first.size))
        if self.model.stall is not None:
            start, every, length = self.model.stall
            # A pause holds up what comes when it begins, and not what has waited and would begin then.
            since = (begin - start) % every if begin >= start else length
            if 0 < since < length or (since == 0 and first.at == begin):
                begin += length - since
        return begin


class Reference:
    """A device of so many ports, each with a line to one of a tester. It is as the last trial left it."""

    def __init__(self, model: Model, ports: int) -> None:
        self.model = model
        self.policers = [_Policer(model) for _ in range(ports)]
        self.ways = [_Way(model) for _ in range(ports)]

    def others(self, counts: Sequence[int]) -> None:
        """Frames that are none of the test's have left by each port; nothing of theirs remains."""
        for way, count in zip(self.ways, counts, strict=True):
            way.count += count

    def forward(
        self,
        sent: Sequence[Sequence[Packet]],
        to: Callable[[Packet, int], Sequence[int]],
        reset: tuple[int, int] | None = None,
    ) -> list[list[Packet]]:
        """What comes back at each port of what each port sends.

        to: by which ports a frame leaves, which came in by one; asked in order of time. reset: when it begins
        to forward nothing and when it is back; what has not begun to leave by then is lost.
        """
        if reset is None:
            return [way.leave(out) for way, out in zip(self.ways, self._switched(sent, to), strict=True)]
        begin, end = reset
        before = [[one for one in packets if _arrives(one) < begin] for packets in sent]
        behind = [[one for one in packets if _arrives(one) >= end] for packets in sent]
        came = [way.leave(out, begin) for way, out in zip(self.ways, self._switched(before, to), strict=True)]
        for way in self.ways:
            way.held.clear()
            way.free = max(way.free, end)
        again = self._switched(behind, to)
        return [first + way.leave(out) for first, way, out in zip(came, self.ways, again, strict=True)]

    def _switched(
        self, sent: Sequence[Sequence[Packet]], to: Callable[[Packet, int], Sequence[int]]
    ) -> list[list[Packet]]:
        """What goes to each way out, behind its faults, by the time at which it does."""
        model = self.model
        ports = [Server(model.port_fps, model.in_queue) if model.port_fps else None for _ in sent]
        box = Server(model.box_fps, model.in_queue) if model.box_fps else None
        inside: list[tuple[int, int, Packet]] = []
        for port, packets in enumerate(sent):
            for packet in packets:
                packet.at = _arrives(packet)
                if self.policers[port].passes(packet):
                    done = _done(ports[port], packet.at)
                    if done is not None:
                        inside.append((done, port, packet))
        inside.sort(key=lambda one: one[:2])
        out: list[list[Packet]] = [[] for _ in self.ways]
        for at, port, packet in inside:
            done = _done(box, at)
            if done is not None:
                packet.at = done
                leaves = done + model.delay_ns * 1000 + model.delay_per_byte_ps * packet.size
                for way in to(packet, port):
                    out[way].append(replace(packet, at=leaves))
        return [way.disturbed(packets) for way, packets in zip(self.ways, out, strict=True)]


def _arrives(packet: Packet) -> int:
    """When its last bit is in."""
    return packet.departure + last_bit_ps(packet.size, LINE)


def _done(server: Server | None, at: int) -> int | None:
    return at if server is None else server.served(at)


def _hit(when: tuple[int, ...] | None, number: int) -> bool:
    """Whether a frame is number `first`, `first + every`, ..."""
    if when is None:
        return False
    first, every = when
    return number >= first and (number - first) % every == 0


def from_a_port(streams: Sequence[tuple[int, str, int, Sequence[int]]], begin: int) -> list[Packet]:
    """What a port sends of its streams: each one's number, class, frame size and departures, from `begin` on.

    They leave in order of time, of the same time the first stream's first, and wait for the line.
    """
    due = sorted(
        (time, stream, number, traffic, size)
        for stream, traffic, size, times in streams
        for number, time in enumerate(times)
    )
    free, packets = 0, []
    for time, stream, number, traffic, size in due:
        leaves = max(free, begin + time)
        free = leaves + line_time(size)
        packets.append(Packet(stream, number, leaves, leaves, size, traffic))
    return packets
