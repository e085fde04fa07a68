"""From a plan to its cases: one for every combination of the matrix that the filters leave."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from netdyno import modifiers
from netdyno.devices import routes
from netdyno.devices.speakers.announced import count_announced
from netdyno.devices.wiring import PEER, Trait, is_group, is_mac
from netdyno.plan import patterns
from netdyno.plan.bursts import Sending
from netdyno.plan.classes import list_chains
from netdyno.plan.forwardable import find_obstacle
from netdyno.plan.groups import Group, groups_of_case
from netdyno.plan.headers import distinct_flows
from netdyno.plan.patterns import Direction
from netdyno.values.rates import line_rate, load_l1, mtu_of, wire_bits
from netdyno.values.records import name_choice
from netdyno.values.situation import GROUP_AXIS, Behind, Place, Situation
from netdyno.values.units import L1Rate

if TYPE_CHECKING:
    from netdyno.devices.wiring import WiredPort, Wiring
    from netdyno.plan import Plan, Profile


MOST_BY_FLOW = 2**20
"""Flows of a trial that are counted one by one: crates/engine/src/observe/by_flow.rs, MOST_COUNTED."""


@dataclass(frozen=True)
class Stream:
    """A stream of a case. reverse: its frames have source and destination of the profile swapped. to: what
    its MAC addresses are, as of its way."""

    name: str
    place: Place
    reverse: bool
    to: patterns.To = ""
    beside: str = ""
    """The stream that its frames take the place of some of; empty: it is one that is measured."""
    is_constant: bool = False
    """Whether it is of a class with a rate of its own, which no method changes."""
    part: Fraction = Fraction(1)
    """Of a class with a rate of its own, the part of what its port sends of it."""
    vlans: tuple[int | None, int | None] = (None, None)
    """The VLANs that it is on at its sending and at its receiving port, by their numbers among the port's;
    None: its frames have the tags of their profile, if any."""
    members: int = 1
    """Members of the sending LAG that the way's flows are shared out to, of which it has one's."""


@dataclass(frozen=True)
class Case:
    """One load test of a plan.

    name: the values of its axes in the matrix's order, `l2-xconnect / routes 8 / imix / bidir`. number:
    from 0, in the matrix's order. choices: axis and value. settings: the device's, all of them: its
    defaults, then the lab's, then this case's. seed: of everything random in it. repeat: from 1, of those
    of one name.
    """

    name: str
    number: int
    choices: tuple[tuple[str, str], ...]
    settings: Mapping[str, str]
    profile_name: str
    profile: Profile
    direction: Direction
    seed: int
    pattern: str = patterns.PAIRS
    """Who sends to whom (patterns.py)."""
    repeat: int = 1
    groups: tuple[Group, ...] = ()
    """Port groups that it loads; none: the whole lab is one."""

    @property
    def modifier(self) -> modifiers.Modifier:
        """The condition it is run under (RFC 2544 section 11)."""
        return modifiers.choose_modifier(self.choices)

    @property
    def title(self) -> str:
        """What reports call it: settings, profile, direction; and which repeat it is from the second on."""
        last = ("profile", "direction")
        names = {axis: name_choice(axis, value) for axis, value in self.choices}
        first = [name for axis, name in names.items() if axis not in last]
        name = " / ".join([*first, *(names[axis] for axis in last if axis in names)])
        return name if self.repeat == 1 else f"{name} (repeat {self.repeat})"


def cases(plan: Plan) -> tuple[Case, ...]:
    """The cases in order: the last axis changes fastest; and all of them again for each repeat.

    In turns, and not each case's repeats one after the other: what drifts meets all cases alike.
    """
    once = _combinations(plan)
    own = plan.repeat.seeds == "each"
    return tuple(
        replace(
            case,
            number=len(once) * (repeat - 1) + case.number,
            repeat=repeat,
            seed=case_seed(plan.seed, _name_frames(plan, case.choices), repeat) if own else case.seed,
        )
        for repeat in range(1, plan.repeat.count + 1)
        for case in once
    )


def _combinations(plan: Plan) -> tuple[Case, ...]:
    """Each case once."""
    axes = [axis for axis, _ in plan.axes]
    found: list[Case] = []
    for values in itertools.product(*(values for _, values in plan.axes)):
        choices = tuple(zip(axes, values, strict=True))
        chosen = dict(choices)
        if plan.only and not any(_matches(entry, chosen) for entry in plan.only):
            continue
        if any(_matches(entry, chosen) for entry in plan.skip):
            continue
        name = " / ".join(name_choice(axis, value) for axis, value in choices)
        defaults = {setting: known[0] for setting, known in plan.kind.settings.items() if known}
        own = {axis: value for axis, value in choices if axis in plan.kind.settings}
        own |= _modified(plan, chosen, choices)
        settings = {**defaults, **plan.lab.settings, **own}
        profile = plan.profiles[chosen["profile"]]
        mtu = mtu_of(settings)
        if mtu is not None:
            profile = profile.with_mtu(mtu)
        if routes.SETTING in settings:
            # A device has as many routes of the version that its traffic is of.
            asked = settings[routes.SETTING]
            settings[routes.SETTING] = routes.of_version(asked, profile.pool.version)
        found.append(
            Case(
                name=name,
                number=len(found),
                choices=choices,
                settings=settings,
                profile_name=chosen["profile"],
                profile=profile,
                direction=chosen["direction"],  # type: ignore[arg-type]
                seed=case_seed(plan.seed, _name_frames(plan, choices)),
                pattern=chosen.get("pattern", patterns.PAIRS),
                groups=groups_of_case(chosen[GROUP_AXIS], plan.groups) if plan.groups else (),
            )
        )
    return tuple(found)


def _name_frames(plan: Plan, choices: tuple[tuple[str, str], ...]) -> str:
    """The values of a case without parameters of the method: these change no frame."""
    return " / ".join(value for axis, value in choices if axis not in plan.parameter_axes)


def _modified(
    plan: Plan, chosen: Mapping[str, str], choices: tuple[tuple[str, str], ...]
) -> Mapping[str, str]:
    """What its modifier sets of the device.

    Nothing where the device has no such setting, or there is no such case: that is reported with the plan.
    """
    pattern, ports = chosen.get("pattern", patterns.PAIRS), len(plan.lab.links)
    direction: Direction = chosen["direction"]  # type: ignore[assignment]
    if direction not in patterns.list_directions(pattern, ports)[0]:
        return {}
    ways = patterns.ways(pattern, direction, ports)
    found = modifiers.choose_modifier(choices).settings(plan.profiles[chosen["profile"]], ways, ports)
    return {name: value for name, value in found.items() if name in plan.kind.settings}


def _matches(entry: Mapping[str, tuple[str, ...]], chosen: Mapping[str, str]) -> bool:
    return all(chosen.get(axis) in values for axis, values in entry.items())


def case_seed(seed: int, name: str, repeat: int = 1) -> int:
    """The seed of a case: the first 63 bits of SHA-256 of `<plan seed>/<name>`.

    name: the values of its axes, `8 / imix / bidir`, without parameters of the method.

    From the values and not from the number, so that adding a value to an axis changes no other case. Of a
    repeat with frames of its own, from the second on, of `<plan seed>/<name>/<repeat>`.
    63 bits, because SQLite's integers are signed.
    """
    place = name if repeat == 1 else f"{name}/{repeat}"
    digest = hashlib.sha256(f"{seed}/{place}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def wire(plan: Plan, case: Case) -> Wiring:
    """The whole lab as it is in a case. ValueError if it cannot be wired so."""
    wired = plan.kind.wire(plan.lab.links, case.settings)
    return wired.for_frames(case.profile.pool.version)


def wire_groups(case: Case, wiring: Wiring) -> Wiring:
    """The lab with the ports of the case's groups alone; all of it where there are none."""
    return wiring.only({port for group in case.groups for port in group.ports}) if case.groups else wiring


def streams(case: Case, wiring: Wiring) -> tuple[Stream, ...]:
    """What the load of a method is sent in, in the order in which a port's frames of one instant leave.

    Between two ports of several classes each class without a rate of its own is a stream. A load is the same
    part of each group's line, which is that of its slowest port, without what classes with a rate take of it.
    Where all classes send by themselves these are the streams.
    """
    if case.profile.sends_by_itself:
        return _own_streams(case, wiring)
    free = [1 - taken_by_classes(case, port) for port in wiring.ports]
    return tuple(
        one for stream in _paths(case, wiring) for one in _swept(case, stream, free[stream.place.tx])
    )


def constant_streams(case: Case, wiring: Wiring) -> tuple[Stream, ...]:
    """A stream of each class with a rate of its own, on each way; no method sees them."""
    return () if case.profile.sends_by_itself else _own_streams(case, wiring)


def _own_streams(case: Case, wiring: Wiring) -> tuple[Stream, ...]:
    """A stream of each class with a rate of its own, on each way; its share is of the frames of all."""
    found = []
    for stream in _paths(case, wiring):
        loads = _own_loads(case, wiring.ports[stream.place.tx])
        fps = {name: _own_fps(case, name, load) for name, load in loads.items()}
        part, whole = stream.place.share / stream.place.line, sum(fps.values(), Fraction(0))
        for traffic in fps:
            place = replace(stream.place, share=stream.place.share * fps[traffic] / whole, traffic=traffic)
            name = f"{stream.name}/{traffic}"
            found.append(replace(stream, name=name, place=place, part=part, is_constant=True))
    return tuple(found)


def _own_fps(case: Case, traffic: str, load: L1Rate) -> Fraction:
    return line_rate(load, case.profile.of_class(traffic).mean).amount


def taken_by_classes(case: Case, port: WiredPort) -> Fraction:
    """The part of a port's line that classes with a rate of their own take at most."""
    taken = {name: load / port.line for name, load in _own_loads(case, port).items()}
    return sum(
        (max(taken[name] for name in chain) for chain in list_chains(case.profile.classes)), Fraction(0)
    )


def _own_loads(case: Case, port: WiredPort) -> dict[str, L1Rate]:
    """The load of each class with a rate of its own, where a port sends all of it."""
    return {
        name: load_l1(of.rate.amount, line=port.line, size=case.profile.of_class(name).mean)
        for name, of in case.profile.classes.items()
        if of.rate is not None
    }


def list_sendings(case: Case, port: WiredPort, share: Fraction = Fraction(1)) -> tuple[Sending, ...]:
    """What the classes with a rate of their own send on a way that has a share of what its port sends."""
    return tuple(
        Sending(
            name,
            int(load.amount * share),
            int(wire_bits(case.profile.of_class(name).mean)),
            of.bursts,
            of.delay.ns,
            of.then,
            of.starts,
            of.loops,
        )
        for name, load in _own_loads(case, port).items()
        if (of := case.profile.classes[name])
    )


def _swept(case: Case, stream: Stream, free: Fraction) -> list[Stream]:
    """A stream for each class that shares the load; the stream itself where there are no classes."""
    found = []
    for traffic, of in case.profile.classes.items():
        if of.share is not None:
            share = stream.place.share * case.profile.frames_of(traffic) * free
            place = replace(stream.place, share=share, traffic=traffic)
            found.append(replace(stream, name=f"{stream.name}/{traffic}", place=place))
    return found or [stream]


def _paths(case: Case, wiring: Wiring) -> list[Stream]:
    """The ways of a case, and the VLANs of each, with their parts of what their port sends."""
    every = [port.name for port in wiring.ports]
    # Members of a LAG are one port, which the first of them stands for.
    heads = [port for number, port in enumerate(every) if wiring.members(number)[0] == number]
    groups = case.groups or (Group("", tuple(heads), ("",) * len(heads)),)
    numbers = [tuple(map(every.index, group.ports)) for group in groups]
    rates = [min(map(wiring.rate_of, ports)) for ports in numbers]
    found = []
    for group, ports, rate in zip(groups, numbers, rates, strict=True):
        ways = patterns.ways(case.pattern, case.direction, len(ports))
        sent = Counter(way.tx for way in ways)
        line = Fraction(rate, min(rates))
        for way in ways:
            prefix, to = f"{group.name}/" if group.name else "", _name_end(wiring, ports[way.rx])
            share = way.share if way.share is not None else Fraction(1, sent[way.tx])
            share *= 1 - case.modifier.share
            # What a modifier says is said by the first port that sends, or where its frames come out.
            said_bps = {ways[0].rx: case.modifier.witness_bps, ways[0].tx: case.modifier.takes_bps}
            share *= 1 - Fraction(said_bps.get(way.tx, 0), wiring.rate_of(ports[way.tx]))
            # A flow stays on a member: of fewer flows than members some members send none.
            members = wiring.members(ports[way.tx])[: case.profile.flows]
            for member in members:
                place = Place(
                    member,
                    ports[way.rx],
                    share * line / len(members),
                    group=group.name,
                    line=line,
                    card=group.cards[way.tx],
                    bundle=wiring.arrival_ports(ports[way.rx]),
                )
                name = f"{prefix}{every[member]}-{to}"
                between = (
                    vlans_within(case, wiring.ports[place.tx], way.reverse)
                    if patterns.PATTERNS[case.pattern].within
                    else vlans_between(case, wiring.ports[place.tx], wiring.ports[place.rx])
                )
                for vlan, both in between:
                    on = replace(place, share=place.share / len(between), vlan=vlan)
                    of = f"{name}/{vlan}" if vlan else name
                    stream = Stream(of, on, way.reverse, way.to, vlans=both, members=len(members))
                    found.append(stream)
    return found


def _name_end(wiring: Wiring, number: int) -> str:
    """What streams call a port that they go to: of a LAG its own name."""
    port = wiring.ports[number]
    return port.name if port.lag is None else port.lag.name


def _taken(case: Case, wiring: Wiring) -> tuple[Fraction, ...]:
    """The part of each port's line that classes with a rate of their own take where they arrive; none: ()."""
    found: list[dict[str, Fraction]] = [{} for _ in wiring.ports]
    for stream in constant_streams(case, wiring):
        traffic, port = stream.place.traffic, stream.place.rx
        bits = wire_bits(_profile_of(case, stream).mean)
        load = _own_loads(case, wiring.ports[stream.place.tx])[traffic].amount * stream.part
        load *= (bits + 8 * TAG * _more_tags(wiring, stream)) / bits
        found[port][traffic] = found[port].get(traffic, Fraction(0)) + load / wiring.rate_of(port)
    chains = list_chains(case.profile.classes)
    whole = [sum((max(one[name] for name in chain) for chain in chains if one), Fraction(0)) for one in found]
    return tuple(whole) if any(whole) else ()


def _growth(case: Case, wiring: Wiring, sent: tuple[Stream, ...]) -> tuple[Fraction, ...]:
    """How much longer the frames of each stream are where they arrive, on the line; as long for all: ()."""
    each = [
        (wire_bits(_profile_of(case, stream).mean), 8 * TAG * _more_tags(wiring, stream)) for stream in sent
    ]
    found = [(bits + more) / bits for bits, more in each]
    return tuple(found) if any(one != 1 for one in found) else ()


def _profile_of(case: Case, stream: Stream) -> Profile:
    """The profile of a case as the class of a stream has it."""
    return case.profile.of_class(stream.place.traffic)


def _more_tags(wiring: Wiring, stream: Stream) -> int:
    """How many tags more the frames of a stream have where they arrive than where they are sent."""
    both = ((stream.place.tx, stream.vlans[0]), (stream.place.rx, stream.vlans[1]))
    near, far = (0 if vlan is None else len(wiring.ports[port].vlans[vlan].tags) for port, vlan in both)
    return far - near


TAG = 4
"""Bytes of a VLAN tag."""


def count_tags(case: Case, port: WiredPort) -> int:
    """The most VLAN tags of a frame of a case at a port."""
    own: int = case.profile.own_tags
    on_link = (len(vlan.tags) for vlan in port.vlans) if case.profile.takes_tags else ()
    return own + max(on_link, default=0)


def vlans_between(
    case: Case, sender: WiredPort, receiver: WiredPort
) -> list[tuple[str, tuple[int | None, int | None]]]:
    """The name of each VLAN between two ports, and its number at both. Empty name: it is the only one.

    The VLANs of a link are for frames without tags of their own. Where one port has several and the other
    one or none, each goes to that one; else first to first, second to second. ValueError if they are not as
    many.
    """
    sent, received = (port.vlans if case.profile.takes_tags else () for port in (sender, receiver))
    if len(sent) > 1 and len(received) > 1 and len(sent) != len(received):
        raise ValueError(f"`{sender.name}` has {len(sent)} VLANs and `{receiver.name}` has {len(received)}")
    count = max(len(sent), len(received), 1)
    numbers = [
        tuple((number if len(vlans) > 1 else 0) if vlans else None for vlans in (sent, received))
        for number in range(count)
    ]
    named = sent if len(sent) == count else received
    names = [vlan.name for vlan in named] if count > 1 else [""]
    return list(zip(names, numbers, strict=True))  # type: ignore[arg-type]


def vlans_within(
    case: Case, port: WiredPort, reverse: bool
) -> list[tuple[str, tuple[int | None, int | None]]]:
    """The same of one port, from one VLAN to another: `10-20`, and backward `20-10`."""
    vlans = port.vlans if case.profile.takes_tags else ()
    ways = patterns.PATTERNS[patterns.PAIRS].forward(len(vlans))
    ends = [(way.rx, way.tx) if reverse else (way.tx, way.rx) for way in ways]
    return [(f"{vlans[near].name}-{vlans[far].name}", (near, far)) for near, far in ends]


def part_of(port: WiredPort, number: int | None) -> tuple[int, int]:
    """Which part of how many of what is behind a port is behind a VLAN of it."""
    return (0, 1) if number is None else (number, len(port.vlans))


def own_part(stream: Stream, wiring: Wiring) -> tuple[int, int]:
    """Which part of how many a stream has of what the VLANs between its ports share, whichever has them: the
    receiver's, if both have."""
    both = ((stream.place.rx, stream.vlans[1]), (stream.place.tx, stream.vlans[0]))
    return max((part_of(wiring.ports[port], number) for port, number in both), key=lambda part: part[1])


def own_prefixes(stream: Stream, wiring: Wiring) -> tuple[str, ...]:
    """The prefixes that a stream goes to, of a lab that has some."""
    part, parts = own_part(stream, wiring)
    return wiring.routes[wiring.in_lab(stream.place.rx)][part::parts]


def list_destinations(case: Case, wiring: Wiring) -> tuple[tuple[str, ...], ...]:
    """Of each stream the prefix that each of its flows goes to; none where they go to networks."""
    if not wiring.routes:
        return ()
    own = (own_prefixes(stream, wiring) for stream in streams(case, wiring))
    return tuple(tuple(routes.destinations(prefixes, case.seed).values()) for prefixes in own)


def own_flows(stream: Stream, wiring: Wiring, flows: int) -> int:
    """A stream's flows of those of its profile: VLANs of a link and members of a LAG share these evenly."""
    return -(-flows // (own_part(stream, wiring)[1] * stream.members))


def list_spread(plan: Plan, case: Case, wiring: Wiring) -> Iterator[tuple[Stream, int]]:
    """The streams whose flows are chosen for members of the LAG or bundle that they go to, and how many
    members that has."""
    for stream in streams(case, wiring) if case.profile.spread is not None else ():
        at_tester = stream.place.bundle or wiring.ports[stream.place.rx].lag
        members = len(stream.place.bundle) if at_tester else count_inside(plan, wiring, stream.place.rx)
        if members > 1:
            yield stream, members


def count_inside(plan: Plan, wiring: Wiring, port: int) -> int:
    """Members of the device's LAG opposite a port, where its own counters tell one from another; else 1."""
    if wiring.clock == "virtual":
        return wiring.ports[port].rate_bps // wiring.ports[port].member_bps
    return len(plan.lab.links[wiring.in_lab(port)].device_ports) if plan.lab.driver else 1


def count_candidates(case: Case, wiring: Wiring) -> int:
    """The flows of a way that those on members are chosen from, none of them twice."""
    sent = streams(case, wiring)
    have = (
        distinct_flows(stack_of(case.profile, wiring, one), case.profile.of_way(one.reverse).writes)
        * own_part(one, wiring)[1]
        * one.members
        for one in sent
    )
    found = min(case.profile.candidates, MOST_BY_FLOW // len(sent), *have)
    # A device that sends packets to members in turn has each frame of a flow at another one so.
    odd = (number for number in range(found, case.profile.flows, -1) if math.gcd(number, 2 * 3 * 5 * 7) == 1)
    return next(odd, found)


def stack_of(profile: Profile, wiring: Wiring, stream: Stream) -> tuple[Any, ...]:
    """The header stack of a stream, without what a link adds. profile: as its class has it."""
    ends = [(stream.place.tx, stream.vlans[0]), (stream.place.rx, stream.vlans[1])]
    (first, near), (second, far) = reversed(ends) if stream.reverse else ends
    return profile.between(
        wiring.in_lab(first),
        wiring.in_lab(second),
        ports=wiring.lab_ports,
        reverse=stream.reverse,
        parts=(part_of(wiring.ports[first], near), part_of(wiring.ports[second], far)),
    )


def total_flows(case: Case, wiring: Wiring, tx: int | None = None) -> int:
    """The flows of all streams of a case, or of those that one port sends."""
    every = (*streams(case, wiring), *constant_streams(case, wiring))
    return sum(
        own_flows(stream, wiring, case.profile.of_class(stream.place.traffic).flows)
        for stream in every
        if tx in (None, stream.place.tx)
    )


def list_servers(case: Case, wiring: Wiring) -> dict[str, str]:
    """The server on another host of each stream that has one at an end, `ADDRESS:PORT`.

    A server takes one test at a time: of several streams each has the next TCP port.
    """
    taken: Counter[str] = Counter()
    found = {}
    for stream in streams(case, wiring):
        server = wiring.ports[stream.place.rx].server or wiring.ports[stream.place.tx].server
        if server:
            address, _, first = server.partition(":")
            found[stream.name] = f"{address}:{int(first) + taken[server]}"
            taken[server] += 1
    return found


def list_streams_beside(case: Case, wiring: Wiring) -> tuple[Stream, ...]:
    """What is sent beside the streams of a method's load, and no method sees.

    Classes with a rate of their own, or what a modifier sends in place of some frames of each stream.
    """
    modifier = case.modifier
    if not modifier.share:
        return constant_streams(case, wiring)
    part = modifier.share / (1 - modifier.share)
    return tuple(
        Stream(
            f"{stream.name}/{modifier.name}",
            replace(stream.place, share=stream.place.share * part),
            stream.reverse,
            beside=stream.name,
            vlans=stream.vlans,
            members=stream.members,
        )
        for stream in streams(case, wiring)
    )


def list_uneven(case: Case, wiring: Wiring) -> Mapping[str, str]:
    """The streams whose frames do not leave evenly, each with its kind of arrival."""
    if all(case.profile.of_class(name).arrival.is_even for name in ("", *case.profile.classes)):
        return {}
    every = (*streams(case, wiring), *constant_streams(case, wiring))
    kinds = {stream.name: case.profile.of_class(stream.place.traffic).arrival for stream in every}
    return {name: arrival.kind for name, arrival in kinds.items() if not arrival.is_even}


def _given_macs(case: Case, wiring: Wiring, sent: Sequence[Stream]) -> tuple[str, ...]:
    """Of each stream the MAC address that its profile or its link gives for where its frames go."""
    found = []
    for stream in sent:
        profile = _profile_of(case, stream)
        headers = profile.of_way(stream.reverse).headers
        written = headers[0].model_dump(mode="json") if headers else {}
        port, number = wiring.ports[stream.place.tx], stream.vlans[0]
        is_swapped = stream.reverse and profile.back is None and written.get("src") and written.get("dst")
        hop = written.get("src" if is_swapped else "dst") or (
            port.destination if number is None else port.vlans[number].mac
        )
        is_given = isinstance(hop, str) and is_mac(hop) and not is_group(hop) and not stream.to
        found.append(str(hop) if is_given else "")
    return tuple(found) if any(found) else ()


def _kept_back(case: Case, wiring: Wiring, sent: Sequence[Stream]) -> tuple[str, ...]:
    """Of each stream that goes to a router why none forwards its packets."""
    why = {
        traffic: find_obstacle([one.model_dump(mode="json") for one in profile.headers or ()])
        for traffic in {one.place.traffic for one in sent}
        if (profile := case.profile.of_class(traffic))
    }
    found = tuple(
        "" if wiring.ports[one.place.tx].destination == PEER else why[one.place.traffic] for one in sent
    )
    return found if any(found) else ()


def _count_distinct(case: Case, wiring: Wiring, sent: tuple[Stream, ...]) -> int:
    """The flows that each stream can have. A profile of one flow has one pair of addresses, whoever asks."""
    ports = len(wiring.ports)
    profiles = [(_profile_of(case, one).of_way(one.reverse), one.place) for one in sent]
    return min(
        1
        if profile.flows == 1
        else distinct_flows(profile.between(place.tx, place.rx, ports=ports), profile.writes)
        for profile, place in profiles
    )


def situation(case: Case, wiring: Wiring) -> Situation:
    """What a method may know of a case. wiring: with the ports alone that it opens."""
    member = min(port.member_bps for port in wiring.ports)
    # One flow stays on one member of a group, whatever the hash: that member's line is its ceiling.
    # Of groups with other members than each other the plan is refused.
    single = case.profile.flows == 1 and member < wiring.slowest.amount
    sent = streams(case, wiring)
    receivers = [stream.place.rx for stream in sent]
    alone = len(set(receivers)) == len(receivers) and not list_streams_beside(case, wiring)
    profiles = [_profile_of(case, stream) for stream in sent]
    mean, own_fps = case.profile.mean, None
    if case.profile.sends_by_itself:
        shares = [stream.place.share for stream in sent]
        mean = sum(
            (share * one.mean for share, one in zip(shares, profiles, strict=True)), Fraction(0)
        ) / sum(shares, Fraction(0))
        own_fps = _find_own_fps(case, wiring)
    mixed = any(len(one.mix.weights) > 1 for one in profiles) and alone and not wiring.lags
    sizes = tuple(one.mean for one in profiles)
    return Situation(
        streams=tuple(stream.name for stream in sent),
        line_fps=line_rate(wiring.slowest, mean).amount,
        mean_size=mean,
        own_fps=own_fps,
        sizes=sizes if any(size != mean for size in sizes) else (),
        flow_ceiling_fps=line_rate(L1Rate(Fraction(member)), mean).amount if single else None,
        # Of a port that receives several streams which of its bytes are whose is unknown.
        mixed_receivers=tuple(receivers) if mixed else (),
        burst=case.profile.burst,
        places=tuple(stream.place for stream in sent),
        lines=tuple(line_rate(port.line, mean).amount for port in wiring.ports),
        enforced=all(port.enforced_rate for port in wiring.ports),
        asked=Trait.CAN_BE_ASKED in wiring.traits,
        by_hand=wiring.clock == "real",
        beside=case.modifier.share,
        taken=_taken(case, wiring),
        classes=tuple(case.profile.classes),
        growth=_growth(case, wiring, sent),
        tags=max(count_tags(case, port) for port in wiring.ports),
        is_uneven=bool(list_uneven(case, wiring)),
        given_macs=_given_macs(case, wiring, sent),
        kept_back=_kept_back(case, wiring, sent),
        switched=wiring.switched,
        distinct_flows=_count_distinct(case, wiring, sent) if wiring.switched else 0,
        is_unproven=Trait.UNPROVEN in wiring.traits,
        behind=tuple(_behind(wiring)),
        prefixes=_count_prefixes(wiring, sent),
        lags=wiring.lags,
    )


def _find_own_fps(case: Case, wiring: Wiring) -> Fraction:
    """The most frames a second that a port sends of classes with rates of their own, at once."""
    loads = _own_loads(case, min(wiring.ports, key=lambda port: port.line.amount))
    fps = {name: _own_fps(case, name, load) for name, load in loads.items()}
    chains = list_chains(case.profile.classes)
    return sum((max(fps[name] for name in chain) for chain in chains), Fraction(0))


def _behind(wiring: Wiring) -> Iterator[Behind]:
    """What is behind each of the tester ports that are opened."""
    every = [
        wiring.routes[wiring.in_lab(number)] if wiring.routes else () for number in range(len(wiring.ports))
    ]
    version = routes.version(wiring.routes[0]) if wiring.routes else 4
    for port, own in zip(wiring.ports, every, strict=True):
        others = zip(wiring.ports, every, strict=True)
        like = tuple(other.name for other, theirs in others if own and theirs == own and other is not port)
        bgp = None if port.speaker is None else port.speaker.bgp
        if bgp is None:
            yield Behind(port.name, len(own), like)
            continue
        # Of an emulated device a stand-in says what it learned: nothing is announced or withdrawn.
        withdrawn = 0 if wiring.clock == "virtual" else bgp.withdrawn(version)
        yield Behind(port.name, len(own), like, count_announced(bgp), withdrawn)


def _count_prefixes(wiring: Wiring, sent: Sequence[Stream]) -> tuple[int, ...]:
    """Of each stream, how many prefixes its flows go to; none where they go to networks."""
    if not wiring.routes:
        return ()
    behind = (len(wiring.routes[wiring.in_lab(one.place.rx)]) for one in sent)
    return tuple(own_flows(one, wiring, count) for one, count in zip(sent, behind, strict=True))
