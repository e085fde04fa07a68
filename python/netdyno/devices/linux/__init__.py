"""Real Linux forwarding as a device: a router, a bridge, a cross connect, each in a network namespace.

    tester's namespace            device's namespace
      p0 (first tester port)  <veth>  d0
      p1 (second tester port) <veth>  d1
      ...

Nothing outside the two namespaces is touched and nothing persists.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from netdyno.devices import addresses
from netdyno.devices.kind import Kind, Program
from netdyno.devices.linux import cables, leftovers, namespaces, programs
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.accounting import counts_interrupts_apart
from netdyno.devices.linux.forwarding import Bridge, CrossConnect, Forwarding, Router, set_up
from netdyno.devices.linux.links import ip as _ip
from netdyno.devices.linux.links import manage
from netdyno.devices.linux.live import LinuxLive
from netdyno.devices.linux.services import SERVICES
from netdyno.devices.linux.services.service import Installed, Lab, Service
from netdyno.devices.live import Live
from netdyno.devices.peering import Speaker
from netdyno.devices.reasons import (
    DeviceNotIsolated,
    DeviceOnOwnCore,
    DeviceSharesCore,
    InterruptsApart,
    LeftoversEnded,
    VethLoop,
    VethPairs,
    WorksApart,
)
from netdyno.devices.speakers.announced import behind_ports
from netdyno.devices.watches import DEVICE
from netdyno.devices.wiring import PEER, LabError, LabLink, Trait, WiredPort, Wiring, loop_ports, with_far_end
from netdyno.ports import backends
from netdyno.ports.backends import PortBackend
from netdyno.ports.threads import Threads, cores_of, workers_of
from netdyno.values.load import CORE_SETTING
from netdyno.values.reason import Reason

INTERFACES = tuple(f"p{port}" for port in range(dut.MOST_PORTS))
"""Of the tester's ports, of which a lab has the first ones."""
FAR_END = "far"
"""The interface that the odd port of a loopback is joined with."""
MANY_LINKS = range(2, dut.MOST_PORTS + 1)
MTU = 9000
MTU_OF_NATIVE = 3400


@dataclass(frozen=True)
class Linux(Kind):
    """A kind of Linux device."""

    forwarding: Forwarding
    services: tuple[Service, ...] = ()
    _: KW_ONLY
    backends: tuple[str, ...] = backends.KERNEL

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """A tester port for each link, in real time. The rates are declared: veth has none."""
        self.refuse_unknown(links, settings)
        if any(link.vlans for link in links):
            raise ValueError(f"`{self.name}` has no VLANs: leave `vlans` out of its links")
        routed = self.forwarding.is_routed
        speakers = [link.speaker for link in links]
        ports = tuple(
            WiredPort(
                name=link.tester_port,
                rate_bps=link.rate_bps,
                member_bps=link.rate_bps,
                mac=addresses.tester_mac(index),
                ipv4=addresses.tester(index) if routed else None,
                ipv6=None,
                destination=addresses.device(index) if routed else PEER,
                enforced_rate=False,
                speaker=link.speaker and _speaker(link.speaker, index),
            )
            for index, link in enumerate(links)
        )
        session = {
            "clock": "real",
            "ports": [
                {"name": link.tester_port, "backend": self._backend(link).spec(interface)}
                for link, interface in zip(links, INTERFACES, strict=False)
            ],
        }
        wiring = Wiring(
            "real",
            ports,
            session,
            frozenset({Trait.CAN_BE_ASKED, *((Trait.LEARNS,) if self.forwarding.learns else ())}),
            settings=dict(settings),
            counted_as=dut.PORTS[: len(ports)],
            routes=behind_ports(speakers),
            routes_ipv6=behind_ports(speakers, 6),
        )
        _mtu(wiring)
        for service in self.services:
            if service.setting in settings:
                wiring = service.wire(wiring, settings[service.setting])
        return wiring

    def _services_of(self, settings: Mapping[str, str]) -> tuple[Service, ...]:
        """The services that a device of these settings has."""
        return tuple(service for service in self.services if service.is_on(settings))

    def _behind(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        """Addresses behind the device by the names that pings can have in their place."""
        found = (service.addresses_of(settings) for service in self._services_of(settings))
        return {name: address for named in found for name, address in named.items()}

    def list_watched(self, settings: Mapping[str, str]) -> tuple[str, ...]:
        return (DEVICE, *self._behind(settings)) if self.forwarding.is_routed else ()

    def has_adjacencies(self, settings: Mapping[str, str]) -> bool:
        return any(service.has_adjacencies(settings) for service in self._services_of(settings))

    def list_missing(self, settings: Mapping[str, str]) -> Iterable[Program]:
        of_services = (
            one for service in self._services_of(settings) for one in service.list_programs(settings)
        )
        return programs.list_missing((*programs.ALWAYS.values(), *of_services))

    def _backend(self, link: LabLink) -> PortBackend:
        """The backend of a port of this kind, from the one in the plan."""
        backend = link.backend
        if not isinstance(self.forwarding, CrossConnect) or backend.kind == backends.USUAL:
            return backend
        if backend.kind == backends.AUTO:
            # Behind a cross connect AF_XDP costs the long frames: see `_mtu`.
            return PortBackend()
        # Generic XDP does not see what tc redirects: the kernel does not run it a second time.
        in_driver = backends.BACKENDS[backend.kind].in_driver
        return PortBackend.of(
            backend.kind,
            **{**dict([in_driver] if in_driver else ()), **backend.options.model_dump(exclude_defaults=True)},
        )

    @contextmanager
    def build(self, wiring: Wiring) -> Iterator[Live]:
        """Makes both namespaces and what is in them; the calling thread lives in the tester's meanwhile.

        The cables have a queue for each worker, both ways: so each worker's frames have a way of their own.
        """
        wiring = _queued(wiring)
        for name in programs.ALWAYS:
            dut.tool(name)
        folder = leftovers.state_folder()
        ended = leftovers.remove(folder)
        with (
            namespaces.tester_namespace(),
            dut.device_namespace() as device,
            leftovers.remember_process(folder, device.pid),
        ):
            try:
                ports = len(wiring.ports)
                _join(device, _mtu(wiring), workers_of(wiring.session), ports)
                cables.set_offloads(device, wiring.settings, INTERFACES[:ports])
                set_up(device, self.forwarding, ports)
                core = _device_core(wiring, _tester_cores(wiring))
                lab = Lab(device, wiring, INTERFACES[:ports], core=core)
                on = self._services_of(wiring.settings)
                # Services end before the cables go: at their end they may be looked at once more.
                with ExitStack() as within:
                    services = tuple(within.enter_context(service.install(lab)) for service in on)
                    behind = self._behind(wiring.settings)
                    if wiring.watch is not None and wiring.watch.pings:
                        within.enter_context(manage(device, behind.values()))
                    built = _as_built(_with_indexes(wiring, services), device)
                    notes = [note for service in services for note in service.notes]
                    if ended:
                        notes.append(LeftoversEnded(len(ended)))
                    built = replace(built, notes=(*built.notes, *notes))
                    yield LinuxLive(built, device, self.forwarding, services, behind)
            finally:
                # A namespace is cleared away some time after its last process; the next lab of this
                # process may want the same names at once.
                for interface in INTERFACES[: len(wiring.ports)]:
                    with suppress(LabError):
                        _ip(f"link delete {interface}")

    def joins_itself(self, links: tuple[LabLink, ...]) -> bool:
        return True

    @contextmanager
    def loopback(
        self, links: tuple[LabLink, ...], threads: Threads, names: Collection[str] | None = None
    ) -> Iterator[Wiring]:
        """A veth pair from tester port to tester port, with the settings of the lab's; of an odd port to a
        further port of the tester's."""
        dut.tool("ip")
        asked = self.wire(links, {}).with_threads(threads)
        asked = asked if names is None else asked.only(names)
        if len(asked.ports) % 2:
            backend = asked.session["ports"][-1]["backend"]
            asked = with_far_end(asked, {**backend, "interface": FAR_END})
        asked = _queued(asked)
        wiring = loop_ports(asked, VethLoop(len(asked.ports) // 2))
        wiring = replace(wiring, session={**wiring.session, "cores": _tester_cores(wiring)})
        interfaces = [port["backend"]["interface"] for port in wiring.session["ports"]]
        with namespaces.tester_namespace():
            mtu, queues = _mtu(wiring), _queues(workers_of(wiring.session))
            made: list[str] = []
            try:
                for near, far in zip(interfaces[::2], interfaces[1::2], strict=True):
                    _ip(f"link add {near} mtu {mtu}{queues} type veth peer name {far} mtu {mtu}{queues}")
                    made.append(near)
                    for interface in (near, far):
                        _ip(f"link set {interface} arp off up")
                yield wiring.settled()
            finally:
                for near in made:
                    with suppress(LabError):
                        _ip(f"link delete {near}")


ROUTER = Linux(
    "linux/router",
    "Linux router",
    Router(),
    SERVICES,
    settings={**cables.SETTINGS, **{service.setting: service.values for service in SERVICES}},
    links=MANY_LINKS,
    has_speakers=True,
)
BRIDGE = Linux("linux/bridge", "Linux bridge", Bridge(), settings=cables.SETTINGS, links=MANY_LINKS)
XCONNECT = Linux(
    "linux/xconnect", "Linux cross connect (tc mirred)", CrossConnect(), settings=cables.SETTINGS
)
KIND = (ROUTER, BRIDGE, XCONNECT)


def _speaker(speaker: Speaker, port: int) -> Speaker:
    """What the tester speaks on a link, with the addresses of its ends."""
    ours, theirs = [f"{addresses.tester(port)}/30"], [addresses.device(port)]
    if speaker.has_ipv6:
        ours.append(f"{addresses.tester_ipv6(port)}/64")
        theirs.append(addresses.device_ipv6(port))
    return replace(speaker, networks=tuple(ours), peers=tuple(theirs))


def _with_indexes(wiring: Wiring, services: Sequence[Installed]) -> Wiring:
    """The wiring with the ifIndex of each port, as far as a service knows them."""
    for service in services:
        if service.if_indexes:
            numbered = zip(wiring.ports, service.if_indexes, strict=True)
            wiring = replace(wiring, ports=tuple(replace(port, if_index=index) for port, index in numbered))
    return wiring


def _mtu(wiring: Wiring) -> int:
    """What the plan asks for, else the most. A veth runs native XDP only where each frame has room in a page.

    ValueError if it cannot be.
    """
    native = any(_in_driver(port["backend"]) for port in wiring.session["ports"])
    asked = cables.read_mtu(wiring.settings)
    if native and asked is not None and asked > MTU_OF_NATIVE:
        raise ValueError(f"AF_XDP in native mode carries an `mtu` of {MTU_OF_NATIVE} at most, not {asked}")
    return asked or (MTU_OF_NATIVE if native else MTU)


def _in_driver(backend: Mapping[str, Any]) -> bool:
    """Whether the plan puts a port's program into the driver."""
    able = (
        one.in_driver for one in backends.BACKENDS.values() if backend["kind"] in (backends.AUTO, one.name)
    )
    return any(one is not None and backend.get(one[0]) == one[1] for one in able)


def _queued(wiring: Wiring) -> Wiring:
    """The wiring with ports that several workers can have a queue of, each.

    A veth's queues are told apart by a native XDP program only; to a generic one every frame comes by the
    first. So AF_XDP is native then, and where a plan leaves the backend to us it is packet sockets, which
    carry long frames too.
    """
    if workers_of(wiring.session) == 1:
        return wiring
    ports = []
    for number, port in enumerate(wiring.session["ports"]):
        backend = port["backend"]
        chosen = backends.BACKENDS.get(backend["kind"])
        if chosen is not None and chosen.in_driver is not None:
            option, value = chosen.in_driver
            usual = chosen.options.model_fields[option].default
            if (written := backend.get(option, usual)) not in (usual, value):
                raise LabError(
                    f"`{port['name']}`: {chosen.noun} with several workers needs `{option}: {value}` on a"
                    f" veth, as a {written} program does not see the queue of a frame",
                    f"leave `{option}` out, or give the tester one worker",
                    number,
                    code="interface-unfit",
                )
            backend = {**backend, option: value}
        ports.append({**port, "backend": backend})
    return replace(wiring, session={**wiring.session, "ports": ports}).settled()


def _queues(count: int) -> str:
    """The queue options of a veth's end, for `ip link`."""
    return f" numtxqueues {count} numrxqueues {count}" if count > 1 else ""


def _tester_cores(wiring: Wiring) -> list[int]:
    """Cores of the workers: those named, else the first of this process."""
    named = cores_of(wiring.session)
    return named or sorted(os.sched_getaffinity(0))[: workers_of(wiring.session)]


def _device_core(wiring: Wiring, ours: list[int]) -> int:
    """The core named behind those of the workers; else the last that no worker is on, else the last."""
    named = wiring.session.get("cores", ())[len(ours) :]
    cores = sorted(os.sched_getaffinity(0))
    return int(named[0]) if named else ([core for core in cores if core not in ours] or cores)[-1]


def _join(device: dut.Device, mtu: int, workers: int, ports: int) -> None:
    """A cable for each port. The device's ends have fixed addresses so that two runs are the same run."""
    for index, (ours, theirs) in enumerate(zip(INTERFACES[:ports], dut.PORTS, strict=False)):
        # p0, p1, ... keep hardware addresses of their own: to the tester's kernel the test frames are
        # somebody else's, so it drops them early, after the packet socket has seen them.
        _ip(
            f"link add {ours} mtu {mtu}{_queues(workers)} type veth peer name {theirs}"
            f" address {addresses.device_mac(index)} mtu {mtu}{_queues(workers)} netns {device.pid}"
        )
        _ip(f"link set {ours} arp off up")


def _as_built(wiring: Wiring, device: dut.Device) -> Wiring:
    cores = sorted(os.sched_getaffinity(0))
    ours = _tester_cores(wiring)
    theirs = _device_core(wiring, ours)
    if len(cores) < 2:
        failure: DeviceNotIsolated | None = DeviceNotIsolated("one-core")
    else:
        failure = dut.isolate(device, theirs, len(wiring.ports), len(ours))
    where = failure or _describe_cores(ours, theirs)
    notes = (*wiring.notes, VethPairs(platform.release()), where)
    switched = wiring.switched
    if isinstance(where, DeviceOnOwnCore):
        if Trait.WORKS_APART in wiring.traits:
            notes = (*notes, WorksApart())
        elif not counts_interrupts_apart():
            switched = (*switched, CORE_SETTING)
        elif switched:
            notes = (*notes, InterruptsApart())
    return replace(wiring, session={**wiring.session, "cores": ours}, notes=notes, switched=switched)


def _describe_cores(ours: list[int], theirs: int) -> Reason:
    """The note on the cores of the tester's workers (`ours`) and of the device."""
    if theirs in ours:
        return DeviceSharesCore(theirs, ours.index(theirs) + 1, len(ours))
    return DeviceOnOwnCore(theirs, tuple(ours))
