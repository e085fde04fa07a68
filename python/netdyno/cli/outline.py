"""Who sends to whom in a plan's cases, in which bursts, and what is behind each port: for `netdyno check`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from itertools import groupby
from typing import TYPE_CHECKING

from netdyno.campaign.kept import read_templates
from netdyno.campaign.learning import OneByOne, learned_one_by_one
from netdyno.devices.bgp_password import read_password
from netdyno.devices.external import own_traffic
from netdyno.devices.kind import Program
from netdyno.devices.wiring import PEER, LabError, LabLink, WiredPort
from netdyno.errors import counted
from netdyno.methods import METHODS
from netdyno.modifiers import MODIFIERS, NONE
from netdyno.plan.check_cases import MOST_RENDERED
from netdyno.plan.device_lists import next_hops
from netdyno.plan.matrix import cases, list_servers, situation, streams, wire, wire_groups
from netdyno.plan.patterns import PAIRS
from netdyno.ports import nic
from netdyno.ports.backends import AUTO, KERNEL, USUAL, fits
from netdyno.ports.nic import fit
from netdyno.values import number as printed
from netdyno.values.load import CONNECTIONS
from netdyno.values.situation import GROUP_AXIS
from netdyno.values.units import PositiveDuration

if TYPE_CHECKING:
    from netdyno.devices.peering import Speaker
    from netdyno.methods.parts.procedure import FurtherLoad
    from netdyno.plan import Plan
    from netdyno.plan.classes import TrafficClass
    from netdyno.plan.matrix import Stream

MOST_SHOWN = 12
"""Streams of a case that are named."""


@dataclass(frozen=True)
class Lacking:
    """What to know of this machine before it runs a plan that is correct. code: of an error or a reason."""

    code: str
    message: str


def lines(plan: Plan) -> Iterator[str]:
    """The streams of each direction, bursts, and port by port the networks a router must have a route to."""
    found = cases(plan)
    sent: dict[str, tuple[str, ...]] = {}
    servers: dict[str, dict[str, None]] = {}
    learning: dict[str, OneByOne] = {}
    routed = False
    for case in found:
        wiring = wire_groups(case, wire(plan, case))
        way = case.direction if case.pattern == PAIRS else f"{case.pattern}, {case.direction}"
        way = f"{dict(case.choices)[GROUP_AXIS]}, {way}" if case.groups else way
        classes = f" ({case.profile_name})" if case.profile.classes else ""
        sent.setdefault(way + classes, tuple(_name(streams(case, wiring))))
        if (learned := learned_one_by_one(plan, case, wiring)) is not None:
            learning.setdefault(case.profile_name, learned)
        routed = routed or any(port.destination != PEER for port in wiring.ports)
        for at in list_servers(case, wiring).values():
            address, _, port = at.partition(":")
            servers.setdefault(address, {})[f"`iperf3 -s -p {port}`"] = None
    for way, names in sent.items():
        more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN + 1 else ""
        yield f"  {way}: {', '.join(names[:MOST_SHOWN] if more else names)}{more}"
    for address, commands in servers.items():
        yield f"  to be running on {address}: {', '.join(commands)}"
    profiles = {case.profile_name: case.profile for case in found}
    for name in dict.fromkeys(case.modifier.name for case in found):
        modifier = MODIFIERS[name]
        if modifier != NONE:
            section = f" (RFC 2544 section {modifier.section})" if modifier.section else ""
            yield f"  {name}: {modifier.doc}{section}"
    for name, profile in profiles.items():
        if profile.burst > 1:
            yield f"  {name}: in bursts of {profile.burst} frames, back to back"
        for traffic, own in profile.classes.items():
            if own.rate is not None:
                beside = "" if profile.sends_by_itself else "beside the method's load"
                when = ", ".join(filter(None, (*_when(own), beside)))
                yield f"  {name}/{traffic}: {own.rate} from each sending port{', ' if when else ''}{when}"
        arrivals = {each: profile.of_class(each).arrival for each in profile.classes or ("",)}
        for traffic, arrival in arrivals.items():
            if not arrival.is_even:
                yield f"  {name}{'/' if traffic else ''}{traffic}: arrivals {arrival}"
        bare = [each for each in profile.classes or ("",) if not profile.of_class(each).probe]
        for traffic in [""] if len(bare) == len(profile.parts) else bare:
            of = f"{name}/{traffic}" if traffic else name
            yield f"  {of}: frames without a probe, counted by their headers"
    for name, one in learning.items():
        yield (
            f"  {name}: members of flows are learned one after another, about {one.usual} trials, at most"
            f" {one.most}: about {printed.clock(float(one.seconds))} a case in real time"
        )
    for load, line_fps in _list_further_loads(plan).items():
        of_line = f", {printed.percent(load.fps / line_fps)} of the line" if line_fps else ""
        yield f"  {load.what}, {printed.rate(load.fps, 'pps')}{of_line}"
    # Connections, and own frames beside them, go between the ports' own addresses.
    if not routed or METHODS[plan.method].load_class is CONNECTIONS:
        return
    ports = len(plan.lab.links)
    wiring = plan.kind.wire(plan.lab.links, found[0].settings)
    wired = {wiring.in_lab(number): port for number, port in enumerate(wiring.ports)}
    for number, link in enumerate(plan.lab.links):
        if link.speaker and link.speaker.announces:
            yield f"  behind {link.tester_port}: {_table(link.speaker)}"
            continue
        networks = dict.fromkeys(
            net for profile in profiles.values() for net in profile.networks(number, ports)
        )
        if networks:
            each = len(link.vlans) if any(profile.takes_tags for profile in profiles.values()) else 0
            part = f", an even part on each of {each} VLANs: `netdyno routes PLAN` lists them"
            routes = _routes(plan, link, wired[number], networks) if each < 2 else []
            yield f"  behind {link.tester_port}: {', '.join(routes or networks)}{part if each > 1 else ''}"


def _when(own: TrafficClass) -> Iterator[str]:
    """When a class with a rate sends: `in 3 bursts of 10 frames`, `then sync`; nothing: all the time."""
    if own.bursts is not None:
        count = "bursts" if own.bursts.count is None else counted(own.bursts.count, "burst")
        gap = f" {own.bursts.gap} apart" if own.bursts.gap.ns and own.bursts.count != 1 else ""
        yield f"in {count} of {counted(own.bursts.frames, 'frame')}{gap}"
    if own.delay.ns:
        yield f"{own.delay} after the {'begin' if own.starts else 'class before'}"
    if own.then is not None:
        times = "" if own.loops is None else f" until it was sent {counted(own.loops, 'time')}"
        yield f"then `{own.then}`{times}"


def _list_further_loads(plan: Plan) -> dict[FurtherLoad, Fraction]:
    """What the cases send beside the loads that the plan names, each with the line of the first such case."""
    further = METHODS[plan.method].further_loads
    found: dict[FurtherLoad, Fraction] = {}
    for case in cases(plan) if further is not None else ():
        known = situation(case, wire_groups(case, wire(plan, case)))
        for load in further(plan.parameters_of(case), known) if further is not None else ():
            found.setdefault(load, known.line_fps)
    return found


def list_load_warnings(plan: Plan) -> Iterator[Lacking]:
    """Loads that the plan does not name and that are above those it names."""
    for load in _list_further_loads(plan):
        if load.above:
            message = f"{load.what}, {printed.rate(load.fps, 'pps')}, is above {load.above}: what the device"
            yield Lacking(
                "changes-above-loads", f"{message} loses for that looks like convergence; lower `rate`"
            )


def list_failure_warnings(plan: Plan) -> Iterator[Lacking]:
    """LAGs of which all members are to be dead at once, and silences too short for the device to notice."""
    found: dict[Lacking, None] = {}
    for case in cases(plan):
        dying = getattr(plan.parameters_of(case), "failures", ())
        for link in plan.lab.links if dying else ():
            if link.lag is None:
                continue
            members = {f"{link.tester_port}.{interface}" for interface in link.lag.interfaces}
            # IEEE 802.1AX: three times the interval that is asked for.
            notices = PositiveDuration.of_ns((3 if link.lag.is_fast else 90) * 10**9)
            short = [one for one in dying if one.by == "silence" and one.member in members]
            for last in (one for one in short if one.lasts.ns < notices.ns):
                why = f"`{last.member}` is silent for {last.lasts}, and a device leaves it after {notices}"
                found[Lacking("lag-silence-short", why)] = None
            for last in dying:
                dead = {one.member for one in dying if one.at.ns <= last.at.ns < one.ends_ns}
                if dead >= members:
                    dead_at = f"all members of `{link.tester_port}` are dead at {last.at}"
                    why = "a device then stops the LAG, or uses one port, until LACP has formed it again"
                    found[Lacking("lag-all-dead", f"{dead_at}: {why}")] = None
    yield from found


def _table(speaker: Speaker) -> str:
    """What a port announces by BGP."""
    bgp = speaker.bgp
    assert bgp is not None
    counts = {"IPv4 route": bgp.routes, "IPv6 route": bgp.routes_ipv6}
    table = " and ".join(counted(count, what) for what, count in counts.items() if count)
    return f"{table or f'the table of {bgp.table}'}, announced by BGP"


def _routes(plan: Plan, link: LabLink, port: WiredPort, networks: Iterable[str]) -> list[str]:
    """What a router of the user needs, in its own words; nothing, where netdyno builds it."""
    if plan.lab.kind != "external":
        return []
    hops = [(one, next_hops(port, ip_network(one).version, on_vlans=False)[0]) for one in networks]
    found = [plan.kind.driver.format_route(one, via, link.device_port) for one, via in hops if via]
    return found if len(found) == len(hops) else []


def _name(found: tuple[Stream, ...]) -> Iterator[str]:
    """The names of streams; those of the VLANs of a link together."""
    for (place, _), alike in groupby(found, lambda one: (replace(one.place, vlan=""), bool(one.place.vlan))):
        names = [stream.name for stream in alike]
        if place.traffic or len(names) < 3:
            yield from names
        else:
            yield f"{names[0]} to {names[-1].rpartition('/')[2]} ({len(names)} VLANs)"


def list_interface_warnings(
    plan: Plan, read: Callable[[str], nic.Nic | None] = nic.read
) -> Iterator[Lacking]:
    """Interfaces of an external device that this machine has not, without a carrier, or that its own traffic
    uses."""
    if plan.lab.kind != "external":
        return
    for link, name in ((one, name) for one in plan.lab.links for name in one.interfaces):
        if link.host:
            continue
        if link.backend.kind not in KERNEL or link.server:
            continue
        found = read(name)
        if found is None:
            message = f"this machine has no interface `{name}`, which tester port `{link.tester_port}` uses"
            yield Lacking("no-such-interface", message)
        elif found.link.loopback:
            message = f"`{name}` of `{link.tester_port}` is this machine's loopback: no device is behind it"
            yield Lacking("loopback-interface", message)
        else:
            yield from _unfit(link, found)
            if found.link.carrier is False:
                message = f"interface `{name}` of `{link.tester_port}` has no carrier"
                yield Lacking("line-down", f"{message}: no cable, or nothing at its other end")
            for reason in own_traffic(link.tester_port, found):
                yield Lacking(reason.code, str(reason))


def list_packet_warnings(plan: Plan) -> Iterator[Lacking]:
    """Profiles whose packets no router forwards."""
    found: dict[str, str] = {}
    for case in cases(plan):
        if case.profile_name not in found and any(one.headers for one in case.profile.parts):
            wiring = wire_groups(case, wire(plan, case))
            kept_back = situation(case, wiring).kept_back
            found[case.profile_name] = next(filter(None, kept_back), "")
    for name, why in found.items():
        if why:
            yield Lacking("not-forwarded", f"`{name}`: a router drops packets with {why}, as it must")


def list_subnet_warnings(plan: Plan) -> Iterator[Lacking]:
    """Links to a router of the user's that share a subnet, of which it takes one interface in each only."""
    if plan.lab.kind != "external":
        return
    seen: dict[IPv4Network | IPv6Network, str] = {}
    for link in plan.lab.links:
        if link.address is None or link.gateway is None:
            continue
        net = ip_interface(link.address).network
        for other, port in seen.items():
            if net.version == other.version and net.overlaps(other):
                message = f"`{port}` and `{link.tester_port}` are both in {other}: a router"
                yield Lacking("shared-subnet", f"{message} has one interface in a subnet; use two")
        seen[net] = link.tester_port


def _unfit(link: LabLink, found: nic.Nic) -> Iterator[Lacking]:
    """Why this process may not use an interface as the plan asks, or why nobody can."""
    kind = USUAL if link.backend.kind == AUTO else link.backend.kind
    for one in fits(found, fit.rights()):
        if one.backend == kind and one.why is not None:
            hint = f"; {one.hint}" if one.hint else ""
            named = f"interface `{found.name}` of `{link.tester_port}`"
            yield Lacking("interface-unfit", f"{named} cannot take `{kind}`: {one.why}{hint}")


def list_secrets(plan: Plan) -> Iterator[Lacking]:
    """Lines of the plan's own templates that seem to hold a secret."""
    found = read_templates(plan, cases(plan), MOST_RENDERED)
    if not found:
        return
    from netdyno.devices.configure.mistakes import find_secrets

    for reason in find_secrets(found):
        yield Lacking(reason.code, str(reason))


def list_missing_passwords(plan: Plan) -> Iterator[Lacking]:
    """Ports whose BGP sessions have a password that the environment of this process has not."""
    for link in () if plan.kind.emulated else plan.lab.links:
        try:
            read_password(link.tester_port, None if link.speaker is None else link.speaker.bgp)
        except LabError as error:
            yield Lacking(error.code, f"{error.message}: {error.hint}")


def list_missing_programs(plan: Plan) -> Iterator[Lacking]:
    """Programs that the labs of a plan are made with and this machine has not."""
    missing: dict[Program, list[str]] = {}
    for case in cases(plan):
        for program in plan.kind.list_missing(case.settings):
            missing.setdefault(program, []).append(case.name)
    for program, names in missing.items():
        where = f"case `{names[0]}`" if len(names) == 1 else f"{len(names)} cases, first `{names[0]}`"
        step = f"sudo apt-get install {program.package}"
        yield Lacking(
            "tool-missing",
            f"the program `{program.name}` is not installed; {program.what_for}: {step} (for {where})",
        )


def list_missing(plan: Plan, cores: Collection[int]) -> Iterator[Lacking]:
    """What the plan asks of a machine that this one, with these cores for us, has not: another may run it."""
    first = next(iter(cases(plan)), None)
    if first is None or plan.kind.wire(plan.lab.links, first.settings).clock == "virtual":
        return
    here = f"{counted(len(cores), 'core')} ({', '.join(map(str, sorted(cores)))})"
    missing = sorted(set(plan.lab.threads.cores) - set(cores))
    if missing:
        named = f"core{'' if len(missing) == 1 else 's'} {', '.join(map(str, missing))}"
        asked = f"names {named}"
    elif plan.lab.threads.count > max(len(cores), 1):
        workers = counted(plan.lab.threads.count, "worker")
        asked = f"asks for {workers}"
    else:
        return
    other = "name others" if missing else "ask for fewer"
    message = f"the plan {asked}, and this process may use {here}: `run` refuses it here;"
    message += f" {other}, or run it on a machine with more"
    yield Lacking("too-few-cores", message)
