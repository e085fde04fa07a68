"""Whether the device of a plan can be the routing neighbour of the links that have `routing`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from ipaddress import ip_interface

from netdyno.devices import routes, routing
from netdyno.devices.drivers.driver import NO_DRIVER
from netdyno.devices.kind import Kind
from netdyno.devices.peering import Speaker
from netdyno.devices.wiring import LabLink, Subinterface
from netdyno.modifiers import AXIS as MODIFIER
from netdyno.plan.lab import Lab
from netdyno.plan.source import Path_, Source, dotted
from netdyno.ports.backends import KERNEL
from netdyno.values.series import MOST_SERIES

Axes = Sequence[tuple[str, tuple[str, ...]]]

_LEAVE = "leave `routing` of the link out"
_DAEMON = "give the device `settings: {routing: bird}`, or `frr`"


def routing_neighbours(
    source: Source, lab: Lab, kind: Kind, axes: Axes, scale: Fraction, *, has_connections: bool
) -> Lab:
    """The lab, without its speakers if it cannot be wired with them; mistakes are reported.

    scale: of the plan, which in virtual time the timers have too. has_connections: the method opens
    connections from the tester's ports.
    """
    places = [number for number, link in enumerate(lab.links) if link.speaker]
    if not places:
        _daemon_alone(source, lab, axes)
        return lab
    sound = len(source.errors)
    for number in places:
        at = ("lab", "links", number, "routing")
        link = lab.links[number]
        if not kind.has_speakers:
            source.report_key(
                at,
                f"`{kind.name}` has no routing neighbours",
                f"`linux/router`, `external` and emulated routers have them; or {_LEAVE}",
                code="unsupported",
            )
        elif kind.emulated:
            # With a driver, who stands in for the device has neighbours of its own.
            speaker = link.speaker
            if kind.driver == NO_DRIVER and speaker is not None and speaker.ospf3:
                source.report_key(
                    (*at, "ospf3"),
                    "in virtual time the tester speaks OSPF version 2 alone",
                    "`ospf`; or `linux/router`",
                    code="unsupported",
                )
        elif link.backend.kind not in KERNEL:
            source.report_key(
                at,
                "a speaker needs an interface of this machine, and this link has none",
                f"another `backend`, or {_LEAVE}",
                code="unsupported",
            )
        elif has_connections:
            source.report_key(
                at,
                "the port is a host for the method's connections, and no speaker can be there",
                f"a method that sends frames, or {_LEAVE}",
                code="unsupported",
            )
        elif not kind.configured:
            _addresses(source, at, link)
        else:
            _built(source, at, link)
    watched = sum(len(_ends(lab.links[number])) for number in places)
    if kind.emulated and kind.driver == NO_DRIVER and watched > MOST_SERIES:
        source.report_key(
            ("lab", "links", places[0], "routing"),
            f"{watched} neighbours of an emulated router, at most {MOST_SERIES} are watched",
            "`routing` on a link with fewer VLANs",
            code="too-many",
        )
    announced = [one for link in lab.links if (one := link.speaker) and one.announces]
    if kind.configured and not kind.emulated:
        _as_numbers(source, lab, places)
    if announced and kind.has_speakers and not kind.configured:
        _next_hops(source, lab.links)
    if len(source.errors) > sound:
        lab = replace(lab, links=tuple(replace(link, speaker=None) for link in lab.links))
    elif kind.emulated:
        lab = replace(lab, links=tuple(_scaled(link, scale) for link in lab.links))
    if kind.has_speakers and kind.configured and not kind.emulated:
        _daemon(source, lab, axes, ("lab", "links", places[0], "routing"))
    _axes(source, axes, announced)
    return lab


def _scaled(link: LabLink, scale: Fraction) -> LabLink:
    if link.speaker is None or link.speaker.ospf is None:
        return link
    return replace(link, speaker=replace(link.speaker, ospf=replace(link.speaker.ospf, scale=scale)))


def _values(axes: Axes, name: str) -> Iterator[tuple[Path_, str]]:
    """The values of an axis with their places."""
    for place, value in enumerate(dict(axes).get(name, ())):
        yield ("matrix", name, place), value


def _daemon(source: Source, lab: Lab, axes: Axes, at: Path_) -> None:
    """A router that netdyno builds has a daemon in every case."""
    given = [*_values(axes, routing.SETTING)]
    own = lab.settings.get(routing.SETTING, routing.STATIC)
    setting = dotted(("lab", "nodes", lab.device, "settings", routing.SETTING))
    is_wrong = any(one.path == setting for one in source.errors)
    if not given and own not in routing.WITH_SPEAKERS and not is_wrong:
        message = f"with its setting `routing: {own}` the device is no routing neighbour of this link"
        source.report_key(at, message, _DAEMON, code="missing-field")
    for place, value in given:
        if value not in routing.WITH_SPEAKERS:
            source.report(
                place,
                f"with `routing: {value}` the device is no neighbour of the links that have `routing`",
                "`bird` or `frr`",
                code="conflict",
            )


def _daemon_alone(source: Source, lab: Lab, axes: Axes) -> None:
    """A daemon for speakers, and no link that has one."""
    own = ("lab", "nodes", lab.device, "settings", routing.SETTING)
    for place, value in ((own, lab.settings.get(routing.SETTING)), *_values(axes, routing.SETTING)):
        if value in routing.WITH_SPEAKERS:
            source.report(
                place,
                f"the device runs a routing daemon (`{value}`), and no link has `routing`",
                "give a link `routing: {ospf: true}`, or leave the setting out",
                code="missing-field",
            )


def _ends(link: LabLink) -> tuple[LabLink | Subinterface, ...]:
    return link.vlans or (link,)


def _addresses(source: Source, at: Path_, link: LabLink) -> None:
    """A speaker has an address on the link, or on each VLAN of it, and its neighbour too."""
    speaker = link.speaker
    assert speaker is not None
    ours = [(one.address, one.gateway) for one in _ends(link)]
    if not all(own and far and ip_interface(own).version == 4 for own, far in ours):
        source.report_key(
            at,
            "a speaker needs its own IPv4 address on the link and the device's",
            "`address` and `gateway` of the link, of each of its `vlans` if it has any",
            code="missing-field",
        )
    if speaker.ospf3 is not None:
        source.report_key(
            (*at, "ospf3"),
            "the tester has no IPv6 address beside IPv4 on a link of an external device",
            "`ospf`; or `linux/router`",
            code="unsupported",
        )
    if speaker.bgp is not None and speaker.bgp.routes_ipv6 and not speaker.bgp.next_hop_ipv6:
        source.report_key(
            (*at, "bgp", "routes_ipv6"),
            "the IPv6 routes have no next hop",
            "`next_hop_ipv6`: an address of the device's IPv6 network on the link; the tester answers for it",
            code="missing-field",
        )


def _built(source: Source, at: Path_, link: LabLink) -> None:
    """A router that netdyno builds has its own address on the link, and routes there by OSPF alone."""
    speaker = link.speaker
    assert speaker is not None
    if speaker.bgp is not None and speaker.bgp.peer:
        source.report_key(
            (*at, "bgp", "peer"),
            "netdyno gives this device its address on the link, and the session is with that one",
            "leave `peer` out; it is for `external`",
            code="unsupported",
        )
    if speaker.bgp is not None and speaker.bgp.addresses and speaker.ospf is None:
        source.report_key(
            (*at, "bgp", "addresses"),
            "the device has no route to these addresses",
            "add `ospf: true`, which announces them; or leave `addresses` out",
            code="missing-field",
        )


def _as_numbers(source: Source, lab: Lab, places: Sequence[int]) -> None:
    """A router that netdyno builds has one AS number, whatever link it is asked on."""
    found = [(place, one.bgp) for place in places if (one := lab.links[place].speaker) and one.bgp]
    for place, bgp in found:
        first, known = found[0]
        if bgp.peer_as != known.peer_as:
            source.report_key(
                ("lab", "links", place, "routing", "bgp", "peer_as"),
                f"the device is AS {bgp.peer_as} on this link and AS {known.peer_as} on link {first + 1}",
                "the same `peer_as` on all links; without it the device has the link's `own_as`",
                code="conflict",
            )


def _next_hops(source: Source, links: Sequence[LabLink]) -> None:
    """Frames to an announced table come from all links, and a router takes them from hosts."""
    for number, link in enumerate(links):
        if link.speaker or link.server:
            continue
        if not all(one.address and (one.gateway or one.mac) for one in _ends(link)):
            source.report_key(
                ("lab", "links", number),
                "frames to announced routes need a router behind every link",
                "give this one `address` and `gateway`, too",
                code="missing-field",
            )


def _axes(source: Source, axes: Axes, announced: Sequence[Speaker]) -> None:
    """Axes that have routes or a routing protocol of their own."""
    if announced and dict(axes).get(routes.SETTING):
        source.report_key(
            ("matrix", routes.SETTING),
            "`routes` and the table that a link announces are two tables",
            "leave one of them out: this axis, or the table of `bgp`",
            code="conflict",
        )
    for place, value in _values(axes, MODIFIER):
        if value == routing.SETTING:
            source.report(
                place,
                "the modifier `routing` has the device speak RIP, and links have `routing` of their own",
                "leave one of them out",
                code="conflict",
            )
