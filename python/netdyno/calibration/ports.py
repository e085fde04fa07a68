"""Loopbacks that no plan names: a ring inside this process, and interfaces given on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netdyno.calibration import by_host
from netdyno.calibration.reasons import RingLoop
from netdyno.devices import KINDS, LabLink, WiredPort, Wiring, addresses
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases
from netdyno.ports import backends
from netdyno.ports.threads import Threads

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from netdyno.plan.matrix import Case

DEFAULT_BPS = 10_000_000_000
"""What loads in per cent are taken of, where nothing has a line."""

TRAFFIC = """
title: calibration
lab:
  nodes:
    tester: {kind: netdyno}
    dut: {kind: emulated/cross-connect}
  links:
    - {endpoints: ["tester:west", "dut:west"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:east"], rate: 10Gbps}
traffic:
  64b: {size: 64B}
  1518b: {size: 1518B}
  imix: {size: imix/bench}
matrix:
  profile: [%s]
  direction: [uni, bidir]
method:
  throughput: {}
"""
"""What is sent where no plan says it: the least frame, the longest, and a mix, of 65,536 flows each."""


def default_plan(*, quick: bool) -> Plan:
    """The traffic of a calibration without a plan."""
    return parse(TRAFFIC % ("64b" if quick else "64b, 1518b, imix"), name="calibration")


@dataclass(frozen=True)
class Source:
    """Ports to be looped, in words and as a lab. cases: those of the plan that open these ports.

    host: the generator host that they are on; empty: this one. names: of the ports that the cases open there
    and on other hosts.
    """

    what: str
    loop: AbstractContextManager[Wiring]
    cases: tuple[Case, ...] = ()
    host: str = ""
    names: tuple[str, ...] = ()


def by_ports(plan: Plan, chosen: Sequence[Case]) -> dict[tuple[str, ...], list[Case]]:
    """The cases by the tester ports that they open: with port groups some open only a part of the lab's."""
    found: dict[tuple[str, ...], list[Case]] = {}
    for case in chosen:
        grouped = {port for group in case.groups for port in group.ports}
        names = (link.tester_port for link in plan.lab.links)
        found.setdefault(tuple(name for name in names if not grouped or name in grouped), []).append(case)
    return found


def of_plan(plan: Plan) -> tuple[Source, ...] | str:
    """The ports of a plan's lab, each choice that cases open; a sentence if nothing is to calibrate."""
    kind = plan.kind
    if kind.emulated:
        where = "in virtual time, where the tester has no limits of its own"
        if kind.in_real_time() is kind:
            where = "as a program on the tester's own cores"
        return f"`{kind.name}` runs {where}: there is nothing to calibrate"
    if plan.lab.hosts is not None:
        return tuple(_of_hosts(plan))
    return tuple(
        Source(
            kind.name if len(names) == len(plan.lab.links) else f"{', '.join(names)} of {kind.name}",
            kind.loopback(plan.lab.links, plan.lab.threads, names),
            tuple(found),
        )
        for names, found in by_ports(plan, cases(plan)).items()
    )


def _of_hosts(plan: Plan) -> Iterator[Source]:
    """Each host's own ports, of each choice that cases open."""
    for names, found in by_ports(plan, cases(plan)).items():
        for host in dict.fromkeys(link.host for link in plan.lab.links if link.tester_port in names):
            own = [link.tester_port for link in plan.lab.links if link.host == host]
            which = ", ".join(f"`{name}`" for name in own if name in names)
            where = f"host `{host}`" if host else "this host"
            loop = by_host.loop_share(plan, host, names)
            yield Source(f"{which} of {where}", loop, tuple(found), host, names)


def with_backend(plan: Plan, backend: str) -> Plan:
    """The plan with this backend in place of `backend: auto`."""
    links = tuple(
        replace(link, backend=_instead(link.backend, backend)) if link.backend.kind == backends.AUTO else link
        for link in plan.lab.links
    )
    return replace(plan, lab=replace(plan.lab, links=links))


def _instead(chosen: backends.PortBackend, kind: str) -> backends.PortBackend:
    """Another backend, with the options that it has too."""
    written = chosen.options.model_dump(exclude_defaults=True)
    allowed = backends.options_of(kind)
    return backends.PortBackend.of(kind, **{name: one for name, one in written.items() if name in allowed})


def of_interfaces(names: tuple[str, str], backend: str, threads: Threads) -> Source:
    """Two interfaces of this machine with the user's cable between them."""
    links = tuple(
        LabLink(side, side, _rate(name), interface=name, backend=backends.PortBackend.of(backend))
        for side, name in zip(("west", "east"), names, strict=True)
    )
    kind = KINDS["external"]
    return Source(f"{names[0]} and {names[1]}", kind.loopback(links, threads))


def of_backend(name: str, threads: Threads) -> Source:
    """Two ports of a backend that needs no interface, joined with each other: `RING`, or one of `LOOPS`."""
    if name == backends.RING:
        return Source("a ring", _ring(threads))
    own = backends.PortBackend.of(name)
    links = tuple(LabLink(side, side, DEFAULT_BPS, backend=own) for side in ("west", "east"))
    kind = KINDS["external"]
    return Source(backends.BACKENDS[name].noun, kind.loopback(links, threads))


@contextmanager
def _ring(threads: Threads) -> Iterator[Wiring]:
    """Two ends of a ring in this process, joined with each other; each worker has a ring of its own."""
    names = ("west", "east")
    ports = tuple(
        WiredPort(
            name=name,
            rate_bps=DEFAULT_BPS,
            member_bps=DEFAULT_BPS,
            mac=addresses.tester_mac(index),
            ipv4=None,
            ipv6=None,
            destination="peer",
            enforced_rate=False,
        )
        for index, name in enumerate(names)
    )
    session = {
        "clock": "real",
        "ports": [{"name": name, "backend": {"kind": backends.RING}} for name in names],
        "loops": [{"ports": [0, 1], "rate_bps": DEFAULT_BPS, "delay_ps": 0}],
    }
    yield Wiring("real", ports, session, notes=(RingLoop(threads.count),)).with_threads(threads)


def _rate(interface: str) -> int:
    """The rate of an interface, bit/s; `DEFAULT_BPS` if it has none."""
    from netdyno.ports import ethtool

    return ethtool.card(interface).speed_bps or DEFAULT_BPS
