"""Routers of users by the words of their command lines: one template and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.own_router.neighbours import Neighbours
from netdyno.devices.own_router.router import Port, Router

__all__ = ["NEIGHBOURS_PROVEN", "OTHER", "ROUTERS", "Neighbours", "Port", "Router", "find", "find_of_driver"]

_PRIVILEGED = "in privileged mode"
_SWITCH = "A switch that routes also wants `ip routing`, and `no switchport` on both ports."
OTHER = "other"
"""Of a router whose words netdyno does not know."""
NEIGHBOURS_PROVEN = ("frr", "bird", OTHER)
"""Routers that a test enters their routing neighbours on; plain words need none."""

ROUTERS: Mapping[str, Router] = {
    one.name: one
    for one in (
        Router(
            "ios",
            "Cisco IOS (ISR 800, 1900, 2900)",
            "cisco_ios",
            ("GigabitEthernet0/0", "GigabitEthernet0/1"),
            "stand-in",
            _PRIVILEGED,
            _SWITCH,
        ),
        Router(
            "ios-xe",
            "Cisco IOS XE (ISR 1000, 4000, ASR 1000, Catalyst 8000)",
            "cisco_iosxe",
            ("GigabitEthernet0/0/0", "GigabitEthernet0/0/1"),
            "stand-in",
            _PRIVILEGED,
            _SWITCH,
            template="ios",
        ),
        Router(
            "ios-xr",
            "Cisco IOS XR (ASR 9000, NCS 5500)",
            "cisco_iosxr",
            ("TenGigE0/0/0/0", "TenGigE0/0/0/1"),
            "stand-in",
            "at its command line",
            lag="Bundle-Ether{}",
        ),
        Router(
            "asa",
            "Cisco ASA (5505, 5500-X)",
            "cisco_asa",
            ("GigabitEthernet0/0", "GigabitEthernet0/1"),
            "stand-in",
            _PRIVILEGED,
            lacks="netdyno has no words for its OSPF and BGP: see the vendor's documents",
        ),
        Router(
            "routeros",
            "MikroTik RouterOS",
            "routeros",
            ("ether2", "ether3"),
            "stand-in",
            "in its terminal",
            "Its firewall, connection tracking and FastTrack stay as they are: they are part of the result.",
            ("mikrotik",),
            lag="bond{}",
        ),
        Router(
            "fsos",
            "FS FSOS (S5860)",
            "fsos",
            ("Te0/1", "Te0/2"),
            "stand-in",
            _PRIVILEGED,
            aliases=("fs",),
            lacks="netdyno has no words for its OSPF and BGP: see the vendor's documents",
            lag="AggregatePort {}",
        ),
        Router(
            "junos",
            "Juniper Junos (MX, EX, QFX, SRX)",
            "",
            ("ge-0/0/0", "ge-0/0/1"),
            "none",
            "in its `cli`",
            "A port that switches or asks for DHCP wants `delete interfaces PORT` first. An SRX also wants"
            " both ports in a security zone, and a policy that permits traffic within it. An MX calls the"
            " `ether-options` of a LAG `gigether-options`.",
            ("juniper",),
            lag="ae{}",
        ),
        Router(
            "linux",
            "Linux",
            "linux",
            ("eth1", "eth2"),
            "real",
            "in its shell, as root",
            lacks="it has no routing daemon of its own: `--router frr` or `--router bird`",
            lag="bond{}",
        ),
        Router(
            "frr", "Linux with FRR", "linux", ("eth1", "eth2"), "real", "in its shell, as root", lag="bond{}"
        ),
        Router(
            "bird",
            "Linux with BIRD",
            "linux",
            ("eth1", "eth2"),
            "real",
            "in its shell, as root",
            template="linux",
            lag="bond{}",
        ),
        Router(
            "vpp",
            "VPP",
            "vpp",
            ("GigabitEthernet0/8/0", "GigabitEthernet0/9/0"),
            "none",
            "in `vppctl`",
            lacks="it speaks no routing protocol: with its plugin linux-cp, FRR or BIRD does beside it",
            lag="BondEthernet{}",
        ),
        Router(
            OTHER,
            "Any other router",
            "",
            ("port1", "port2"),
            "none",
            "in its own words",
            lag="LAG {}",
        ),
    )
}
"""By the name that `netdyno new --router` takes."""


def find(name: str) -> Router:
    """The router of a name, of an alias (`mikrotik`) or of its driver. ValueError: which it may be."""
    wanted = _plain(name)
    for one in ROUTERS.values():
        if wanted in map(_plain, (one.name, *one.aliases)):
            return one
    of_driver = [one for one in ROUTERS.values() if one.driver and _plain(one.driver) == wanted]
    if len(of_driver) == 1:
        return of_driver[0]
    alike = [f"`{one.name}`" for one in ROUTERS.values() if wanted and wanted in _plain(one.title)]
    if alike:
        raise ValueError(f"`{name}` may be {', '.join(alike)}: give one of them")
    raise ValueError(f"`{name}` is none of {', '.join(f'`{known}`' for known in ROUTERS)}")


def find_of_driver(driver: str) -> Router:
    """The first router that a driver of this name reads; empty, or of a driver that reads none of them: any
    other router."""
    return next((one for one in ROUTERS.values() if driver and one.driver == driver), ROUTERS[OTHER])


def _plain(name: str) -> str:
    """`iosxe` of `IOS-XE`."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
