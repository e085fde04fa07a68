"""What generator hosts are like: processor, clock, and the settings of each port."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from netdyno.hosts.clock_state import read_clock_state
from netdyno.hosts.door import connect
from netdyno.hosts.split import HERE
from netdyno.ports import nic
from netdyno.ports.processor import read_processor
from netdyno.values.host_facts import OFFLOADS, HostFacts, PortFacts


def read_hosts(session: Mapping[str, Any]) -> tuple[HostFacts, ...]:
    """Each host of a SessionSpec; none where all ports are on this one. Raises HostError."""
    if "hosts" not in session:
        return ()
    door = connect(session["hosts"]["scheduler"])
    by_host: dict[str, list[tuple[str, str]]] = {}
    for port in session["ports"]:
        interface = port["backend"].get("interface", "")
        by_host.setdefault(port.get("host", HERE), []).append((port["name"], interface))
    return tuple(
        read_host(HERE, ports) if host == HERE else door.call(host, read_host, host, ports)
        for host, ports in by_host.items()
    )


def read_host(name: str, ports: Sequence[tuple[str, str]]) -> HostFacts:
    """The host that this runs on. ports: the tester's there, each with its interface."""
    return HostFacts(
        name,
        cpu=read_processor()[0],
        cores=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
        clock=read_clock_state(),
        ports=tuple(_read_port(port, interface) for port, interface in ports),
    )


def _read_port(port: str, interface: str) -> PortFacts:
    card = nic.read(interface) if interface else None
    if card is None:
        return PortFacts(port, interface, "", None, ())
    on = (word for name, word in OFFLOADS.items() if name in card.offloads and card.offloads[name].on)
    return PortFacts(port, interface, card.driver, card.link.mtu, tuple(on))
