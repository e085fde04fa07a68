"""Routes behind the ports of a lab: so many prefixes in place of the networks, the same ones every time.

No two overlap, so each has to be installed for its own frames to come back. Where that many have no room as
they are, they are as long as they must be.
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Mapping
from functools import lru_cache
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton

from netdyno.devices import addresses

SETTING = "routes"

MOST = 300_000
"""Behind a port: a destination of each is in the description of every trial, which is stored once."""

FEW = 65_536
"""As many as the /24s of a port's first network. More are of a network sixteen times as large."""

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
    if count != text:
        networks = addresses.behind_ipv6
    else:
        networks = addresses.networks_behind if int(count) <= FEW else addresses.wide_networks_behind
    return tuple(prefixes(networks(port, ports)[0], int(count)) for port in range(ports))


def of_ports(settings: Mapping[str, str], ports: int) -> tuple[tuple[str, ...], ...]:
    """The prefixes behind each port in a case of these settings; none: it has networks. ValueError."""
    return prefixes_behind(settings[SETTING], ports) if SETTING in settings else ()


@lru_cache(maxsize=2 * addresses.MOST_PORTS)  # asked for with each look at a case
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
        address = _text(first + (place << (whole.max_prefixlen - length)), whole.version)
        found.append(f"{address}/{length}")
    return tuple(found)


def _text(address: int, version: int) -> str:
    """An address as text; of 300,000 the library's own takes seconds."""
    if version == 4:
        return inet_ntop(AF_INET, address.to_bytes(4, "big"))
    return inet_ntop(AF_INET6, address.to_bytes(16, "big"))


def _span(prefix: str, version: int) -> tuple[int, int]:
    """The first address of a network, and how many it has."""
    text, _, length = prefix.partition("/")
    family, bits = (AF_INET, 32) if version == 4 else (AF_INET6, 128)
    return int.from_bytes(inet_pton(family, text), "big"), 1 << (bits - int(length))


def destinations(routes: tuple[str, ...], seed: int) -> dict[str, str]:
    """A random address of each prefix with that prefix, in random order, so that a cache does not help."""
    draw = random.Random(seed)
    kind = version(routes)
    spans = [_span(prefix, kind) for prefix in routes]
    found = [
        (_text(first + draw.randrange(count), kind), prefix)
        for (first, count), prefix in zip(spans, routes, strict=True)
    ]
    draw.shuffle(found)
    return dict(found)
