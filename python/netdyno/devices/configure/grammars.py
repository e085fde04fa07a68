"""What is particular to the configuration lines of each system, by its name in `Shell.grammar`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from netdyno.devices.configure.tree import Tree, at, begins, key, without_no

_ROUTE = r"(?:(?:ip |ipv6 )?route |\d\S*/\d+ |[\da-fA-F:]+/\d+ )"
_MORE = (
    r"(?:(?:name|tag|track|description|metric) \S+|permanent|\d+)(?: (?:(?:name|tag|track) \S+|permanent))*"
)
"""What may stand behind the next hop of a route, which is the same without."""
_PRINTED = (
    r"(?:shutdown|description|mtu|nameif|ip(?:v[46])? address|l2transport|l2vpn|xconnect group|bridge group"
    r"|bridge-domain|p2p|bundle id|channel-group|port-group|address-family|interface|vlan|(?:ipv6 )?router"
    r"|arp)\b|"
    f"{_ROUTE}"
)
"""Lines that are printed wherever they are configured: where nothing of them is, `no` has nothing to do."""


@dataclass(frozen=True)
class Grammar:
    """to_top: leaves all sections at once; empty: `exit` leaves one. shortened: patterns of lines whose `no`
    takes only the words in the first group. forced: pattern of those whose `no` asks, unless `forced` stands
    behind it, whether what uses them is to go as well. single: patterns of lines of which a section has one.
    overwritten: pattern of those that are not taken away before another takes their place. unshown: patterns
    of defaults, which systems do not print. resets: patterns of lines, without `no`, that remove others of
    their section, and of those. brings: of lines with which others of their section come by themselves, and
    of those. excludes: patterns of lines, and of those that a section cannot have beside
    them. named: pattern of the line that gives an interface a name, its group, by which other lines call it;
    empty: there is none. ends: pattern of the last line of a running configuration; empty: unknown.
    """

    to_top: str = ""
    shortened: tuple[str, ...] = ()
    forced: str = "(?!)"
    single: tuple[str, ...] = (
        *(r"description ", r"mtu ", r"bandwidth ", r"hostname ", r"load-interval "),
        r"arp (?:vrf \S+ )?[\d.]+ ",
    )
    overwritten: str = "(?!)"
    unshown: tuple[str, ...] = ()
    resets: tuple[tuple[str, str], ...] = ()
    brings: tuple[tuple[str, str], ...] = ()
    excludes: tuple[tuple[str, str], ...] = ()
    named: str = ""
    ends: str = ""

    def is_default(self, line: str, beside: Iterable[str]) -> bool:
        """Whether a line that is not printed is in effect. beside: the lines of its section."""
        if not any(re.fullmatch(pattern, line) for pattern in self.unshown):
            return False
        first, stem = line.split()[0], line.rpartition(" ")[0]
        return not any(one == f"no {first}" or (stem and one.startswith(f"{stem} ")) for one in beside)

    def find(self, line: str, lines: Tree) -> Tree | None:
        """What is below a line in a section, which may also print more about it; None: it is not there."""
        found = at(lines, (line,))
        if found is None and re.match(_ROUTE, line):
            begin = f"{key(line)} "
            longer = (one for one in lines if key(one).startswith(begin))
            found = next((lines[one] for one in longer if re.fullmatch(_MORE, key(one)[len(begin) :])), None)
        return found

    def is_absent(self, line: str, beside: Iterable[str]) -> bool:
        """Whether nothing of a line is there: it is of those that systems print. beside: of its section."""
        return re.match(_PRINTED, line) is not None and not any(begins(one, line) for one in beside)

    def negate(self, line: str) -> str:
        """The line that removes a line."""
        if line.startswith("no "):
            return without_no(line)
        for pattern in self.shortened:
            if found := re.match(pattern, line):
                return f"no {found[1]}"
        if re.match(self.forced, line):
            return f"no {line} forced"
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
    forced=r"ip nat inside source ",
    single=(
        *(*_SINGLE, r"ip address (?!.* secondary$)", r"switchport [a-z-]+ ", r"channel-group "),
        *(r"ip access-group (?=\S+ in$)", r"ip access-group (?=\S+ out$)", r"service-policy (?:in|out)put "),
        *(r"zone-member security ", r"ip verify unicast source "),
    ),
    unshown=_UNSHOWN,
    overwritten=r"ip address (?!.* secondary$)",
    resets=_RESETS,
    brings=((r"ip nat (?:inside|outside)$|ip inspect |zone-member ", r"ip virtual-reassembly\b"),),
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
        excludes=((r"l2transport$", r"ipv[46] address "), (r"ipv[46] address ", r"l2transport$")),
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
        named=r"nameif (\S+)$",
        ends=": end",
    ),
}
"""Names without an entry have none of this."""
