"""What the tester speaks on a port beside the traffic: routing protocols, and routes that it announces."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

LOOPBACKS = "100.64.{}.{}"
"""Of a speaker with several BGP sessions, each from an address of its own: its port's number and 110, and the
number of the session, from 1. The device learns the way to them by OSPF."""
FIRST_LOOPBACK = 110


@dataclass(frozen=True)
class Bgp:
    """Sessions of BGP (RFC 4271) with the device, all of one speaker: iBGP where both AS numbers are one.

    own_as, peer_as: of the tester and of the device, 32 bits. sessions: each announces the whole table, with
    its own address as the next hop. routes, routes_ipv6: of the synthetic table. table: an MRT file
    (RFC 6396) in place of it, its path; empty: none. withdraw, withdraw_ipv6: how many of the routes the
    event `withdraw` takes back and `announce` brings again; those that the test sends to are among them.
    addresses: of the sessions; none: the port's, or loopbacks. peer: the device's; empty: the next hop of
    the port. seed: of a synthetic table. next_hop_ipv6: of IPv6 routes; empty: the port's own address.
    has_password: TCP MD5 (RFC 2385).
    """

    own_as: int
    peer_as: int
    sessions: int = 1
    routes: int = 0
    routes_ipv6: int = 0
    table: str = ""
    withdraw: int = 0
    withdraw_ipv6: int = 0
    addresses: tuple[str, ...] = ()
    peer: str = ""
    seed: int = 1
    next_hop_ipv6: str = ""
    has_password: bool = False
    is_backup: bool = False
    """The second choice for the same routes: a longer AS path, or of iBGP a lower local preference."""
    restarts: bool = False
    """Graceful restart (RFC 4724) is offered."""
    hold_s: int = 90
    """The hold time that the tester offers (RFC 4271 section 10 suggests this one)."""

    @property
    def is_internal(self) -> bool:
        """Whether it is iBGP."""
        return self.own_as == self.peer_as

    @property
    def has_ipv6(self) -> bool:
        """Whether its sessions have IPv6 routes too: of a file those with a next hop."""
        return bool(self.routes_ipv6 or self.next_hop_ipv6)

    def withdrawn(self, version: int) -> int:
        """How many routes of an IP version the event `withdraw` takes back."""
        return self.withdraw_ipv6 if version == 6 else self.withdraw


@dataclass(frozen=True)
class Ospf:
    """An adjacency of OSPF (RFC 2328) on the port, point to point. version: 2, or 3 (RFC 5340)."""

    area: str = "0.0.0.0"
    hello_s: int = 10
    dead_s: int = 40
    version: int = 2
    scale: Fraction = Fraction(1)
    """In virtual time the timers run this part of their times, as all durations of a rehearsal do."""

    @property
    def hello_ns(self) -> int:
        """From one hello to the next, as it runs."""
        return round(self.hello_s * 10**9 * self.scale)

    @property
    def dead_ns(self) -> int:
        """After which a neighbour that was not heard is down, as it runs."""
        return round(self.dead_s * 10**9 * self.scale)


@dataclass(frozen=True)
class Lag:
    """Interfaces of the tester that are one LAG towards the device, which LACP (802.1AX) brings up.

    name: of its port in the plan. interfaces: of its members. is_active: the tester speaks first. is_fast: it
    asks for a LACPDU a second, else one in 30 s.
    """

    name: str
    interfaces: tuple[str, ...]
    is_active: bool = True
    is_fast: bool = True


@dataclass(frozen=True)
class Speaker:
    """The routing protocols that the tester speaks on a port; None: not this one.

    networks: its own addresses there, with their prefix lengths, IPv4 first; peers: the device's, without;
    of VLANs the device's on each of them.
    """

    bgp: Bgp | None = None
    ospf: Ospf | None = None
    ospf3: Ospf | None = None
    networks: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()

    @property
    def announces(self) -> bool:
        """Whether it announces routes that frames are sent to."""
        return self.bgp is not None and bool(self.bgp.table or self.bgp.routes or self.bgp.routes_ipv6)

    @property
    def has_ipv6(self) -> bool:
        """Whether the port needs an IPv6 address for it."""
        return self.ospf3 is not None or (self.bgp is not None and self.bgp.has_ipv6)

    @property
    def address(self) -> str:
        """Its IPv4 address on the port."""
        return self.networks[0].partition("/")[0]

    @property
    def address_ipv6(self) -> str:
        """Its IPv6 address on the port; empty: it has none."""
        return self.networks[1].partition("/")[0] if len(self.networks) > 1 else ""

    def sessions(self, port: int) -> tuple[str, ...]:
        """The tester's address of each BGP session on the port of this number."""
        if self.bgp is None:
            return ()
        if self.bgp.addresses or self.bgp.sessions == 1:
            return self.bgp.addresses or (self.address,)
        return tuple(
            LOOPBACKS.format(FIRST_LOOPBACK + port, number) for number in range(1, self.bgp.sessions + 1)
        )
