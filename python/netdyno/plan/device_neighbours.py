"""What a router of the user's is given so that it becomes a routing neighbour of the plan's speakers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
    wiring = plan.kind.wire(plan.lab.links, plan.lab.settings)
    for place, port in enumerate(wiring.ports):
        number, speaker = wiring.in_lab(place), port.speaker
        link = plan.lab.links[number]
        if speaker is None:
            continue
        name = router.long_name(link.device_port)
        vlans = tuple(vlan.name for vlan in link.vlans)
        announced, own = _announced(speaker), speaker.sessions(number)
        # On VLANs each session has a port and addresses of its own.
        is_divided = bool(vlans and own)
        found.append(
            Neighbours(
                *(f"{number + 1}", name, vlans, speaker.peers[0], speaker.address),
                *((replace(speaker, bgp=None),) if is_divided else (speaker, own, announced)),
            )
        )
        for vlan, ours, theirs in zip(vlans, own, speaker.peers, strict=True) if is_divided else ():
            alone = replace(speaker, ospf=None)
            counts = {version: -(-count // len(own)) for version, count in announced.items()}
            name_of = f"{number + 1}_{vlan.replace('.', '_')}"
            found.append(Neighbours(name_of, f"{name}.{vlan}", (), theirs, ours, alone, (ours,), counts))
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
