"""The samples of a trial: frames sent, received and sent late in each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from netdyno.values.load import Segment, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.rates import WIRE_OVERHEAD
from netdyno.values.situation import Situation

BEHIND_NS = 5_000_000
"""A tester is behind its schedule when more than this much traffic is waiting to be sent."""


class Sample(NamedTuple):
    """Frames sent in one sample, received in it, and received of those sent in it.

    Received is what came intact and for the first time: neither copies nor corrupted frames. Of a mix
    too these are frames and nothing else, for what a device lets through of a mix need not be the mix.

    A named tuple, for there are millions of them: a full mesh of 64 ports has 4,032 streams.
    """

    tx: int
    rx: int
    arrived: int
    place: int
    """Its number, from 0 at the start of traffic."""
    load: Load
    sent: int
    """Frames that were sent by its end."""
    least: int
    """How many a tester that is on its schedule has sent by then."""
    line_bytes: int = 0
    """Of a mix: bytes of line time of all test frames that came in at the port, copies and corrupted too."""
    late: bool = False
    """Whether the tester was behind its schedule when it began or ended: its load was another one."""

    @property
    def intended(self) -> Fraction:
        """Frames the schedule asks for in it."""
        return self.load.due(self.place + 1) - self.load.due(self.place)

    @property
    def due(self) -> Fraction:
        """Frames the schedule has asked for by its end, from the start of traffic on."""
        return self.load.due(self.place + 1)

    @property
    def peak(self) -> Fraction:
        """Frames per second: the highest load the schedule asks for in it."""
        return self.load.peak(self.place)

    def reaches(self, fps: Fraction) -> bool:
        """Whether `peak` is so many frames per second, or more."""
        return self.load.reaches(self.place, fps)

    @property
    def lost(self) -> int:
        return self.tx - self.arrived

    @property
    def behind(self) -> bool:
        """Whether the tester was behind its schedule at its end."""
        return self.sent < self.least

    def loses(self, share: Fraction) -> bool:
        """Whether more than that share of its frames was lost."""
        return (self.tx - self.arrived) * share.denominator > share.numerator * self.tx


def scopes(outcome: Outcome, trial: Trial, situation: Situation) -> Iterator[tuple[str, list[Sample]]]:
    """The samples of each stream, of each of several port groups, and of all together."""
    schedule = _Schedule(outcome, situation.in_frames(trial.segments))
    # Frames of a mix are no even flow: behind by a few of them is late only if a frame was.
    ever_late = outcome.health.latest_departure_ns > BEHIND_NS
    late: list[list[bool]] = []
    for number, stream in enumerate(outcome.streams):
        on_line = _line_bytes(outcome, number, situation)
        samples = schedule.samples(
            situation.share(stream.name), stream.tx, stream.rx, stream.arrived, on_line
        )
        if ever_late:
            samples = _with_late(samples)
            late.append([one.late for one in samples])
        yield stream.name, samples
    for scope in (*situation.groups, "sum"):
        members = situation.members(scope)
        streams = [outcome.streams[member] for member in members]
        share = sum((situation.share(stream.name) for stream in streams), Fraction(0))
        tx, rx, arrived = (
            _sum_samples([getattr(one, name) for one in streams]) for name in ("tx", "rx", "arrived")
        )
        on_line = [0] * len(tx)
        if situation.mixed_receivers:
            on_line = _sum_samples([_line_bytes(outcome, member, situation) for member in members])
        samples = schedule.samples(share, tx, rx, arrived, on_line)
        if ever_late:
            any_late = map(any, zip(*(late[member] for member in members), strict=False))
            samples = [one._replace(late=was) for one, was in zip(samples, any_late, strict=False)]
        yield scope, samples


def _sum_samples(counts: Sequence[Sequence[int]]) -> list[int]:
    """Sample by sample, of all streams."""
    return [sum(each) for each in zip(*counts, strict=False)]


class PortLoad:
    """What the schedule asks a port for, at the edges of samples; its segments are in frames per second.

    Whole numbers over one denominator each: there are tens of thousands of edges, and each operation
    on fractions takes a common divisor anew.
    """

    def __init__(self, segments: Sequence[Segment], sample_ns: int, samples: int) -> None:
        times = [edge * sample_ns for edge in range(samples + 1)]
        self.sample_ns = sample_ns
        self.due, self.parts = _due(segments, times)
        """Frames by each edge, from the start of traffic on, in parts of a frame; how many are one."""
        self.peaks, self.peak_parts = _peaks(segments, times)
        """The highest load in each sample, in parts of a frame a second."""


class Load:
    """The share of a port's load that a stream, a group or all streams have."""

    def __init__(self, port: PortLoad, share: Fraction) -> None:
        self._port = port
        self._share = share
        self.least = self._least()
        """How many frames are sent by the end of each sample if no more are waiting than two and 5 ms of
        traffic at the load of the sample: the machines netdyno is at home on pause for that long."""

    def due(self, edge: int) -> Fraction:
        """Frames the schedule has asked for by an edge, from the start of traffic on."""
        return self._share * Fraction(self._port.due[edge], self._port.parts)

    def peak(self, place: int) -> Fraction:
        """The highest load in a sample, frames a second."""
        return self._share * Fraction(self._port.peaks[place], self._port.peak_parts)

    def reaches(self, place: int, fps: Fraction) -> bool:
        """Whether the highest load in a sample is so many frames a second, or more: without a fraction."""
        peak = self._port.peaks[place] * self._share.numerator * fps.denominator
        return peak >= fps.numerator * self._share.denominator * self._port.peak_parts

    def _least(self) -> list[int]:
        share, length = self._share.numerator, self._port.sample_ns
        one = self._share.denominator * self._port.parts * length
        return [
            -((2 * one - share * (after * length - (after - before) * BEHIND_NS)) // one)
            for before, after in pairwise(self._port.due)
        ]


class _Schedule:
    """The loads of a port and of each share of it, computed once."""

    def __init__(self, outcome: Outcome, segments: Sequence[Segment]) -> None:
        samples = max((len(stream.tx) for stream in outcome.streams), default=0)
        self._port = PortLoad(segments, outcome.sample_ns, samples)
        self._of: dict[Fraction, Load] = {}

    def samples(
        self,
        share: Fraction,
        tx: Sequence[int],
        rx: Sequence[int],
        arrived: Sequence[int],
        line_bytes: Sequence[int],
    ) -> list[Sample]:
        """The samples with these counts and with that share of the frames asked for."""
        if share not in self._of:
            self._of[share] = Load(self._port, share)
        load = self._of[share]
        counts = zip(tx, rx, arrived, accumulate(tx), load.least, line_bytes, strict=False)
        return [
            Sample(sent, came, back, place, load, by_then, least, on_line)
            for place, (sent, came, back, by_then, least, on_line) in enumerate(counts)
        ]


def _with_late(samples: list[Sample]) -> list[Sample]:
    """The same, each said to be late in which the tester was behind at its beginning or its end."""
    found, late = [], False
    for one in samples:
        began_late, late = late, one.behind
        found.append(one._replace(late=True) if began_late or late else one)
    return found


def _line_bytes(outcome: Outcome, number: int, situation: Situation) -> Sequence[int]:
    """Line time in each sample, bytes, of the frames received at the port of a stream of a mix."""
    if not situation.mixed_receivers:
        return [0] * len(outcome.streams[number].rx)
    port = outcome.ports[situation.mixed_receivers[number]]
    return [
        count + WIRE_OVERHEAD * frames for count, frames in zip(port.rx_bytes_series, port.rx, strict=False)
    ]


def _due(segments: Sequence[Segment], times: Sequence[int]) -> tuple[list[int], int]:
    """Frames a port is asked to send by each of these times (ns, ascending), and their denominator.

    By t in a segment it is asked for from t + (to - from) t^2 / 2 length.
    """
    even = [segment.from_rate.amount / 10**9 for segment in segments]
    rising = [(one.to_rate.amount - one.from_rate.amount) / (2 * one.duration_ns * 10**9) for one in segments]
    parts = math.lcm(*(one.denominator for one in (*even, *rising)))
    a, b = ([int(one * parts) for one in each] for each in (even, rising))
    lengths = [segment.duration_ns for segment in segments]
    found = []
    before = begin = number = 0
    for time in times:
        while number < len(lengths) and time - begin > lengths[number]:
            length = lengths[number]
            before += (a[number] + b[number] * length) * length
            begin += length
            number += 1
        within = time - begin
        found.append(before + (a[number] + b[number] * within) * within if number < len(lengths) else before)
    return found, parts


def _peaks(segments: Sequence[Segment], times: Sequence[int]) -> tuple[list[int], int]:
    """The highest load asked of a port between each two of these times, and their denominator."""
    starts = [segment.from_rate.amount for segment in segments]
    slopes = [(one.to_rate.amount - one.from_rate.amount) / one.duration_ns for one in segments]
    parts = math.lcm(*(one.denominator for one in (*starts, *slopes)))
    a, b = ([int(one * parts) for one in each] for each in (starts, slopes))
    begins = list(accumulate((segment.duration_ns for segment in segments), initial=0))
    found, number = [], 0
    for start, end in pairwise(times):
        while number < len(a) and begins[number + 1] <= start:
            number += 1
        peak, here = 0, number
        while here < len(a) and begins[here] < end:
            first, last = max(start, begins[here]), min(end, begins[here + 1])
            peak = max(peak, *(a[here] + b[here] * (time - begins[here]) for time in (first, last)))
            here += 1
        found.append(peak)
    return found, parts


def find_on_schedule(rise: list[Sample]) -> list[Sample]:
    """The part of the ramp-up in which the tester was on schedule: until it falls behind for good.

    A pause that is made up for is no reason to stop: what counts is whether the schedule is reached
    again.
    """
    end = len(rise)
    while end and rise[end - 1].behind:
        end -= 1
    return rise[:end]


def inside(samples: Sequence[Sample], trial: Trial, name: str, sample_ns: int) -> list[Sample]:
    """The samples that lie in the segment as a whole. One that a border cuts belongs to neither side."""
    begin = 0
    for segment in trial.segments:
        end = begin + segment.duration_ns
        if segment.name == name:
            return list(samples[-(-begin // sample_ns) : end // sample_ns])
        begin = end
    return []


def on_schedule(samples: Sequence[Sample]) -> list[list[Sample]]:
    """The stretches of samples in a row in which the tester was on its schedule."""
    return [list(run) for late, run in groupby(samples, key=lambda one: one.late) if not late]


def windows(counts: Sequence[int], width: int) -> list[int]:
    """The sums over every window of that many samples in a row."""
    before = list(accumulate(counts, initial=0))
    return [after - start for start, after in zip(before, before[width:], strict=False)]
