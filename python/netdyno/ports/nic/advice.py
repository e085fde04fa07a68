"""Settings of a card that would falsify a test, and the commands that change them.

netdyno changes none of it itself: the interface is not its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from netdyno.ports.nic import Nic


@dataclass(frozen=True)
class Finding:
    """A setting to be changed before a test.

    code: names the setting. effect: what suffers. `result`: a figure would be wrong, or somebody else's.
    `latency`, `capacity`: it would be worse than the device's. what: a sentence without its subject, the
    interface. command: changes the setting.
    """

    code: str
    effect: Literal["result", "latency", "capacity"]
    what: str
    command: str | None = None
    tags: bool = False
    """It matters to frames with VLAN tags, and to no others."""


def findings(nic: Nic, *, rate_bps: int | None = None) -> list[Finding]:
    """What is to be changed before a test on this interface, worst first.

    rate_bps: L1 rate the plan gives the link.
    """
    found = [*_line(nic, rate_bps), *_merging(nic), *_flow_control(nic), *_speed(nic, rate_bps)]
    return sorted(found, key=lambda finding: ("result", "capacity", "latency").index(finding.effect))


def _line(nic: Nic, rate_bps: int | None) -> Iterator[Finding]:
    link, card = nic.link, nic.card
    if not link.up:
        yield Finding("interface-down", "result", "is down", f"ip link set {nic.name} up")
    elif link.carrier is False:
        yield Finding("no-carrier", "result", "has no carrier: no cable, or nothing at its other end")
    if card.full_duplex is False:
        yield Finding(
            "half-duplex",
            "result",
            "runs at half duplex: both ends in turn, with collisions",
            f"ethtool -s {nic.name} autoneg on",
        )
    if link.in_group:
        yield Finding(
            "in-a-group",
            "result",
            "belongs to a bridge or a group, which takes its frames",
            f"ip link set {nic.name} nomaster",
        )
    if rate_bps is not None and card.has_line and card.speed_bps not in (None, rate_bps):
        yield Finding(
            "other-rate", "result", f"runs at {card.speed_bps} bit/s, and the plan gives it {rate_bps}"
        )


_MERGE = (
    # (kernel's name, ethtool's name)
    ("rx-gro", "gro"),
    ("rx-lro", "lro"),
    ("rx-gro-hw", "rx-gro-hw"),
    ("rx-gro-list", "rx-gro-list"),
    ("rx-udp-gro-forwarding", "rx-udp-gro-forwarding"),
)
_STRIP = (("rx-vlan-hw-parse", "rxvlan"), ("rx-vlan-stag-hw-parse", "rx-vlan-stag-hw-parse"))


def _merging(nic: Nic) -> Iterator[Finding]:
    on = [(name, short) for name, short in _MERGE if _on(nic, name)]
    # Where the driver lets GRO be switched off, no other command is wanted; what is fixed cannot be.
    free = [short for name, short in on if not nic.offloads[name].fixed]
    if on:
        names = ", ".join(short for _, short in on)
        yield Finding(
            "merges-frames",
            "result",
            f"may merge received frames before netdyno sees them ({names} on): several count as one",
            f"ethtool -K {nic.name} {' '.join(f'{short} off' for short in free)}" if free else None,
        )
    stripped = [short for name, short in _STRIP if _on(nic, name)]
    if stripped:
        free = [short for name, short in _STRIP if _on(nic, name) and not nic.offloads[name].fixed]
        yield Finding(
            "strips-tags",
            "result",
            f"takes the VLAN tag off what it receives ({', '.join(stripped)} on): packet sockets put it back,"
            " AF_XDP cannot",
            f"ethtool -K {nic.name} {' '.join(f'{short} off' for short in free)}" if free else None,
            tags=True,
        )


def _flow_control(nic: Nic) -> Iterator[Finding]:
    pause = nic.pause
    if pause is None or not (pause.rx or pause.tx):
        return
    what = {
        (
            True,
            True,
        ): "obeys and sends pause frames: the device can slow the tester, and a full tester the device",
        (True, False): "obeys pause frames: a full device slows the tester, and its loss is not seen",
        (False, True): "sends pause frames: a tester that is full slows the device",
    }[pause.rx, pause.tx]
    autoneg = " autoneg off" if pause.negotiated else ""
    yield Finding("pause-frames", "result", what, f"ethtool -A {nic.name}{autoneg} rx off tx off")


def _speed(nic: Nic, rate_bps: int | None) -> Iterator[Finding]:
    if nic.rings is not None and nic.rings[0].now < nic.rings[0].most:
        receive = nic.rings[0]
        yield Finding(
            "small-ring",
            "capacity",
            f"has a receive ring of {receive.now} frames of {receive.most} possible: short pauses of the"
            " tester lose frames",
            f"ethtool -G {nic.name} rx {receive.most}",
        )
    wanted = rate_bps or nic.card.speed_bps
    carried = nic.slot.data_bps if nic.slot is not None else None
    if nic.slot is not None and carried is not None and wanted is not None and carried < wanted:
        yield Finding(
            "slow-slot",
            "capacity",
            f"sits in a slot that carries {carried} bit/s ({nic.slot.speed} GT/s, {nic.slot.lanes} lanes),"
            f" less than its line's {wanted}",
        )
    if nic.coalescing is not None and (nic.coalescing.adaptive_rx or nic.coalescing.rx_us > _PROMPT_US):
        how = "by itself" if nic.coalescing.adaptive_rx else f"{nic.coalescing.rx_us} us"
        yield Finding(
            "waits-to-report",
            "latency",
            f"waits before it reports frames ({how}), which counts as the device's latency",
            f"ethtool -C {nic.name} {'adaptive-rx off ' if nic.coalescing.adaptive_rx else ''}rx-usecs 0",
        )


_PROMPT_US = 5
"""A wait of up to this long is of the order of what a tester in software adds anyway."""


def _on(nic: Nic, name: str) -> bool:
    offload = nic.offloads.get(name)
    return offload is not None and offload.on
