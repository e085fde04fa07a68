"""The way out of a port, by published rules: faults, queues and a line. No line of this is the device's.

A line serves one frame at a time and never stops in one (D. V. Lindley 1952); of several queues the one of
the highest priority first (A. Cobham 1954), or by turns (M. Shreedhar and G. Varghese 1995).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from model import Model
from servers import LINE, Gcra, Packet, bits_time, line, line_time

HELD_PS = 100 * 10**9
"""A frame held back to be overtaken is let go after so long, if nobody comes (crates/dut/src/impair.rs)."""


class Way:
    """The way out of a port."""

    def __init__(self, model: Model) -> None:
        self.model = model
        faults = (model.lose, model.corrupt, model.duplicate, model.reorder, model.hold, model.sleep)
        self.faulty = any(faults)
        self.count = 0
        self.held: list[tuple[int, int, Packet]] = []
        """Frames held back: how many have yet to pass, until when at most."""
        self.kept: list[Packet] = []
        """Frames that leave later than others."""
        self.shaper = None if model.shape is None else Gcra(model.shape)
        self.names = list(model.queues)
        self.rooms = list(model.queues.values()) or [model.queue]
        self.order: Priority | Turns = Turns(model) if model.weights else Priority()
        self.pausing = model.stall is not None or model.noise is not None
        self.free = 0
        self.woken: int | None = None
        """When it last had something to send, and how many frames it loses before it is awake."""
        self.drowsy = 0

    def disturbed(self, packets: list[Packet], until: int) -> list[Packet]:
        """Behind the faults, by `until`: which is before which, and what is broken."""
        if not self.faulty:
            return packets
        passed = self._disturbed(packets)
        due = [packet for packet in self.kept if packet.at <= until]
        self.kept = [packet for packet in self.kept if packet.at > until]
        return sorted((*due, *passed), key=lambda packet: packet.at)

    def _disturbed(self, packets: list[Packet]) -> list[Packet]:
        passed: list[Packet] = []
        for packet in packets:
            passed += self._let_go(packet.at)
            number, self.count = self.count, self.count + 1
            if _hit(self.model.lose, number) or self._asleep(packet.at):
                continue
            if _hit(self.model.duplicate, number):
                passed.append(packet.again(packet.at))
            packet.corrupted = _hit(self.model.corrupt, number)
            if self.model.hold is not None and _hit(self.model.hold[:2], number):
                self.kept.append(packet.again(packet.at + self.model.hold[2]))
                continue
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

    def reset(self, end: int) -> None:
        """Nothing is held any more, and nothing leaves until `end`."""
        self.held.clear()
        self.kept.clear()
        self.free = max(self.free, end)

    def leave(self, packets: Iterable[Packet], until: int | None = None) -> list[Packet]:
        """Those that find room, when their last bits are at the tester; none that begins after `until`.

        packets: in order of time.
        """
        if len(self.rooms) == 1 and self.shaper is None and not self.pausing:
            return self._in_line(packets, until)
        waiting: list[deque[Packet]] = [deque() for _ in self.rooms]
        coming, gone = deque(packets), []
        while True:
            begin = self._begin(waiting)
            # At the same picosecond a frame that waits begins before another comes.
            if coming and (begin is None or coming[0].at < begin):
                packet = coming.popleft()
                number = self._queue(packet)
                if len(waiting[number]) < self.rooms[number]:
                    waiting[number].append(packet)
                    self.order.enter(number)
                continue
            if begin is None or (until is not None and begin > until):
                self.order.clear()
                return gone
            packet = self.order.take(waiting)
            if self.shaper is not None:
                self.shaper.take(begin, packet.size)
            self.free = begin + line_time(packet.size)
            packet.at = begin + bits_time(packet.size)
            gone.append(packet)

    def _in_line(self, packets: Iterable[Packet], until: int | None) -> list[Packet]:
        """One queue, and nothing to wait for but the line: Lindley's recursion."""
        gone = []
        begun, self.free = line(packets, self.rooms[0], self.free, LINE)
        for begin, packet in begun:
            if until is not None and begin > until:
                break
            packet.at = begin + bits_time(packet.size)
            gone.append(packet)
        return gone

    def _queue(self, packet: Packet) -> int:
        if packet.traffic in self.names:
            return self.names.index(packet.traffic)
        return len(self.rooms) - 1

    def _begin(self, waiting: Sequence[deque[Packet]]) -> int | None:
        """When the next frame begins."""
        if not any(waiting):
            return None
        first = self.order.first(waiting)
        begin = max(self.free, first.at)
        if self.shaper is not None:
            begin = max(begin, self.shaper.ready(first.size))
        for start, length in self._pauses(begin) if self.pausing else ():
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


class Priority:
    """Of several queues the first that is not empty."""

    def first(self, waiting: Sequence[deque[Packet]]) -> Packet:
        """The frame that is next."""
        return next(queue[0] for queue in waiting if queue)

    def take(self, waiting: Sequence[deque[Packet]]) -> Packet:
        return next(queue for queue in waiting if queue).popleft()

    def enter(self, number: int) -> None:
        """A frame has come into that queue."""

    def clear(self) -> None:
        """Nothing waits any more."""


class Turns:
    """Deficit round robin (M. Shreedhar and G. Varghese, Efficient fair queueing using deficit round robin).

    Queues that are not empty are in a list. At the head of it a queue is given its quantum, sends while what
    it has been given lasts, and goes to the end; if it is empty then it loses what is left, and comes to the
    end again with the next frame.
    """

    def __init__(self, model: Model) -> None:
        # A round is of 256 bytes for each unit of weight (crates/dut/src/spec.rs).
        self.quanta = [256 * weight for weight in model.weights.values()]
        self.deficit = [0] * len(self.quanta)
        self.active: deque[int] = deque()
        self.given = False
        """Whether the queue at the head of the list has got its quantum."""

    def _turn(self, waiting: Sequence[deque[Packet]]) -> tuple[deque[int], list[int]]:
        """The list with the queue at its head whose turn it is now, and what each may send."""
        active, deficit, given = self.active.copy(), self.deficit.copy(), self.given
        while True:
            head = active[0]
            if not given:
                deficit[head] += self.quanta[head]
            if deficit[head] >= waiting[head][0].size:
                return active, deficit
            active.rotate(-1)
            given = False

    def first(self, waiting: Sequence[deque[Packet]]) -> Packet:
        """The frame that is next, if no other comes until then."""
        active, _ = self._turn(waiting)
        return waiting[active[0]][0]

    def take(self, waiting: Sequence[deque[Packet]]) -> Packet:
        self.active, self.deficit = self._turn(waiting)
        self.given = True
        turn = self.active[0]
        packet = waiting[turn].popleft()
        self.deficit[turn] -= packet.size
        if not waiting[turn]:
            self.deficit[turn] = 0
            self.active.popleft()
            self.given = False
        return packet

    def enter(self, number: int) -> None:
        """A frame has come into that queue."""
        if number not in self.active:
            self.active.append(number)

    def clear(self) -> None:
        """Nothing waits any more."""
        self.active.clear()
        self.deficit = [0] * len(self.quanta)
        self.given = False


def splitmix64(seed: int, number: int) -> int:
    """Output `number` (from 0) as published (S. Vigna, splitmix64.c)."""
    mask = 2**64 - 1
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def _hit(when: tuple[int, ...] | None, number: int) -> bool:
    """Whether a frame is number `first`, `first + every`, ..."""
    if when is None:
        return False
    first, every = when
    return number >= first and (number - first) % every == 0
