"""What a perfect tester finds, from first principles: no line of this is the engine's or the device's.

Times are whole picoseconds, rates exact fractions. A frame of `size` bytes takes `size + 20` on the line;
its last bit is in after `size + 8` (preamble and start delimiter come before it, the gap behind it).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from laboratory import RATE, Device
from netdyno.values.units import FrameRate, Percent

SECOND = 10**12


def wire_bits(size: int) -> int:
    """Bits of line time of a frame."""
    return (size + 20) * 8


def l1_bps(rate: FrameRate | Percent, line_bps: int, bits: Fraction | int) -> Fraction:
    """Of a load as plans of the truth table ask for it: a frame takes so many bits of the line."""
    return rate.amount * (line_bps if isinstance(rate, Percent) else bits)


def line_ps(size: int, bps: int) -> Fraction:
    """How long a frame holds a line."""
    return Fraction(wire_bits(size) * SECOND, bps)


def last_bit_ps(size: int, bps: int) -> int:
    """From the first bit of the preamble to the last bit of the frame."""
    time = Fraction((size + 8) * 8 * SECOND, bps)
    assert time.denominator == 1, "choose a rate that divides"
    return int(time)


@dataclass(frozen=True)
class Stretch:
    """A load that is constant or changes linearly."""

    duration_ps: int
    from_bps: int
    to_bps: int

    def bits_by(self, t: int) -> Fraction:
        """Bits offered t into the stretch: the area under the load."""
        rise = Fraction((self.to_bps - self.from_bps) * t * t, 2 * self.duration_ps)
        return (self.from_bps * t + rise) / SECOND

    def when(self, bits: Fraction) -> int:
        """The whole picosecond in which that many bits have been offered."""
        if self.from_bps == self.to_bps:
            return math.floor(bits * SECOND / self.from_bps)
        # (to - from) t^2 + 2 T from t - 2 T bits = 0
        a, b, c = self.to_bps - self.from_bps, 2 * self.duration_ps * self.from_bps, bits * SECOND
        t = int((math.isqrt(b * b + 4 * a * math.floor(2 * self.duration_ps * c)) - b) // (2 * a))
        while self.bits_by(t) > bits:
            t -= 1
        while self.bits_by(t + 1) <= bits:
            t += 1
        return t


def sent_before(load: Sequence[Stretch], size: int, t: int) -> int:
    """How many frames depart before t: those that have less than all offered bits before them."""
    bits = Fraction(0)
    for stretch in load:
        bits += stretch.bits_by(max(min(t, stretch.duration_ps), 0))
        t -= stretch.duration_ps
    return math.ceil(bits / wire_bits(size))


def departures(load: Sequence[Stretch], size: int) -> list[int]:
    """When each frame departs, from the start of traffic."""
    times, begin, before, frame = [], 0, Fraction(0), 0
    for stretch in load:
        whole = stretch.bits_by(stretch.duration_ps)
        while frame * wire_bits(size) < before + whole:
            times.append(begin + stretch.when(frame * wire_bits(size) - before))
            frame += 1
        begin, before = begin + stretch.duration_ps, before + whole
    return times


def order_of_sizes(weights: Sequence[tuple[int, int]]) -> list[int]:
    """One round of a mix, every size spread as evenly as can be: smooth weighted round robin.

    Before each frame every size gains its weight in credit; the one with the most (the first of them) is
    sent and pays the sum of all weights.
    """
    total, credit, sizes = sum(weight for _, weight in weights), [0] * len(weights), []
    for _ in range(total):
        credit = [have + weight for have, (_, weight) in zip(credit, weights, strict=True)]
        chosen = credit.index(max(credit))
        credit[chosen] -= total
        sizes.append(weights[chosen][0])
    return sizes


def mixed_departures(load: Sequence[Stretch], sizes: Sequence[int]) -> list[tuple[int, int]]:
    """When each frame departs, and its size: one after the other, round by round, by the bits before it."""
    sent, begin, before, bits, frame = [], 0, Fraction(0), 0, 0
    for stretch in load:
        whole = stretch.bits_by(stretch.duration_ps)
        end = math.ceil(before + whole)
        while bits < end:
            size = sizes[frame % len(sizes)]
            sent.append((begin + stretch.when(bits - before), size))
            bits, frame = bits + wire_bits(size), frame + 1
        begin, before = begin + stretch.duration_ps, before + whole
    return sent


def admitted(count: int, last_ps: int, service: Fraction, queue: int) -> int:
    """D/D/1/K: of `count` frames, the last of which comes `last_ps` after the first, those a server takes.

    Overloaded, it is never idle: by the last arrival floor(t / s) frames are done, and at most one is
    served while `queue` wait.
    """
    return min(count, math.floor(last_ps / service) + queue + 1)


@dataclass
class Frame:
    """A frame on its way: its stream, its departure and where it stands now."""

    stream: int
    departure: int
    at: int
    size: int = 0
    """Where frames of a stream differ in it."""


def served(
    frames: Iterable[Frame], service: Fraction, queue: int, *, line_ps: int | None = None
) -> list[Frame]:
    """Those of the frames, in order of time, that a server takes; each then stands at its way out.

    The recursion of D. V. Lindley (1952): service begins when a frame is there and the one before it
    is done. A server hands a frame on when it is done. A line does so `line_ps` after its beginning.
    """
    # In units in which the service is whole.
    step, unit = service.numerator, service.denominator
    inside: deque[int] = deque()
    free, passed = 0, []
    for frame in frames:
        now = frame.at * unit
        while inside and inside[0] <= now:
            inside.popleft()
        if len(inside) > queue:
            continue
        begin = max(free, now)
        free = begin + step
        inside.append(free)
        frame.at = -(-free // unit) if line_ps is None else begin // unit + line_ps
        passed.append(frame)
    return passed


def through(device: Device, size: int, streams: Sequence[Sequence[int]]) -> list[Frame]:
    """Frames of streams (of departures; the second one comes back) that arrive at the other tester port."""
    link = RATE * device.members
    lanes = []
    for number, times in enumerate(streams):
        lane = [Frame(number, time, time + last_bit_ps(size, link)) for time in times]
        if device.members > 1:
            # All frames of these streams meet one member of the far end.
            lane = served(lane, line_ps(size, RATE), device.partner_queue, line_ps=last_bit_ps(size, RATE))
        for capacity in (device.in_fps, device.both_fps):
            if capacity is not None:
                lane = served(lane, Fraction(SECOND, capacity), device.in_queue)
        lanes.append(lane)
    # All ports meet in the box, in order of time; the first port comes first.
    meet = sorted((frame for lane in lanes for frame in lane), key=lambda frame: (frame.at, frame.stream))
    if device.box_fps is not None:
        meet = served(meet, Fraction(SECOND, device.box_fps), device.box_queue)
    for frame in meet:
        frame.at += device.delay_ns * 1000 + device.delay_per_byte_ps * size
    arrived = []
    for number in range(len(streams)):
        lane = [frame for frame in meet if frame.stream == number]
        if device.both_fps is not None:
            assert len(streams) == 1, "in and out of a port then compete: no form for that"
            lane = served(lane, Fraction(SECOND, device.both_fps), device.in_queue)
        rate = device.out_bps or RATE
        out = last_bit_ps(size, rate * device.members)
        arrived += served(lane, line_ps(size, rate), device.out_queue, line_ps=out)
    return arrived


def mixed_through(device: Device, sent: Sequence[tuple[int, int]]) -> list[Frame]:
    """Frames of several sizes in one direction that arrive, where a port takes in so many a second."""
    lane = [Frame(0, time, time + last_bit_ps(size, RATE), size) for time, size in sent]
    if device.in_fps is not None:
        # A packet costs the device its time, whatever its size.
        lane = served(lane, Fraction(SECOND, device.in_fps), device.in_queue)
    free = 0
    for frame in lane:
        # The line out: a frame after the other, each as long as it is. No queue is ever full here.
        begin = max(free, frame.at + device.delay_ns * 1000)
        free = begin + int(line_ps(frame.size, RATE))
        frame.at = begin + last_bit_ps(frame.size, RATE)
    return lane
