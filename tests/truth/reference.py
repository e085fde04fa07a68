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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from closed_forms import SECOND, last_bit_ps, wire_bits
from model import Bucket, Model, whole

LINE = 100_000_000
"""L1 rate of every line, bits per second."""
HELD_PS = 100 * 10**9
"""A frame held back to be overtaken is let go after so long, if nobody comes (crates/dut/src/impair.rs)."""


@cache
def line_time(size: int) -> int:
    """How long a frame holds a line, gap and preamble counted, ps."""
    return whole(wire_bits(size) * SECOND, LINE)


@cache
def bits_time(size: int) -> int:
    """From the first bit of the preamble to the last bit of the frame, ps."""
    return last_bit_ps(size, LINE)


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
    """A token bucket, full at first, of L2 bits."""

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
    first behind the first that found none.
    """

    def __init__(
        self, rate: int, queue: int, weary: tuple[int, int] | None = None, *, bits: bool = False
    ) -> None:
        self.rate, self.bits, self.queue = rate, bits, queue
        self.inside: deque[int] = deque()
        self.weary, self.until, self.since = weary, 0, 0

    def served(self, at: int, size: int = 0) -> int | None:
        """When a frame is done that comes at `at`; None if there is no room for it."""
        while self.inside and self.inside[0] <= at:
            self.inside.popleft()
        if self.weary is not None:
            self.since = self.since + 1 if at < self.until else 0
            if self.since and self.since % self.weary[1] == 0:
                return None
        if len(self.inside) > self.queue:
            self.until = at + (self.weary[0] if self.weary is not None else 0)
            return None
        service = whole((size * 8 if self.bits else 1) * SECOND, self.rate)
        self.inside.append(max(self.inside[-1] if self.inside else 0, at) + service)
        return self.inside[-1]


class _Policer:
    """Classes below a port; a frame that one drops costs the other nothing (MEF 10.3 section 12.2)."""

    def __init__(self, model: Model) -> None:
        self.classes = {name: Gcra(bucket) for name, bucket in model.police_classes.items()}
        self.port = [Gcra(one) for one in (model.police, model.excess) if one is not None]

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
        self.shaper = None if model.shape is None else Gcra(model.shape)
        self.names = list(model.queues)
        self.rooms = list(model.queues.values()) or [model.queue]
        self.free = 0
        self.woken: int | None = None
        """When it last had something to send, and how many frames it loses before it is awake."""
        self.drowsy = 0

    def disturbed(self, packets: Iterable[Packet]) -> list[Packet]:
        """Behind the faults: which is before which, and what is broken."""
        passed: list[Packet] = []
        for packet in packets:
            passed += self._let_go(packet.at)
            number, self.count = self.count, self.count + 1
            if _hit(self.model.lose, number) or self._asleep(packet.at):
                continue
            if _hit(self.model.duplicate, number):
                passed.append(packet.again(packet.at))
            packet.corrupted = _hit(self.model.corrupt, number)
            if self.model.reorder is not None and _hit(self.model.reorder[:2], number):
                self.held.append((self.model.reorder[2], packet.at + HELD_PS, packet))
                continue
            passed.append(packet)
            if not self.held:
                continue
            waiting = [(left - 1, until, one) for left, until, one in self.held]
            passed += [one.again(packet.at) for left, _, one in waiting if left == 0]
            self.held = [one for one in waiting if one[0]]
        return passed + self._let_go(None)

    def _asleep(self, at: int) -> bool:
        """Whether it loses a frame that comes at `at`, having had nothing to do for long."""
        if self.model.sleep is None:
            return False
        idle, count = self.model.sleep
        if self.woken is None or at - self.woken > idle:
            self.drowsy = count
        self.woken, lost = at, self.drowsy > 0
        self.drowsy -= lost
        return lost

    def _let_go(self, at: int | None) -> list[Packet]:
        """Those nobody passed for too long, by `at`; None: all that are left in the end."""
        if not self.held:
            return []
        late = [one for one in self.held if at is None or one[1] <= at]
        self.held = [one for one in self.held if one not in late]
        return [packet.again(until) for _, until, packet in late]

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
            packet.at = begin + bits_time(packet.size)
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
        for start, length in self._pauses(begin):
            # A pause holds up what comes when it begins, and not what has waited and would begin then.
            if start < begin < start + length or start == begin == first.at:
                begin = start + length
        return begin

    def _pauses(self, at: int) -> Iterator[tuple[int, int]]:
        """The latest pause of each kind that has begun by `at`: when, and how long it is."""
        if self.model.stall is not None and at >= self.model.stall[0]:
            first, every, length = self.model.stall
            yield at - (at - first) % every, length
        if self.model.noise is not None:
            window, of, seed, length = self.model.noise
            if splitmix64(seed, at // window) * of < 1 << 64:
                yield at - at % window, length


def splitmix64(seed: int, number: int) -> int:
    """Output `number` (from 0) as published (S. Vigna, splitmix64.c)."""
    mask = 2**64 - 1
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


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
        fps = model.port_fps
        ports = [Server(fps, model.in_queue, model.weary) if fps else None for _ in sent]
        inside: list[tuple[int, int, Packet]] = []
        for port, packets in enumerate(sent):
            for packet in packets:
                packet.at = _arrives(packet)
                if self.policers[port].passes(packet):
                    done = _done(ports[port], packet.at)
                    if done is not None:
                        inside.append((done, port, packet))
        inside.sort(key=lambda one: one[:2])
        for rate, bits in ((model.card_fps, False), (model.box_fps, False), (model.box_bps, True)):
            if rate is not None:
                inside = _through(Server(rate, model.in_queue, bits=bits), inside)
        out: list[list[Packet]] = [[] for _ in self.ways]
        for at, port, packet in inside:
            packet.at = at
            leaves = at + model.delay_ns * 1000 + model.delay_per_byte_ps * packet.size
            for way in to(packet, port):
                out[way].append(packet.again(leaves))
        return [way.disturbed(packets) for way, packets in zip(self.ways, out, strict=True)]


def _arrives(packet: Packet) -> int:
    """When its last bit is in."""
    return packet.departure + bits_time(packet.size)


def _done(server: Server | None, at: int) -> int | None:
    return at if server is None else server.served(at)


def _through(server: Server, frames: list[tuple[int, int, Packet]]) -> list[tuple[int, int, Packet]]:
    """What a server of all ports lets through of what comes in order of time, and when."""
    served = ((server.served(at, packet.size), port, packet) for at, port, packet in frames)
    return [(done, port, packet) for done, port, packet in served if done is not None]


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
