"""Loss as events: what was lost at one time, of whichever streams and flows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from netdyno.trial import StreamResult


@dataclass(frozen=True)
class LossEvent:
    """Frames that were lost or corrupted near each other in time.

    first_ns, last_ns: when the first and the last of them were due to depart, from the start of traffic.
    frames: how many they are. streams: whose.
    """

    first_ns: int
    last_ns: int
    frames: int
    streams: tuple[str, ...]


@dataclass(frozen=True)
class Losses:
    """The events of a trial in order of time.

    undated: frames in no event, of streams with more gaps than were asked for. They departed between the last
    gap but one that was kept and the last.
    """

    events: tuple[LossEvent, ...]
    undated: int


def events(streams: Iterable[StreamResult], apart_ns: int) -> Losses:
    """What was lost in a trial, dated: frames due to depart no more than `apart_ns` apart are one event.

    Only of streams whose gaps were observed.
    """
    observed = [(stream.name, stream.gaps) for stream in streams if stream.gaps is not None]
    gaps = sorted(
        (gap.first_ns, gap.last_ns, gap.frames, name) for name, found in observed for gap in found.gaps
    )
    merged: list[LossEvent] = []
    for first_ns, last_ns, frames, name in gaps:
        if merged and first_ns - merged[-1].last_ns <= apart_ns:
            before = merged.pop()
            names = before.streams if name in before.streams else (*before.streams, name)
            last_ns = max(before.last_ns, last_ns)
            merged.append(LossEvent(before.first_ns, last_ns, before.frames + frames, names))
        else:
            merged.append(LossEvent(first_ns, last_ns, frames, (name,)))
    return Losses(tuple(merged), sum(found.further_frames for _, found in observed))
