"""The base of the emulated kinds: a model of a device in, the wiring of a case out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from netdyno.devices import addresses, filters, incidents, routes
from netdyno.devices.drivers.driver import NO_DRIVER
from netdyno.devices.emulated.hellos import adjacencies_of
from netdyno.devices.emulated.served import Served
from netdyno.devices.kind import Kind
from netdyno.devices.live import Live
from netdyno.devices.reasons import DeviceSetTo, EmulatedDevice, TableEmulated
from netdyno.devices.speakers.announced import behind_ports, tables_behind
from netdyno.devices.wiring import PEER, LabLink, Subinterface, Trait, WiredPort, Wiring
from netdyno.values.load import NO_SERVICE, SERVICE_SETTING
from netdyno.values.reason import Reason

TPIDS = (0x8100, 0x88A8, 0x9100, 0x9200)
"""Of the tags that an emulated router knows."""
SHAPER_MS = 4
"""What the shaper of a VLAN lets pass at once, of its rate: Cisco's IOS takes 4 ms unless told."""
LEAST_SHAPER_BYTES = 9216 + 8 * 4
"""And at least one frame of any size, with as many tags as there can be."""

Forwarding: TypeAlias = Literal["l2-xconnect", "bridge-domain", "ipv4"]


@dataclass(frozen=True)
class Capacity:
    """The capacity of a port (each member of a LAG), frames per second; None: line rate.

    west_in: taken in on the first port. east_in: on the others. both: in and out of a port together.
    """

    west_in: int | None = None
    east_in: int | None = None
    both: int | None = None
    source: str = ""

    def of(self, index: int) -> dict[str, Any]:
        """The fields of a port."""
        taken_in = self.east_in if index else self.west_in
        return {"in_fps": fps(taken_in), "both_fps": fps(self.both)}


@dataclass(frozen=True)
class Model:
    """An emulated device of one case.

    ports: fields of each port (DevicePortSpec of crates/dut/src/spec.rs) beyond its name, addresses and
    rate; none: plain ports. device: fields of the device (DeviceSpec) beyond those. notes: for the
    report.
    """

    forwarding: str
    members: int = 1
    ports: tuple[Mapping[str, Any], ...] = ()
    device: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Reason, ...] = ()
    bridge: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a bridge's forwarding: its table, and how fast it learns."""
    vlan: Mapping[str, Any] = field(default_factory=dict)
    """Fields of each VLAN of a router's ports (DeviceVlan), beyond its tags, addresses and shaper."""


@dataclass(frozen=True)
class WithTable(Live):
    """An emulated router with the announced routes: it is built with them, and loses none."""

    @cached_property
    def _counts(self) -> Mapping[int, int]:
        found = {4: 0, 6: 0}
        for device in self.wiring.session["devices"]:
            for route in device["forwarding"]["routes"]:
                found[6 if ":" in route["prefix"] else 4] += 1
            connected = sum(len(port.get("vlans") or [port]) for port in device["ports"])
            found = {version: count + connected for version, count in found.items()}
        return found

    def count_routes(self) -> Mapping[int, int]:
        """Its routes, those of its own networks included."""
        return self._counts

    def stand_at(self, at_ns: int, counters: Sequence[Mapping[str, Any]], mean_bytes: float) -> bool:
        """Its table is the same at each time."""
        return True


@dataclass(frozen=True)
class Emulated(Kind):
    """A kind of emulated device.

    model: the device of a case, from its links and settings; of several that stand side by side and share
    nothing, each has the next as many links.
    """

    # A partial function is equal to itself alone, and a kind goes to other processes.
    model: Callable[[tuple[LabLink, ...], Mapping[str, str]], Model | tuple[Model, ...]] = field(
        compare=False
    )
    _: KW_ONLY
    emulated: bool = True
    takes_driver: bool = True
    has_speakers: bool = True
    """Of a router in virtual time: its OSPF neighbours."""

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """A tester port for each link, the device between them, virtual time."""
        self.refuse_unknown(links, settings)
        defaults = {name: values[0] for name, values in self.settings.items() if values}
        beside = (routes.SETTING, filters.SETTING, incidents.SETTING, *self.taken)
        chosen = {name: one for name, one in {**defaults, **settings}.items() if name not in beside}
        # With a driver, who stands in for the device's command line has neighbours and a table of its own.
        speakers = [link.speaker if self.driver == NO_DRIVER else None for link in links]
        own = routes.of_ports(settings, len(links))
        behind = own or behind_ports(speakers)
        tables = {routes.version(own[0]): own} if own else {v: tables_behind(speakers, v) for v in (4, 6)}
        rules = filters.of_ports(settings, len(links))
        befalls = settings.get(incidents.SETTING)
        ends = [(link.device_port, link.tester_port) for link in links]
        happens = () if befalls is None else incidents.parse(befalls, ends)
        found = self.model(links, chosen)
        models = found if isinstance(found, tuple) else (found,)
        _refuse_vlans(self.name, links, models)
        says_hello = any(speakers)
        if says_hello and not all(model.forwarding == "ipv4" for model in models):
            raise ValueError(f"`routing` is a router's, and `{self.name}` is none")
        wired = _wire(links, models, behind, tables, rules, says_hello=says_hello)
        notes: tuple[Reason, ...] = () if befalls is None else (DeviceSetTo(((incidents.SETTING, befalls),)),)
        has_table = any(one.announces for one in speakers if one is not None)
        notes += (TableEmulated(),) if has_table else ()
        return replace(
            wired,
            settings=dict(settings),
            incidents=happens,
            routes_ipv6=behind_ports(speakers, 6),
            notes=(*wired.notes, *notes),
            switched=(SERVICE_SETTING,) if settings.get(SERVICE_SETTING, NO_SERVICE) != NO_SERVICE else (),
            traits=wired.traits | ({Trait.IS_READ} if has_table or self.driver != NO_DRIVER else frozenset()),
        )

    def in_real_time(self) -> Kind:
        """The same, served between veth pairs."""
        return Served.of(self)

    def build(self, wiring: Wiring) -> AbstractContextManager[Live]:
        """Nothing to build: the session holds the device.

        A driver reaches who stands in for the device's command line, so that a plan is rehearsed. A comment
        there has what the emulated device has counted at that moment: a real one takes no notice of it.
        """
        if self.driver == NO_DRIVER and Trait.IS_READ in wiring.traits:
            return nullcontext(WithTable(wiring))
        return self.driver.reach(wiring, self.reached)


def fps(rate: int | None) -> list[int] | None:
    """Frames per second as the device's spec has them."""
    return None if rate is None else [rate, 1]


def _filter(rules: tuple[filters.Rule, ...]) -> list[dict[str, Any]]:
    """A port's filter as the device's spec has it."""
    return [{"permit": rule.permit, "src": rule.source, "dst": rule.destination} for rule in rules]


def _refuse_vlans(name: str, links: tuple[LabLink, ...], models: tuple[Model, ...]) -> None:
    """ValueError if the VLANs of the links are none that the device can have."""
    vlans = [vlan for link in links for vlan in link.vlans]
    if any(vlan.address or vlan.gateway or vlan.mac for vlan in vlans):
        raise ValueError(
            "an emulated router has addresses of its own: remove `address` and `gateway` from `vlans`"
        )
    routed = all(model.forwarding == "ipv4" for model in models)
    if not routed and len({tuple(vlan.tags for vlan in link.vlans) for link in links}) > 1:
        raise ValueError(f"`{name}` leaves tags as they are: give all links the same `vlans`")
    other = [tpid for vlan in vlans for _, tpid in vlan.tags if tpid not in TPIDS]
    if routed and other:
        known = ", ".join(hex(tpid) for tpid in TPIDS)
        raise ValueError(f"`{name}` takes the TPIDs {known}, not {other[0]:#x}")
    if not routed and any(vlan.shape_bps for vlan in vlans):
        raise ValueError(f"`shape` is a router's, and `{name}` is none")


def _vlan(port: int, number: int, vlan: Subinterface) -> Subinterface:
    """A VLAN of a link to a router, with the addresses of both ends."""
    ours, theirs = addresses.on_vlan(port, number, 4)
    ipv6, gateway_ipv6 = addresses.on_vlan(port, number, 6)
    return replace(vlan, address=ours, gateway=theirs, ipv6=ipv6, gateway_ipv6=gateway_ipv6)


def _subinterface(vlan: Subinterface, model: Model) -> dict[str, Any]:
    """A router's end of a VLAN: DeviceVlan of crates/dut/src/spec.rs."""
    shape = None
    if vlan.shape_bps is not None:
        burst = max(LEAST_SHAPER_BYTES, vlan.shape_bps * SHAPER_MS // 8000)
        shape = {"rate_bps": vlan.shape_bps, "layer": "l2", "burst_bytes": burst}
    return {
        "tags": [{"vid": vid, "tpid": tpid} for vid, tpid in vlan.tags],
        "ipv4": f"{vlan.gateway}/30",
        "ipv6": f"{vlan.gateway_ipv6}/64",
        "shape": shape,
        **model.vlan,
    }


def _wire(
    links: tuple[LabLink, ...],
    models: tuple[Model, ...],
    behind: tuple[tuple[str, ...], ...],
    tables: Mapping[int, tuple[tuple[str, ...], ...]],
    rules: tuple[tuple[filters.Rule, ...], ...],
    *,
    says_hello: bool,
) -> Wiring:
    each = len(links) // len(models)
    of_links = tuple(model for model in models for _ in range(each))
    ports = tuple(
        _port(index, link, model) for index, (link, model) in enumerate(zip(links, of_links, strict=True))
    )
    devices = [
        _device(
            model,
            range(number * each, (number + 1) * each),
            links,
            ports,
            tables,
            rules,
            alone=len(models) == 1,
        )
        for number, model in enumerate(models)
    ]
    if says_hello:
        for index, port in enumerate(ports):
            _say_hello(devices[index // each]["ports"][index % each], port)
    session = {
        "clock": "virtual",
        "ports": [{"name": port.name, "backend": {"kind": "wire"}} for port in ports],
        "devices": devices,
        "links": [
            {
                "port": index,
                "device": index // each,
                "device_port": index % each,
                "rate_bps": port.rate_bps,
                "delay_ps": 0,
            }
            for index, port in enumerate(ports)
        ],
    }
    notes = (EmulatedDevice(), *dict.fromkeys(note for model in models for note in model.notes))
    forwards = {model.forwarding for model in models}
    traits = {Trait.CAN_BE_ASKED}
    traits |= {Trait.LEARNS} if "bridge-domain" in forwards else set()
    traits |= {Trait.REFUSES_TAGS} if "ipv4" in forwards else set()
    traits |= {Trait.SAYS_HELLO} if says_hello else set()
    return Wiring(
        "virtual",
        ports,
        session,
        frozenset(traits),
        notes,
        routes=behind,
        filters=tuple(tuple(str(rule) for rule in of_port) for of_port in rules),
    )


def _port(index: int, link: LabLink, model: Model) -> WiredPort:
    """A tester port, opposite a device."""
    routed = model.forwarding == "ipv4"
    return WiredPort(
        name=link.tester_port,
        rate_bps=link.rate_bps * model.members,
        member_bps=link.rate_bps,
        mac=addresses.tester_mac(index),
        ipv4=addresses.tester(index) if routed else None,
        ipv6=addresses.tester_ipv6(index) if routed else None,
        destination=addresses.device(index) if routed else PEER,
        destination_ipv6=addresses.device_ipv6(index) if routed else None,
        vlans=tuple(_vlan(index, number, vlan) for number, vlan in enumerate(link.vlans))
        if routed
        else link.vlans,
        speaker=link.speaker,
    )


def _device(
    model: Model,
    numbers: range,
    links: tuple[LabLink, ...],
    ports: tuple[WiredPort, ...],
    tables: Mapping[int, tuple[tuple[str, ...], ...]],
    rules: tuple[tuple[filters.Rule, ...], ...],
    *,
    alone: bool,
) -> dict[str, Any]:
    """A device on these links, as crates/dut/src/spec.rs has it."""
    routed = model.forwarding == "ipv4"
    return {
        "name": "dut" if alone else f"dut {model.forwarding}",
        "ports": [
            {
                "name": links[index].device_port,
                "mac": addresses.device_mac(index),
                "rate_bps": links[index].rate_bps,
                "members": model.members,
                "ipv4": f"{addresses.device(index)}/30" if routed else None,
                "ipv6": f"{addresses.device_ipv6(index)}/64" if routed else None,
                **(model.ports[own] if model.ports else {}),
                **({"filter": _filter(rules[index])} if rules else {}),
                **(
                    {"vlans": [_subinterface(vlan, model) for vlan in ports[index].vlans]}
                    if routed and links[index].vlans
                    else {}
                ),
            }
            for own, index in enumerate(numbers)
        ],
        "forwarding": {**_forwarding(model.forwarding, numbers, ports, tables), **model.bridge},
        **model.device,
    }


def _say_hello(device_port: dict[str, Any], port: WiredPort) -> None:
    """Gives the device's end of a link its neighbours, on each VLAN if there are any."""
    for place, ends in zip(device_port.get("vlans") or [device_port], adjacencies_of(port), strict=False):
        place["ospf"] = ends.device


def _forwarding(
    forwarding: str,
    numbers: range,
    ports: tuple[WiredPort, ...],
    tables: Mapping[int, tuple[tuple[str, ...], ...]],
) -> Mapping[str, Any]:
    """The forwarding of a device, as crates/dut/src/spec.rs has it.

    numbers: of its ports among the lab's. tables: by IP version the prefixes behind each port of the lab;
    none: networks.
    """
    if forwarding == "l2-xconnect":
        return {"kind": "cross-connect", "pairs": [[0, 1]]}
    if forwarding == "bridge-domain":
        return {"kind": "bridge"}
    table = [
        {"prefix": prefix, "via": via}
        for version, networks in ((4, addresses.networks_behind), (6, addresses.behind_ipv6))
        for port in numbers
        for prefix, via in _routes(
            ports[port],
            version,
            tables[version][port] if tables.get(version) else (),
            networks(port, len(ports)),
        )
    ]
    return {"kind": "router", "routes": table}


def _routes(
    port: WiredPort, version: int, prefixes: tuple[str, ...], networks: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Prefix and next hop of all that is behind a tester port: of its VLANs each has an even part."""
    own = port.ipv6 if version == 6 else port.ipv4
    hops = [vlan.ipv6 if version == 6 else vlan.address for vlan in port.vlans] or [own]
    for number, hop in enumerate(hops):
        assert hop is not None, "a port of a router has addresses of both versions"
        parts = (addresses.cut_evenly(prefix, number, len(hops)) for prefix in networks)
        for prefix in prefixes[number :: len(hops)] or parts:
            yield prefix, hop
