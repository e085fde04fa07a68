"""The lines that simulated systems know in each section, as the systems have them."""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.devices.shell import Configuring, Shell


@dataclass(frozen=True)
class Word:
    """A line of a section. single: words of which the section has one line. opens: the section it begins."""

    pattern: str
    single: str = ""
    opens: str = ""

    def key(self, line: str) -> str:
        """What identifies the line among its kind."""
        return self.single or line


def _values(*names: str) -> tuple[Word, ...]:
    return tuple(Word(rf"{name}(?: .+)?", name) for name in names)


@dataclass(frozen=True)
class System:
    """The lines of each section, in the order in which they are printed; `` is the top."""

    shell: Shell
    sections: dict[str, tuple[Word, ...]]
    has_candidate: bool
    fixed: str
    """Pattern of interfaces that cannot be removed."""


_TOP = (*_values("hostname"), Word(r"username .+"), Word(r"aaa .+"), Word(r"banner .+"))
_VTY = (Word(r"line vty .+", opens="vty"),)
XR = System(
    Shell(
        "cisco_xr",
        (),
        "show running-config",
        (r"^!! ", r"^Building"),
        configuring=Configuring(commit="commit", confirmed="commit confirmed {seconds}", abort="abort"),
        grammar="cisco_xr",
    ),
    {
        "": (
            *_TOP,
            Word(r"arp vrf \S+ \S+ \S+ ARPA"),
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
    Shell("cisco_ios", (), "show running-config", (r"^Current",), configuring=Configuring(), grammar="fs_os"),
    {
        "": (
            *_TOP,
            Word(r"vlan \d+", opens="vlan"),
            Word(r"interface \S+ ?[\d/.]*", opens="if"),
            Word(r"router ospf \d+", opens="ospf"),
            Word(r"ip route \S+ \S+ \S+"),
            Word(r"arp \S+ \S+ arpa"),
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
)
SYSTEMS = {"xr": XR, "ios": IOS}
