"""The VLANs of a plan's links: as many at both ends, and frames and addresses enough for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netdyno.devices.wiring import PEER, Wiring
from netdyno.errors import counted
from netdyno.plan.headers import distinct_flows, smallest_frame
from netdyno.plan.matrix import TAG, Case, Stream, count_tags, own_part, streams
from netdyno.plan.patterns import PATTERNS
from netdyno.plan.source import Source
from netdyno.plan.traffic import Profile

MOST_STREAMS = 16_384
"""Of a case: as many as the engine keeps apart."""


def vlans_fit(source: Source, case: Case, wiring: Wiring, told: set[tuple[Any, ...]]) -> bool:
    """False if the VLANs of a case's links cannot be; the problem is then reported."""
    if not case.profile.takes_tags or not any(port.vlans for port in wiring.ports):
        return True
    place, message, hint, code = _problem(case, wiring)
    if message and (place, message) not in told:
        told.add((place, message))
        source.report(place, f"{message}, in case `{case.name}`", hint, key=True, code=code)
    return not message


def _problem(case: Case, wiring: Wiring) -> tuple[tuple[str | int, ...], str, str, str]:
    """Where, what, what to do and the code; no message if all is well."""
    links: tuple[str | int, ...] = ("lab", "links")
    profile: tuple[str | int, ...] = ("traffic", case.profile_name)
    if PATTERNS[case.pattern].bridged:
        message = f"`{case.pattern}` is of MAC addresses without VLANs"
        hint = f"leave `vlans` out of the links, or say `vlan: none` in `{case.profile_name}`"
        return links, message, hint, "unsupported"
    try:
        found = streams(case, wiring)
    except ValueError as error:
        return links, str(error), "as many at both, or one at one of them", "conflict"
    if len(found) > MOST_STREAMS:
        message = f"the VLANs{' and classes' if case.profile.classes else ''} make {len(found)} streams"
        return links, message, f"at most {MOST_STREAMS}: fewer VLANs or classes", "too-many"
    parts = max(own_part(stream, wiring)[1] for stream in found)
    if wiring.routes and len(wiring.routes[0]) < parts:
        message = f"{len(wiring.routes[0])} routes behind each port are too few for {parts} VLANs"
        return ("matrix", "routes"), message, f"{parts} or more: each VLAN has some of them", "conflict"
    tags = max(count_tags(case, port) for port in wiring.ports)
    for name, own in _profiles(case):
        at = (*profile, "classes", name) if name else profile
        least = smallest_frame(own.stack, more=tags * TAG)
        small = [size for size, _ in own.mix.weights if size < least]
        if small:
            headers = f"their headers with {counted(tags, 'tag')}"
            message = f"frames of {small[0]}B are too small for {headers}: at least {least}B"
            return (*at, "size"), message, f"give `{least}B`, or `vlan: none`", "frame-too-small"
        wrong = _flows(case, own, at, wiring, found)
        if wrong != _RIGHT:
            return wrong
    return _RIGHT


def _profiles(case: Case) -> Iterator[tuple[str, Profile]]:
    """The profile, and as each class has it that has anything of its own; the name of each."""
    yield "", case.profile
    for name in case.profile.classes:
        if case.profile.of_class(name) != case.profile:
            yield name, case.profile.of_class(name)


def _flows(
    case: Case, own: Profile, at: tuple[str | int, ...], wiring: Wiring, found: tuple[Stream, ...]
) -> tuple[tuple[str | int, ...], str, str, str]:
    """Each VLAN has its part of the addresses, which must be enough for its part of the flows."""
    ends = {(one.place.rx, one.place.tx) if one.reverse else (one.place.tx, one.place.rx) for one in found}
    both = {
        (len(wiring.ports[first].vlans) or 1, len(wiring.ports[second].vlans) or 1) for first, second in ends
    }
    several = max(map(max, both))
    if several > 1 and own.headers is not None:
        if all(port.destination == PEER for port in wiring.ports):
            return _RIGHT
        message = "`headers` give every VLAN the same addresses, and a router sends them all to one"
        hint = "say `addresses`, of which each VLAN gets its own part"
        return ("traffic", case.profile_name, "headers"), message, hint, "conflict"
    for near, far in both:
        try:
            stack = own.between(0, 1, ports=wiring.lab_ports, parts=((0, near), (0, far)))
        except ValueError as error:
            place = (*at, "addresses")
            return place, f"{error}: too few for {several} VLANs", "a larger network", "too-many"
        parts = max(near, far)
        have, flows = distinct_flows(stack), -(-own.flows // parts)
        if flows > have:
            message = f"{flows} flows of each of {parts} VLANs, and its part of the addresses makes {have}"
            hint = f"`flows: {have * parts}` or fewer, or larger networks"
            return (*at, "flows"), message, hint, "too-many"
    return _RIGHT


_RIGHT: tuple[tuple[str | int, ...], str, str, str] = ((), "", "", "")
