"""The routing protocols that the tester speaks on a link, as a plan gives them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from netdyno.devices.peering import Bgp, Ospf, Speaker
from netdyno.errors import Problem
from netdyno.plan.fields import Element, OrShort
from netdyno.plan.link_vlans import HostAddress
from netdyno.values.units import PositiveDuration

MOST_ROUTES = 1_500_000
"""Of a table: half as many again as the Internet's. For many more of its lengths there is no room."""
MOST_SESSIONS = 16
SECOND = 10**9

AsNumber: TypeAlias = Annotated[int, Field(ge=1, le=2**32 - 2)]


def _whole_seconds(value: PositiveDuration) -> PositiveDuration:
    if value.ns % SECOND or not 1 <= value.ns // SECOND <= 65_535:
        raise Problem(f"`{value}` is not a time of OSPF", "whole seconds: `10s`", code="out-of-range")
    return value


Seconds: TypeAlias = Annotated[PositiveDuration, AfterValidator(_whole_seconds)]


def _hold(value: PositiveDuration) -> PositiveDuration:
    if value.ns % SECOND or not 3 <= value.ns // SECOND <= 65_535:
        raise Problem(
            f"`{value}` is not a hold time", "whole seconds from `3s` on (RFC 4271)", code="out-of-range"
        )
    return value


def _area(value: object) -> object:
    """An area as a number or as an address: `0` is `0.0.0.0`."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32:
        return str(ipaddress.IPv4Address(value))
    try:
        return str(ipaddress.IPv4Address(value)) if isinstance(value, str) else value
    except ValueError:
        raise Problem(f"`{value}` is not an area", "a number or `0.0.0.0`", code="wrong-format") from None


class LinkBgp(Element):
    """BGP of the tester on a link."""

    own_as: AsNumber
    """The tester's AS number."""
    peer_as: AsNumber | None = None
    """The device's; without it the same, for iBGP."""
    sessions: int = Field(default=1, ge=1, le=MOST_SESSIONS)
    """Sessions, each with the whole table."""
    routes: int = Field(default=0, ge=0, le=MOST_ROUTES)
    """IPv4 routes of a synthetic table."""
    routes_ipv6: int = Field(default=0, ge=0, le=MOST_ROUTES)
    """IPv6 routes of a synthetic table."""
    seed: int = Field(default=1, ge=0, le=2**63 - 1)
    """The synthetic table follows from it: links of one seed announce the same routes."""
    table: Annotated[str, Field(max_length=200)] = ""
    """An MRT file beside the plan in place of a synthetic table."""
    withdraw: int = Field(default=0, ge=0, le=MOST_ROUTES)
    """How many of the IPv4 routes are withdrawn at once where a method asks for it."""
    withdraw_ipv6: int = Field(default=0, ge=0, le=MOST_ROUTES)
    """How many of the IPv6 routes, by a case of IPv6 frames."""
    addresses: list[HostAddress] = Field(default=[], max_length=MOST_SESSIONS)
    """The tester's address of each session; without them the link's, and of several sessions loopbacks."""
    peer: HostAddress | None = None
    """The device's address; without it the link's `gateway`."""
    next_hop_ipv6: HostAddress | None = None
    """Of the IPv6 routes; of a device that netdyno builds, the tester's own."""
    md5: bool = False
    """TCP MD5 (RFC 2385); the password is in the environment, `NETDYNO_BGP_PASSWORD`."""
    backup: bool = False
    """The second choice for the same routes: a longer AS path, or of iBGP a lower local preference."""
    hold: Annotated[PositiveDuration, AfterValidator(_hold)] = PositiveDuration.of_ns(90 * SECOND)
    """The hold time that the tester offers; the shorter one of both ends is in force."""
    graceful_restart: bool = False
    """Offer graceful restart (RFC 4724)."""


class LinkOspf(Element):
    """OSPF of the tester on a link, point to point."""

    area: Annotated[str, BeforeValidator(_area)] = "0.0.0.0"
    """The area, as a number or an address."""
    hello: Seconds = PositiveDuration.of_ns(10 * SECOND)
    """Time from one hello to the next."""
    dead: Seconds = PositiveDuration.of_ns(40 * SECOND)
    """A neighbour that was not heard for this long is gone."""


def _empty(value: object) -> object:
    """`ospf: true` is OSPF with its usual values."""
    return {} if value is True else value


_Ospf: TypeAlias = Annotated[LinkOspf | None, BeforeValidator(_empty), OrShort({"const": True})]


class LinkRouting(Element):
    """Routing protocols that the tester speaks on a link."""

    bgp: LinkBgp | None = None
    """BGP sessions, and the table that they announce."""
    ospf: _Ospf = None
    """OSPF version 2."""
    ospf3: _Ospf = None
    """OSPF version 3."""


def speaker_of(given: LinkRouting, base: Path | None) -> Speaker:
    """The same as labs have it. base: the folder of the plan."""
    return Speaker(
        None if given.bgp is None else _bgp(given.bgp, base),
        None if given.ospf is None else _ospf(given.ospf, 2),
        None if given.ospf3 is None else _ospf(given.ospf3, 3),
    )


def _bgp(given: LinkBgp, base: Path | None) -> Bgp:
    return Bgp(
        own_as=given.own_as,
        peer_as=given.peer_as or given.own_as,
        sessions=len(given.addresses) or given.sessions,
        routes=given.routes,
        routes_ipv6=given.routes_ipv6,
        table=str((base or Path()) / given.table) if given.table else "",
        seed=given.seed,
        withdraw=given.withdraw,
        withdraw_ipv6=given.withdraw_ipv6,
        addresses=tuple(given.addresses),
        peer=given.peer or "",
        next_hop_ipv6=given.next_hop_ipv6 or "",
        has_password=given.md5,
        is_backup=given.backup,
        restarts=given.graceful_restart,
        hold_s=given.hold.ns // SECOND,
    )


def _ospf(given: LinkOspf, version: int) -> Ospf:
    return Ospf(given.area, given.hello.ns // SECOND, given.dead.ns // SECOND, version)


def problems(given: LinkRouting, base: Path | None) -> Iterator[Problem]:
    """What of it does not go together, with its place below `routing`."""
    if given.bgp is None and given.ospf is None and given.ospf3 is None:
        yield Problem(
            "`routing` names no protocol", "`bgp`, `ospf` or `ospf3`, or leave it out", code="missing-field"
        )
    for name in ("ospf", "ospf3"):
        found = getattr(given, name)
        if found is not None and found.dead.ns <= found.hello.ns:
            yield Problem(
                f"`dead` ({found.dead}) is not longer than `hello` ({found.hello})",
                "four times as long: `hello: 10s, dead: 40s`",
                (name,),
                code="conflict",
            )
    if given.bgp is not None:
        yield from _problems_of_bgp(given.bgp, given, base)


def problems_of_vlans(given: LinkRouting) -> Iterator[Problem]:
    """What of it the VLANs of a link have not, with its place below `routing`."""
    if given.ospf3 is not None:
        yield Problem(
            "on the VLANs of a link the tester speaks OSPF version 2 alone",
            "`ospf`, or a link without `vlans`",
            ("ospf3",),
            code="unsupported",
        )
    bgp = given.bgp
    if bgp is None:
        return
    for name in ("sessions", "addresses", "peer"):
        if name in bgp.model_fields_set:
            yield Problem(
                f"each VLAN has a session from its `address` to its `gateway`, so there is no `{name}`",
                "leave it out",
                ("bgp", name),
                code="conflict",
            )
    for name in ("routes_ipv6", "next_hop_ipv6"):
        if getattr(bgp, name):
            yield Problem(
                "on the VLANs of a link the tester announces IPv4 routes alone",
                "leave it out, or take a link without `vlans`",
                ("bgp", name),
                code="unsupported",
            )


def _problems_of_bgp(bgp: LinkBgp, given: LinkRouting, base: Path | None) -> Iterator[Problem]:
    at = ("bgp",)
    if bgp.table and (bgp.routes or bgp.routes_ipv6):
        yield Problem(
            "`table` and `routes` are two tables",
            "leave one of them out: `table` is a file, `routes` a synthetic table",
            (*at, "table"),
            code="conflict",
        )
    if bgp.table and (Path(bgp.table).is_absolute() or ".." in Path(bgp.table).parts):
        yield Problem(
            f"`{bgp.table[:60]}` is not beside the plan",
            "put the file beside the plan or below it",
            (*at, "table"),
            code="not-beside-the-plan",
        )
    elif bgp.table and not ((base or Path()) / bgp.table).is_file():
        yield Problem(
            f"there is no file `{bgp.table[:60]}` beside the plan",
            "an MRT file, as route collectors publish them; or `routes: 900000` for a synthetic table",
            (*at, "table"),
            code="no-such-file",
        )
    for field, of in (("withdraw", "routes"), ("withdraw_ipv6", "routes_ipv6")):
        withdrawn, announced = getattr(bgp, field), getattr(bgp, of)
        if not bgp.table and withdrawn > announced:
            yield Problem(
                f"`{field}: {withdrawn}` is more than the {announced} routes that are announced",
                f"as many as `{of}` at most",
                (*at, field),
                code="out-of-range",
            )
    if bgp.sessions > 1 and not bgp.addresses and given.ospf is None:
        yield Problem(
            f"{bgp.sessions} sessions are from {bgp.sessions} addresses behind the link, and nothing"
            " announces them to the device",
            "add `ospf: true`, or give `addresses` that the device has routes to",
            (*at, "sessions"),
            code="missing-field",
        )
    if bgp.addresses and "sessions" in bgp.model_fields_set and len(bgp.addresses) != bgp.sessions:
        yield Problem(
            f"`addresses` are {len(bgp.addresses)}, and `sessions: {bgp.sessions}`",
            "an address for each session",
            (*at, "addresses"),
            code="wrong-count",
        )
    for name, value, version in (
        *(("addresses", one, 4) for one in bgp.addresses),
        ("peer", bgp.peer, 4),
        ("next_hop_ipv6", bgp.next_hop_ipv6, 6),
    ):
        if value is not None and ipaddress.ip_address(value).version != version:
            yield Problem(
                f"`{value}` is no IPv{version} address",
                "the sessions are between IPv4 addresses; the next hop of IPv6 routes is `next_hop_ipv6`",
                (*at, name),
                code="wrong-format",
            )
    for address in sorted({one for one in bgp.addresses if bgp.addresses.count(one) > 1}):
        yield Problem(
            f"`{address}` is the address of two sessions",
            "an address of its own for each session",
            (*at, "addresses"),
            code="given-twice",
        )
