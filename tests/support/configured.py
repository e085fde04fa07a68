"""A configured device, and what a case may change on it: for tests of netdyno.devices.configure."""

from __future__ import annotations

from pathlib import Path

from faketree import FakeCli, FakeDevice
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.locks import Identity
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.wiring import LabLink

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
}
PORTS = {
    "xr": ("TenGigE0/1/0/0", "TenGigE0/2/0/0", "TenGigE0/1/0/1", "TenGigE0/2/0/1"),
    "ios": ("TenGigabitEthernet 0/1", "TenGigabitEthernet 0/2"),
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


def allowed(system: str, *allow: str) -> Allowed:
    """What a case may change."""
    grammar = {"xr": "cisco_xr", "ios": "fs_os"}[system]
    return Allowed(SECTIONS[grammar], PORTS[system], ("interface Port-channel1", *allow))


def device_in(folder: Path, system: str, text: str | None = None) -> FakeDevice:
    """A device with its usual configuration."""
    device = FakeDevice(folder / "device.json", system)
    device.create(CONFIGURED[system] if text is None else text)
    return device


def journal_in(folder: Path) -> Journal:
    """The device's journal."""
    return Journal(IDENTITY, folder / "state")


def configurer(cli: FakeCli, journal: Journal, system: str) -> Configurer:
    """What configures the device."""
    return Configurer(cli, journal, allowed(system))


def links(*ports: str) -> list[LabLink]:
    """Links to ports of a device."""
    return [LabLink(f"p{number}", port, 10**10) for number, port in enumerate(ports)]
