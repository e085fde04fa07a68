"""Packet filters on the ports of a router, as RFC 2544 section 11.4 has them: rules that match nothing of the
test, one that lets its frames through, and nothing else passes.

In a case's settings a filter is one line of text, `25 at 13, 0: 198.18.0.2/32 > 198.19.0.2/32`: so many
rules, the one that permits in this place, and for each port that has a filter what it lets through.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

SETTING = "filters"

MOST = 1000
"""Rules of a filter: forty times what RFC 2544 asks for."""

# RFC 5737 and RFC 3849: for documentation, so nobody's traffic is from there or goes there.
_FIRST = ("192.0.2.0/24", "198.51.100.0/24", "2001:db8::/33")
_LAST = ("203.0.113.0/24", "198.51.100.0/24", "2001:db8:8000::/33")

_END = r"[0-9a-f.:]+/[0-9]+"
_TEXT = re.compile(rf"([0-9]{{1,4}}) at ([0-9]{{1,4}})((?:, [0-9]{{1,2}}: {_END} > {_END})+)")
_PORT = re.compile(r", ([0-9]+): (\S+) > ([^\s,]+)")


@dataclass(frozen=True)
class Rule:
    """The addresses that a packet is compared with; None: any address."""

    permit: bool
    source: str | None = None
    destination: str | None = None

    def __str__(self) -> str:
        """`deny 192.0.2.1/32 to 198.19.0.0/16`."""
        verb = "permit" if self.permit else "deny"
        return f"{verb} {self.source or 'any'} to {self.destination or 'any'}"


def text(count: int, place: int, permitted: Mapping[int, tuple[str, str]]) -> str:
    """A filter of `count` rules and the last one, which denies all else. permitted: by port."""
    ports = (f", {port}: {source} > {destination}" for port, (source, destination) in permitted.items())
    return f"{count} at {place}{''.join(ports)}"


def rules_behind(written: str, ports: int) -> tuple[tuple[Rule, ...], ...]:
    """The rules of each of so many ports, in the order in which they are looked at; none: no filter.

    ValueError if the text is no filter.
    """
    found = _TEXT.fullmatch(written)
    if found is None:
        raise ValueError(
            f"`{SETTING}` is not `{written[:60]}`, but like `25 at 13, 0: 198.18.0.2/32 > 198.19.0.2/32`;"
            " `modifier: [filters-25]` writes it"
        )
    count, place = int(found[1]), int(found[2])
    if not 1 <= place <= count <= MOST:
        raise ValueError(f"`{SETTING}`: rule {place} of {count} cannot be; there are 1 to {MOST}")
    of_port: dict[int, tuple[Rule, ...]] = {}
    for port, source, destination in _PORT.findall(found[3]):
        if int(port) >= ports or int(port) in of_port:
            raise ValueError(f"`{SETTING}`: port {port} is named twice, or there are only {ports}")
        of_port[int(port)] = tuple(_rules(count, place, source, destination))
    return tuple(of_port.get(port, ()) for port in range(ports))


def of_ports(settings: Mapping[str, str], ports: int) -> tuple[tuple[Rule, ...], ...]:
    """The rules of each port in a case of these settings; none: no filters. ValueError."""
    return rules_behind(settings[SETTING], ports) if SETTING in settings else ()


def _rules(count: int, place: int, source: str, destination: str) -> Iterator[Rule]:
    try:
        ends = ipaddress.ip_network(source), ipaddress.ip_network(destination)
    except ValueError as error:
        raise ValueError(f"`{SETTING}`: {error}") from None
    # Neither end of a rule is in the test frames (section 11.4): addresses nobody's traffic has.
    sources, destinations = _strangers(ends[0], count, _FIRST), _strangers(ends[1], count, _LAST)
    for number in range(1, count + 1):
        if number == place:
            yield Rule(True, source, destination)
        else:
            yield Rule(False, next(sources), next(destinations))
    yield Rule(False)


def _strangers(
    ours: ipaddress.IPv4Network | ipaddress.IPv6Network, count: int, networks: tuple[str, ...]
) -> Iterator[str]:
    """Hosts of these networks, as far as they are not in ours."""
    for network in map(ipaddress.ip_network, networks):
        if network.version != ours.version or network.overlaps(ours):
            continue
        first = int(network.network_address)
        for host in range(first + 1, first + min(count, network.num_addresses - 2) + 1):
            yield f"{type(network.network_address)(host)}/{network.max_prefixlen}"
    raise ValueError(f"`{SETTING}`: {count} rules are more than there are addresses that {ours} has not")
