"""The samples of a trial: frames sent, received and sent late in each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from netdyno.values.load import Trial
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
    intended: Fraction
    """Frames the schedule asks for in it."""
    due: Fraction = Fraction(0)
    """Frames the schedule has asked for by its end, from the start of traffic on."""
    sent: int = 0
    """Frames that were sent by then."""
    least: int = 0
    """How many a tester that is on its schedule has sent by then."""
    line_bytes: int = 0
    """Of a mix: bytes of line time of all test frames that came in at the port, copies and corrupted too."""
    late: bool = False
    """Whether the tester was behind its schedule when it began or ended: its load was another one."""
    peak: Fraction = Fraction(0)
    """Frames per second: the highest load the schedule asks for in it."""

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
    schedule = _Schedule(outcome, trial)
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
            _summed([getattr(one, name) for one in streams]) for name in ("tx", "rx", "arrived")
        )
        on_line = [0] * len(tx)
        if situation.mixed_receivers:
            on_line = _summed([_line_bytes(outcome, member, situation) for member in members])
        samples = schedule.samples(share, tx, rx, arrived, on_line)
        if ever_late:
            any_late = map(any, zip(*(late[member] for member in members), strict=False))
            samples = [one._replace(late=was) for one, was in zip(samples, any_late, strict=False)]
        yield scope, samples


def _summed(counts: Sequence[Sequence[int]]) -> list[int]:
    """Sample by sample, of all streams."""
    return [sum(each) for each in zip(*counts, strict=False)]


class _Schedule:
    """The frames that the schedule asks for in each sample, of a port and of each share of it."""

    def __init__(self, outcome: Outcome, trial: Trial) -> None:
        edges = range(max((len(stream.tx) for stream in outcome.streams), default=0) + 1)
        times = [edge * outcome.sample_ns for edge in edges]
        self._due = [_asked(trial, time) for time in times]
        self._peaks = [_peak(trial, start, end) for start, end in pairwise(times)]
        self._sample_ns = outcome.sample_ns
        self._of: dict[Fraction, list[tuple[Fraction, Fraction, int, Fraction]]] = {}

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
            due = [share * frames for frames in self._due]
            self._of[share] = [
                (after - before, after, _least(after, after - before, self._sample_ns), share * peak)
                for (before, after), peak in zip(pairwise(due), self._peaks, strict=True)
            ]
        counts = zip(self._of[share], tx, rx, arrived, accumulate(tx), line_bytes, strict=False)
        return [
            Sample(sent, came, back, intended, due, by_then, least, on_line, False, peak)
            for (intended, due, least, peak), sent, came, back, by_then, on_line in counts
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


def _asked(trial: Trial, until_ns: int) -> Fraction:
    """Frames a port is asked to send by `until_ns` from the start of traffic, whole or not."""
    asked, begin = Fraction(0), 0
    for segment in trial.segments:
        length = min(max(until_ns - begin, 0), segment.duration_ns)
        slope = (segment.to_fps - segment.from_fps) / segment.duration_ns
        asked += (segment.from_fps + slope * length / 2) * length / 10**9
        begin += segment.duration_ns
    return asked


def _peak(trial: Trial, start_ns: int, end_ns: int) -> Fraction:
    """The highest load asked of a port between two times from the start of traffic, frames per second."""
    peak, begin = Fraction(0), 0
    for segment in trial.segments:
        first, last = max(start_ns - begin, 0), min(end_ns - begin, segment.duration_ns)
        if first < last:
            slope = (segment.to_fps - segment.from_fps) / segment.duration_ns
            peak = max(peak, segment.from_fps + slope * first, segment.from_fps + slope * last)
        begin += segment.duration_ns
    return peak


def kept_up(rise: list[Sample]) -> list[Sample]:
    """The part of the ramp-up in which the tester was on schedule: until it falls behind for good.

    A pause that is made up for is no reason to stop: what counts is whether the schedule is reached
    again.
    """
    end = len(rise)
    while end and rise[end - 1].behind:
        end -= 1
    return rise[:end]


def _least(due: Fraction, intended: Fraction, sample_ns: int) -> int:
    """How many frames are sent of those due if no more are waiting than two and 5 ms of traffic at the load
    of the sample: the machines netdyno is at home on pause for that long."""
    return math.ceil(due - 2 - intended * BEHIND_NS / sample_ns)


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
