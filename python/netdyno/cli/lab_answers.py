"""Answers about a user's lab as `netdyno new` reads them; ValueError says why one is none."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Interface, IPv4Network
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from netdyno.devices.own_router import Router
    from netdyno.ports.proposed import Seen

NONE = "none"
TRAFFIC = IPv4Network("198.18.0.0/15")
"""Whose halves lie behind the tester's ports."""


def complete_router(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    """Names of routers that begin so, for a shell."""
    from netdyno.devices.own_router import ROUTERS

    return [name for name in ROUTERS if name.startswith(typed)]


def _pair(text: str, what: str) -> tuple[str, str]:
    """Two different values with a comma between them."""
    found = [one.strip() for one in (text.split(",") if "," in text else text.split())]
    if len(found) != 2 or not all(found) or found[0] == found[1]:
        raise ValueError(f"`{text}` is not two {what} with a comma between them")
    return found[0], found[1]


def parse_interfaces(text: str, seen: Sequence[Seen], *, force: bool) -> tuple[str, str]:
    """Two interfaces of this machine. force: also those that it uses, or has not."""
    from netdyno.errors import NetdynoError
    from netdyno.ports.in_use import find_links

    names = _pair(text, "interfaces")
    if force:
        return names
    try:
        first, second = find_links(names)
    except NetdynoError as error:
        raise ValueError(error.message) from None
    if first.loopback or second.loopback:
        raise ValueError("no router is behind this machine's loopback")
    for one in seen:
        if one.why_not and one.port.nic.name in (first.name, second.name):
            raise ValueError(f"`{one.port.nic.name}` is not to be loaded: {one.why_not}")
    return first.name, second.name


def parse_router_ports(text: str, router: Router) -> tuple[str, str]:
    """Two ports, as a plan names them."""
    first, second = map(router.plan_name, _pair(text, "ports"))
    if router.long_name(first) == router.long_name(second):
        raise ValueError(f"`{text}` is one port twice")
    return first, second


def parse_addresses(text: str) -> tuple[IPv4Interface, IPv4Interface]:
    """The router's addresses, each in a network of its own that has room for the tester."""
    found = []
    # `10.0.0.1 255.255.255.0` is what Cisco's users write.
    for one in (one.replace(" ", "/") for one in _pair(text, "addresses")):
        if "/" not in one:
            raise ValueError(f"`{one}` has no prefix length: write `{one}/30`")
        try:
            address = IPv4Interface(one)
        except ValueError:
            raise ValueError(f"`{one}` is not an IPv4 address with its prefix length") from None
        net = address.network
        if net.prefixlen > 31:
            raise ValueError(f"`{one}` leaves no address for the tester: /31 or shorter")
        if net.prefixlen < 31 and address.ip in (net.network_address, net.broadcast_address):
            raise ValueError(f"`{one}` is the address of a network, and of no host")
        if address.is_loopback or address.is_multicast:
            raise ValueError(f"`{one}` is an address of no interface: it is for loopback or multicast")
        if net.overlaps(TRAFFIC):
            raise ValueError(f"`{one}` is in {TRAFFIC}, which the test frames come from")
        found.append(address)
    if found[0].network.overlaps(found[1].network):
        raise ValueError("both addresses are in one network: a router has one port in each")
    return found[0], found[1]


def parse_tags(text: str) -> tuple[int | None, int | None]:
    """The VLAN of each cable."""
    if text.lower() in ("", NONE, "no"):
        return None, None
    words = [one.strip() for one in text.split(",")]
    tags = [int(one) if one.isascii() and one.isdigit() else 0 for one in words]
    if len(tags) > 2 or not all(1 <= tag <= 4094 for tag in tags):
        raise ValueError(f"`{text}` is not a VLAN from 1 to 4094, two of them, or `{NONE}`")
    return tags[0], tags[-1]


def parse_login(text: str) -> tuple[str, str]:
    """User and host, both empty if there is none."""
    if text.lower() in ("", NONE, "no"):
        return "", ""
    user, _, host = text.rpartition("@")
    if not host or set(text) & set(" /,;"):
        raise ValueError(f"`{text}` is not a host, `user@host`, or `{NONE}`")
    return user, host
