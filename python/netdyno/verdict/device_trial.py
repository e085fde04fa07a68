"""The device's counters in a trial beside the traffic that they had to count, and the most they can count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest

from netdyno.values.outcome import Outcome
from netdyno.values.rates import wire_bits
from netdyno.values.situation import Place
from netdyno.verdict.device_counts import Counters, Line


def count_trial(
    outcome: Outcome, traffic_ns: int, places: Mapping[str, Place], device_ports: Sequence[str]
) -> Counters:
    """The device's counters in a trial. traffic_ns: how long frames were sent. places: of its streams."""
    into: dict[str, list[int]] = {}
    out_of: dict[str, list[int]] = {}
    for stream in outcome.streams:
        place = places.get(stream.name)
        if place is None:
            continue
        for found, number, frames in ((into, place.tx, stream.tx), (out_of, place.rx, stream.rx)):
            if number < len(device_ports):
                port = device_ports[number]
                found[port] = [sum(pair) for pair in zip_longest(found.get(port, ()), frames, fillvalue=0)]
    return Counters(outcome, traffic_ns, into, out_of)


def bound_lines(
    lines_fps: Sequence[Fraction], mean_size: Fraction | None, *, is_enforced: bool
) -> tuple[Line, ...]:
    """What the links carry at most, by number; empty: unknown. lines_fps: frames of `mean_size` a second.

    Where nothing enforces a declared line, a link may carry what the tester sends on all of them.
    """
    if mean_size is None:
        return ()
    bps = [fps * wire_bits(mean_size) for fps in lines_fps]
    return tuple(Line.of(one if is_enforced else sum(bps, Fraction(0))) for one in bps)
