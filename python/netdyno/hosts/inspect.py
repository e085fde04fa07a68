"""What a host says of itself and of its ports, before a load test: it changes nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.hosts.clocks import now_ps
from netdyno.ports import backends, nic
from netdyno.ports.nic import advice, fit

SYS_NICE = 23
"""CAP_SYS_NICE of linux/capability.h."""


@dataclass(frozen=True)
class PortState:
    """A port of a host. why: it cannot be used, a clause; None: it can. hints: what to do, with a command."""

    interface: str
    described: str
    why: str | None
    hints: tuple[str, ...] = ()


def inspect_ports(ports: Sequence[tuple[str, str]]) -> list[PortState]:
    """The state of interfaces, each with its backend, on the host that this runs on."""
    may = fit.rights()
    return [_inspect(interface, backend, may) for interface, backend in ports]


def _inspect(interface: str, backend: str, may: fit.Rights) -> PortState:
    card = nic.read(interface)
    if card is None:
        return PortState(interface, "", "there is no such interface", ("`ip link` lists them",))
    kind = backends.USUAL if backend == backends.AUTO else backend
    found = next((one for one in backends.fits(card, may) if one.backend == kind), None)
    speed = "no line rate" if card.card.speed_bps is None else f"{card.card.speed_bps / 1e9:g} Gbit/s"
    state = "down" if not card.link.up else "no carrier" if card.link.carrier is False else "up"
    described = f"{card.driver}, {state}, {speed}, MTU {card.link.mtu}"
    # Packet sockets put back the tags that a card takes off.
    restores = kind in backends.BACKENDS and backends.BACKENDS[kind].restores_tags
    settings = [one for one in advice.findings(card) if one.command and not (one.tags and restores)]
    hints = tuple(f"{interface}: {one.what}: `{one.command}`" for one in settings)
    if found is None or found.why is None:
        return PortState(interface, described, None if state != "no carrier" else "it has no carrier", hints)
    return PortState(interface, described, found.why, (*((found.hint,) if found.hint else ()), *hints))


def list_lacks() -> list[str]:
    """What this host's process lacks to be in time; a load test runs without it."""
    lacks = []
    status = Path("/proc/self/status").read_text().splitlines()
    capabilities = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff"))
    if not capabilities >> SYS_NICE & 1:
        lacks.append("no CAP_SYS_NICE: a busy host sends late; give the worker the capability")
    if len(os.sched_getaffinity(0)) < 2:
        lacks.append("one core for the tester and Dask: give the worker two")
    return lacks


class Clock:
    """This host's clock, to be asked from another."""

    async def clock_ps(self) -> int:
        """What it reads."""
        return now_ps()


def describe(found: dict[str, Any]) -> str:
    """What `describe_host` found, in a line."""
    return f"netdyno {found['netdyno']}, engine {found['level']}, kernel {found['kernel']}"
