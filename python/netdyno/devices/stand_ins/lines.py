"""The lines that systems know in each section of their configuration, as the systems have them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Word:
    """A line of a section. single: words of which the section has one line. stem: pattern of such words.

    opens: the section it begins. absent: the line that is printed where there is none; entered, it removes
    it. asks: whether its removal is asked about, unless `forced` stands behind it. tail: pattern of the line
    as it may be entered, and what it is printed with behind that.
    """

    pattern: str
    single: str = ""
    stem: str = ""
    opens: str = ""
    absent: str = ""
    asks: bool = False
    tail: tuple[str, str] = ("(?!)", "")

    def key(self, line: str) -> str:
        """What identifies the line among its kind."""
        found = re.match(self.stem, line) if self.stem else None
        return found[0] if found else self.single or line

    def completed(self, line: str) -> str:
        """The line as it is printed."""
        return line + self.tail[1] if re.fullmatch(self.tail[0], line) else line


def _values(*names: str) -> tuple[Word, ...]:
    return tuple(Word(rf"{name}(?: .+)?", name) for name in names)


@dataclass(frozen=True)
class System:
    """The lines of each section, in the order in which they are printed; `` is the top."""

    sections: dict[str, tuple[Word, ...]]
    has_candidate: bool
    fixed: str
    """Pattern of interfaces that cannot be removed."""
    switches: bool = False
    """Whether interfaces switch until they are set to route."""


_TOP = (*_values("hostname"), Word(r"username .+"), Word(r"aaa .+"), Word(r"banner .+"))
_VTY = (Word(r"line vty .+", opens="vty"),)
XR = System(
    {
        "": (
            *_TOP,
            Word(r"arp vrf \S+ \S+ \S+ ARPA", stem=r"arp vrf \S+ \S+"),
            Word(r"interface \S+(?: l2transport)?", opens="if"),
            Word(r"router static", opens="static"),
            Word(r"l2vpn", opens="l2vpn"),
            *_VTY,
        ),
        "vty": _values("exec-timeout", "transport input"),
        "if": (
            *_values("description", "bundle id", "bundle load-balancing hash", "mtu", "ipv4 address"),
            *_values("lacp period", "load-interval", "shutdown", "encapsulation dot1q"),
            Word(r"l2transport", opens="l2"),
        ),
        "l2": _values("mtu"),
        "static": (Word(r"address-family ipv[46] unicast", opens="af"),),
        "af": (Word(r"[\d.]+/\d+ \S+"),),
        "l2vpn": (
            *_values("load-balancing flow"),
            Word(r"xconnect group \S+", opens="xc"),
            Word(r"bridge group \S+", opens="bg"),
        ),
        "xc": (Word(r"p2p \S+", opens="p2p"),),
        "p2p": (Word(r"interface \S+"),),
        "bg": (Word(r"bridge-domain \S+", opens="bd"),),
        "bd": (*_values("mtu"), Word(r"interface \S+", opens="ac")),
        "ac": (*_values("static-mac-address"),),
    },
    True,
    "(?!)",
)
IOS = System(
    {
        "": (
            *_TOP,
            Word(r"vlan \d+", opens="vlan"),
            Word(r"interface \S+ ?[\d/.]*", opens="if"),
            Word(r"router ospf \d+", opens="ospf"),
            Word(r"ip route \S+ \S+ \S+"),
            Word(r"arp \S+ \S+ arpa", stem=r"arp \S+"),
            *_VTY,
        ),
        "vty": _values("exec-timeout", "transport input"),
        "vlan": _values("name"),
        "if": (
            *_values("description", "encapsulation dot1Q"),
            Word(r"no switchport"),
            *_values("mtu"),
            *_values("switchport mode", "switchport access vlan", "switchport trunk allowed vlan"),
            Word(r"switchport dot1q-tunnel allowed vlan.*", "switchport dot1q-tunnel allowed vlan"),
            *_values("switchport dot1q-tunnel native vlan", "spanning-tree bpdufilter"),
            *_values("frame-tag tpid", "aggregateport load-balance", "ip address", "ipv6 address"),
            *_values("channel-group", "port-group", "shutdown"),
        ),
        "ospf": (Word(r"network \S+ \S+ area \S+"), *_values("graceful-restart")),
    },
    False,
    r"interface (?:TenGig|Forty)\w+ [\d/]+$",
    switches=True,
)
_QUEUES = {
    "cmap": (Word(r"match .+"),),
    "pmap": (Word(r"class (?:type inspect )?\S+", opens="class"),),
    "class": (
        *_values("inspect dns", "inspect ftp"),
        *(Word(word) for word in ("inspect", "drop", r"priority(?: percent \d+)?")),
        *_values("shape average"),
        Word(r"service-policy \S+", "service-policy"),
        Word(r"flow-export event-type all destination \S+"),
    ),
}
_ROUTED = (
    *_values("description", "mtu", "vrf forwarding", "encapsulation dot1Q"),
    Word(r"ip flow monitor \S+ (?:input|output)"),
    Word(r"ip address \S+ \S+ secondary"),
    Word(r"ip address \S.*", "ip address", absent="no ip address"),
    *(Word(rf"ip access-group \S+ {way}", f"ip access-group {way}") for way in ("in", "out")),
    Word(r"ip verify unicast source reachable-via \S+", "ip verify unicast source"),
    Word(r"ip nat (?:inside|outside)"),
    Word("ip virtual-reassembly in"),
    *_values("zone-member security", "ip ospf network", "load-interval", "channel-group", "shutdown"),
    Word(r"(?:duplex|speed|negotiation) auto"),
    Word(r"service-policy (?:input|output) \S+", stem=r"service-policy \S+"),
)
XE = System(
    {
        "": (
            *_values("version", "hostname"),
            Word(r"enable secret .+"),
            Word(r"aaa .+"),
            Word(r"username .+"),
            Word(r"flow exporter \S+", opens="exporter"),
            Word(r"flow monitor \S+", opens="monitor"),
            Word(r"class-map (?:type inspect )?match-(?:all|any) \S+", opens="cmap"),
            Word(r"policy-map (?:type inspect )?\S+", opens="pmap"),
            Word(r"zone security \S+", opens="zone"),
            Word(r"zone-pair security \S+ source \S+ destination \S+", opens="pair"),
            Word(r"interface \S+ ?[\d/.]*", opens="if"),
            Word(r"router ospf \d+", opens="ospf"),
            Word(r"ip nat pool \S+ \S+ \S+ prefix-length \d+", stem=r"ip nat pool \S+"),
            Word(r"ip nat inside source (?:list|static) .+", asks=True),
            Word(r"ip route \S+ \S+ \S+(?: name \S+)?", stem=r"ip route \S+ \S+ \S+"),
            Word(r"ip access-list extended \S+", opens="acl"),
            Word(r"arp \S+ \S+ (?:arpa|ARPA)", stem=r"arp \S+"),
            *_VTY,
        ),
        "vty": (*_values("exec-timeout"), Word("login local"), *_values("transport input")),
        "if": _ROUTED,
        "ospf": (Word(r"network \S+ \S+ area \S+"),),
        **_QUEUES,
        "zone": (),
        "pair": (Word(r"service-policy type inspect \S+"),),
        "exporter": _values("destination", "transport udp"),
        "monitor": (Word(r"exporter \S+"), *_values("record")),
        "acl": (Word(r"(?:permit|deny) .+"),),
    },
    False,
    r"interface (?:Gigabit|Fast)Ethernet\d[\d/]*$",
)
"""IOS XE of a router, whose interfaces print an address that they do not have."""
ROUTER = replace(
    XE,
    sections={
        **XE.sections,
        "": (
            Word("ip cef", "ip cef", absent="no ip cef"),
            Word(r"ip inspect name \S+ \w+"),
            *XE.sections[""],
        ),
        "if": (*_ROUTED, Word(r"ip inspect \S+ (?:in|out)"), Word("no ip route-cache")),
    },
)
"""IOS, which has ways to forward, and a firewall, that IOS XE has no more."""
ASA = System(
    {
        "": (
            Word(r"ASA Version .+"),
            *_values("hostname", "terminal width"),
            Word(r"enable password .+"),
            Word(r"names"),
            Word(r"interface \S+", opens="if"),
            Word(r"same-security-traffic permit \S+"),
            Word(r"arp \S+ \S+ \S+", stem=r"arp \S+ \S+"),
            Word(r"route \S+ \S+ \S+ \S+ \d+", tail=(r"route \S+ \S+ \S+ \S+", " 1")),
            Word(r"object network \S+", opens="object"),
            Word(r"access-list \S+ extended .+"),
            Word(r"flow-export destination \S+ \S+ \d+"),
            Word(r"ip verify reverse-path interface \S+"),
            Word(r"nat \(\S+,\S+\) source .+"),
            Word(r"access-group \S+ in interface \S+"),
            Word(r"aaa .+"),
            Word(r"ssh .+"),
            Word(r"username .+"),
            Word(r"priority-queue \S+", opens="queue"),
            Word(r"class-map \S+", opens="cmap"),
            Word(r"policy-map \S+", opens="pmap"),
            Word(r"service-policy \S+ (?:global|interface \S+)"),
        ),
        "queue": (),
        **_QUEUES,
        "object": (Word(r"(?:subnet|range|host) .+"),),
        "if": (
            *_values("description", "channel-group", "shutdown", "vlan"),
            Word(r"nameif \S.*", "nameif", absent="no nameif"),
            Word(r"security-level \S.*", "security-level", absent="no security-level"),
            Word(r"ip address \S.*", "ip address", absent="no ip address"),
        ),
    },
    False,
    r"interface (?:Gigabit)?Ethernet\d/\d$",
)
"""A firewall. An interface that has a name has a security level; routes are of an interface by its name."""
SYSTEMS = {"xr": XR, "ios": IOS, "router": ROUTER, "xe": XE, "asa": ASA}
