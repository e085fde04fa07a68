"""Answers about a user's lab as `netdyno new` reads them; ValueError says why one is none."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Interface, IPv4Network
from typing import TYPE_CHECKING

import click

from netdyno.errors import NetdynoError, counted

if TYPE_CHECKING:
    from netdyno.devices.own_router import Router
    from netdyno.ports.proposed import Seen

MEMBERS = "+"
"""Between the members of a LAG."""
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


def _members(text: str, what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two values with a comma between them, each one or several with a plus sign between them: a LAG."""
    first, second = (
        tuple(one.strip() for one in half.split(MEMBERS)) for half in _pair(text, f"{what}, or LAGs `a+b`,")
    )
    twice = [one for one in (*first, *second) if (*first, *second).count(one) > 1]
    if not all((*first, *second)) or twice:
        raise ValueError(f"`{text}` has {f'`{twice[0]}` twice' if all(twice) and twice else 'an empty name'}")
    return first, second


def parse_interfaces(
    text: str, seen: Sequence[Seen], *, force: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two interfaces of this machine, or the members of LAGs. force: also those that it uses, or has not."""
    from netdyno.ports.in_use import find_links

    first, second = _members(text, "interfaces")
    if force:
        return first, second
    try:
        links = find_links((*first, *second))
    except NetdynoError as error:
        raise ValueError(error.message) from None
    if any(link.loopback for link in links):
        raise ValueError("no router is behind this machine's loopback")
    names = tuple(link.name for link in links)
    for one in seen:
        if one.why_not and one.port.nic.name in names:
            raise ValueError(f"`{one.port.nic.name}` is not to be loaded: {one.why_not}")
    return names[: len(first)], names[len(first) :]


def parse_router_ports(
    text: str, router: Router, interfaces: Sequence[Sequence[str]] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Its ports, as a plan names them: as many as there are interfaces on each link; None: unknown."""
    first, second = (tuple(map(router.plan_name, half)) for half in _members(text, "ports"))
    ports = (*first, *second)
    if len(set(map(router.long_name, ports))) < len(ports):
        raise ValueError(f"`{text}` has one port twice")
    for number, (own, theirs) in enumerate(zip(interfaces or (), (first, second), strict=False)):
        if len(own) != len(theirs):
            which = ("first", "second")[number]
            raise ValueError(f"the {which} link has {counted(len(own), 'interface')} and {len(theirs)} here")
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
