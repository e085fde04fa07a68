"""Which sections of each system a case may change, as data. Everything else needs the plan's `allow:`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """When a section of a kind may be changed."""

    PORT = "it is the lab's interface, its subinterface, or a bundle of the lab's interfaces alone"
    MEMBERS = "the interfaces in what is changed are the lab's, in the text and on the device"
    ROUTES = "no default route is changed"
    NEIGHBOURS = "the address is in a network of the lab's interfaces"
    NEW = "the device does not have it yet"
    HARMLESS = "it may always be changed"


@dataclass(frozen=True)
class Kind:
    """header: pattern of the whole first line; its group `name` is the interface, prefix or address.

    inside: patterns of lines below it. Others may leave the section: systems look up an unknown line in the
    sections above. groups: patterns of lines below it that are sections themselves.
    """

    header: str
    scope: Scope
    inside: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sections:
    """The kinds of one system.

    bundles: pattern of a member's line, and the bundle's name with the pattern's group. joins: patterns of
    lines that share something with other interfaces of the same line.
    """

    kinds: tuple[Kind, ...]
    bundles: tuple[tuple[str, str], ...] = ()
    joins: tuple[str, ...] = ()


_ANY = (r"description ", r"mtu ", r"shutdown$", r"bandwidth ", r"load-interval ", r"speed ", r"duplex ")
_PREFIX = r"(?P<name>\d[\d.]*/\d+|[\da-fA-F:]+/\d+)"

_XR_PORT = (
    *_ANY,
    *(r"ipv[46] (?:address|mtu|unreachables|enable|verify)\b", r"l2transport$", r"bundle id \d+ mode \w+$"),
    r"bundle (?:load-balancing hash|minimum-active|maximum-active) ",
    *(
        r"lacp period ",
        r"encapsulation ",
        r"rewrite ingress ",
        r"negotiation ",
        r"carrier-delay ",
        r"propagate ",
    ),
    *(r"service-policy (?:input|output) ", r"flow-control ", r"transceiver permit ", r"ethernet loopback "),
)
_XR_L2 = (
    *(r"load-balancing flow ", r"xconnect group \S+$", r"p2p \S+$", r"bridge group \S+$"),
    *(r"bridge-domain \S+$", r"interface \S+$", r"mac$", r"aging$", r"time \d+$", r"learning disable$"),
    *(r"limit$", r"maximum \d+$", r"flooding disable$", r"mtu \d+$", r"static-mac-address \S+$"),
)

IOS_XR = Sections(
    kinds=(
        Kind(r"interface (?P<name>\S+)(?: l2transport)?$", Scope.PORT, _XR_PORT),
        Kind(
            r"l2vpn$",
            Scope.MEMBERS,
            _XR_L2,
            (r"xconnect group \S+$", r"p2p \S+$", r"bridge group \S+$", r"bridge-domain \S+$"),
        ),
        Kind(
            r"router static$",
            Scope.ROUTES,
            (r"address-family ipv[46] unicast$", rf"{_PREFIX} \S+"),
            (r"address-family ipv[46] unicast$",),
        ),
        Kind(
            r"router (?:ospf|ospfv3) \S+$",
            Scope.NEW,
            (
                *(r"router-id ", r"area \S+$", r"interface \S+$", r"network point-to-point$", r"cost \d+$"),
                *(r"passive enable$", r"passive-interface$", r"redistribute (?:connected|static)$"),
                *(r"address-family ipv[46] unicast$",),
            ),
        ),
        Kind(r"arp (?:vrf default )?(?P<name>\d[\d.]+) \S+ ARPA$", Scope.NEIGHBOURS),
    ),
    bundles=((r"bundle id (\d+)\b", "Bundle-Ether{}"),),
    joins=(r"bundle id (\d+)\b",),
)

_IOS_PORT = (
    *_ANY,
    *(r"ip (?:address|mtu|unnumbered|redirects|unreachables|proxy-arp|access-group|route-cache)\b",),
    *(r"ip ospf (?:network|cost|\d+) ", r"ipv6 (?:address|mtu|enable)\b", r"ipv6 ospf (?:network|cost|\d+) "),
    *(r"switchport$", r"switchport mode (?:access|dot1q-tunnel)$", r"switchport access vlan \d+$"),
    *(
        r"switchport dot1q-tunnel native vlan \d+$",
        r"switchport dot1q-tunnel allowed vlan add (?:un)?tagged ",
    ),
    *(r"channel-group \d+ mode \w+$", r"port-group \d+(?: mode \w+)?$", r"encapsulation ", r"negotiation "),
    *(r"spanning-tree bpdu(?:filter|guard) \w+$", r"spanning-tree portfast$", r"lacp rate "),
    *(r"service-policy (?:input|output) ", r"frame-tag tpid ", r"flowcontrol "),
)
_IOS_OSPF = (
    *(r"router-id ", r"area \S+$", r"network (?!0\.0\.0\.0 255\.255\.255\.255)\S+ \S+ area \S+$"),
    *(r"graceful-restart$", r"redistribute (?:connected|static)(?: subnets)?$"),
    r"passive-interface ",
)
_IP = r"\d[\d.]+"

IOS = Sections(
    kinds=(
        Kind(r"interface (?P<name>(?!(?:vlan|loopback|bdi|tunnel)\b)\D+ ?[\d/.]+)$", Scope.PORT, _IOS_PORT),
        Kind(r"interface (?:vlan|loopback) ?\d+$", Scope.NEW, _IOS_PORT),
        Kind(r"vlan \d+$", Scope.NEW, (r"name \S+$",)),
        Kind(rf"ip route (?P<name>{_IP} {_IP}) \S+", Scope.ROUTES),
        Kind(rf"ipv6 route {_PREFIX} \S+", Scope.ROUTES),
        Kind(r"(?:ipv6 )?router ospf \d+$", Scope.NEW, _IOS_OSPF),
        Kind(rf"arp (?P<name>{_IP}) \S+ arpa$", Scope.NEIGHBOURS),
    ),
    bundles=((r"channel-group (\d+)\b", "Port-channel{}"), (r"port-group (\d+)\b", "AggregatePort {}")),
    joins=(
        r"(?:channel|port)-group (\d+)\b",
        r"switchport access vlan (\d+)$",
        r"switchport dot1q-tunnel native vlan (\d+)$",
        r"switchport dot1q-tunnel allowed vlan add (?:un)?tagged (\S+)$",
    ),
)

ASA = Sections(
    kinds=(
        Kind(
            r"interface (?P<name>\D+[\d/.]+)$",
            Scope.PORT,
            (*_ANY, r"nameif ", r"security-level ", r"ip address ", r"ipv6 address ", r"vlan \d+$"),
        ),
        Kind(rf"route \S+ (?P<name>{_IP} {_IP}) \S+", Scope.ROUTES),
    ),
)

ROUTER_OS = Sections(
    kinds=(
        Kind(
            r"/interface ethernet set \[ find (?:default-)?name=(?P<name>[\w-]+) \](?: (?:l2)?mtu=\d+)+$",
            Scope.PORT,
        ),
        Kind(
            r"/interface vlan add interface=(?P<name>[\w-]+) mtu=\d+ name=netdyno-\d+ vlan-id=\d+$",
            Scope.PORT,
        ),
        Kind(r"/ip address add address=[\d.]+/\d+ interface=netdyno-\d+$", Scope.NEW),
        Kind(r"/ip route add dst-address=(?P<name>[\d.]+/\d+) gateway=[\d.]+$", Scope.ROUTES),
    ),
)

LINUX = Sections(
    kinds=(
        Kind(r"ip link set dev (?P<name>[\w.-]+) (?:up|down|mtu \d+)$", Scope.PORT),
        Kind(r"ip address add [\da-fA-F:.]+/\d+ dev (?P<name>[\w.-]+)$", Scope.PORT),
        Kind(
            r"ip (?:-6 )?route add (?P<name>[\da-fA-F:.]+/\d+) via [\da-fA-F:.]+(?: dev [\w.-]+)?$",
            Scope.ROUTES,
        ),
        Kind(r"sysctl -w net\.ipv(?:4\.ip_forward|6\.conf\.all\.forwarding)=[01]$", Scope.HARMLESS),
    ),
)

SECTIONS: Mapping[str, Sections] = {
    "cisco_xr": IOS_XR,
    "cisco_ios": IOS,
    "fs_os": IOS,
    "cisco_asa": ASA,
    "mikrotik_routeros": ROUTER_OS,
    "linux": LINUX,
}
"""By the name in `Shell.grammar`, or in `Shell.netmiko` where there is no grammar."""
