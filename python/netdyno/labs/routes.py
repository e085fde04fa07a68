"""Routes behind the ports of a lab: so many prefixes in place of the networks, the same ones every time.

No two overlap, so each has to be installed for its own frames to come back. Where that many have no room as
they are, they are as long as they must be.
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Mapping

from netdyno.labs import addresses

SETTING = "routes"

MOST = 65_536
"""Behind a port: a destination of each is written into the description of every trial."""

LENGTHS: Mapping[int, int] = {16: 2, 18: 2, 19: 3, 20: 5, 21: 5, 22: 12, 23: 11, 24: 60}
"""How long prefixes are, of a hundred: most are /24, as in the Internet's table, of which this is no copy."""


def behind(text: str, ports: int) -> tuple[tuple[str, ...], ...]:
    """The prefixes behind each of so many ports. ValueError if there cannot be as many as the text says."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST:
        raise ValueError(
            f"`{SETTING}` is a number of routes behind each port, 1 to {MOST}, not `{text[:20]}`"
        )
    return tuple(prefixes(addresses.behind(port, ports)[0], int(text)) for port in range(ports))


def prefixes(network: str, count: int) -> tuple[str, ...]:
    """So many prefixes of a network, one in each of as many equal parts of it, at a random place of its part.

    ValueError if the network has fewer addresses.
    """
    whole = ipaddress.IPv4Network(network)
    least = whole.prefixlen + (count - 1).bit_length()
    if least > whole.max_prefixlen:
        raise ValueError(f"{network} has no room for {count} routes")
    lengths = {length: weight for length, weight in LENGTHS.items() if length >= least} or {least: 1}
    draw = random.Random(f"{network} {count}")
    drawn = draw.choices(tuple(lengths), tuple(lengths.values()), k=count)
    first = int(whole.network_address)
    found = []
    for part, length in enumerate(drawn):
        place = (part << (length - least)) + draw.randrange(1 << (length - least))
        found.append(f"{ipaddress.IPv4Address(first + (place << (32 - length)))}/{length}")
    return tuple(found)


def destinations(routes: tuple[str, ...], seed: int) -> list[str]:
    """An address of each prefix, anywhere in it, in random order: what a cache remembers is of no use."""
    draw = random.Random(seed)
    found = [network[draw.randrange(network.num_addresses)] for network in map(ipaddress.IPv4Network, routes)]
    draw.shuffle(found)
    return [str(address) for address in found]
