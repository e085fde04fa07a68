"""A configured device, and what a case may change on it: for tests of netdyno.devices.configure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from fakemenu import FakeConsole
from fakes import linux, systems
from fakes.shell import Box, FakeShell
from faketree import FakeCli
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.locks import Identity
from netdyno.devices.configure.render import render
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.shell import Cli
from netdyno.devices.stand_ins.menus import MenuDevice
from netdyno.devices.stand_ins.routeros import ITEMS
from netdyno.devices.stand_ins.sections import Sections
from netdyno.devices.stand_ins.stand_in import RUNNING, texts
from netdyno.devices.wiring import LabLink

Step: TypeAlias = Callable[[str], None]


def rendered(
    name: str,
    driver: str,
    settings: Mapping[str, str],
    links: Sequence[LabLink],
    beside: Path | None = None,
) -> str:
    """The text that a template gives for a case."""
    return render(name, driver, settings, links, beside).text


class Device(Protocol):
    """A device that is configured."""

    def text(self) -> str:
        """Its configuration as it prints it, byte for byte."""
        ...


IDENTITY = Identity("fake", "192.0.2.1", 22, "lab")

CONFIGURED = {
    "xr": """\
hostname fridge
username admin secret 5 $1$mtAn$x.y
aaa authentication login default local
interface Bundle-Ether9
 description backbone
!
interface TenGigE0/0/0/0
 description uplink
 ipv4 address 192.0.2.1 255.255.255.0
!
interface TenGigE0/0/0/1
 bundle id 9 mode active
!
interface TenGigE0/1/0/0
 description lab one
 mtu 9216
 ipv4 address 10.0.0.1 255.255.255.0
 shutdown
!
interface TenGigE0/2/0/0
 description lab two
!
router static
 address-family ipv4 unicast
  0.0.0.0/0 192.0.2.254
  16.0.0.0/8 10.0.0.9
 !
!
l2vpn
 bridge group prod
  bridge-domain office
   interface TenGigE0/0/0/7
   !
  !
 !
!
line vty 0 4
 transport input ssh
!
""",
    "ios": """\
hostname fsw0
username admin privilege 15 secret 5 $1$x
vlan 5
 name office
!
interface FortyGigabitEthernet 0/26
 switchport mode trunk
!
interface TenGigabitEthernet 0/1
 description lab one
 mtu 9216
 switchport access vlan 5
!
interface TenGigabitEthernet 0/2
 description lab two
 no switchport
 ip address 10.0.0.1 255.255.255.0
 shutdown
!
interface TenGigabitEthernet 0/3
 switchport access vlan 5
!
interface VLAN 5
 ip address 192.0.2.1 255.255.255.0
!
ip route 0.0.0.0 0.0.0.0 192.0.2.254
ip route 10.9.0.0 255.255.0.0 10.0.0.9
line vty 0 4
 transport input ssh
!
""",
    "router": texts("ios")[RUNNING],
    "asa": texts("asa")[RUNNING],
}
PORTS = {
    "xr": ("TenGigE0/1/0/0", "TenGigE0/2/0/0", "TenGigE0/1/0/1", "TenGigE0/2/0/1"),
    "ios": ("TenGigabitEthernet 0/1", "TenGigabitEthernet 0/2"),
    "router": systems.IOS.ports,
    "asa": systems.ASA.ports,
    "routeros": systems.ROUTEROS.ports,
    "linux": linux.FAKE.ports,
}
CASES = {
    "xr": """\
interface TenGigE0/1/0/0
 description netdyno
 mtu 1514
 no ipv4 address
 no shutdown
 l2transport
 !
!
interface Bundle-Ether1
 l2transport
!
interface TenGigE0/2/0/0
 bundle id 1 mode active
!
interface TenGigE0/2/0/1
 bundle id 1 mode active
!
l2vpn
 bridge group loadtest
  bridge-domain bd01
   interface TenGigE0/1/0/0
   !
   interface Bundle-Ether1
   !
  !
 !
!
router static
 address-family ipv4 unicast
  48.0.0.0/8 10.0.0.2
 !
!
""",
    "ios": """\
vlan 20
 name lab
!
interface TenGigabitEthernet 0/1
 description netdyno
 no switchport
 mtu 1500
 ip address 100.64.0.1 255.255.255.252
!
interface TenGigabitEthernet 0/2
 switchport
 switchport mode dot1q-tunnel
 switchport dot1q-tunnel native vlan 20
 no shutdown
!
interface Port-channel1
 ip address 100.64.4.1 255.255.255.252
!
ip route 48.0.0.0 255.0.0.0 100.64.0.2
""",
}
"""Cases that add, replace and remove lines."""
TEMPLATES = {
    "router": systems.IOS,
    "asa": systems.ASA,
    "routeros": systems.ROUTEROS,
    "linux": linux.FAKE,
}
"""Systems whose case is a ready template."""


def allowed(system: str, *allow: str) -> Allowed:
    """What a case may change."""
    grammar = {
        "xr": "cisco_xr",
        "ios": "fs_os",
        "router": "cisco_ios",
        "asa": "cisco_asa",
        "routeros": "mikrotik_routeros",
        "linux": "linux",
    }[system]
    comment = "#" if system in ("routeros", "linux") else "!"
    own = TEMPLATES[system].allow if system in TEMPLATES else ("interface Port-channel1",)
    return Allowed(SECTIONS[grammar], PORTS[system], (*own, *allow), comment)


def case_of(system: str) -> str:
    """The text of a case."""
    if system in CASES:
        return CASES[system]
    one = TEMPLATES[system]
    return rendered(one.template, one.driver, {}, links(*one.ports))


def device_in(folder: Path, system: str, text: str | None = None) -> Sections:
    """A device with its usual configuration, of one that shows structure by indentation."""
    device = Sections(folder / "device.json", system)
    device.create(CONFIGURED[system] if text is None else text)
    return device


@contextmanager
def any_device_in(folder: Path, system: str) -> Iterator[tuple[Device, Callable[[Step], Cli]]]:
    """A device of any system with its usual configuration, and what gives sessions with it."""
    if system == "routeros":
        router = MenuDevice(folder / "device.json")
        router.create(ITEMS)
        yield router, partial(FakeConsole, router)
    elif system == "linux":
        with linux.opens(linux.FAKE, folder / "box") as opened:
            assert isinstance(opened.device, Box)
            yield opened.device, partial(FakeShell, opened.device)
    else:
        device = device_in(folder, system)
        yield device, partial(FakeCli, device)


def journal_in(folder: Path) -> Journal:
    """The device's journal."""
    return Journal(IDENTITY, folder / "state")


def configurer(cli: Cli, journal: Journal, system: str) -> Configurer:
    """What configures the device."""
    return Configurer(cli, journal, allowed(system))


def links(*ports: str) -> list[LabLink]:
    """Links to ports of a device."""
    return [LabLink(f"p{number}", port, 10**10) for number, port in enumerate(ports)]
