"""What a router of the user's is given so that it becomes a routing neighbour of the plan's speakers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netdyno.devices.own_router import Neighbours, Router
from netdyno.devices.peering import Speaker
from netdyno.devices.speakers.announced import table_of

if TYPE_CHECKING:
    from netdyno.plan import Plan


def neighbour_lines(plan: Plan, router: Router) -> Iterator[str]:
    """What is entered on a router of the user's for the speakers of a plan, in its words. ValueError: it has
    none. A table of a file is read for its number of routes."""
    if plan.lab.kind != "external":
        return
    found = []
    ports = plan.kind.wire(plan.lab.links, plan.lab.settings).ports
    for number, (link, port) in enumerate(zip(plan.lab.links, ports, strict=True)):
        if port.speaker is not None:
            found.append(
                Neighbours(
                    number + 1,
                    router.long_name(link.device_port),
                    tuple(vlan.name for vlan in link.vlans),
                    port.speaker.peers[0],
                    port.speaker.address,
                    port.speaker,
                    port.speaker.sessions(number),
                    _announced(port.speaker),
                )
            )
    if found:
        yield from router.neighbours(tuple(found)).splitlines()


def _announced(speaker: Speaker) -> dict[int, int]:
    """Routes by IP version that a speaker announces, of the versions that its sessions have."""
    bgp = speaker.bgp
    if bgp is None:
        return {}
    counts = {4: bgp.routes, 6: bgp.routes_ipv6}
    if bgp.table:
        table = table_of(speaker)
        counts = {version: 0 if table is None else table.count(version) for version in counts}
    if not bgp.has_ipv6:
        del counts[6]
    return counts
