"""What is particular to the configuration lines of each system, by its name in `Shell.grammar`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from netdyno.devices.configure.tree import without_no


@dataclass(frozen=True)
class Grammar:
    """to_top: leaves all sections at once; empty: `exit` leaves one. shortened: patterns of lines whose `no`
    takes only the words in the first group. single: patterns of lines of which a section has one.
    """

    to_top: str = ""
    shortened: tuple[str, ...] = ()
    single: tuple[str, ...] = (r"description ", r"mtu ", r"bandwidth ", r"hostname ", r"load-interval ")

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

_IOS = Grammar(
    shortened=(*_SHORT, r"(switchport (?:mode|access vlan|trunk allowed vlan|trunk native vlan)) "),
    single=(*_SINGLE, r"ip address (?!.* secondary$)", r"switchport [a-z-]+ ", r"channel-group "),
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
    ),
    "cisco_ios": _IOS,
    "fs_os": Grammar(
        shortened=(
            *_SHORT,
            r"(switchport (?:mode|access vlan|trunk allowed vlan|trunk native vlan)) ",
            r"(switchport dot1q-tunnel (?:allowed|native) vlan) ",
        ),
        single=(*_SINGLE, r"ip address ", r"switchport (?:mode|access|trunk) ", r"port-group "),
    ),
    "cisco_asa": Grammar(
        shortened=(*_SHORT, r"(nameif) ", r"(security-level) "),
        single=(*_SINGLE, r"nameif ", r"security-level ", r"ip address "),
    ),
}
"""Names without an entry have none of this."""
