"""Addresses of a routed lab. Shared by every kind that builds its own device."""

from __future__ import annotations

import ipaddress

MOST_PORTS = 64
"""Tester ports a lab may have."""

PARTS = (8, MOST_PORTS)
"""Parts a network has for the ports of a lab, see `part`: eight as long as they are enough."""

BEHIND = (("16.0.0.0/8", "198.18.0.0/16"), ("48.0.0.0/8", "198.19.0.0/16"))
"""What lies behind each of two tester ports: half of the article's networks, half of RFC 2544's."""

BEHIND_IPV6 = (("2001:2::/49",), ("2001:2:0:8000::/49",))
"""RFC 5180 section 8's network, one half behind each of two tester ports."""


def networks_behind(port: int, ports: int) -> tuple[str, ...]:
    """IPv4 networks behind a tester port of so many.

    All are behind an only port. Of three or more, each has its part of every one, so that whatever network
    a stream's addresses are of, each port is the source of its own and the destination of its own.
    """
    return _behind(BEHIND, port, ports)


_WIDE = (("16.0.0.0/4",), ("48.0.0.0/4",))


def wide_networks_behind(port: int, ports: int) -> tuple[str, ...]:
    """Networks sixteen times as large, for more routes than the /24s of the others."""
    return _behind(_WIDE, port, ports)


def behind_ipv6(port: int, ports: int) -> tuple[str, ...]:
    """The same for IPv6."""
    return _behind(BEHIND_IPV6, port, ports)


def _behind(halves: tuple[tuple[str, ...], ...], port: int, ports: int) -> tuple[str, ...]:
    if ports == len(halves):
        return halves[port]
    both = tuple(prefix for half in halves for prefix in half)
    return both if ports == 1 else tuple(cut_network(prefix, port, ports) for prefix in both)


def count_parts(ports: int) -> int:
    """Into how many parts a network is cut for a lab of so many ports."""
    return next(count for count in PARTS if ports <= count)


def cut_network(prefix: str, port: int, ports: int) -> str:
    """The part of a network that is behind a tester port, where a lab has three or more of them.

    Eighths for up to eight ports, then 64ths: another link moves nobody's addresses as long as it can be
    avoided. ValueError if the network has fewer addresses than parts.
    """
    return cut_evenly(prefix, port, count_parts(ports))


def cut_evenly(prefix: str, part: int, parts: int) -> str:
    """One of so many parts of a network, each as large as the next power of two of them leaves.

    ValueError if the network has fewer addresses than parts.
    """
    if parts == 1:
        return prefix
    network = ipaddress.ip_network(prefix)
    new = network.prefixlen + (parts - 1).bit_length()
    if new > network.max_prefixlen:
        raise ValueError(f"{prefix} has fewer than {parts} addresses")
    first = int(network.network_address) + (part << (network.max_prefixlen - new))
    return f"{type(network.network_address)(first)}/{new}"


MOST_VLANS = 4094
"""VLANs of a link: 802.1Q has no more of one tag."""

_FIRST_SUBINTERFACE = ipaddress.IPv4Address("100.80.0.0")
"""Of the quarter of RFC 6598's space that is for VLANs: a /30 each."""


def on_vlan(port: int, number: int, version: int) -> tuple[str, str]:
    """Addresses of the tester and of the device on a VLAN of a link, its number from 0: one network each."""
    if version == 4:
        first = _FIRST_SUBINTERFACE + ((port << 12) + number) * 4
        return str(first + 2), str(first + 1)
    return f"fd00:64:{port}:{number + 1:x}::2", f"fd00:64:{port}:{number + 1:x}::1"


def tester(port: int) -> str:
    """IPv4 address of a tester port: .2 of a /30 of RFC 6598's space."""
    return f"100.64.{port}.2"


def device(port: int) -> str:
    """IPv4 address of the device's port opposite a tester port: .1 of the same /30."""
    return f"100.64.{port}.1"


def tester_ipv6(port: int) -> str:
    """IPv6 address of a tester port: ::2 of a /64 of RFC 4193's space."""
    return f"fd00:64:{port}::2"


def device_ipv6(port: int) -> str:
    """IPv6 address of the device's port opposite a tester port: ::1 of the same /64."""
    return f"fd00:64:{port}::1"


def tester_mac(port: int) -> str:
    """A locally administered address for a tester port that has none of its own."""
    return f"02:00:00:00:01:{port + 1:02x}"


def device_mac(port: int) -> str:
    """A locally administered address for a port of a device that netdyno builds."""
    return f"02:00:00:00:02:{port + 1:02x}"


CONTROL = ("100.64.100.1", "100.64.100.2")
"""Of a router that netdyno builds and of its routing neighbour, on the link between them: a /30."""

MANAGEMENT = ("100.64.101.1", "100.64.101.2")
"""Of such a router and of this machine, on a link beside those of the traffic: a /30."""

NEIGHBOUR = "100.64.102.1"
"""Of the neighbour itself, behind the router: a /32 that its routing protocol announces."""
