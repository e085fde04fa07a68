"""Frames still queued when the last frame of a trial that lost nothing had left.

The device did not forward it at the rate at which it was offered, and a trial that lasts until the queue is
full loses it. So the lower bound of a search is what the device forwarded in the time, not what it was sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from netdyno.methods.parts.procedure import sending_ns
from netdyno.methods.reasons.searches import StillQueued
from netdyno.values.finding import Value
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.situation import Situation

ENDS = 2
"""The first and the last frame of a stream: what they bound takes a frame less than was sent."""


@dataclass(frozen=True)
class Queued:
    """Frames of a stream that arrived after the last was sent, less those within the quickest latency."""

    stream: str
    frames: Fraction
    offered: int
    took_ns: int
    """How long the trial sent."""


def find_queued(situation: Situation, trial: Outcome) -> tuple[Queued, ...]:
    """The streams of a trial with frames still queued at its end."""
    took_ns = sending_ns(trial)
    behind = -(-took_ns // max(trial.sample_ns, 1))
    found = []
    for stream in trial.streams:
        times = stream.latency
        if times is None or not times.count or stream.name not in situation.streams:
            continue
        # Samples end where they end: what came in the one that the traffic ended in is not counted.
        on_the_way = Fraction(stream.offered * times.min_ns, max(took_ns, 1))
        frames = sum(stream.rx[behind:]) - on_the_way
        if frames > 0:
            found.append(Queued(stream.name, frames, stream.offered, took_ns))
    return tuple(found)


def find_lasting_share(trial: Outcome) -> Fraction:
    """The share of the load of a trial that the device is known to forward for as long as it may last.

    1 where no frame waited longer than another: no queue grew.

    N frames that arrive within a time were forwarded at N - 1 over that time or faster, and no server does
    more than it can last at. The higher of two counts: all frames, within the time the trial sent and the
    spread of the latencies; and those that came by the end of the traffic, within that time.
    """
    streams = [one for one in trial.streams if one.offered]
    times = [one.latency for one in streams if one.latency is not None and one.latency.count]
    if not streams or len(times) < len(streams):
        return Fraction(1)
    is_timed = not any(one.over or one.negative for one in times)
    if is_timed and all(one.max_ns == one.min_ns for one in times):
        return Fraction(1)
    took_ns, least_ns = max(sending_ns(trial), 1), min(one.min_ns for one in times)
    found = Fraction(0)
    if is_timed:
        # Latencies are whole ns, cut.
        within_ns = took_ns + max(one.max_ns for one in times) - least_ns + 1
        found = _share([one.received for one in streams], streams, took_ns, within_ns)
    # A sample that sending hardly reached into counts no frames and takes its whole time.
    for samples in {took_ns // max(trial.sample_ns, 1), -(-took_ns // max(trial.sample_ns, 1))}:
        until_ns = samples * trial.sample_ns - least_ns
        if until_ns > 0:
            by_then = [sum(one.rx[:samples]) for one in streams]
            found = max(found, _share(by_then, streams, took_ns, until_ns))
    return min(found, Fraction(1))


def as_lasting(value: Value, sent: int, step: Fraction) -> Value:
    """The value whose number is what lasts of the load that passed, where more than one step of the search is
    not known to last, and more than the first and the last frame of a trial.

    sent: the frames of a stream in the trial that passed. step: a share of the load.
    """
    if not value.number or value.low is None:
        return value
    if (1 - value.low / value.number) * sent <= step * sent + ENDS:
        return value
    return replace(value, number=value.low, as_searched=value.number)


def count_sent(trial: Outcome) -> int:
    """The frames of the stream that sent the fewest."""
    return min((one.offered for one in trial.streams if one.offered), default=0)


def _share(came: Sequence[int], streams: Sequence[StreamResult], took_ns: int, within_ns: int) -> Fraction:
    """The least share of their loads at which frames of several streams came, all within a time.

    Where a goal allows loss, it is of all streams together, and so is the share.
    """
    pairs = [(frames, one.offered) for frames, one in zip(came, streams, strict=True)]
    if any(one.missing > 0 for one in streams):
        pairs = [(sum(came), sum(one.offered for one in streams))]
    return min(Fraction(max(frames - 1, 0) * took_ns, sent * within_ns) for frames, sent in pairs)


def longer_may_lose(
    found: Iterable[Queued], situation: Situation, step: Fraction, of: Literal["throughput", "load"]
) -> StillQueued | None:
    """The note on frames still queued; None if they are within the resolution of the search.

    step: what the load is known to, frames per second. of: what it is called.
    """
    more = [one for one in found if one.frames > step * one.took_ns / 10**9 * situation.share(one.stream)]
    if not more:
        return None
    most = max(more, key=lambda one: one.frames)
    pps = most.frames * 10**9 / most.took_ns
    # One step more did not pass: the queue has no room for that.
    times = max(one.frames * 10**9 / (step * one.took_ns * situation.share(one.stream)) for one in more) + 1
    return StillQueued(most.stream, most.frames, most.offered, pps, len(more) - 1, of, times)
