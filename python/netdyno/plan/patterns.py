"""Who sends to whom: the patterns of traffic between a lab's ports, those of RFC 2889 among them.

A pattern is one entry in `PATTERNS`. Loads are per port: what a port sends to several is shared out among
them, evenly unless the pattern says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.devices.addresses import MOST_PORTS
from netdyno.values.way import Direction as Direction
from netdyno.values.way import To as To
from netdyno.values.way import Way as Way

PAIRS = "pairs"


@dataclass(frozen=True)
class Pattern:
    """Who sends to whom in a lab of n ports.

    forward: the ways of `uni`, in the order in which a port serves its receivers; `uni-reverse` are the same
    backward, `bidir` both. ports: how many a lab may have. mesh: every way is there with its reverse already,
    so the only direction is `bidir`.
    """

    name: str
    doc: str
    forward: Callable[[int], tuple[Way, ...]]
    ports: range = range(3, MOST_PORTS + 1)
    mesh: bool = False
    one_way: bool = False
    """The standard has it in one direction only."""
    bridged: bool = False
    """It is of MAC addresses: nothing that a router forwards by."""
    within: bool = False
    """From VLAN to VLAN of the same port: a router's alone."""
    section: str | None = None
    """Of RFC 2889, whose traffic it is; None: of no standard of its own."""

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Those it has."""
        if self.mesh:
            return ("bidir",)
        return ("uni",) if self.one_way else ("uni", "bidir", "uni-reverse")


def _pairs(ports: int) -> tuple[Way, ...]:
    """One port sends to itself; of three or more each sends to the next, and the last one to the first."""
    if ports == 2:
        return (Way(0, 1),)
    return tuple(Way(port, (port + 1) % ports) for port in range(ports))


def _first_pair(_ports: int) -> tuple[Way, ...]:
    """What comes to the other ports counts as received elsewhere."""
    return (Way(0, 1),)


def _hairpin(ports: int) -> tuple[Way, ...]:
    """Each port to itself; which of its VLANs sends to which is that of `pairs` among them."""
    return tuple(Way(port, port) for port in range(ports))


def _full_mesh(ports: int) -> tuple[Way, ...]:
    """Port i sends to i + 1, i + 2, ... in turn (RFC 2889 section 5.1.3), so that no two ever start on the
    same one."""
    return tuple(
        Way(port, (port + step) % ports, reverse=ports == 2 and port == 1)
        for step in range(1, ports)
        for port in range(ports)
    )


def _one_to_many(ports: int) -> tuple[Way, ...]:
    return tuple(Way(0, port) for port in range(1, ports))


def _many_to_one(ports: int) -> tuple[Way, ...]:
    return tuple(Way(port, 0) for port in range(1, ports))


def _half_to_half(ports: int) -> tuple[Way, ...]:
    """Port k of the first half begins with receiver k of the second (RFC 2889 section 5.4.3)."""
    half = ports // 2
    return tuple(Way(port, half + (port + step) % half) for step in range(half) for port in range(half))


def _congestion(_ports: int) -> tuple[Way, ...]:
    """The first port sends half to an uncongested port and half to the one that the second fills."""
    half = Fraction(1, 2)
    return (Way(0, 2, share=half), Way(0, 3, share=half), Way(1, 3))


def _addresses(_ports: int) -> tuple[Way, ...]:
    """The learning port is the first, the test port the second; the others watch for what is flooded."""
    return (Way(0, 1, to="sources"), Way(1, 0, reverse=True, to="destinations"))


def _broadcast(ports: int) -> tuple[Way, ...]:
    """The first port to all others. Each of these has frames of its own among them, which it times; what it
    receives of the others' counts as received elsewhere."""
    return tuple(Way(0, port, to="all") for port in range(1, ports))


PATTERNS: Mapping[str, Pattern] = {
    pattern.name: pattern
    for pattern in (
        Pattern(
            PAIRS,
            "the first port to the second; of three or more each to the next",
            _pairs,
            range(1, MOST_PORTS + 1),
        ),
        Pattern(
            "hairpin",
            "in each port the first VLAN to the second; of three or more each to the next",
            _hairpin,
            range(1, MOST_PORTS + 1),
            within=True,
        ),
        Pattern("first-pair", "the first port to the second, while the others listen", _first_pair),
        Pattern(
            "full-mesh",
            "every port to every other (RFC 2889 5.1)",
            _full_mesh,
            range(2, MOST_PORTS + 1),
            mesh=True,
            section="5.1",
        ),
        Pattern("one-to-many", "the first port to all others (RFC 2889 5.2)", _one_to_many, section="5.2"),
        Pattern("many-to-one", "all ports to the first one (RFC 2889 5.2)", _many_to_one, section="5.2"),
        Pattern(
            "half-to-half",
            "each port of the first half to all of the second (RFC 2889 5.4)",
            _half_to_half,
            range(4, MOST_PORTS + 1, 2),
            section="5.4",
        ),
        Pattern(
            "congestion",
            "one port half to an idle port and half to one that another port fills (RFC 2889 5.5)",
            _congestion,
            range(4, 5),
            one_way=True,
            section="5.5",
        ),
        Pattern(
            "addresses",
            "frames from many addresses, and back to them, while other ports watch (RFC 2889 5.7, 5.8)",
            _addresses,
            one_way=True,
            bridged=True,
            section="5.7",
        ),
        Pattern(
            "broadcast",
            "the first port to all others at once, by broadcast (RFC 2889 5.10)",
            _broadcast,
            one_way=True,
            bridged=True,
            section="5.10",
        ),
    )
}
"""Every pattern, in the order help lists them."""


def list_directions(pattern: str, ports: int, of: str = "the lab") -> tuple[tuple[Direction, ...], str]:
    """Which directions a pattern has in a lab of so many ports, and why not the others. of: what has them."""
    known = PATTERNS[pattern]
    if ports not in known.ports:
        wanted = known.ports[0] if len(known.ports) == 1 else f"{known.ports[0]} or more"
        even = ", an even number" if known.ports.step == 2 else ""
        return (), f"`{pattern}` wants {wanted} ports{even}, and {of} has {ports}"
    if ports == 1 and not known.within:
        return ("uni",), "one link has one stream: from its port, through the device, back to the same port"
    if known.mesh:
        return known.directions, f"in `{pattern}` every port sends and receives"
    return known.directions, f"`{pattern}` is one way only" if known.one_way else ""


def ways(pattern: str, direction: Direction, ports: int) -> tuple[Way, ...]:
    """All ways of a case, in the order in which a port's frames of one instant leave.

    ValueError if the pattern has no such direction with so many ports.
    """
    known, why = list_directions(pattern, ports)
    if direction not in known:
        raise ValueError(f"`direction` cannot be `{direction}`: {why}")
    forward = PATTERNS[pattern].forward(ports)
    if PATTERNS[pattern].mesh or direction == "uni":
        return forward
    backward = tuple(replace(way, tx=way.rx, rx=way.tx, reverse=not way.reverse) for way in forward)
    return backward if direction == "uni-reverse" else forward + backward
