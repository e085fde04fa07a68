"""What a device must have for the cases of a plan: its routes and its packet filters, a line each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netdyno.devices import addresses, filters, routes
from netdyno.errors import counted
from netdyno.plan.matrix import cases, wire

if TYPE_CHECKING:
    from netdyno.devices.wiring import WiredPort, Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case


def route_lines(plan: Plan) -> Iterator[str]:
    """The routes of every case, those of one number together: `48.0.0.0/24 via 192.0.2.6`, a line each."""
    found = list(_wirings(plan, routes.SETTING))
    for case, wiring in found:
        version = routes.version(wiring.routes[0])
        kind = "route" if version == 4 else "IPv6 route"
        yield f"# {counted(len(wiring.routes[0]), kind)} behind each port"
        for port, prefixes in zip(wiring.ports, wiring.routes, strict=True):
            hops = next_hops(port, version, on_vlans=case.profile.takes_tags)
            for number, via in enumerate(hops):
                yield from (f"{prefix} via {via}" for prefix in prefixes[number :: len(hops)])
    if not found:
        yield from dict.fromkeys(line for case in cases(plan) for line in _network_lines(plan, case))


def _wirings(plan: Plan, setting: str) -> Iterator[tuple[Case, Wiring]]:
    """The first case of each value of a setting, with its wiring."""
    first: dict[str, Case] = {}
    for case in cases(plan):
        if setting in case.settings:
            first.setdefault(case.settings[setting], case)
    for case in first.values():
        yield case, wire(plan, case)


def _network_lines(plan: Plan, case: Case) -> Iterator[str]:
    """The part of its addresses that a profile has behind each VLAN of a link."""
    wiring = wire(plan, case)
    version = case.profile.pool.version
    for number, port in enumerate(wiring.ports):
        hops = next_hops(port, version, on_vlans=case.profile.takes_tags)
        if len(hops) < 2:
            continue
        for part, via in enumerate(hops):
            for network in case.profile.networks(number, wiring.lab_ports):
                yield f"{addresses.cut_evenly(network, part, len(hops))} via {via}"


def next_hops(port: WiredPort, version: int, *, on_vlans: bool) -> list[str | None]:
    """The tester's address of an IP version on each VLAN of a port's link, to be a router's next hop."""
    own = port.ipv4 if version == 4 else port.ipv6
    field = "ipv4" if version == 4 else "ipv6"
    return [vlan.addresses().get(field) for vlan in port.vlans] if on_vlans and port.vlans else [own]


def filter_lines(plan: Plan) -> Iterator[str]:
    """The filters of every case, those of several cases once: a line a rule, under the port they are of."""
    for case, wiring in _wirings(plan, filters.SETTING):
        for port, lines in zip(wiring.ports, wiring.filters, strict=True):
            if lines:
                yield f"# {case.name}: what comes in from {port.name}"
                yield from lines
