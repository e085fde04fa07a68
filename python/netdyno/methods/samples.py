"""A trial as a method reads it that looks at every sample: what was sent, came back and was late in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, groupby, pairwise

from netdyno.arithmetic import WIRE_OVERHEAD
from netdyno.trial import Situation, Trial, TrialResult

BEHIND_NS = 5_000_000
"""A tester is behind its schedule when more than this much traffic is waiting to be sent."""


@dataclass(frozen=True)
class Sample:
    """Frames sent in one sample, received in it, and received of those sent in it.

    Received is what came intact and for the first time: neither copies nor corrupted frames. Of a mix
    too these are frames and nothing else, for what a device lets through of a mix need not be the mix.
    """

    tx: int
    rx: int
    arrived: int
    intended: Fraction
    """Frames the schedule asks for in it."""
    behind: Fraction
    """Frames the schedule has asked for by its end that were not sent by then."""
    line_bytes: int = 0
    """Of a mix: bytes of line time of all test frames that came in at the port, copies and corrupted too."""
    late: bool = False
    """Whether the tester was behind its schedule when it began or ended: its load was another one."""
    peak: Fraction = Fraction(0)
    """Frames per second: the highest load the schedule asks for in it."""

    @property
    def lost(self) -> int:
        return self.tx - self.arrived


def scopes(outcome: TrialResult, trial: Trial, situation: Situation) -> Iterator[tuple[str, list[Sample]]]:
    """The samples of each stream, of each of several port groups, and of all together."""
    every: list[list[Sample]] = []
    # Frames of a mix are no even flow: behind by a few of them is late only if a frame was.
    ever_late = outcome.health.latest_departure_ns > BEHIND_NS
    edges = max((len(stream.tx) for stream in outcome.streams), default=0)
    of_port = [_asked(trial, edge * outcome.sample_ns) for edge in range(edges + 1)]
    of_peak = [
        _peak(trial, edge * outcome.sample_ns, (edge + 1) * outcome.sample_ns) for edge in range(edges)
    ]
    for number, stream in enumerate(outcome.streams):
        samples, behind, late = [], Fraction(0), False
        on_line = _line_bytes(outcome, number, situation)
        share = situation.share(stream.name)
        asked = [share * frames for frames in of_port[: len(stream.tx) + 1]]
        peaks = [share * peak for peak in of_peak]
        counts = zip(pairwise(asked), stream.tx, stream.rx, stream.arrived, on_line, peaks, strict=False)
        for (before, after), tx, rx, arrived, line_bytes, peak in counts:
            intended = after - before
            behind += intended - tx
            began_late, late = late, ever_late and _is_behind(behind, intended, outcome.sample_ns)
            samples.append(Sample(tx, rx, arrived, intended, behind, line_bytes, began_late or late, peak))
        every.append(samples)
        yield stream.name, samples
    for scope in (*situation.groups, "sum"):
        members = (every[member] for member in situation.members(scope))
        yield scope, [_summed(together) for together in zip(*members, strict=False)]


def _summed(together: Sequence[Sample]) -> Sample:
    return Sample(
        sum(one.tx for one in together),
        sum(one.rx for one in together),
        sum(one.arrived for one in together),
        sum((one.intended for one in together), Fraction(0)),
        sum((one.behind for one in together), Fraction(0)),
        sum(one.line_bytes for one in together),
        any(one.late for one in together),
        sum((one.peak for one in together), Fraction(0)),
    )


def _line_bytes(outcome: TrialResult, number: int, situation: Situation) -> Sequence[int]:
    """Line time in each sample, in bytes, of what came in at the port that receives a stream of a mix."""
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


def kept_up(rise: list[Sample], sample_ns: int) -> list[Sample]:
    """The part of the rise in which the tester kept its schedule: until it falls behind for good.

    A pause that is made up for is no reason to stop: what counts is whether the schedule is reached
    again.
    """
    end = len(rise)
    while end and _is_behind(rise[end - 1].behind, rise[end - 1].intended, sample_ns):
        end -= 1
    return rise[:end]


def _is_behind(frames: Fraction, intended: Fraction, sample_ns: int) -> bool:
    """Whether so many frames waiting to be sent are more than 5 ms of traffic at that load: the machines
    netdyno is at home on pause for that long."""
    return frames > 2 + intended * BEHIND_NS / sample_ns


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
