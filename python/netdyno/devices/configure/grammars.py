"""What is particular to the configuration lines of each system, by its name in `Shell.grammar`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from netdyno.devices.configure.tree import without_no


@dataclass(frozen=True)
class Grammar:
    """to_top: leaves all sections at once; empty: `exit` leaves one. shortened: patterns of lines whose `no`
    takes only the words in the first group. single: patterns of lines of which a section has one. unshown:
    patterns of defaults, which systems do not print. resets: patterns of lines, without `no`, that remove
    others of their section, and of those. ends: pattern of the last line of a running configuration; empty:
    unknown.
    """

    to_top: str = ""
    shortened: tuple[str, ...] = ()
    single: tuple[str, ...] = (r"description ", r"mtu ", r"bandwidth ", r"hostname ", r"load-interval ")
    unshown: tuple[str, ...] = ()
    resets: tuple[tuple[str, str], ...] = ()
    ends: str = ""

    def is_default(self, line: str, beside: Iterable[str]) -> bool:
        """Whether a line that is not printed is in effect. beside: the lines of its section."""
        if not any(re.fullmatch(pattern, line) for pattern in self.unshown):
            return False
        first, stem = line.split()[0], line.rpartition(" ")[0]
        return not any(one == f"no {first}" or (stem and one.startswith(f"{stem} ")) for one in beside)

    def negate(self, line: str) -> str:
        """The line that removes a line."""
        if line.startswith("no "):
            return without_no(line)
        for pattern in self.shortened:
            if found := re.match(pattern, line):
                return f"no {found[1]}"
        return f"no {line}"


_SINGLE = Grammar().single
_SHORT = (r"(description) ", r"(mtu) ")
_RESETS = (
    (r"switchport$", r"(?:ip|ipv6|switchport) "),
    (r"(?:ip )?vrf (?:forwarding )?\S+$", r"(?:ip|ipv6) address "),
)
_UNSHOWN = (r"switchport", r"switchport mode access", r"switchport access vlan 1", r"mtu 1500")

_IOS = Grammar(
    shortened=(*_SHORT, r"(switchport (?:mode|access vlan|trunk allowed vlan|trunk native vlan)) "),
    single=(*_SINGLE, r"ip address (?!.* secondary$)", r"switchport [a-z-]+ ", r"channel-group "),
    unshown=_UNSHOWN,
    resets=_RESETS,
    ends="end",
)

GRAMMARS: Mapping[str, Grammar] = {
    "cisco_xr": Grammar(
        to_top="root",
        shortened=_SHORT,
        single=(
            *_SINGLE,
            *(r"ipv4 address (?!.* secondary$)", r"bundle id ", r"bundle load-balancing "),
            *(r"load-balancing flow ", r"encapsulation "),
        ),
        unshown=(r"mtu 1514",),
        resets=((r"vrf \S+$", r"ipv[46] address "),),
        ends="end",
    ),
    "cisco_ios": _IOS,
    "fs_os": Grammar(
        shortened=(
            *_SHORT,
            r"(switchport (?:mode|access vlan|trunk allowed vlan|trunk native vlan)) ",
            r"(switchport dot1q-tunnel (?:allowed|native) vlan) ",
        ),
        single=(*_SINGLE, r"ip address ", r"switchport (?:mode|access|trunk) ", r"port-group "),
        unshown=_UNSHOWN,
        resets=_RESETS,
        ends="end",
    ),
    "cisco_asa": Grammar(
        shortened=(*_SHORT, r"(nameif) ", r"(security-level) "),
        single=(*_SINGLE, r"nameif ", r"security-level ", r"ip address "),
        ends=": end",
    ),
}
"""Names without an entry have none of this."""
