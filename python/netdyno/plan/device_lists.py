"""What a device must have for the cases of a plan: its routes and its packet filters, a line each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netdyno.devices import filters, routes
from netdyno.errors import counted
from netdyno.plan.matrix import cases

if TYPE_CHECKING:
    from netdyno.plan import Plan


def route_lines(plan: Plan) -> Iterator[str]:
    """The routes of every case, those of one number together: `48.0.0.0/24 via 192.0.2.6`, a line each."""
    seen: set[str] = set()
    for case in cases(plan):
        asked = case.settings.get(routes.SETTING)
        if asked is None or asked in seen:
            continue
        seen.add(asked)
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        version = routes.version(wiring.routes[0])
        kind = "route" if version == 4 else "IPv6 route"
        yield f"# {counted(len(wiring.routes[0]), kind)} behind each port"
        for port, prefixes in zip(wiring.ports, wiring.routes, strict=True):
            via = port.ipv4 if version == 4 else port.ipv6
            yield from (f"{prefix} via {via}" for prefix in prefixes)


def filter_lines(plan: Plan) -> Iterator[str]:
    """The filters of every case, those of several cases once: a line a rule, under the port they are of."""
    seen: set[str] = set()
    for case in cases(plan):
        asked = case.settings.get(filters.SETTING)
        if asked is None or asked in seen:
            continue
        seen.add(asked)
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        for port, lines in zip(wiring.ports, wiring.filters, strict=True):
            if lines:
                yield f"# {case.name}: what comes in from {port.name}"
                yield from lines
