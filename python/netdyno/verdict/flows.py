"""Flows that lost every frame: a path or a table entry that is broken, and no share of a load."""

from __future__ import annotations

from collections.abc import Sequence

from netdyno.values.outcome import StreamResult
from netdyno.verdict.excuses import ENOUGH
from netdyno.verdict.saying import DeadFlows


def find_dead_flows(streams: Sequence[StreamResult], flows: int) -> DeadFlows | None:
    """The flows of streams of which no frame came in any of their trials; None: unknown, none, or all.

    streams: the counts of each in one trial or more. flows: of each; 0: unknown. Streams with too few frames
    of each flow to tell are left out.
    """
    if not flows:
        return None
    missing: dict[str, int] = {}
    for stream in streams:
        if stream.offered >= ENOUGH * flows and not stream.is_bare:
            dead = max(flows - stream.flows_received, 0)
            missing[stream.name] = min(missing.get(stream.name, dead), dead)
    dead, every = sum(missing.values()), flows * len(missing)
    if not 0 < dead < every:
        return None
    lost = sum(max(stream.lost, 0) for stream in streams)
    # Of each flow a trial has as many frames as of any other, or one more.
    theirs = sum(-(-stream.offered // flows) * missing.get(stream.name, 0) for stream in streams)
    return DeadFlows(dead, every, lost <= theirs)
