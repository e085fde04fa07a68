"""A Cisco ASR9006 (RSP440-SE, 8x10G blades) after a published load test of it."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.emulated.lags import HASHES
from netdyno.devices.emulated.model import Capacity, Emulated, Model
from netdyno.devices.reasons import HashedMembers, PublishedCapacities, PublishedOneWay
from netdyno.devices.wiring import LabLink
from netdyno.values.reason import Reason

# At most two capacities per forwarding type and port kind, each from the cells of the published load
# test named beside it (test number, profile, direction). Where two cells measure the same resource and
# differ, it is their geometric mean: fitted, and docs/labs.md says which cells are that.
ASR9006_CAPACITIES: Mapping[tuple[str, str], Capacity] = {
    ("l2-xconnect", "plain"): Capacity(
        west_in=14_660_000,
        east_in=14_660_000,
        both=20_300_000,
        source="in 14.66 Mpps (1.1 64b-multi uni), in + out 20.3 Mpps (1.1 64b-multi bidir)",
    ),
    ("bridge-domain", "plain"): Capacity(both=19_000_000, source="in + out 19.0 Mpps (1.2 64b-multi bidir)"),
    # The article ran one direction only in its uni runs. The other one is what the bidir run has beyond it.
    ("ipv4", "plain"): Capacity(
        west_in=5_140_000,
        east_in=7_160_000,
        source="in 5.14 Mpps on the first port (1.3 64b-multi uni),"
        " 7.16 Mpps on the second (1.3 64b-multi bidir less uni, 12.3 - 5.14)",
    ),
    ("l2-xconnect", "lacp"): Capacity(
        both=17_450_000, source="in + out 17.45 Mpps a member (2.1 64b-multi bidir, 34.9 / 2)"
    ),
    # Two cells measure a member's input, 20.12 / 2 (2.2 64b-multi uni) and 9.49 (64b-single uni). They
    # differ by 6 %; their geometric mean is within 3 % of both.
    ("bridge-domain", "lacp"): Capacity(
        west_in=9_770_000,
        east_in=9_770_000,
        both=14_100_000,
        source="in 9.77 Mpps a member (geometric mean of 2.2 64b-multi uni, 20.12 / 2, and 64b-single uni,"
        " 9.49), in + out 14.1 Mpps a member (2.2 64b-multi bidir, 28.2 / 2)",
    ),
    # Input: 12.52 / 2 and 6.49 (2.3 uni). In and out together: 22.49 / 2 with many flows; and the single
    # flow, whose two directions meet the same member at both ends by these hashes, 11.62.
    ("ipv4", "lacp"): Capacity(
        west_in=6_374_000,
        east_in=6_374_000,
        both=11_431_000,
        source="in 6.374 Mpps a member (geometric mean of 2.3 64b-multi uni, 12.52 / 2, and 64b-single uni,"
        " 6.49), in + out 11.431 Mpps a member (geometric mean of 2.3 64b-multi bidir, 22.49 / 2, and"
        " 64b-single bidir, 11.62)",
    ),
}

MEMBERS = 2
PUBLISHED = "published"
_HASHES: Mapping[str, tuple[str, ...]] = {
    "hash": (PUBLISHED, *HASHES),
    "partner_hash": (PUBLISHED, *HASHES),
}


SERVICES = (("l2-xconnect", "plain"), ("bridge-domain", "plain"), ("ipv4", "lacp"))
"""What the published test ran at once: its 1.1 and 1.2 on two plain ports each, 2.3 on two groups of two."""

AT_ONCE = range(2 * len(SERVICES), 2 * len(SERVICES) + 1)


def _at_once(links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> tuple[Model, ...]:
    """Services on ports of their own. The capacities found are those of ports: services share none."""
    each = len(links) // len(SERVICES)
    return tuple(
        _model(links[number * each : (number + 1) * each], {"forwarding": forwarding, "lag": lag, **chosen})
        for number, (forwarding, lag) in enumerate(SERVICES)
    )


def _model(links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
    forwarding, members = chosen["forwarding"], MEMBERS if chosen["lag"] == "lacp" else 1
    capacity = ASR9006_CAPACITIES[forwarding, chosen["lag"]]
    notes: list[Reason] = [PublishedCapacities(capacity.source)]
    hashes = _hashes(forwarding, chosen)
    if members > 1:
        notes.append(HashedMembers(members, hashes["hash"], hashes["partner_hash"]))
    notes.append(PublishedOneWay())
    ports = tuple({**capacity.of(index), **hashes} for index in range(len(links)))
    return Model(forwarding, members, ports, notes=tuple(notes))


def _hashes(forwarding: str, chosen: Mapping[str, str]) -> dict[str, str]:
    """The hashes that choose members: of the device and of the far-end switch.

    In the published test the switch had `dst-ip`; the device balanced `src-dst-ip` for its L2 services and
    `src-ip` for IPv4.
    """
    published = {"hash": "src-ip" if forwarding == "ipv4" else "src-dst-ip", "partner_hash": "dst-ip"}
    return {name: one if chosen[name] == PUBLISHED else chosen[name] for name, one in published.items()}


ASR9006 = Emulated(
    "emulated/asr9006",
    "emulated Cisco ASR9006",
    _model,
    settings={"forwarding": ("l2-xconnect", "bridge-domain", "ipv4"), "lag": ("plain", "lacp"), **_HASHES},
)

ASR9006_AT_ONCE = Emulated(
    "emulated/asr9006-at-once",
    "emulated Cisco ASR9006 with three services at once",
    _at_once,
    settings=_HASHES,
    links=AT_ONCE,
)
KIND = (ASR9006, ASR9006_AT_ONCE)
