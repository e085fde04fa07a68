"""A network card: driver, slot, settings, and which of these would falsify a test.

nic = nic.read("eth1")              # facts; changes nothing, needs no right
for finding in findings(nic): ...   # what to change before a test, with the command
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from netdyno.ports import ethtool
from netdyno.ports.nic import bus, counters, netlink, settings
from netdyno.ports.nic.xdp import Features, features


@dataclass(frozen=True)
class Nic:
    """An interface, and the card behind it. What a driver does not tell is None or empty."""

    link: netlink.Link
    card: ethtool.Card
    slot: bus.Slot | None = None
    queues: settings.Queues | None = None
    rings: tuple[settings.Ring, settings.Ring] | None = None
    """Receive, transmit."""
    spreading: settings.Spreading | None = None
    coalescing: settings.Coalescing | None = None
    pause: settings.Pause | None = None
    offloads: Mapping[str, settings.Offload] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    """The machine's own on this interface, link-local ones left out."""
    default_route: bool = False
    xdp: Features | None = None
    """What its driver can do with XDP; None: this kernel does not tell."""

    @property
    def name(self) -> str:
        """As the machine calls it."""
        return self.link.name

    @property
    def driver(self) -> str:
        """Name of the driver; of a virtual interface that tells none, its kind."""
        return self.card.driver or self.link.kind or ("loopback" if self.link.loopback else "")

    def facts(self) -> dict[str, Any]:
        """Its settings as plain JSON, without counters and changes of state."""
        link = asdict(replace(self.link, counters={}))
        for passing in ("counters", "index", "downs", "xdp_program", "promiscuity", "lower", "group"):
            del link[passing]
        return {
            "interface": link,
            "card": asdict(self.card),
            "slot": self.slot and asdict(self.slot),
            "queues": self.queues and asdict(self.queues),
            "rings": self.rings and dict(zip(("rx", "tx"), map(asdict, self.rings), strict=True)),
            "rss": self.spreading and _lists(asdict(self.spreading)),
            "coalescing": self.coalescing and asdict(self.coalescing),
            "pause": self.pause and asdict(self.pause),
            "offloads": sorted(name for name, offload in self.offloads.items() if offload.on),
            "xdp": self.xdp and asdict(self.xdp),
            "addresses": list(self.addresses),
            "default_route": self.default_route,
        }


def read(name: str) -> Nic | None:
    """The interface of that name in this network namespace; None if there is none."""
    return next((nic for nic in read_all(name)), None)


def read_all(only: str | None = None) -> list[Nic]:
    """Every interface of this network namespace, in the kernel's order; or the one of a name."""
    addresses, routed, able = netlink.addresses(), netlink.default_routes(), features()
    return [
        replace(
            of(link),
            addresses=tuple(addresses.get(link.index, ())),
            default_route=link.index in routed,
            xdp=able.get(link.index),
        )
        for link in netlink.links()
        if only is None or link.name == only
    ]


def of(link: netlink.Link) -> Nic:
    """What is behind an interface."""
    with ethtool.open_ethtool(link.name) as ask:
        return ask_card(link, ask)


def ask_card(link: netlink.Link, ask: ethtool.Ask) -> Nic:
    """The card of an interface as `ask` answers for it."""
    card = ethtool.read_card(ask)
    return Nic(
        link,
        card,
        slot=bus.slot(card.bus),
        queues=settings.queues(ask),
        rings=settings.rings(ask),
        spreading=settings.spreading(ask),
        coalescing=settings.coalescing(ask),
        pause=settings.pause(ask),
        offloads=settings.offloads(ask),
    )


def driver_counters(name: str) -> dict[str, int]:
    """What `ethtool -S` shows."""
    with ethtool.open_ethtool(name) as ask:
        return counters.driver(ask)


def _lists(table: dict[str, Any]) -> dict[str, Any]:
    return {**table, "fields": {name: list(fields) for name, fields in table["fields"].items()}}
