"""Which bytes a device counts: its counter of bytes against what the tester counted of the same frames.

The tester counts destination address through FCS, tags with it. Devices count with or without FCS, some with
preamble and gap, some the IP packet alone, some without tags. Only where both counted the same frames do the
bytes tell which.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from netdyno.values.rates import ETHERNET, FCS, TAG, WIRE_OVERHEAD
from netdyno.verdict.device_counts import Count, PortCounts

_LAYERS = (
    ("with FCS", 0),
    ("without FCS", -FCS),
    ("L1, with preamble and gap", WIRE_OVERHEAD),
    ("L3, without Ethernet header and FCS", -ETHERNET - FCS),
)


@dataclass(frozen=True)
class Convention:
    """What a device counts of a frame. more: bytes beyond its own, FCS counted."""

    name: str
    more: int


@dataclass(frozen=True)
class Bytes:
    """Bytes of one way of a link. frames: that both ends counted alike. counted: by the device. predicted:
    what the convention that comes closest makes of the tester's count. conventions: those that do exactly.
    """

    port: str
    way: str
    frames: int
    counted: int
    predicted: int
    nearest: Convention
    conventions: tuple[Convention, ...]

    @property
    def off(self) -> int:
        """Bytes that no convention explains, signed."""
        return self.counted - self.predicted

    @property
    def off_share(self) -> Fraction:
        """The same as a share of what was predicted."""
        return Fraction(self.off, self.predicted) if self.predicted else Fraction(0)


def conventions(tags: int) -> tuple[Convention, ...]:
    """What devices count of frames with so many VLAN tags."""
    found = [Convention(name, more) for name, more in _LAYERS]
    for removed in range(1, tags + 1):
        words = "without the VLAN tag" if removed == 1 else f"without {removed} VLAN tags"
        # Of an IP packet all tags are gone with the header.
        found += [Convention(f"{name}, {words}", more - TAG * removed) for name, more in _LAYERS]
    for added in range(1, 3):
        words = "with a VLAN tag of its own" if added == 1 else f"with {added} VLAN tags of its own"
        found += [Convention(f"{name}, {words}", more + TAG * added) for name, more in _LAYERS[:3]]
    return tuple(found)


def reconcile(ports: Iterable[PortCounts], tags: int = 0) -> tuple[Bytes, ...]:
    """Each way of each link whose frames both ends counted alike. tags: of each frame.

    Where they did not, the two counts are of different frames: bytes then show no convention.
    """
    found = []
    for port in ports:
        ways: tuple[tuple[str, int, int, Count, Count], ...] = (
            ("in", port.sent, port.sent_bytes, port.taken, port.taken_bytes),
            ("out", port.received, port.received_bytes, port.given, port.given_bytes),
        )
        for way, frames, size, counted, counted_bytes in ways:
            if frames and counted == frames and isinstance(counted_bytes, int):
                found.append(_explain(port.device_port, way, frames, size, counted_bytes, tags))
    return tuple(found)


def _explain(port: str, way: str, frames: int, size: int, counted: int, tags: int) -> Bytes:
    known = conventions(tags)
    nearest = min(known, key=lambda one: (abs(size + one.more * frames - counted), abs(one.more)))
    exact = tuple(one for one in known if size + one.more * frames == counted)
    if exact:
        # Tags that a device adds or leaves out are named only where nothing plainer explains the bytes.
        plain = tuple(one for one in exact if one.name in dict(_LAYERS))
        exact = plain or exact
    return Bytes(port, way, frames, counted, size + nearest.more * frames, nearest, exact)
