"""Frames still queued when the last frame of a trial that lost nothing had left.

The device did not forward it at the rate at which it was offered, and a trial that lasts until the queue is
full loses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from netdyno.methods.parts.procedure import sending_ns
from netdyno.methods.reasons.searches import StillQueued
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation


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
    return StillQueued(most.stream, most.frames, most.offered, pps, len(more) - 1, of)
