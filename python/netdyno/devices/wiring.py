"""The interface of labs to the rest of netdyno: links in, wiring out. Plain values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal

from netdyno.devices import addresses
from netdyno.devices.incidents import Incident
from netdyno.devices.peering import Lag, Speaker
from netdyno.devices.watches import Watch
from netdyno.errors import NetdynoError
from netdyno.ports import backends
from netdyno.ports.backends import PortBackend
from netdyno.ports.threads import Threads
from netdyno.values.reason import Reason
from netdyno.values.units import L1Rate

PEER = "peer"
"""The destination of frames that go to the far tester port, as through a bridge."""


class LabError(NetdynoError):
    """A lab cannot be built here: a tool, a right or a driver is missing. Exit code 3.

    link: number of the plan's link it is about, from 0, if it is about one.
    """

    def __init__(self, message: str, hint: str | None = None, link: int | None = None, *, code: str) -> None:
        super().__init__(message, hint, code=code)
        self.link = link


def is_mac(hop: str) -> bool:
    """Whether a next hop is a MAC address. An IPv6 address may be as long: `2001:db8::1:2:345`."""
    return re.fullmatch("(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", hop) is not None


def is_group(mac: str) -> bool:
    """Whether a MAC address is of several hosts (IEEE 802 section 8.2)."""
    return int(mac[:2], 16) & 1 == 1


@dataclass(frozen=True)
class Subinterface:
    """The tester on one VLAN of a link: its address and its next hop there, as far as it has any.

    tags: VLAN and tag protocol identifier of each tag, outermost first. address: without its prefix length.
    mac: of the next hop, which is then not resolved. shape_bps: of an emulated router, the most that it
    sends there, bits of whole frames per second; None: as much as the line carries.
    """

    tags: tuple[tuple[int, int], ...]
    address: str | None = None
    gateway: str | None = None
    mac: str | None = None
    shape_bps: int | None = None
    ipv6: str | None = None
    """A second address, of the other IP version, on a device that netdyno builds."""
    gateway_ipv6: str | None = None

    @property
    def name(self) -> str:
        """Its VLANs, outermost first: `100`, `100.20`."""
        return ".".join(str(vid) for vid, _ in self.tags)

    def addresses(self) -> dict[str, str]:
        """Its addresses by field of a trial's spec."""
        own = {"ipv6" if ":" in address else "ipv4": address for address in (self.address,) if address}
        return own | ({"ipv6": self.ipv6} if self.ipv6 else {})

    def next_hop(self, version: int) -> str:
        """Where its frames of an IP version go: a MAC or an IP address, or `peer`."""
        if self.mac is not None:
            return self.mac
        return (self.gateway_ipv6 if version == 6 else None) or self.gateway or PEER

    def spec(self, version: int) -> dict[str, Any]:
        """As a trial of traffic of an IP version has it: VlanSpec of crates/engine/src/spec.rs."""
        tags = [{"vid": vid, "tpid": tpid} for vid, tpid in self.tags]
        hop = None if self.mac else (self.gateway_ipv6 if version == 6 else None) or self.gateway
        return {"tags": tags, **self.addresses(), **({"gateway": hop} if hop else {})}


@dataclass(frozen=True)
class LabLink:
    """A link of the plan's lab: tester port, device port, L1 rate.

    The rest is for external devices (kind `external`): the tester's interface this port
    is, the tester's address on it, and the device's address its frames are sent to. Without a gateway
    frames are addressed to the far tester port, as a bridge or a cross connect wants it.
    """

    tester_port: str
    device_port: str
    rate_bps: int
    interface: str | None = None
    address: str | None = None
    gateway: str | None = None
    mac: str | None = None
    """Of its next hop, which is then not resolved."""
    backend: PortBackend = field(default_factory=PortBackend)
    vlans: tuple[Subinterface, ...] = ()
    card: str = ""
    """What the device's port shares with others of the same card; empty: not said."""
    members: tuple[str, ...] = ()
    """Further ports of the device behind this link, of a LAG."""
    server: str = ""
    """`ADDRESS:PORT` of a server on another host, in place of an interface of ours; empty: there is none."""
    speaker: Speaker | None = None
    """The routing protocols that the tester speaks here; None: none."""
    host: str = ""
    """The generator host that has the tester's port; empty: this one."""
    bundle: str = ""
    """The LAG or ECMP group of the device that it is one link of; empty: of none."""
    lag: Lag | None = None
    """The tester's interfaces, if several are one LAG; `rate_bps` is of one of them. None: it is one."""

    @property
    def interfaces(self) -> tuple[str, ...]:
        """The tester's interfaces on it, for an external device."""
        return (self.interface or self.tester_port,) if self.lag is None else self.lag.interfaces

    @property
    def device_ports(self) -> tuple[str, ...]:
        """All ports of the device behind this link."""
        return (self.device_port, *self.members)


@dataclass(frozen=True)
class Hosts:
    """Generator hosts: where their workers are found, and the tester's threads on each, by name."""

    scheduler: str
    threads: Mapping[str, Threads]
    logins: Mapping[str, str] = field(default_factory=dict)
    """As `ssh` takes them; of hosts that are not here it is their name."""

    @property
    def spec(self) -> dict[str, Any]:
        """As a session has it."""
        real = {"clock": "real"}
        threads = {host: one.asked(real) for host, one in self.threads.items()}
        asked = {host: {name: one[name] for name in one if name != "clock"} for host, one in threads.items()}
        return {"scheduler": self.scheduler, "threads": asked}


@dataclass(frozen=True)
class WiredPort:
    """A tester port of a case: its addresses, its rate, and the destination of its frames.

    rate_bps: L1 rate of the link in this case (all members of a group). member_bps: of one member.
    destination: `"peer"` (the far tester port's MAC), the next hop's address, to be resolved, or its MAC.
    enforced_rate: False where the rate is declared but nothing enforces it (veth).
    """

    name: str
    rate_bps: int
    member_bps: int
    mac: str
    ipv4: str | None
    ipv6: str | None
    destination: str
    enforced_rate: bool = True
    destination_ipv6: str | None = None
    """Next hop of IPv6 profiles, where the lab has one; else `destination` serves them too."""
    vlans: tuple[Subinterface, ...] = ()
    """Who it is on the VLANs of its link. Frames without tags of their own are on these, a stream each."""
    server: str = ""
    """`ADDRESS:PORT` of a server on another host that stands for the port; empty: the port is ours."""
    speaker: Speaker | None = None
    """The routing protocols that the tester speaks here; None: none."""
    bundle: str = ""
    """The LAG or ECMP group of the device that its link is of: its frames may come by any port of that."""
    if_index: int | None = None
    """The ifIndex of the device's port, of a device that was built. None: its place in the lab, from 1."""
    lag: Lag | None = None
    """The LAG of the tester that it is a member of; `rate_bps` is its own line. None: of none."""

    @property
    def line(self) -> L1Rate:
        """The rate of its line."""
        return L1Rate(Fraction(self.rate_bps))


class Trait(StrEnum):
    """Traits of a case's lab that a tester, a method or a plan's check asks for."""

    LEARNS = "the device learns where MAC addresses are: learning frames are sent before traffic"
    REFUSES_TAGS = "the device takes no frame with a VLAN tag: a router whose ports have no VLANs"
    UNTAGGED = "no frame of the case has a VLAN tag: what a card does to tags cannot reach the test"
    CAN_BE_ASKED = "the device does what a trial's events ask"
    UNPROVEN = "nothing shows that the device takes the frames on, until one of them came back"
    KEEPS_STATE = "the device has an entry for each flow: what comes the other way is to answer one"
    WORKS_APART = "a part of the device's work is a program's, beside what forwards"
    SAYS_HELLO = "the emulated device is the OSPF neighbour of the tester's speakers, in virtual time"
    IS_READ = "instruments read the emulated device at times of the trial, while the clock stands"


@dataclass(frozen=True)
class Wiring:
    """One case's lab, known before anything is built."""

    clock: Literal["virtual", "real"]
    ports: tuple[WiredPort, ...]
    session: Mapping[str, Any]
    """The session spec of docs/interfaces.md."""
    traits: frozenset[Trait] = frozenset()
    notes: tuple[Reason, ...] = ()
    """What a reader of the report must know of this lab."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The device's, in this case."""
    routes: tuple[tuple[str, ...], ...] = ()
    """Prefixes behind each port, all of which are sent to; none: networks, as of the profiles."""
    routes_ipv6: tuple[tuple[str, ...], ...] = ()
    """Those that IPv6 frames go to in their place, where speakers announce some."""
    filters: tuple[tuple[str, ...], ...] = ()
    """Lines of the packet filter on what comes in from each port, as the device has them."""
    numbers: tuple[int, ...] = ()
    """Where only some ports of the lab are the tester's: the number of each among all. None: all are."""
    of: int = 0
    """How many there are then."""
    incidents: tuple[Incident, ...] = ()
    """What befalls an emulated device at times of the load."""
    counted_as: tuple[str, ...] = ()
    """What the device's own counters call its ports, in the order of the lab; none: as the lab does."""
    watch: Watch | None = None
    """What is watched beside the traffic; None: nothing."""
    far_ends: int = 0
    """Of looped ports: how many of the last ones no lab has. The odd port of a lab is joined with one."""
    switched: tuple[str, ...] = ()
    """Settings that single trials can have another value of (`Trial.settings`)."""
    flows: int = 0
    """That the first port sends: what comes back of a device that keeps state answers to them. 0: unknown."""
    served: Mapping[str, Any] | None = None
    """The emulated device that a process serves at the far ends of the ports; None: there is none."""
    hosts: tuple[str, ...] = ()
    """Addresses of the tester's ports as hosts: frames go between these. None: as profiles have them."""
    share_of: Wiring | None = None
    """The lab's wiring of which one host has only these ports, by `numbers`; None: they are all."""
    run: str = ""
    """The folder of the run, which stands beside the undo of a configured device; empty: unknown."""

    def bundled_with(self, port: int) -> tuple[int, ...]:
        """The numbers of the ports of one's bundle, itself among them; none: it is of no bundle."""
        name = self.ports[port].bundle
        return tuple(number for number, one in enumerate(self.ports) if one.bundle == name) if name else ()

    def arrival_ports(self, port: int) -> tuple[int, ...]:
        """The numbers of the ports of one's bundle or LAG, itself among them; none: it is of neither."""
        return self.bundled_with(port) or (self.members(port) if self.ports[port].lag else ())

    @property
    def slowest(self) -> L1Rate:
        """The rate of its slowest line, which a load in per cent is of; of a LAG all its members together."""
        return min(L1Rate(Fraction(self.rate_of(number))) for number in range(len(self.ports)))

    @property
    def lags(self) -> tuple[tuple[int, ...], ...]:
        """The LAGs of the tester: the numbers of the members of each. Frames come to the first of them."""
        found: dict[Lag, list[int]] = {}
        for number, port in enumerate(self.ports):
            if port.lag is not None:
                found.setdefault(port.lag, []).append(number)
        return tuple(map(tuple, found.values()))

    def members(self, port: int) -> tuple[int, ...]:
        """The numbers of all ports of its LAG; of none, its own."""
        lag = self.ports[port].lag
        if lag is None:
            return (port,)
        return tuple(number for number, one in enumerate(self.ports) if one.lag == lag)

    def rate_of(self, port: int) -> int:
        """L1 rate of its line; of a member of a LAG that of all together."""
        return sum(self.ports[number].rate_bps for number in self.members(port))

    def with_threads(self, threads: Threads) -> Wiring:
        """The same with the tester's threads as a plan has them."""
        return replace(self, session=threads.asked(self.session))

    def with_hosts(self, hosts: Hosts | None) -> Wiring:
        """The same with the generator hosts that ports are on."""
        return self if hosts is None else replace(self, session={**self.session, "hosts": hosts.spec})

    def settled(self, backend: str = backends.USUAL) -> Wiring:
        """The same with this backend for each port that a plan leaves to us."""
        return replace(self, session=backends.with_backend(self.session, backend))

    def only(self, names: Collection[str]) -> Wiring:
        """The same lab with the ports of these names alone opened; the device keeps all of its own."""
        kept = tuple(number for number, port in enumerate(self.ports) if port.name in names)
        session = {**self.session, "ports": [self.session["ports"][number] for number in kept]}
        if "links" in session:
            session["links"] = [
                {**link, "port": kept.index(link["port"])}
                for link in session["links"]
                if link["port"] in kept
            ]
        ports = tuple(self.ports[number] for number in kept)
        return replace(self, ports=ports, session=session, numbers=kept, of=len(self.ports))

    def without_members(self, names: Collection[str]) -> Wiring:
        """The same lab without these members of LAGs: each LAG is what is left of it."""
        if not names:
            return self
        kept = [number for number, port in enumerate(self.ports) if port.name not in names]
        session = {**self.session, "ports": [self.session["ports"][number] for number in kept]}
        ports = tuple(self.ports[number] for number in kept)
        return replace(self, ports=ports, session=session, numbers=tuple(map(self.in_lab, kept)))

    def share(self, host: str) -> Wiring:
        """One generator host's ports and threads, as that host itself has them. host: "" is this one."""
        opened = self.session["ports"]
        names = [
            port.name for port, one in zip(self.ports, opened, strict=True) if one.get("host", "") == host
        ]
        only = self.only(names)
        threads = (
            self.session["hosts"]["threads"].get(host, {})
            if host
            else {name: self.session[name] for name in ("workers", "cores") if name in self.session}
        )
        of_all = ("hosts", "workers", "cores")
        common = {name: value for name, value in only.session.items() if name not in of_all}
        ports = [{name: value for name, value in port.items() if name != "host"} for port in common["ports"]]
        return replace(only, session={**common, **threads, "ports": ports}, share_of=self)

    def for_frames(self, version: int) -> Wiring:
        """The same lab with the prefixes that frames of an IP version go to."""
        return replace(self, routes=self.routes_ipv6) if version == 6 and self.routes_ipv6 else self

    @property
    def own(self) -> Wiring:
        """The same without `far_ends`: the ports that a lab has too."""
        count = len(self.ports) - self.far_ends
        session = {**self.session, "ports": self.session["ports"][:count]}
        return replace(self, ports=self.ports[:count], session=session, far_ends=0)

    @property
    def lab(self) -> Wiring:
        """The wiring whose streams these ports carry, all of them or those of their host."""
        return self.own if self.share_of is None else self.share_of

    def joined_with(self, port: int) -> int:
        """The number of the port that a looped one is joined with: 0 and 1, 2 and 3; an odd one itself."""
        other = port ^ 1
        return other if other < len(self.ports) else port

    @property
    def lab_ports(self) -> int:
        """Ports of the lab, opened or not."""
        return self.of or len(self.ports)

    def in_lab(self, port: int) -> int:
        """The number among the lab's ports of one that is opened: its addresses and routes go by it."""
        return self.numbers[port] if self.numbers else port


TWO_LINKS = range(2, 3)
"""Of a device between two tester ports."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def in_words(links: range) -> str:
    """A number of links for people: `two`, `one to eight`."""
    least, most = (
        _NUMBERS[count] if count < len(_NUMBERS) else str(count) for count in (links[0], links[-1])
    )
    return least if least == most else f"{least} to {most}"


def with_far_end(wiring: Wiring, backend: Mapping[str, Any]) -> Wiring:
    """The wiring with a further port, whose backend is given, for an odd one to be joined with."""
    index, last = len(wiring.ports), wiring.ports[-1]
    names = {port.name for port in wiring.ports}
    name = f"{last.name}-far"
    while name in names:
        name += "-end"
    port = replace(last, name=name, mac=addresses.tester_mac(index))
    session = {**wiring.session, "ports": [*wiring.session["ports"], {"name": name, "backend": backend}]}
    return replace(wiring, ports=(*wiring.ports, port), session=session, far_ends=1)


def loop_ports(wiring: Wiring, how: Reason) -> Wiring:
    """A wiring whose ports are each other's far end: frames go to the peer, and nothing is resolved."""
    ports = tuple(
        replace(
            port,
            ipv4=None,
            ipv6=None,
            destination=PEER,
            destination_ipv6=None,
            vlans=tuple(Subinterface(vlan.tags) for vlan in port.vlans),
        )
        for port in wiring.ports
    )
    return replace(wiring, ports=ports, traits=wiring.traits - {Trait.LEARNS}, notes=(how, *wiring.notes))
