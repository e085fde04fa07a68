"""The device's counters in a trial beside the traffic that they had to count, and the most they can count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest

from netdyno.values.outcome import Outcome
from netdyno.values.rates import wire_bits
from netdyno.values.situation import Place
from netdyno.verdict.device_counts import IN, MEMBERS, OUT, Counters, Line


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
    bundled = {number for place in places.values() for number in place.bundle}
    for number in (one for one in sorted(bundled) if one < len(device_ports)):
        # Which port of a bundle a stream came by the port knows.
        out_of[device_ports[number]] = list(outcome.ports[number].rx)
    return Counters(outcome, traffic_ns, into, out_of)


def count_members(
    made: Iterable[tuple[int, Outcome]], places: Mapping[str, Place], device_ports: Sequence[str]
) -> Mapping[tuple[str, str], tuple[int, ...]]:
    """Frames of each member of the LAGs that a driver reads by their members, over trials, by the LAG and the
    way, `in` or `out` of the device. made: how long each trial sent, ns, and what it found.

    One with a member whose count is unknown in a trial is left out, and so are those of an emulated device:
    what stands in for its command line counts all frames of a LAG at one member.
    """
    made = list(made)
    lags = dict.fromkeys(port for port in device_ports if MEMBERS in port)
    if not lags or any(outcome.devices for _, outcome in made):
        return {}
    counters = [count_trial(outcome, ns, places, device_ports) for ns, outcome in made if outcome.series]
    found = {}
    for lag in lags:
        for name, way in ((IN, "in"), (OUT, "out")):
            each = [[one.growth(member, name) for one in counters] for member in lag.split(MEMBERS)]
            known = [[count for count in of if isinstance(count, int)] for of in each]
            if counters and known == each:
                found[lag, way] = tuple(map(sum, known))
    return found


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
