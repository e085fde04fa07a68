"""Routes behind the ports of a lab: so many prefixes in place of the networks, the same ones every time.

No two overlap, so each has to be installed for its own frames to come back. Where that many have no room as
they are, they are as long as they must be.
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Mapping

from netdyno.devices import addresses

SETTING = "routes"

MOST = 300_000
"""Behind a port: a destination of each is in the description of every trial, which is stored once."""

LENGTHS: Mapping[int, Mapping[int, int]] = {
    4: {16: 2, 18: 2, 19: 3, 20: 5, 21: 5, 22: 12, 23: 11, 24: 60},
    6: {56: 12, 60: 8, 64: 70, 127: 4, 128: 6},
}
"""How long prefixes are, of a hundred, by IP version. IPv4: most are /24, as in the Internet's table, of
which this is no copy. IPv6: what a site has for its subnets, links (RFC 6164) and loopbacks."""

IPV6 = " IPv6"


def of_version(text: str, version: int) -> str:
    """The setting for traffic of an IP version, from the number that a plan gives."""
    return f"{text}{IPV6}" if version == 6 and not text.endswith(IPV6) else text


def version(routes: tuple[str, ...]) -> int:
    """The IP version of the prefixes behind a port."""
    return ipaddress.ip_network(routes[0]).version


def prefixes_behind(text: str, ports: int) -> tuple[tuple[str, ...], ...]:
    """The prefixes behind each of so many ports. ValueError if there cannot be as many as the text says."""
    count = text.removesuffix(IPV6)
    if not count.isascii() or not count.isdigit() or not 1 <= int(count) <= MOST:
        raise ValueError(
            f"`{SETTING}` is a number of routes behind each port, 1 to {MOST}, not `{count[:20]}`"
        )
    networks = addresses.networks_behind if count == text else addresses.behind_ipv6
    return tuple(prefixes(networks(port, ports)[0], int(count)) for port in range(ports))


def prefixes(network: str, count: int) -> tuple[str, ...]:
    """So many prefixes of a network, one in each of as many equal parts of it, at a random place of its part.

    ValueError if the network has fewer addresses.
    """
    whole = ipaddress.ip_network(network)
    least = whole.prefixlen + (count - 1).bit_length()
    if least > whole.max_prefixlen:
        raise ValueError(f"{network} has no room for {count} routes")
    usual = LENGTHS[whole.version]
    lengths = {length: weight for length, weight in usual.items() if length >= least} or {least: 1}
    draw = random.Random(f"{network} {count}")
    drawn = draw.choices(tuple(lengths), tuple(lengths.values()), k=count)
    first = int(whole.network_address)
    found = []
    for part, length in enumerate(drawn):
        place = (part << (length - least)) + draw.randrange(1 << (length - least))
        address = type(whole.network_address)(first + (place << (whole.max_prefixlen - length)))
        found.append(f"{address}/{length}")
    return tuple(found)


def destinations(routes: tuple[str, ...], seed: int) -> list[str]:
    """A random address of each prefix, in random order, so that a cache of routes does not help."""
    draw = random.Random(seed)
    found = [network[draw.randrange(network.num_addresses)] for network in map(ipaddress.ip_network, routes)]
    draw.shuffle(found)
    return [str(address) for address in found]
