"""Which sections of each system a case may change, as data. Everything else needs the plan's `allow:`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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

# In the section of a port the hash policy may be the whole switch's.
_AGGREGATE = (*_IOS_PORT, r"aggregateport load-balance ")
FS_OS = replace(
    IOS, kinds=(Kind(r"interface (?P<name>AggregatePort \d+)$", Scope.PORT, _AGGREGATE), *IOS.kinds)
)

_RULE = (r"(?:permit|deny) ", r"remark ")
_QUEUES = (
    *(
        r"class \S+$",
        r"shape average \d+$",
        r"priority(?: percent \d+)?$",
        r"police ",
        r"bandwidth ",
        r"set ",
    ),
    *(r"fair-queue\b", r"queue-limit ", r"service-policy \S+$"),
)
_MATCHES = (r"match (?:(?:ip )?dscp|protocol|access-group name) ", r"match any$")

IOS_ROUTER = replace(
    IOS,
    kinds=(
        replace(
            IOS.kinds[0],
            inside=(
                *_IOS_PORT,
                *(r"ip nat (?:inside|outside)$", r"ip verify unicast source reachable-via (?:rx|any)\b"),
                *(r"ip inspect NETDYNO\S* (?:in|out)$", r"zone-member security NETDYNO\S*$"),
                *(r"ip flow (?:ingress|egress)$", r"ip flow monitor NETDYNO\S* (?:input|output)$"),
            ),
        ),
        *IOS.kinds[1:],
        Kind(r"ip access-list extended NETDYNO\S*$", Scope.NEW, _RULE),
        Kind(r"ip nat pool NETDYNO\S* ", Scope.NEW),
        Kind(r"ip nat inside source (?:list NETDYNO\S*|static network) ", Scope.NEW),
        Kind(r"ip inspect name NETDYNO\S* \w+$", Scope.NEW),
        Kind(r"class-map (?:type inspect )?match-(?:all|any) NETDYNO\S*$", Scope.NEW, _MATCHES),
        Kind(r"policy-map NETDYNO\S*$", Scope.NEW, _QUEUES),
        Kind(
            r"policy-map type inspect NETDYNO\S*$",
            Scope.NEW,
            (r"class (?:type inspect NETDYNO\S*|class-default)$", r"(?:inspect|pass|drop)$"),
        ),
        Kind(r"zone security NETDYNO\S*$", Scope.NEW),
        Kind(
            r"zone-pair security NETDYNO\S* source NETDYNO\S* destination NETDYNO\S*$",
            Scope.NEW,
            (r"service-policy type inspect NETDYNO\S*$",),
        ),
        Kind(r"flow exporter NETDYNO\S*$", Scope.NEW, (r"destination ", r"transport udp \d+$", r"source ")),
        Kind(r"flow monitor NETDYNO\S*$", Scope.NEW, (r"exporter NETDYNO\S*$", r"record ", r"cache ")),
    ),
)
"""With the services of a router, whose parts of other names are not the lab's."""

ASA = Sections(
    kinds=(
        Kind(
            r"interface (?P<name>\D+[\d/.]+)$",
            Scope.PORT,
            (*_ANY, r"nameif ", r"security-level ", r"ip address ", r"ipv6 address ", r"vlan \d+$"),
        ),
        Kind(rf"route \S+ (?P<name>{_IP} {_IP}) \S+", Scope.ROUTES),
        Kind(r"access-list netdyno\S* extended (?:permit|deny) ", Scope.NEW),
        Kind(r"access-group netdyno\S* in interface lab\d+$", Scope.NEW),
        Kind(r"object network netdyno\S*$", Scope.NEW, (r"(?:subnet|range|host) ",)),
        Kind(
            r"nat \(lab\d+,lab\d+\) source (?:static|dynamic) netdyno\S* (?:netdyno\S*|interface)$", Scope.NEW
        ),
        Kind(r"ip verify reverse-path interface lab\d+$", Scope.NEW),
        Kind(r"priority-queue lab\d+$", Scope.NEW, (r"(?:queue|tx-ring)-limit \d+$",)),
        Kind(r"class-map netdyno\S*$", Scope.NEW, _MATCHES),
        Kind(r"policy-map netdyno\S*$", Scope.NEW, _QUEUES),
        Kind(r"service-policy netdyno\S* interface lab\d+$", Scope.NEW),
        Kind(r"flow-export destination lab\d+ [\d.]+ \d+$", Scope.NEW),
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
        Kind(r"/ip address add address=[\d.]+/\d+ interface=(?P<name>[\w-]+)$", Scope.PORT),
        Kind(r"/ip route add dst-address=(?P<name>[\d.]+/\d+) gateway=[\d.]+$", Scope.ROUTES),
        Kind(
            r"/ip firewall (?:filter|nat|mangle) add action=[\w-]+(?: [\w-]+=\S+)*?"
            r" (?:in|out)-interface=(?P<name>[\w-]+)(?: [\w-]+=\S+)*$",
            Scope.PORT,
        ),
        Kind(
            r"/queue tree add(?: [\w-]+=\S+)*? name=netdyno\S*(?: packet-mark=\S+)?"
            r" parent=netdyno[\w-]*(?: |$)",
            Scope.NEW,
        ),
        Kind(r"/queue tree add(?: [\w-]+=\S+)*? name=netdyno\S* parent=(?P<name>[\w-]+)(?: |$)", Scope.PORT),
        Kind(r"/ip traffic-flow target add dst-address=[\d.]+ port=\d+ version=\d$", Scope.NEW),
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
    "cisco_ios": IOS_ROUTER,
    "fs_os": FS_OS,
    "cisco_asa": ASA,
    "mikrotik_routeros": ROUTER_OS,
    "linux": LINUX,
}
"""By the name in `Shell.grammar`, or in `Shell.netmiko` where there is no grammar."""
