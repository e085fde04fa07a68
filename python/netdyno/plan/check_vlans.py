"""The VLANs of a plan's links: as many at both ends, and frames and addresses enough for them."""

from __future__ import annotations

from collections.abc import Iterator

from netdyno.devices.wiring import PEER, Wiring
from netdyno.errors import Problem, counted
from netdyno.plan.headers import distinct_flows
from netdyno.plan.matrix import TAG, Case, Stream, count_tags, own_part, streams
from netdyno.plan.patterns import PATTERNS
from netdyno.plan.traffic import Profile

MOST_STREAMS = 16_384
"""Of a case: as many as the engine keeps apart."""


def problems(case: Case, wiring: Wiring) -> Iterator[Problem]:
    """What is wrong with the VLANs of a case's links, with its place in the plan."""
    if PATTERNS[case.pattern].within:
        without = _find_port_without_two(case, wiring)
        if without is not None:
            yield without
            return
    if not case.profile.takes_tags or not any(port.vlans for port in wiring.ports):
        return
    if PATTERNS[case.pattern].bridged:
        yield Problem(
            f"`{case.pattern}` is of MAC addresses without VLANs",
            f"leave `vlans` out of the links, or say `vlan: none` in `{case.profile_name}`",
            _LINKS,
            code="unsupported",
        )
    try:
        found = streams(case, wiring)
    except ValueError as error:
        yield Problem(str(error), "as many at both, or one at one of them", _LINKS, code="conflict")
        return
    if len(found) > MOST_STREAMS:
        yield Problem(
            f"the VLANs{' and classes' if case.profile.classes else ''} make {len(found)} streams",
            f"at most {MOST_STREAMS}: fewer VLANs or classes",
            _LINKS,
            code="too-many",
        )
    parts = max(own_part(stream, wiring)[1] for stream in found)
    if wiring.routes and len(wiring.routes[0]) < parts:
        yield Problem(
            f"{len(wiring.routes[0])} routes behind each port are too few for {parts} VLANs",
            f"{parts} or more: each VLAN has some of them",
            ("matrix", "routes"),
            code="conflict",
        )
    tags = max(count_tags(case, port) for port in wiring.ports)
    for place, profile in _profiles(case):
        least = profile.smallest(tags * TAG)
        small = [size for size, _ in profile.mix.weights if size < least]
        if small:
            yield Problem(
                f"frames of {small[0]}B are too small for their headers with {counted(tags, 'tag')}: at least"
                f" {least}B",
                f"give `{least}B`, or `vlan: none`",
                (*place, "size"),
                code="frame-too-small",
            )
        yield from _flows(profile, place, wiring, found)


_LINKS = ("lab", "links")


def _find_port_without_two(case: Case, wiring: Wiring) -> Problem | None:
    """The first port that cannot send from one of its VLANs to another through a router."""
    named = f"`{case.pattern}` sends from a VLAN of a port through a router to another one of it"
    if not case.profile.takes_tags:
        hint = f"leave tags out of `{case.profile_name}`: the `vlans` of the links are for frames without"
        return Problem(f"{named}, and `{case.profile_name}` has its own tags", hint, _LINKS, code="conflict")
    for number, port in enumerate(wiring.ports):
        place = (*_LINKS, wiring.in_lab(number))
        if len(port.vlans) < 2:
            have = f"and `{port.name}` has {counted(len(port.vlans), 'VLAN')}"
            return Problem(
                f"{named}, {have}", "two or more: `vlans: [{vlan: 10-11}]`", place, code="conflict"
            )
        if any(vlan.next_hop(4) == vlan.next_hop(6) == PEER for vlan in port.vlans):
            hint = "give each entry of `vlans` its `address` and `gateway`"
            message = f"{named}, and a VLAN of `{port.name}` has no next hop"
            return Problem(message, hint, place, code="missing-field")
    return None


def _profiles(case: Case) -> Iterator[tuple[tuple[str, ...], Profile]]:
    """The profile, and as each class has it that has anything of its own, with its place in the plan."""
    place = ("traffic", case.profile_name)
    yield place, case.profile
    for name in case.profile.classes:
        if case.profile.classes[name].own:
            yield (*place, "classes", name), case.profile.of_class(name)


def _flows(
    profile: Profile, place: tuple[str, ...], wiring: Wiring, found: tuple[Stream, ...]
) -> Iterator[Problem]:
    """Each VLAN has its part of the addresses, which must be enough for its part of the flows."""
    ends = {(one.place.rx, one.place.tx) if one.reverse else (one.place.tx, one.place.rx) for one in found}
    both = {
        (len(wiring.ports[first].vlans) or 1, len(wiring.ports[second].vlans) or 1) for first, second in ends
    }
    several = max(map(max, both))
    if several > 1 and profile.headers is not None:
        if any(port.destination != PEER for port in wiring.ports):
            yield Problem(
                "`headers` give every VLAN the same addresses, and a router sends them all to one",
                "say `addresses`, of which each VLAN gets its own part",
                (*place[:2], "headers"),
                code="conflict",
            )
        return
    for near, far in both:
        try:
            stack = profile.between(0, 1, ports=wiring.lab_ports, parts=((0, near), (0, far)))
        except ValueError as error:
            message = f"{error}: too few for {several} VLANs"
            yield Problem(message, "a larger network", (*place, "addresses"), code="too-many")
            continue
        parts = max(near, far)
        have, flows = distinct_flows(stack, profile.writes), -(-profile.flows // parts)
        if flows > have:
            yield Problem(
                f"{flows} flows of each of {parts} VLANs, and its part of the addresses makes {have}",
                f"`flows: {have * parts}` or fewer, or larger networks",
                (*place, "flows"),
                code="too-many",
            )
