"""Addresses of a routed lab with two tester ports. Shared by every kind that builds its own device."""

from __future__ import annotations

NETS = ("100.64.0", "100.64.1")
"""First three octets of the link nets (RFC 6598 space): the device is .1, the tester .2, both /30."""

BEHIND = (("16.0.0.0/8", "198.18.0.0/16"), ("48.0.0.0/8", "198.19.0.0/16"))
"""What lies behind each tester port: one half of the article's networks, one half of RFC 2544's."""


NETS_IPV6 = ("fd00:64:0", "fd00:64:1")
"""The same for IPv6 (RFC 4193 space): the device is ::1, the tester ::2, both /64."""

BEHIND_IPV6 = (("2001:2::/49",), ("2001:2:0:8000::/49",))
"""RFC 5180 section 8's network, one half behind each tester port."""


def tester(port: int) -> str:
    """IPv4 address of tester port 0 or 1."""
    return f"{NETS[port]}.2"


def device(port: int) -> str:
    """IPv4 address of the device's port opposite tester port 0 or 1."""
    return f"{NETS[port]}.1"


def tester_ipv6(port: int) -> str:
    """IPv6 address of tester port 0 or 1."""
    return f"{NETS_IPV6[port]}::2"


def device_ipv6(port: int) -> str:
    """IPv6 address of the device's port opposite tester port 0 or 1."""
    return f"{NETS_IPV6[port]}::1"


def tester_mac(port: int) -> str:
    """A locally administered address for a tester port that has none of its own."""
    return f"02:00:00:00:01:{port + 1:02x}"


def device_mac(port: int) -> str:
    """A locally administered address for a port of a device that netdyno makes."""
    return f"02:00:00:00:02:{port + 1:02x}"
