"""An external device: your own router or switch, on real interfaces or memifs of this machine."""

from __future__ import annotations

import socket
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

from netdyno.devices import addresses, agent, filters, routes
from netdyno.devices.kind import Kind
from netdyno.devices.linux import cables
from netdyno.devices.linux.mtu import with_mtu
from netdyno.devices.live import Live
from netdyno.devices.peering import Speaker
from netdyno.devices.reasons import (
    CardSetting,
    HasOwnAddress,
    HoldsDefaultRoute,
    InterfaceWithoutLine,
    UserCable,
)
from netdyno.devices.speakers.announced import behind_ports
from netdyno.devices.wiring import PEER, LabError, LabLink, Trait, WiredPort, Wiring, loop_ports, with_far_end
from netdyno.hosts import door
from netdyno.ports import backends, nic
from netdyno.ports.backends import PortBackend
from netdyno.ports.nic import advice, fit
from netdyno.ports.threads import Threads
from netdyno.values.load import NO_SERVICE, SERVICE_SETTING
from netdyno.values.reason import Reason

FORWARDING, BRIDGING = "forwarding", ("l2-xconnect", "bridge-domain", "bridge")
"""A setting of configurations, and its values that need no next hop: one plan may have both."""
SERVER = "server"
"""In place of a backend: no frames of the tester come or go there."""
DETACH_S = 2.0
"""An XDP program of somebody who is just ending is waited for this long."""


@dataclass(frozen=True)
class External(Kind):
    """A device that netdyno neither builds nor configures. Links name the tester's interfaces or memifs."""

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """A tester port for each link, on the link's interface or on one of the port's own name.

        With `gateway` or `mac` the frames go to that next hop, with `address` we answer ARP for it; without
        them they go to the far tester port, as through a bridge, which is taught where that is. So on each
        VLAN of a link. Where the configuration of the case bridges, next hops are left out.
        """
        self.refuse_unknown(links, settings)
        if settings.get(FORWARDING) in BRIDGING:
            links = tuple(_bridged(link) for link in links)
        agent.index(settings.get(agent.INDEX, "1"))
        _refuse_elsewhere(links, settings)
        speakers = [link.speaker for link in links]
        behind = routes.of_ports(settings, len(links)) or behind_ports(speakers)
        ours = [link.vlans or (link,) for link in links]
        if behind and not all((one.mac or one.gateway) and one.address for of in ours for one in of):
            raise ValueError("`routes` are a router's: give every link its `address` and `gateway`")
        version = routes.version(behind[0]) if behind else 4
        if behind and not all(_host(one.address, version) for of in ours for one in of):
            raise ValueError(
                f"IPv{version} routes want an IPv{version} `address` and `gateway` of every link"
            )
        ports = tuple(
            WiredPort(
                name=name,
                rate_bps=link.rate_bps,
                member_bps=link.rate_bps,
                mac=addresses.tester_mac(index),
                ipv4=link.server.partition(":")[0] or _host(link.address, 4),
                ipv6=_host(link.address, 6),
                destination=link.server.partition(":")[0]
                or link.mac
                or link.gateway
                or next(filter(None, (vlan.mac or vlan.gateway for vlan in link.vlans)), PEER),
                vlans=link.vlans,
                server=link.server,
                speaker=_speaker(link),
                bundle=link.bundle,
                lag=link.lag,
            )
            for index, link in enumerate(links)
            for name in _names(link)
        )
        session = {
            "clock": "real",
            "ports": [
                {
                    "name": name,
                    "backend": {"kind": SERVER, "at": link.server}
                    if link.server
                    else link.backend.spec(interface),
                    **({"host": link.host} if link.host else {}),
                    # A LAG goes on without a member whose interface is switched off.
                    **({"may_go": True} if link.lag else {}),
                }
                for link in links
                for name, interface in zip(_names(link), link.interfaces, strict=True)
            ],
        }
        # That a gateway answers shows that frames reach it, not that it has a route for them.
        traits = {Trait.UNPROVEN: True, Trait.LEARNS: any(port.destination == PEER for port in ports)}
        rules = filters.of_ports(settings, len(links))
        lines = tuple(tuple(str(rule) for rule in of_port) for of_port in rules)
        numbers = tuple(index for index, link in enumerate(links) for _ in _names(link))
        return Wiring(
            "real",
            ports,
            session,
            frozenset(trait for trait, has in traits.items() if has),
            tuple(note for link in links for note in _notes(link)),
            settings=dict(settings),
            routes=behind,
            routes_ipv6=behind_ports(speakers, 6),
            filters=lines,
            numbers=numbers if len(numbers) > len(links) else (),
            of=len(links) if len(numbers) > len(links) else 0,
            switched=(SERVICE_SETTING,) if self._is_switched(settings) else (),
        )

    def _is_switched(self, settings: Mapping[str, str]) -> bool:
        """Whether a template takes a service of the case, so that another one takes it away."""
        return SERVICE_SETTING in self.taken and settings.get(SERVICE_SETTING, NO_SERVICE) != NO_SERVICE

    def preflight(self, links: tuple[LabLink, ...]) -> tuple[Reason, ...]:
        """Checks that packet sockets may be opened and every interface is there, up, and in one link.

        Warns of one that carries this machine's own traffic. Ports of other hosts are looked at later.
        """
        faults: list[tuple[int, LabError]] = []
        warnings: list[Reason] = []
        taken: set[str] = set()
        may = fit.rights()
        for index, link in enumerate(links):
            if link.server or link.host:
                continue
            for port, name in zip(_names(link), link.interfaces, strict=True):
                try:
                    if not _on_interface(link.backend.kind):
                        _present(link.backend)
                        continue
                    card = _card(name, link.backend.kind, may)
                    if name in taken:
                        raise LabError(
                            f"interface `{name}` is named by two links",
                            "give each link its own",
                            code="given-twice",
                        )
                except LabError as error:
                    faults.append((index, error))
                    continue
                taken.add(name)
                warnings += own_traffic(port, card)
        if faults:
            index, first = faults[0]
            told = dict.fromkeys(error.message for _, error in faults)
            raise LabError("; ".join(told), first.hint, index, code=first.code)
        return tuple(warnings)

    @contextmanager
    def build(self, wiring: Wiring) -> Iterator[Live]:
        """Looks at the interfaces, takes their hardware addresses. Changes nothing on this machine but their
        MTU where the plan asks for one, which is put back at the end."""
        mtu = cables.read_mtu(wiring.settings)
        ours = [one["backend"].get("interface") for one in wiring.session["ports"]] if mtu else ()
        with (
            with_mtu(filter(None, ours), mtu or 0),
            self.driver.reach(_as_found(wiring), self.reached) as live,
        ):
            yield live

    def joins_itself(self, links: tuple[LabLink, ...]) -> bool:
        return len(links) > 1 and not any(_on_interface(link.backend.kind) for link in links)

    @contextmanager
    def loopback(
        self, links: tuple[LabLink, ...], threads: Threads, names: Collection[str] | None = None
    ) -> Iterator[Wiring]:
        """The user's own cables between two interfaces each; of memifs, one to another on sockets of our own.

        Of an odd interface it is a plug that leads back into it what it sends; an odd memif is joined with a
        further one.
        """

        def wire(links: tuple[LabLink, ...]) -> Wiring:
            wiring = self.wire(links, {}).with_threads(threads)
            return (
                wiring if names is None else wiring.only([name for link in opened for name in _names(link)])
            )

        opened = [link for link in links if names is None or link.tester_port in names]
        if any(link.server for link in opened):
            raise LabError(
                "a server on another host is no port that can be joined with another one",
                "calibrate a plan with interfaces on both links",
                code="ports-not-joinable",
            )
        kinds = [link.backend.kind for link in opened]
        apart = [kind for kind in kinds if not _on_interface(kind)]
        if apart and len(kinds) == 1:
            alone = backends.BACKENDS[kinds[0]]
            raise LabError(
                f"{alone.noun} has two ends, and the lab has one port: it cannot be joined with itself",
                f"`netdyno calibrate --backend {alone.name}` says what two of them can do"
                if alone.name in backends.LOOPS
                else None,
                code="ports-not-joinable",
            )
        if not apart:
            cable = UserCable(tuple(interface for link in opened for interface in link.interfaces))
            yield loop_ports(_as_found(wire(links)).settled(), cable)
            return
        backend = backends.BACKENDS[apart[0]]
        if set(kinds) != {backend.name} or backend.loop is None:
            raise LabError(
                f"these ports cannot be joined: {backend.noun} connects only to another of its kind",
                "calibrate two ports of one backend, or two interfaces with a cable between them",
                code="ports-not-joinable",
            )
        assert backend.looped is not None
        with TemporaryDirectory(prefix="netdyno-") as folder:
            pairs = [
                backend.loop(link.backend.options, folder, pair) for pair, link in enumerate(opened[::2])
            ]
            ends = [PortBackend(backend.name, options) for pair in pairs for options in pair]
            own = dict(zip((link.tester_port for link in opened), ends, strict=False))
            wiring = wire(
                tuple(replace(link, backend=own.get(link.tester_port, link.backend)) for link in links)
            )
            if len(ends) > len(opened):
                wiring = with_far_end(wiring, ends[-1].spec(""))
            yield loop_ports(_as_found(wiring), backend.looped(len(pairs)))


KIND = EXTERNAL = External(
    "external",
    "external device",
    settings={
        routes.SETTING: (),
        filters.SETTING: (),
        agent.INDEX: (),
        **cables.SETTINGS,
    },
    configured=False,
    backends=backends.ALL,
    links=range(1, addresses.MOST_PORTS + 1),
    takes_driver=True,
    has_speakers=True,
)


def _refuse_elsewhere(links: tuple[LabLink, ...], settings: Mapping[str, str]) -> None:
    """ValueError for an MTU of what is no interface of this machine."""
    if cables.read_mtu(settings) is None:
        return
    for link in links:
        if link.host or link.server or not _on_interface(link.backend.kind):
            raise ValueError(f"`mtu` is set on interfaces of this machine, and `{link.tester_port}` is none")


def _as_found(wiring: Wiring) -> Wiring:
    """The wiring with the hardware addresses and lines of the interfaces, and notes on their settings."""
    notes = list(wiring.notes)
    ports = []
    may = fit.rights()
    for port, opened in zip(wiring.ports, wiring.session["ports"], strict=True):
        backend = opened["backend"]
        if "interface" not in backend:
            # It has no hardware address either: ours stays the one it was wired with.
            ports.append(replace(port, enforced_rate=False))
            continue
        interface = backend["interface"]
        host = opened.get("host")
        card = (
            _card_of(wiring, host, interface, backend["kind"])
            if host
            else _card(interface, backend["kind"], may)
        )
        enforced = card.card.has_line and card.card.speed_bps == port.rate_bps
        # A speaker's interface is above the card's, with an address of its own.
        mac = port.mac if port.speaker and not port.vlans else card.link.mac
        if ports and port.lag is not None and ports[-1].lag == port.lag:
            mac = ports[-1].mac
        ports.append(replace(port, mac=mac, enforced_rate=enforced))
        if not card.card.has_line:
            notes.append(InterfaceWithoutLine(port.name, interface, card.driver or ""))
        carried = backends.BACKENDS.get(backend["kind"])
        restored = carried is not None and carried.restores_tags
        notes += _warnings(port, card, tagged=Trait.UNTAGGED not in wiring.traits and not restored)
    return replace(wiring, ports=tuple(ports), notes=tuple(notes))


def _warnings(port: WiredPort, card: nic.Nic, *, tagged: bool) -> Iterator[Reason]:
    """Warnings about the card's settings, each with the command that changes it.

    tagged: what a card does to tags can reach the test. Packet sockets put back what it takes off.
    """
    yield from own_traffic(port.name, card)
    for finding in advice.findings(card, rate_bps=port.rate_bps):
        if finding.tags and not tagged:
            continue
        yield CardSetting(port.name, card.name, finding.code, finding.effect, finding.what, finding.command)


def own_traffic(port: str, card: nic.Nic) -> Iterator[Reason]:
    """This machine's use of an interface under a port.

    Of several the default route: a load there takes this machine off its network.
    """
    if card.default_route:
        yield HoldsDefaultRoute(port, card.name)
    elif card.addresses:
        yield HasOwnAddress(port, card.name, card.addresses[0])


def _names(link: LabLink) -> tuple[str, ...]:
    """Of its ports: of several members each has the interface behind the name, `east.eth1`."""
    return (
        (link.tester_port,)
        if link.lag is None
        else tuple(f"{link.tester_port}.{interface}" for interface in link.lag.interfaces)
    )


def _card(interface: str, backend: str, may: fit.Rights) -> nic.Nic:
    """The card behind an interface that takes the backend; `auto` makes do with packet sockets."""
    card = nic.read(interface)
    if card is None:
        here = ", ".join(f"`{name}`" for _, name in sorted(socket.if_nameindex()))
        raise LabError(
            f"there is no interface `{interface}` on this machine",
            f"give the link's `interface` as one of {here}; one of another network namespace is reached from"
            " there: `ip netns exec NAME netdyno ...`",
            code="no-such-interface",
        )
    kind = backends.USUAL if backend == backends.AUTO else backend
    is_held = backends.BACKENDS[kind].is_held
    # A program that has just ended takes its XDP program with it, but not at once.
    deadline = time.monotonic() + DETACH_S
    while is_held(card) and time.monotonic() < deadline:
        time.sleep(0.1)
        card = nic.read(interface) or card
    (found,) = (one for one in backends.fits(card, may) if one.backend == kind)
    if found.why is not None:
        raise LabError(
            f"interface `{interface}` cannot take `{kind}`: {found.why}", found.hint, code="interface-unfit"
        )
    return card


def _card_of(wiring: Wiring, host: str, interface: str, backend: str) -> nic.Nic:
    """The card behind an interface of a generator host."""
    connected = door.connect(wiring.session["hosts"]["scheduler"])
    card: nic.Nic = connected.call(host, read_card, interface, backend)
    return card


def read_card(interface: str, backend: str) -> nic.Nic:
    """The card behind an interface of the host that this runs on. Raises LabError."""
    return _card(interface, backend, fit.rights())


def _notes(link: LabLink) -> Iterator[Reason]:
    """The note on a port that is no interface."""
    backend = backends.BACKENDS.get(link.backend.kind)
    if backend is not None and backend.note is not None:
        yield backend.note(link.tester_port, link.backend.spec(link.tester_port))


def _on_interface(kind: str) -> bool:
    return kind in backends.KERNEL


def _present(backend: PortBackend) -> None:
    """Raises LabError if a port's other end is not there that must be there first."""
    looked = backends.BACKENDS[backend.kind].absent
    missing = None if looked is None else looked(backend.options)
    if missing is not None:
        raise LabError(*missing, code="port-absent")


def _speaker(link: LabLink) -> Speaker | None:
    """What the tester speaks on a link, with the addresses of its ends."""
    if link.speaker is None:
        return None
    ends = [(one.address, one.gateway) for one in link.vlans or (link,)]
    ours, theirs = ends[0]
    bgp = link.speaker.bgp
    if link.vlans:
        peers = tuple(far or "" for _, far in ends)
        if bgp is not None:
            bgp = replace(bgp, sessions=len(ends), addresses=tuple(_host(own, 4) or "" for own, _ in ends))
        return replace(link.speaker, bgp=bgp, networks=(ours or "",), peers=peers)
    # Frames to IPv6 routes come to the tester when it answers for their next hop.
    hops = (f"{bgp.next_hop_ipv6}/128",) if bgp is not None and bgp.next_hop_ipv6 else ()
    return replace(link.speaker, networks=(ours or "", *hops), peers=(theirs or "",))


def _bridged(link: LabLink) -> LabLink:
    """The link without next hops and addresses."""
    vlans = tuple(replace(one, mac=None, gateway=None, address=None) for one in link.vlans)
    return replace(link, mac=None, gateway=None, address=None, vlans=vlans)


def _host(address: str | None, version: int) -> str | None:
    if address is None or (":" in address) != (version == 6):
        return None
    return address.partition("/")[0]
