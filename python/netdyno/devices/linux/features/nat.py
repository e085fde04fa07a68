"""Address translation on the way from the first port to the second: static, from a pool, masquerade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from netdyno.devices import addresses
from netdyno.devices.kind import Program
from netdyno.devices.linux.features.feature import (
    CONNTRACK,
    COUNTER,
    FAR,
    HOST,
    INSIDE,
    NFT,
    OUTSIDE,
    NftFeature,
    Packet,
    Step,
    networks_inside,
)
from netdyno.devices.linux.services.service import Lab

POOL = ("100.67.0.1", "100.67.0.14")
"""The first and the last address that hosts share."""
OTHER_HOST = "16.0.0.2"


def is_from(*networks: str) -> Callable[[Sequence[Packet]], bool]:
    """Whether the last packet that came is from one of these networks."""

    def is_right(came: Sequence[Packet]) -> bool:
        return any(ip_address(came[-1].source) in ip_network(one) for one in networks)

    return is_right


def has_own_port(came: Sequence[Packet]) -> bool:
    """Whether no two packets that came have the same source: two flows that a far end cannot tell apart."""
    sources = [(one.source, one.sport) for one in came]
    return len(set(sources)) == len(sources)


TRANSLATED = "its source is not translated"
COLLIDES = "two hosts come out as one address and port"


@dataclass(frozen=True)
class Nat(NftFeature):
    """Source translation on the way out. how: the statement that translates. outside: its networks."""

    translates = True
    programs: tuple[Program, ...] = (NFT, CONNTRACK)
    how: str = ""
    outside: tuple[str, ...] = ()

    def chain(self, lab: Lab, counted: str = f"counter name {COUNTER}") -> Sequence[str]:
        """The chain that translates. counted: what counts the packets in it, which are the first ones of
        connections."""
        return (
            "chain postrouting {",
            "type nat hook postrouting priority 100;",
            f"oifname {OUTSIDE} {counted} {self.how}",
            "}",
        )

    def rules(self, lab: Lab) -> Sequence[str]:
        return self.chain(lab)

    def proof(self, lab: Lab) -> Sequence[Step]:
        right = is_from(*self.outside)
        return (
            Step(Packet(source=HOST), TRANSLATED, is_right=right),
            # From the same port: one of the two has to be given another one, or another address.
            Step(
                Packet(source=OTHER_HOST), COLLIDES, is_right=lambda came: right(came) and has_own_port(came)
            ),
        )


@dataclass(frozen=True)
class StaticNat(Nat):
    """Each host has an address of its own outside, both ways."""

    def chain(self, lab: Lab, counted: str = f"counter name {COUNTER}") -> Sequence[str]:
        there = [f"{inside} : {outside}" for inside, outside in networks_inside(lab).items()]
        back = [f"{outside} : {inside}" for inside, outside in networks_inside(lab).items()]
        return (
            "chain prerouting {",
            "type nat hook prerouting priority -100;",
            f"iifname {OUTSIDE} dnat ip prefix to ip daddr map {{ {', '.join(back)} }}",
            "}",
            "chain postrouting {",
            "type nat hook postrouting priority 100;",
            # Of what has no address outside nothing is counted: it costs a look, and no translation.
            f"iifname {INSIDE} ip saddr {{ {', '.join(networks_inside(lab))} }} {counted}",
            f"oifname {OUTSIDE} snat ip prefix to ip saddr map {{ {', '.join(there)} }}",
            "}",
        )

    def proof(self, lab: Lab) -> Sequence[Step]:
        return (
            *super().proof(lab),
            Step(
                Packet(source="198.18.0.1", destination="198.19.0.1"),
                TRANSLATED,
                is_right=is_from("100.66.0.1/32"),
            ),
            Step(
                Packet(1, FAR, "10.0.0.9", 12, 1025),
                "what comes to a host's outer address does not reach it",
                is_right=lambda came: came[-1].destination == "16.0.0.9",
            ),
        )


MASQUERADE = Nat(
    "masquerade",
    "all hosts behind the address of the second port",
    keeps_state=True,
    how="masquerade",
    outside=(addresses.device(1),),
)

FEATURES = (
    StaticNat(
        "nat-static",
        "an address of its own outside for each host",
        keeps_state=True,
        outside=("10.0.0.0/8", "100.66.0.0/16"),
    ),
    Nat(
        "nat-pool",
        "all hosts behind fourteen addresses",
        keeps_state=True,
        how=f"snat to {POOL[0]}-{POOL[1]}",
        outside=("100.67.0.0/28",),
    ),
    MASQUERADE,
)
