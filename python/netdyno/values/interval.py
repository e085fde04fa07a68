"""How a trial went, interval by interval: the same while it runs, from the tester, and from its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netdyno.values.load import STEADY
from netdyno.values.outcome import Interval, Outcome, StreamResult

NOTHING = Interval(0, 0, 0, 0)
REST = 10
"""What is shorter than this part of an interval is none of its own."""


@dataclass(frozen=True)
class StreamInterval:
    """A stream in an interval.

    received: of the frames that were sent in it, whenever they arrived. late_ns: by how much the latest one
    was sent late. latency: of what arrived in it.
    """

    sent: int
    received: int
    late_ns: int
    latency: Interval

    @property
    def lost(self) -> int:
        """Frames sent that did not arrive intact; while the trial runs, or not yet."""
        return max(self.sent - self.received, 0)

    @property
    def p50_ns(self) -> int | None:
        """None of fewer frames than the percentile needs, as everywhere (10 / (1 - p))."""
        return self.latency.p50_ns if self.latency.count >= 20 else None

    @property
    def p99_ns(self) -> int | None:
        """As the other one."""
        return self.latency.p99_ns if self.latency.count >= 1000 else None


@dataclass(frozen=True)
class TrialInterval:
    """An interval of the traffic of a trial, from 0.

    until_ns: its end, from the start of traffic. streams: in the order of the trial.
    """

    number: int
    until_ns: int
    streams: tuple[StreamInterval, ...]


def intervals(outcome: Outcome, interval_ns: int) -> Iterator[TrialInterval]:
    """The intervals of a trial that has ended; none if they were not asked for.

    The last one may be shorter, or a little longer where the tester took longer to send all.
    """
    traffic_ns = sum(phase.duration_ns for phase in outcome.phases if phase.name == STEADY)
    samples = max(interval_ns // outcome.sample_ns, 1)
    count = 0
    if interval_ns and traffic_ns:
        count = max(-(-(traffic_ns - interval_ns // REST) // interval_ns), 1)
    for number in range(count):
        is_last = number == count - 1
        places = slice(number * samples, None if is_last else (number + 1) * samples)
        yield TrialInterval(
            number,
            traffic_ns if is_last else (number + 1) * interval_ns,
            tuple(_of_stream(one, number, places) for one in outcome.streams),
        )


def _of_stream(stream: StreamResult, number: int, places: slice) -> StreamInterval:
    late = () if stream.lag is None else stream.lag.by_sample[places]
    timed = stream.intervals[number : number + 1]
    return StreamInterval(
        sum(stream.tx[places]),
        sum(stream.arrived[places]),
        max((longest for longest, _, _ in late), default=0),
        timed[0] if timed else NOTHING,
    )
