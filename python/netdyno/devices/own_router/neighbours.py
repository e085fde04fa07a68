"""What a router's side of a link with routing needs: the values that its template prints."""

from __future__ import annotations

from dataclasses import dataclass, field

from netdyno.devices.peering import Bgp, Ospf, Speaker

PASSWORD = "PASSWORD"
"""In place of the secret, which is in the environment of the tester alone."""
HEADROOM = 10, 100
"""How many routes above those announced a router warns: a tenth of them, and this many."""


@dataclass(frozen=True)
class Neighbours:
    """The tester's speaker behind a port of the router.

    number: of the port, from 1, of a VLAN of it `1_100`. port: as the router prints it. vlans: tags of its
    subinterfaces, `100` or `100.20`; none: the port itself. gateway: the router's address there. tester: the
    tester's. sessions: the tester's address of each BGP session. announced: routes by IP version, of the
    versions that a session has.
    """

    number: str
    port: str
    vlans: tuple[str, ...]
    gateway: str
    tester: str
    speaker: Speaker
    sessions: tuple[str, ...] = ()
    announced: dict[int, int] = field(default_factory=dict)

    @property
    def bgp(self) -> Bgp | None:
        """Its BGP."""
        return self.speaker.bgp

    @property
    def ospfs(self) -> list[Ospf]:
        """Its OSPF, of each version."""
        return [one for one in (self.speaker.ospf, self.speaker.ospf3) if one is not None]

    @property
    def source(self) -> str:
        """The router's address of its sessions."""
        return (self.speaker.bgp and self.speaker.bgp.peer) or self.gateway

    @property
    def is_loopback(self) -> bool:
        """Whether that is no address of the port."""
        return self.source != self.gateway

    @property
    def password(self) -> str:
        """The placeholder of its password; empty: it has none."""
        return PASSWORD if self.speaker.bgp is not None and self.speaker.bgp.has_password else ""

    def is_direct(self, session: str) -> bool:
        """Whether both ends of a session are on the link."""
        return session == self.tester and not self.is_loopback

    @property
    def is_multihop(self) -> bool:
        """Whether a session has an end behind the link."""
        return not all(map(self.is_direct, self.sessions))

    def limit(self, version: int) -> int:
        """Above how many routes of an IP version the router warns."""
        count = self.announced[version]
        return count + count // HEADROOM[0] + HEADROOM[1]

    @property
    def numbers(self) -> str:
        """What is announced, and where the router warns, a clause."""
        return "; ".join(
            f"{count:,} IPv{version} routes are announced, a warning above {self.limit(version):,}"
            for version, count in self.announced.items()
        )
