"""Loss as events: what was lost at one time, of whichever streams and flows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from netdyno.values.outcome import StreamResult


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
    # Of the event at hand; names as keys, for one event may be of thousands of streams.
    names: dict[str, None] = {}
    begin = end = lost = 0
    for first_ns, last_ns, frames, name in gaps:
        if names and first_ns - end > apart_ns:
            merged.append(LossEvent(begin, end, lost, tuple(names)))
            names = {}
        if not names:
            begin, end, lost = first_ns, last_ns, 0
        end, lost = max(end, last_ns), lost + frames
        names[name] = None
    if names:
        merged.append(LossEvent(begin, end, lost, tuple(names)))
    return Losses(tuple(merged), sum(found.further_frames for _, found in observed))
