"""The lines that systems know in each section of their configuration, as the systems have them."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A line of a section. single: words of which the section has one line. stem: pattern of such words.

    opens: the section it begins. absent: the line that is printed where there is none; entered, it removes
    it. tail: pattern of the line as it may be entered, and what it is printed with behind that.
    """

    pattern: str
    single: str = ""
    stem: str = ""
    opens: str = ""
    absent: str = ""
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
            *_values("load-interval", "shutdown"),
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
            *_values("description"),
            Word(r"no switchport"),
            *_values("mtu"),
            *_values("switchport mode", "switchport access vlan", "switchport trunk allowed vlan"),
            Word(r"switchport dot1q-tunnel allowed vlan.*", "switchport dot1q-tunnel allowed vlan"),
            *_values("switchport dot1q-tunnel native vlan", "spanning-tree bpdufilter"),
            *_values("ip address", "ipv6 address", "channel-group", "shutdown"),
        ),
        "ospf": (Word(r"network \S+ \S+ area \S+"), *_values("graceful-restart")),
    },
    False,
    r"interface (?:TenGig|Forty)\w+ \d",
    switches=True,
)
_ROUTED = (
    *_values("description", "mtu", "vrf forwarding"),
    Word(r"ip address \S+ \S+ secondary"),
    Word(r"ip address \S.*", "ip address", absent="no ip address"),
    *_values("ip ospf network", "load-interval", "shutdown"),
    Word(r"(?:duplex|speed|negotiation) auto"),
)
ROUTER = System(
    {
        "": (
            *_values("version", "hostname"),
            Word(r"enable secret .+"),
            Word(r"aaa .+"),
            Word(r"username .+"),
            Word(r"interface \S+ ?[\d/.]*", opens="if"),
            Word(r"router ospf \d+", opens="ospf"),
            Word(r"ip route \S+ \S+ \S+(?: name \S+)?", stem=r"ip route \S+ \S+ \S+"),
            Word(r"arp \S+ \S+ (?:arpa|ARPA)", stem=r"arp \S+"),
            *_VTY,
        ),
        "vty": (*_values("exec-timeout"), Word("login local"), *_values("transport input")),
        "if": _ROUTED,
        "ospf": (Word(r"network \S+ \S+ area \S+"),),
    },
    False,
    r"interface (?:Gigabit|Fast)Ethernet\d[\d/]*$",
)
"""IOS and IOS XE of a router, whose interfaces print an address that they do not have."""
ASA = System(
    {
        "": (
            Word(r"ASA Version .+"),
            *_values("hostname", "terminal width"),
            Word(r"enable password .+"),
            Word(r"names"),
            Word(r"interface \S+", opens="if"),
            Word(r"same-security-traffic permit \S+"),
            Word(r"route \S+ \S+ \S+ \S+ \d+", tail=(r"route \S+ \S+ \S+ \S+", " 1")),
            Word(r"aaa .+"),
            Word(r"ssh .+"),
            Word(r"username .+"),
        ),
        "if": (
            *_values("description", "shutdown"),
            Word(r"nameif \S.*", "nameif", absent="no nameif"),
            Word(r"security-level \S.*", "security-level", absent="no security-level"),
            Word(r"ip address \S.*", "ip address", absent="no ip address"),
        ),
    },
    False,
    r"interface (?:Gigabit)?Ethernet\d/\d$",
)
"""A firewall. An interface that has a name has a security level; routes are of an interface by its name."""
SYSTEMS = {"xr": XR, "ios": IOS, "router": ROUTER, "asa": ASA}
