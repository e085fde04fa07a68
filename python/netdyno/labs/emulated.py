"""Emulated devices: rehearsals in virtual time. Nothing here is a measurement of a real device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from netdyno.labs import addresses
from netdyno.labs.wiring import TWO_LINKS, LabLink, WiredPort, Wiring, in_words
from netdyno.units import FrameRate


@dataclass(frozen=True)
class Capacity:
    """What a port (each member of a group) can do, frames per second; None: as much as the line brings.

    west_in: taken in on the first port. east_in: on the others. both: in and out of a port together.
    """

    west_in: int | None = None
    east_in: int | None = None
    both: int | None = None
    source: str = ""


# At most two capacities per forwarding type and port kind, each from the cells of the published load
# test named beside it (test number, profile, direction). Where two cells measure the same resource and
# differ, it is their geometric mean: fitted, and docs/labs.md says which cells are that.
ASR9006_CAPACITIES: Mapping[tuple[str, str], Capacity] = {
    ("l2-xconnect", "plain"): Capacity(
        west_in=14_660_000,
        east_in=14_660_000,
        both=20_300_000,
        source="in 14.66 Mpps (1.1 64b-multi uni), in + out 20.3 Mpps (1.1 64b-multi bidir)",
    ),
    ("bridge-domain", "plain"): Capacity(both=19_000_000, source="in + out 19.0 Mpps (1.2 64b-multi bidir)"),
    # The article ran one direction only in its uni runs. The other one is what the bidir run has beyond it.
    ("ipv4", "plain"): Capacity(
        west_in=5_140_000,
        east_in=7_160_000,
        source="in 5.14 Mpps on the first port (1.3 64b-multi uni),"
        " 7.16 Mpps on the second (1.3 64b-multi bidir less uni, 12.3 - 5.14)",
    ),
    ("l2-xconnect", "lacp"): Capacity(
        both=17_450_000, source="in + out 17.45 Mpps a member (2.1 64b-multi bidir, 34.9 / 2)"
    ),
    # Two cells measure a member's input, 20.12 / 2 (2.2 64b-multi uni) and 9.49 (64b-single uni). They
    # differ by 6 %; their geometric mean is within 3 % of both.
    ("bridge-domain", "lacp"): Capacity(
        west_in=9_770_000,
        east_in=9_770_000,
        both=14_100_000,
        source="in 9.77 Mpps a member (geometric mean of 2.2 64b-multi uni, 20.12 / 2, and 64b-single uni,"
        " 9.49), in + out 14.1 Mpps a member (2.2 64b-multi bidir, 28.2 / 2)",
    ),
    # Input: 12.52 / 2 and 6.49 (2.3 uni). In and out together: 22.49 / 2 with many flows; and the single
    # flow, whose two directions meet the same member at both ends by these hashes, 11.62.
    ("ipv4", "lacp"): Capacity(
        west_in=6_374_000,
        east_in=6_374_000,
        both=11_431_000,
        source="in 6.374 Mpps a member (geometric mean of 2.3 64b-multi uni, 12.52 / 2, and 64b-single uni,"
        " 6.49), in + out 11.431 Mpps a member (geometric mean of 2.3 64b-multi bidir, 22.49 / 2, and"
        " 64b-single bidir, 11.62)",
    ),
}

MEMBERS = 2


@dataclass(frozen=True)
class Emulated:
    """A kind of emulated device."""

    name: str
    title: str
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    emulated: bool = True
    backends: tuple[str, ...] = ()
    links: range = TWO_LINKS

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """A tester port for each link, the device between them, virtual time."""
        if len(links) not in self.links:
            raise ValueError(f"`{self.name}` takes {in_words(self.links)} links, not {len(links)}")
        chosen = _chosen(self.settings, settings)
        forwarding = chosen.get("forwarding", _FORWARDING_OF[self.name])
        lag = chosen.get("lag", "plain")
        if self.name != ASR9006.name:
            asked = chosen["capacity"]
            wiring = _wire(links, forwarding, lag, _asked_for(asked))
            if asked == "line":
                return wiring
            shown = asked.replace("kpps", " kpps").replace("Mpps", " Mpps")
            taken_in = f"The device takes in {shown} on each port, as the plan says."
            return replace(wiring, notes=(*wiring.notes, taken_in))
        wiring = _wire(links, forwarding, lag, ASR9006_CAPACITIES[forwarding, lag])
        published = "The capacities come from a published test whose uni runs sent in one direction only."
        return replace(wiring, notes=(*wiring.notes, published))

    @contextmanager
    def build(self, wiring: Wiring) -> Iterator[Wiring]:
        """Nothing to build: the session holds the device."""
        yield wiring


# What each port takes in: as much as the line brings, or this.
_IDEAL: Mapping[str, tuple[str, ...]] = {
    "capacity": ("line", "10kpps", "100kpps", "1Mpps", "2Mpps", "5Mpps", "10Mpps")
}

CROSS_CONNECT = Emulated("emulated/cross-connect", "emulated cross connect", _IDEAL)
BRIDGE = Emulated(
    "emulated/bridge", "emulated learning bridge", _IDEAL, links=range(2, addresses.MOST_PORTS + 1)
)
ROUTER = Emulated(
    "emulated/router", "emulated IPv4 and IPv6 router", _IDEAL, links=range(1, addresses.MOST_PORTS + 1)
)
ASR9006 = Emulated(
    "emulated/asr9006",
    "emulated Cisco ASR9006",
    {"forwarding": ("l2-xconnect", "bridge-domain", "ipv4"), "lag": ("plain", "lacp")},
)

_FORWARDING_OF = {
    CROSS_CONNECT.name: "l2-xconnect",
    BRIDGE.name: "bridge-domain",
    ROUTER.name: "ipv4",
    ASR9006.name: "l2-xconnect",
}


def _chosen(known: Mapping[str, tuple[str, ...]], given: Mapping[str, str]) -> dict[str, str]:
    """The settings of a case with defaults filled in; ValueError names what is not known."""
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"`{name}` is not a setting of this device; it has {_listed(known) or 'none'}")
        if value not in known[name]:
            raise ValueError(f"`{name}` cannot be `{value}`; it is one of {_listed(known[name])}")
    return {name: given.get(name, values[0]) for name, values in known.items()}


def _asked_for(text: str) -> Capacity:
    if text == "line":
        return Capacity()
    rate = int(FrameRate.parse(text).amount)
    return Capacity(rate, rate)


def _listed(names: Mapping[str, Any] | tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _wire(links: tuple[LabLink, ...], forwarding: str, lag: str, capacity: Capacity) -> Wiring:
    routed = forwarding == "ipv4"
    members = MEMBERS if lag == "lacp" else 1
    ports = tuple(
        WiredPort(
            name=link.tester_port,
            rate_bps=link.rate_bps * members,
            member_bps=link.rate_bps,
            mac=addresses.tester_mac(index),
            ipv4=addresses.tester(index) if routed else None,
            ipv6=addresses.tester_ipv6(index) if routed else None,
            destination=addresses.device(index) if routed else "peer",
            destination_ipv6=addresses.device_ipv6(index) if routed else None,
        )
        for index, link in enumerate(links)
    )
    taken_in = (capacity.west_in, *[capacity.east_in] * (len(links) - 1))
    device = {
        "name": "dut",
        "ports": [
            {
                "name": link.device_port,
                "mac": addresses.device_mac(index),
                "rate_bps": link.rate_bps,
                "members": members,
                # The far end was a switch with `dst-ip`; this device balanced `src-dst-ip` for its L2
                # services and `src-ip` for IPv4. They decide which member each direction of a flow meets.
                "partner_hash": "dst-ip",
                "hash": "src-ip" if routed else "src-dst-ip",
                "in_fps": _fps(taken_in[index]),
                "both_fps": _fps(capacity.both),
                "ipv4": f"{addresses.device(index)}/30" if routed else None,
                "ipv6": f"{addresses.device_ipv6(index)}/64" if routed else None,
            }
            for index, link in enumerate(links)
        ],
        "forwarding": _forwarding(forwarding, len(links)),
    }
    session = {
        "clock": "virtual",
        "ports": [{"name": port.name, "backend": {"kind": "wire"}} for port in ports],
        "devices": [device],
        "links": [
            {"port": index, "device": 0, "device_port": index, "rate_bps": port.rate_bps, "delay_ps": 0}
            for index, port in enumerate(ports)
        ],
    }
    notes = _notes(capacity, members)
    return Wiring("virtual", ports, session, forwarding == "bridge-domain", notes, knows_tags=not routed)


def _fps(rate: int | None) -> list[int] | None:
    return None if rate is None else [rate, 1]


def _forwarding(forwarding: str, ports: int) -> Mapping[str, Any]:
    """How a device with so many ports forwards: what crates/dut/src/spec.rs has for it."""
    if forwarding == "l2-xconnect":
        return {"kind": "cross-connect", "pairs": [[0, 1]]}
    if forwarding == "bridge-domain":
        return {"kind": "bridge"}
    routes = [
        {"prefix": prefix, "via": tester(port)}
        for behind, tester in (
            (addresses.behind, addresses.tester),
            (addresses.behind_ipv6, addresses.tester_ipv6),
        )
        for port in range(ports)
        for prefix in behind(port, ports)
    ]
    return {"kind": "router", "routes": routes}


def _notes(capacity: Capacity, members: int) -> tuple[str, ...]:
    notes = ["The device is emulated, in virtual time: nothing here was measured on a real device."]
    if capacity.source:
        notes.append(f"Its capacities: {capacity.source}.")
    if members > 1:
        notes.append(
            f"Each group has {members} members; the far end spreads frames by destination address"
            " and hashes decide which member each direction of a single flow meets."
        )
    return tuple(notes)
