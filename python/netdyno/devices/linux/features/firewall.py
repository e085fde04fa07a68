"""A stateful firewall: whoever is behind the first port may begin, the second port may only answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netdyno.devices.linux.features.feature import (
    CONNTRACK,
    COUNTER,
    FAR,
    HOST,
    INSIDE,
    NFT,
    NftFeature,
    Packet,
    Step,
)
from netdyno.devices.linux.features.nat import MASQUERADE
from netdyno.devices.linux.services.service import Lab

CHAIN = (
    "chain forward {",
    "type filter hook forward priority 0; policy drop;",
    f"counter name {COUNTER}",
    "ct state established,related accept",
    f"ct state new iifname {INSIDE} accept",
    "}",
)

BEGUN = Step(Packet(1, FAR, HOST, 4000, 4001), "a host outside may begin a connection", comes=False)


@dataclass(frozen=True)
class Firewall(NftFeature):
    """Connections are tracked; what belongs to none is dropped."""

    counts_frames = True

    def rules(self, lab: Lab) -> Sequence[str]:
        return CHAIN

    def proof(self, lab: Lab) -> Sequence[Step]:
        out = Packet()
        back = Packet(1, out.destination, out.source, out.dport, out.sport)
        return (BEGUN, Step(out, "no host inside may begin a connection"), Step(back, "no answer comes back"))


@dataclass(frozen=True)
class FirewallNat(NftFeature):
    """The firewall and masquerade together, with one connection tracking."""

    counts_frames = True
    translates = True

    def rules(self, lab: Lab) -> Sequence[str]:
        return (*CHAIN, *MASQUERADE.chain(lab, counted=""))

    def proof(self, lab: Lab) -> Sequence[Step]:
        return (BEGUN, *MASQUERADE.proof(lab))


FEATURES = (
    Firewall(
        "firewall", "a stateful firewall: answers alone come in", programs=(NFT, CONNTRACK), keeps_state=True
    ),
    FirewallNat(
        "firewall-nat", "a stateful firewall and masquerade", programs=(NFT, CONNTRACK), keeps_state=True
    ),
)
