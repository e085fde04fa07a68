"""From a case and a trial to what the engine is handed, and from what it hands back to values.

The shapes are those of crates/engine/src/spec.rs and result.rs. Nothing is left to a default there:
the spec of a trial, with its seed, is the whole description of what was done.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from fractions import Fraction
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from netdyno import modifiers
from netdyno.devices import routes
from netdyno.devices.emulated.hellos import adjacencies_of
from netdyno.devices.wiring import PEER, Trait, is_mac
from netdyno.plan.arrivals import CONSTANT, EVEN
from netdyno.plan.bursts import list_bursts, list_segments
from netdyno.plan.matrix import (
    Case,
    Stream,
    list_sendings,
    list_streams_beside,
    own_flows,
    own_prefixes,
    stack_of,
    streams,
)
from netdyno.plan.quick import SOURCE_PORT
from netdyno.plan.writes import write_out
from netdyno.testers.netdyno.adjacencies import read_adjacencies
from netdyno.values.engine_reason import EngineReason
from netdyno.values.health import Health, HostHealth
from netdyno.values.load import STEADY, Event, Frames, Trial
from netdyno.values.outcome import (
    Conflict,
    FrameCounts,
    Heard,
    NextHop,
    Outcome,
    Phase,
    PortResult,
    Post,
    Said,
    StreamResult,
)
from netdyno.values.rates import FCS, load_fps, load_l1, wire_bits
from netdyno.values.units import L1Rate, Rate

if TYPE_CHECKING:
    from netdyno.devices.wiring import Subinterface, WiredPort, Wiring
    from netdyno.plan import Plan, Profile
    from netdyno.plan.classes import TrafficClass

OVERTIME_NS = {"real": 100_000_000, "virtual": 1_000_000}
"""In real time late frames leave until this long after the schedule's end: as long as a pause of a tester
may be that is made up for (methods.AWAY_NS). How late they were is judged, not the end. In virtual time
nobody is kept from sending: what is late was more than the line carries, and stays unsent but for the last
frames, which are due just before the end."""

BROADCAST = "ff:ff:ff:ff:ff:ff"
FIRST_STATION = "06:00:00:00:00:01"
UNSET_MAC = "00:00:00:00:00:00"
"""What stands in the destination until the engine fills in the peer or the resolved next hop."""


def session_spec(wiring: Wiring, *cases: Case) -> dict[str, Any]:
    """What is joined to what, opened for the frames of these cases; without any for common Ethernet's."""
    sizes = [part.mix.largest for case in cases for part in case.profile.parts]
    longest = max([*sizes, *(case.modifier.longest for case in cases)], default=None)
    return {**wiring.session, **({} if longest is None else {"max_frame": longest - FCS})}


def trial_spec(
    plan: Plan, case: Case, wiring: Wiring, trial: Trial, *, secret: bool = False
) -> dict[str, Any]:
    """The whole trial: crates/engine/src/spec.rs, TrialSpec. secret: with what nobody may store."""
    all_streams = streams(case, wiring)
    words: Mapping[int, modifiers.Words] = {}
    if case.modifier.words is not None:
        words = case.modifier.words(scene(plan, case, wiring, trial), secret=secret)
    silent = modifiers.Words()
    every = (*all_streams, *list_streams_beside(case, wiring))
    sent = [
        _stream_spec(case, wiring, stream, trial) | {"answers": _answered(case, wiring, stream, every)}
        for stream in every
    ]
    return {
        "seed": case.seed,
        "streams": sent,
        "ports": [
            {
                "mac": port.mac,
                "line_bps": port.rate_bps,
                **({"lag": wiring.members(number)[0]} if port.lag else {}),
                "ipv4": port.ipv4,
                "ipv6": port.ipv6,
                # Of a LAG one member asks, and any may be answered.
                "gateway": _gateway(case, port) if wiring.members(number)[0] == number else None,
                **_on_vlans(case, wiring, port),
                **({"bundle": bundle[0]} if (bundle := wiring.bundled_with(number)) else {}),
                "messages": list(words.get(number, silent).messages),
                "listens": list(words.get(number, silent).listens),
                "behind": list(words.get(number, silent).behind),
            }
            for number, port in enumerate(wiring.ports)
        ],
        "resolve_ns": plan.trial.resolve.ns,
        "poll_ns": plan.trial.poll.ns,
        "catch_up_percent": int(plan.trial.catch_up.amount * 100),
        "overtime_ns": OVERTIME_NS[wiring.clock],
        "settle_ns": _settle_ns(plan, trial),
        "drain_ns": plan.trial.drain.ns if trial.drain_ns is None else trial.drain_ns,
        "sample_ns": _sample_ns(plan, trial),
        # What a bridge learns of the tester's ports takes room in the table that stations are to fill.
        "learn": Trait.LEARNS in wiring.traits
        and not any(stream.to == "destinations" for stream in all_streams),
        "verify": plan.trial.verify,
        # How far apart frames arrive is of interest where they do not leave evenly.
        "observe": {**asdict(trial.observe), "spacing": any(one["arrival"] != CONSTANT for one in sent)},
    }


def _on_vlans(case: Case, wiring: Wiring, port: WiredPort) -> dict[str, Any]:
    """Who a port is on the VLANs of its link, and its OSPF neighbours in virtual time."""
    ends = adjacencies_of(port) if Trait.SAYS_HELLO in wiring.traits else []
    vlans = [vlan.spec(_version(case.profile.parts[0])) for vlan in port.vlans]
    if ends and vlans:
        vlans = [vlan | {"ospf": one.tester} for vlan, one in zip(vlans, ends, strict=True)]
    return {"vlans": vlans, **({"ospf": ends[0].tester} if ends and not vlans else {})}


def _stream_spec(case: Case, wiring: Wiring, stream: Stream, trial: Trial) -> dict[str, Any]:
    """A stream of a trial: crates/engine/src/spec.rs, StreamSpec."""
    profile = case.profile.of_class(stream.place.traffic)
    asked = None if stream.is_constant else trial.frames.flows
    flows = own_flows(stream, wiring, profile.flows if asked is None else asked)
    picked = () if stream.beside or stream.is_constant else trial.frames.picked.get(stream.name, ())
    burst = _burst(case, profile, wiring, stream, trial)
    # A trial of bursts asks for these and nothing else.
    asks_bursts = trial.frames.burst is not None and not stream.is_constant
    arrival = EVEN if stream.beside or asks_bursts else profile.arrival
    return {
        "name": stream.name,
        "tx_port": stream.place.tx,
        "rx_port": stream.place.rx,
        **_frames(case, profile, wiring, stream, flows),
        "sizes": [{"size": size, "weight": weight} for size, weight in profile.mix.weights],
        "flows": 1 if stream.beside else flows,
        **({"pick": list(picked)} if picked else {}),
        "burst": 1 if stream.beside else burst,
        "arrival": arrival.spec(),
        "probe": profile.probe or bool(stream.beside),
        "schedule": _schedule(case, profile, wiring, stream, trial),
    }


def _answered(case: Case, wiring: Wiring, stream: Stream, every: Sequence[Stream]) -> int | None:
    """The number of the stream that this one answers: the same the other way."""
    profile = case.profile.of_class(stream.place.traffic)
    is_asked = profile.answers or Trait.KEEPS_STATE in wiring.traits
    if stream.beside or not (stream.reverse and is_asked and profile.can_answer):
        return None

    place, vlans = stream.place, stream.vlans[::-1]
    ways = (
        None
        if other.beside or other.reverse
        else (other.place.tx, other.place.rx, other.place.traffic, other.vlans)
        for other in every
    )
    asked = (place.rx, place.tx, place.traffic, vlans)
    return next((number for number, way in enumerate(ways) if way == asked), None)


def scene(plan: Plan, case: Case, wiring: Wiring, trial: Trial) -> modifiers.Scene:
    """Where a case's modifier speaks."""
    first = streams(case, wiring)[0].place
    return modifiers.Scene(
        wiring, first.tx, first.rx, case.settings, _settle_ns(plan, trial), trial.duration_ns
    )


def _settle_ns(plan: Plan, trial: Trial) -> int:
    return plan.trial.settle.ns if trial.settle_ns is None else trial.settle_ns


def _sample_ns(plan: Plan, trial: Trial) -> int:
    """Where a method has shorter samples for parts of a long load, what the plan says comes first."""
    usual = plan.trial.sample.ns
    if not trial.counts_carrier_losses:
        return trial.sample_ns or usual
    is_said = "sample" in plan.written.model_fields_set
    return usual if is_said else min(trial.sample_ns or usual, usual)


def event_spec(event: Event, ports: Sequence[str]) -> dict[str, Any]:
    """An event as a session has it: crates/session/src/spec.rs, Event. ports: the tester's, by name."""
    port = None if event.port is None else ports.index(event.port)
    return {"at_ns": event.at_ns, "kind": event.kind, "port": port}


def _burst(case: Case, profile: Profile, wiring: Wiring, stream: Stream, trial: Trial) -> int:
    """Frames of a burst; at a load above the line there are none, for nothing is between them.

    No trial changes those of a class with a rate of its own.
    """
    if stream.is_constant:
        return profile.burst
    loads = (load_l1(rate, line=wiring.slowest, size=case.profile.mean) for rate in trial.rates)
    if any(load > wiring.ports[stream.place.tx].line for load in loads):
        return 1
    return profile.burst if trial.frames.burst is None else trial.frames.burst


def _schedule(
    case: Case, profile: Profile, wiring: Wiring, stream: Stream, trial: Trial
) -> list[dict[str, Any]]:
    """Loads of a stream as L1 bits per second, rounded down: never more than was asked.

    A class with a rate of its own has that throughout.
    """
    own = trial.frames.loads.get(stream.beside or stream.name)
    part = case.modifier.share / (1 - case.modifier.share) if stream.beside else Fraction(1)
    share = stream.part if stream.is_constant else stream.place.share
    segments, share = (trial.segments, share) if own is None else (own, part)
    if not segments:
        segments = Frames.steady(L1Rate(Fraction(0)), trial.duration_ns, "silent").segments
    # A load of the method is of its frames on average, one of a stream alone of frames of that.
    line, size = wiring.slowest, case.profile.mean if own is None else profile.mean
    if stream.is_constant and any(one.has_time for one in case.profile.classes.values()):
        return _own_schedule(case, wiring, stream, sum(one.duration_ns for one in segments))
    if stream.is_constant:
        size = profile.mean
        rate = case.profile.classes[stream.place.traffic].rate
        assert rate is not None, "a stream that is constant is of a class with a rate"
        line = wiring.ports[stream.place.tx].line
        segments = tuple(replace(one, from_rate=rate.amount, to_rate=rate.amount) for one in segments)

    def bps(rate: Rate) -> int:
        fps = load_fps(rate, line=line, size=size).amount * share
        return (fps * wire_bits(profile.mean)).__floor__()

    return [
        {
            "name": segment.name,
            "duration_ns": segment.duration_ns,
            "from_bps": bps(segment.from_rate),
            "to_bps": bps(segment.to_rate),
        }
        for segment in segments
    ]


def _own_schedule(case: Case, wiring: Wiring, stream: Stream, duration_ns: int) -> list[dict[str, Any]]:
    """The load of a class with a rate of its own, of which some send at times of theirs."""
    sendings = list_sendings(case, wiring.ports[stream.place.tx], stream.part)
    bursts = list_bursts(sendings, duration_ns)[stream.place.traffic]
    (one,) = (one for one in sendings if one.name == stream.place.traffic)
    return [
        {"name": STEADY, "duration_ns": length_ns, "from_bps": begin, "to_bps": end}
        for length_ns, begin, end in list_segments(one, bursts, duration_ns)
    ]


def _frames(case: Case, profile: Profile, wiring: Wiring, stream: Stream, flows: int) -> dict[str, Any]:
    """Header stack of one stream, and who its destination MAC is. profile: as its class has it."""
    place, reverse = stream.place, stream.reverse and profile.back is None
    both, profile = profile, profile.of_way(stream.reverse)
    port = wiring.ports[place.tx]
    on = None if stream.vlans[0] is None else port.vlans[stream.vlans[0]]
    if stream.beside and case.modifier.headers is not None:
        headers = _with_tags(case.modifier.headers(profile, port.mac), on)
        return {"headers": headers, "writes": [], "payload": "", "destination": "written", "arrives_on": None}
    stack = stack_of(both, wiring, stream)
    headers = _with_tags([header.model_dump(mode="json") for header in stack], on)
    if place.traffic:
        _mark(headers, case.profile.classes[place.traffic])
    if wiring.routes:
        (network,) = (header for header in headers if header["type"] in ("ipv4", "ipv6"))
        network["dst"] = {"list": list(routes.destinations(own_prefixes(stream, wiring), case.seed))}
    if wiring.hosts:
        _between_hosts(headers, wiring.hosts[place.tx], wiring.hosts[place.rx], flows)
    outer = headers[0]
    if stream.to:
        outer["src"] = outer["dst"] = None
    if stream.to == "sources":
        outer["src"] = _stations(flows)
    elif stream.to:
        outer["dst"] = BROADCAST if stream.to == "all" else _stations(flows)
    written = outer["dst"] is not None
    swapped = written and reverse and not stream.to and outer["src"] is not None
    if swapped:
        outer["src"], outer["dst"] = outer["dst"], outer["src"]
    for index, header in enumerate(headers):
        if header["type"] == "ethernet":
            # An inner Ethernet header (VXLAN) is never resolved: without addresses it carries ours.
            header["src"] = header["src"] if header["src"] is not None else port.mac
            header["dst"] = (
                header["dst"] if header["dst"] is not None else (UNSET_MAC if index == 0 else port.mac)
            )
    hop = _next_hop(profile, port, on)
    if not written and is_mac(hop):
        outer["dst"], written = hop, True
    destination: Any = "written" if written else PEER if hop == PEER else {"gateway": hop}
    sent = () if on is None else on.tags
    arrives = () if stream.vlans[1] is None else wiring.ports[place.rx].vlans[stream.vlans[1]].tags
    changed = [{"vid": vid, "tpid": tpid} for vid, tpid in arrives] if arrives != sent else None
    written_out = [{name: value for name, value in header.items() if value is not None} for header in headers]
    tags = 4 * (len(headers) - len(stack))
    writes = write_out(profile.writes, profile.stack, reverse=reverse, macs=swapped, tags=tags)
    return {
        "headers": written_out,
        "writes": writes,
        "payload": profile.payload,
        "destination": destination,
        "arrives_on": changed,
    }


def _between_hosts(headers: Sequence[dict[str, Any]], source: str, destination: str, flows: int) -> None:
    """Writes the addresses of two hosts into headers of IPv4 and UDP. Flows differ in their source ports."""
    for header in headers:
        if header["type"] == "ipv4":
            header["src"], header["dst"] = source, destination
        elif header["type"] == "udp" and flows > 1:
            header["sport"] = {"step": {"start": SOURCE_PORT, "step": 1, "count": flows}}


def _with_tags(headers: Sequence[dict[str, Any]], on: Subinterface | None) -> list[dict[str, Any]]:
    """The headers with the tags of a VLAN of the link behind the outermost one."""
    tags = () if on is None else on.tags
    vlans = [{"type": "vlan", "vid": vid, "tpid": tpid, "pcp": 0, "dei": False} for vid, tpid in tags]
    return [*headers[:1], *vlans, *headers[1:]]


def _stations(count: int) -> dict[str, Any]:
    """The MAC addresses of so many stations, a flow each. Locally administered, and none of a lab's own."""
    return {"step": {"start": FIRST_STATION, "step": 1, "count": count}}


def _mark(headers: list[dict[str, Any]], traffic: TrafficClass) -> None:
    """Writes a class into the outermost header that has room for it."""
    for field, kinds in (("dscp", ("ipv4", "ipv6")), ("pcp", ("vlan",))):
        value = getattr(traffic, field)
        outermost = next((header for header in headers if header["type"] in kinds), None)
        if value is not None and outermost is not None:
            outermost[field] = value


def _version(profile: Profile) -> int:
    """The IP version of a profile's outermost network layer; 4 where there is none."""
    network = next((header.type for header in profile.stack if header.type in ("ipv4", "ipv6")), "ipv4")
    return 6 if network == "ipv6" else 4


def _next_hop(profile: Profile, port: WiredPort, on: Subinterface | None = None) -> str:
    """Whom a port's frames of a profile are addressed to, on a VLAN of its link or as the profile has them:
    `peer`, an IP address or a MAC address."""
    if on is not None:
        return on.next_hop(_version(profile))
    return (port.destination_ipv6 if _version(profile) == 6 else None) or port.destination


def _gateway(case: Case, port: WiredPort) -> str | None:
    """The next hop a port makes itself known to, so that a router need not ask while traffic runs.

    On VLANs of its link those have their own.
    """
    first = case.profile.parts[0]
    hop = _next_hop(first, port)
    if hop == PEER or is_mac(hop) or (port.vlans and case.profile.takes_tags):
        return None
    ours = port.ipv6 if ":" in hop else port.ipv4
    if ours is None and any(vlan.gateway == hop for vlan in port.vlans):
        ours = next(vlan.address for vlan in port.vlans if vlan.gateway == hop)
    written = first.stack[0].model_dump(mode="json").get("dst") is not None
    return None if ours is None or written else hop


def read_result(
    json_text: str, apart: Collection[str] = (), wiring: Wiring | None = None, traffic_ns: int = 0
) -> Outcome:
    """The engine's answer, `{"trial": TrialResult, "devices": [...]}`, as values.

    apart: streams beside those that are measured. wiring, traffic_ns: of the case, and how long its traffic
    was, for its adjacencies. A field too few or too many is a bug, and raises.
    """
    answer = json.loads(json_text)
    trial = answer["trial"]

    def of(kind: Any, name: str) -> Any:
        return _reader(tuple[kind, ...])(trial.get(name, ()))

    streams = of(StreamResult, "streams")
    series, lost = ((), ()) if wiring is None else read_adjacencies(answer, wiring, traffic_ns)
    return Outcome(
        FrameCounts(
            tuple(stream for stream in streams if stream.name not in apart),
            of(PortResult, "ports"),
            trial["sample_ns"],
            beside=tuple(stream for stream in streams if stream.name in apart),
        ),
        _reader(Health)(trial["health"]),
        of(Phase, "phases"),
        resolved=of(tuple[str, str], "resolved"),
        invalid=tuple(map(EngineReason.read, trial["invalid"])),
        devices=tuple(answer.get("devices", ())),
        next_hops=of(NextHop, "next_hops"),
        conflicts=of(Conflict, "conflicts"),
        hosts=of(HostHealth, "hosts"),
        post=_post(trial) if trial.get("said") or trial.get("heard") else None,
        series=series,
        adjacencies_lost=lost,
        readings=tuple((one["at_ns"], tuple(one["devices"])) for one in answer.get("readings", ())),
        readings_left_out=answer.get("readings_left_out", 0),
    )


def _post(trial: Mapping[str, Any]) -> Post:
    heard = (
        Heard(
            port=one["port"],
            at_ns=one["at_ns"],
            source=one["from"],
            source_port=one["from_port"],
            to_port=one["to_port"],
            payload=bytes.fromhex(one["payload"]),
        )
        for one in trial["heard"]
    )
    said = _reader(tuple[Said, ...])(trial["said"])
    return Post(said, tuple(heard), trial["heard_beyond"], trial["heard_damaged"])


def _as_it_is(found: Any) -> Any:
    return found


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Gives what makes a value of a declared type from JSON: dataclasses by name, tuples in order.

    The codec of records does the same with more checks; compiling it for these types takes 0.12 s in each
    process.
    """
    if is_dataclass(kind):
        every = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}
        readers = {name: read for name, read in every.items() if read is not _as_it_is}
        make: Any = kind
        return lambda found: make(
            **{**found, **{name: read(found[name]) for name, read in readers.items() if name in found}}
        )
    inner = _reader(get_args(kind)[0]) if get_args(kind) else _as_it_is
    if get_origin(kind) is tuple:
        return tuple if inner is _as_it_is else lambda found: tuple(map(inner, found))
    if NoneType in get_args(kind) and inner is not _as_it_is:
        return lambda found: None if found is None else inner(found)
    return _as_it_is
