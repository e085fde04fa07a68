"""Ports on several hosts: each host's own are calibrated there, and a trial rests on the least of the hosts.

What joins a host's ports is what would on one machine: a cable between two, a loopback plug in an odd one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from netdyno.calibration import inventory, traffic
from netdyno.calibration.bench import load_tester
from netdyno.calibration.document import Calibration
from netdyno.calibration.effort import Effort, seconds
from netdyno.devices.wiring import loop_ports
from netdyno.hosts import door, resident
from netdyno.testers import TESTERS, read_versions
from netdyno.values.proven import OwnLatency, Proven

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

SLACK = 10
"""A calibration may take so many times what it usually does, on a busy host."""
CORES = 4
"""Watched on another host, at most as a rule."""


@dataclass(frozen=True)
class HostFacts:
    """What a host's calibration rests on now. ports: their identities. basis: as `inventory.basis_of`."""

    ports: tuple[str, ...]
    basis: Mapping[str, str]


def shares_of(wiring: Wiring) -> dict[str, Wiring]:
    """The ports of each host, by its name; "" is this one."""
    return {
        host: wiring.share(host)
        for host in dict.fromkeys(port.get("host", "") for port in wiring.session["ports"])
    }


def read_facts(wiring: Wiring, tester: str, versions: Mapping[str, str]) -> dict[str, HostFacts]:
    """The facts of each host, before its ports are opened. Raises HostError."""
    found = {}
    for host, share in shares_of(wiring).items():
        if host:
            connected = door.connect(wiring.session["hosts"]["scheduler"])
            facts = connected.call(host, _read_facts, share.session, tester, versions)
            found[host] = replace(facts, ports=_of_host(facts.ports, host))
        else:
            found[host] = _read_facts(share.session, tester, versions)
    return found


def _read_facts(session: Mapping[str, Any], tester: str, versions: Mapping[str, str]) -> HostFacts:
    """Those of the host that this runs on."""
    said = {**versions, **read_versions(tester)}
    return HostFacts(inventory.ports_of(session), inventory.basis_of(session, said))


def _of_host(ports: Sequence[str], host: str) -> tuple[str, ...]:
    """Two hosts may be one machine, and have interfaces of one name."""
    return tuple(f"{port}, host {host}" for port in ports)


@contextmanager
def loop_share(plan: Plan, host: str, names: Sequence[str]) -> Iterator[Wiring]:
    """A host's own ports of a case's, joined; on that host. names: of the ports that the case opens."""
    hosts = plan.lab.hosts
    assert hosts is not None
    links = tuple(replace(link, host="") if link.host == host else link for link in plan.lab.links)
    own = [link.tester_port for link in plan.lab.links if link.host == host and link.tester_port in names]
    threads = hosts.threads[host] if host else plan.lab.threads
    with plan.kind.loopback(links, threads, own) as joined:
        whole = loop_ports(plan.kind.wire(plan.lab.links, {}).only(names), joined.notes[0])
        numbers = tuple(number for number, port in enumerate(whole.ports) if port.name in own)
        yield replace(joined, share_of=whole, numbers=numbers, of=len(whole.ports))


def calibrate(
    plan: Plan,
    host: str,
    names: Sequence[str],
    cases: Sequence[Case],
    effort: Effort,
    versions: Mapping[str, str],
) -> Calibration:
    """Measures another host's own ports there. names: as in `loop_share`. Raises NetdynoError.

    Interrupted, the host ends what it does, and nothing is kept of it.
    """
    assert plan.lab.hosts is not None
    sizes = sum(len(part.mix.weights) for case in cases for part in case.profile.parts)
    most_s = 60 + SLACK * seconds(effort, len(cases), sizes, CORES)
    connected = door.connect(plan.lab.hosts.scheduler)
    asked = (plan, host, names, cases, effort, versions)
    found: Calibration = connected.call(host, _calibrate, *asked, most_s=most_s)
    return replace(found, host=host, ports=_of_host(found.ports, host))


def _calibrate(
    plan: Plan,
    host: str,
    names: Sequence[str],
    cases: Sequence[Case],
    effort: Effort,
    versions: Mapping[str, str],
) -> Calibration:
    """On the host. Raises NetdynoError."""
    from netdyno.calibration import suite

    entry = TESTERS[plan.tester]
    with (
        loop_share(plan, host, names) as wiring,
        resident.hold_interfaces(resident.interfaces_of(wiring.session)),
    ):
        return suite.calibrate(
            load_tester(entry),
            plan,
            traffic.pick_distinct(cases, wiring, verify=plan.trial.verify),
            wiring,
            effort,
            {**versions, **entry.load().versions()},
            _end_if_unwanted,
        )


def _end_if_unwanted(_: str) -> None:
    """Called between the trials: ends what nobody waits for."""
    if not resident.is_wanted():
        raise KeyboardInterrupt


def find_least(found: Mapping[str, Proven]) -> Proven:
    """What all hosts together are calibrated for: a trial is proven as far as its weakest host is."""
    host, least = min(found.items(), key=lambda one: (one[1].holds, one[1].max_fps or 0))
    every = list(found.values())
    loads = sorted({one.fps for each in every for one in each.latencies})
    return replace(
        least,
        host=host,
        others=tuple(one.id for one in every if one.id != least.id),
        line_fps=_pick(min, [one.line_fps for one in every]),
        latency_floor_ns=_pick(max, [one.latency_floor_ns for one in every]),
        latency_noise_ns=_pick(max, [one.latency_noise_ns for one in every]),
        rate_error_ppm=_pick(max, [one.rate_error_ppm for one in every]),
        latencies=tuple(OwnLatency(load, max(one.own_ns(load) for one in every)) for load in loads),
    )


def _pick(pick: Callable[[list[Any]], Any], values: Sequence[Fraction | int | None]) -> Any:
    """Of all hosts; None where one of them does not know it."""
    return None if None in values else pick(list(values))
