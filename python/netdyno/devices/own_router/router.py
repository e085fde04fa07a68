"""What is entered on a router of the user's before a first test, in the words of its own command line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from typing import Literal, TypeAlias

import jinja2

from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.system import System
from netdyno.devices.own_router.neighbours import Neighbours

TEMPLATES = Path(__file__).parent / "templates"

Proof: TypeAlias = Literal["real", "stand-in", "none"]
"""What a test enters the text on: such a system itself; a stand-in for its command line; nothing."""


@dataclass(frozen=True)
class Port:
    """A port of the router, with the tester behind it.

    name: as the router prints it. address: its own. tester: the address of the tester port that it is cabled
    to, and mac: that port's MAC address, empty if unknown. networks: what lies behind the tester. vlan: the
    tag on the cable; None: there is none. members: the ports of a LAG, by its name; empty: it is a port.
    number: of the LAG, from 1.
    """

    name: str
    address: IPv4Interface
    tester: str
    mac: str
    networks: tuple[IPv4Network, ...]
    vlan: int | None = None
    members: tuple[str, ...] = ()
    number: int = 0

    @property
    def ip(self) -> str:
        """Its address alone."""
        return str(self.address.ip)

    @property
    def mask(self) -> str:
        """`255.255.255.252`."""
        return str(self.address.netmask)

    @property
    def dotted_mac(self) -> str:
        """The tester's as Cisco writes it: `0200.0000.0101`."""
        digits = self.mac.replace(":", "")
        return ".".join(digits[at : at + 4] for at in range(0, 12, 4))


@dataclass(frozen=True)
class Router:
    """A system whose words netdyno knows. template: of what is entered, in `templates`, and of what takes it
    back, in `templates/undo`; empty: of its name.

    driver: that reads it beside the traffic; empty: none does. ports: how two of its ports may be called.
    at: where the text is entered. note: what else such a router may want. aliases: what users call it.
    lacks: why its routing neighbours are not printed; empty: they are. lag: how it calls a LAG; `{}` is its
    number.
    """

    name: str
    title: str
    driver: str
    ports: tuple[str, str]
    proof: Proof
    at: str
    note: str = ""
    aliases: tuple[str, ...] = ()
    template: str = ""
    lacks: str = ""
    lag: str = "Port-channel{}"

    @cached_property
    def _environment(self) -> jinja2.Environment:
        return jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )

    def _render(self, folder: str, ports: tuple[Port, ...], static_arp: bool) -> str:
        template = self._environment.get_template(f"{folder}{self.template or self.name}.j2")
        return template.render(ports=ports, static_arp=static_arp)

    def plan_name(self, port: str) -> str:
        """A port as a plan names it, in one word: `Te0/1` of `TenGigabitEthernet 0/1`."""
        for short, long in self._long_names:
            port = port[:1].upper() + port[1:]
            if " " in long and port.startswith(long.rstrip()):
                return short + port.removeprefix(long.rstrip()).strip()
        return port.replace(" ", "")

    def long_name(self, port: str) -> str:
        """A port of a plan as the router prints it."""
        system = DRIVERS.get(self.driver)
        return system.long_name(port) if isinstance(system, System) else port

    @property
    def _long_names(self) -> tuple[tuple[str, str], ...]:
        system = DRIVERS.get(self.driver)
        return system.long_names if isinstance(system, System) else ()

    def text(self, ports: tuple[Port, ...], *, static_arp: bool = False) -> str:
        """What is entered: interfaces up, addresses, routes back to what lies behind the tester.

        static_arp: with an ARP entry for each tester port, whose MAC addresses must be known.
        """
        return self._render("", ports, static_arp)

    def undo(self, ports: tuple[Port, ...], *, static_arp: bool = False) -> str:
        """What takes that back. What the router may need elsewhere stays: forwarding, and ports that are up.

        So do ports that route now, and an ASA's traffic between interfaces of one security level.
        """
        return self._render("undo/", ports, static_arp)

    def lag_text(self, port: Port) -> str:
        """What makes the members of a port one LAG by LACP, without addresses: a part of `text`."""
        return self._environment.get_template(f"lags/{self._lag_template}.j2").render(port=port)

    @property
    def _lag_template(self) -> str:
        # FRR and BIRD leave LAGs to Linux.
        return "linux" if self.driver == "linux" else self.template or self.name

    def neighbours(self, found: tuple[Neighbours, ...]) -> str:
        """What is entered so that it becomes a routing neighbour of the tester. ValueError: `lacks`."""
        if self.lacks:
            raise ValueError(f"{self.title.partition(' (')[0]}: {self.lacks}")
        names = [f"neighbours/{name}.j2" for name in (self.name, self.template)]
        return self._environment.select_template(names).render(links=found)
