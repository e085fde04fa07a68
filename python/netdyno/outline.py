"""Who sends to whom in a plan's cases, and what must be behind each port: for `netdyno check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netdyno.matrix import cases, stream_names

if TYPE_CHECKING:
    from netdyno.plan import Plan


def lines(plan: Plan) -> Iterator[str]:
    """The streams of each direction, then the networks that a router must have a route to, port by port."""
    found = cases(plan)
    streams: dict[str, tuple[str, ...]] = {}
    routed = False
    for case in found:
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        streams.setdefault(case.direction, stream_names(case, wiring))
        routed = routed or any(port.destination != "peer" for port in wiring.ports)
    for direction, names in streams.items():
        yield f"  {direction}: {', '.join(names)}"
    if not routed:
        return
    profiles = {case.profile_name: case.profile for case in found}.values()
    ports = len(plan.lab.links)
    for number, link in enumerate(plan.lab.links):
        networks = dict.fromkeys(net for profile in profiles for net in profile.networks(number, ports))
        if networks:
            yield f"  behind {link.tester_port}: {', '.join(networks)}"
