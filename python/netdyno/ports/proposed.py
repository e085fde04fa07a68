"""Which interfaces of this machine a first plan may load: those that it does not use itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from netdyno.ports import backends
from netdyno.ports.in_use import Use, find_uses
from netdyno.ports.listing import PortReport, look


@dataclass(frozen=True)
class Seen:
    """An interface, and why it is not to be loaded, a clause; empty: it may be."""

    port: PortReport
    why_not: str = ""

    @property
    def rank(self) -> tuple[bool, bool]:
        """What is proposed first: a card, and one with a carrier."""
        return not self.port.nic.card.has_line, self.port.state != "up"


def see() -> list[Seen]:
    """Every interface but the loopback, `eth2` before `eth10`."""
    found = [one for one in look() if not one.nic.link.loopback]
    found.sort(key=lambda one: _split_numbers(one.nic.name))
    uses = find_uses([one.nic.name for one in found])
    return [Seen(one, _why_not(one, uses)) for one in found]


def _split_numbers(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def propose(seen: Sequence[Seen], count: int = 2) -> tuple[str, ...]:
    """The interfaces to load, in the order of `seen`; none if there are fewer than so many."""
    free = [one for one in seen if not one.why_not]
    best = sorted(free, key=lambda one: one.rank)[:count]
    return tuple(one.port.nic.name for one in free if one in best) if len(best) == count else ()


def _why_not(port: PortReport, uses: Sequence[Use]) -> str:
    link = port.nic.link
    for use in uses:
        if use.interface == link.name:
            return use.why
    if port.own_traffic is not None:
        return f"it has this machine's address {port.own_traffic}"
    if link.in_group:
        return "it belongs to a bridge or a group"
    if not link.up:
        # One that was made in software and never switched on belongs to nobody's cable.
        return "it is down, and no card is behind it" if link.kind else ""
    packets = next((one for one in port.fits if one.backend == backends.USUAL), None)
    # A right that this user lacks is no property of the interface.
    return packets.why if packets is not None and packets.why and not packets.hint else ""
