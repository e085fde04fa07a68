"""What a generator host is like: processor, clock, and how its ports are set up."""

from __future__ import annotations

from dataclasses import dataclass

OFFLOADS = {
    "rx-gro": "GRO",
    "rx-lro": "LRO",
    "tx-tcp-segmentation": "TSO",
    "tx-generic-segmentation": "GSO",
}
"""By the kernel's names: what joins received frames, and what cuts segments that are sent."""


@dataclass(frozen=True)
class ClockState:
    """What keeps a host's clock: `chrony`, `PTP`; empty: neither answers.

    offset_ns: how far the clock is from its source, as that program estimates; None: it has no source.
    hardware: the PTP clocks of its cards, such as `/dev/ptp0`.
    """

    kept_by: str
    offset_ns: int | None = None
    hardware: tuple[str, ...] = ()


@dataclass(frozen=True)
class PortFacts:
    """A port of the tester. mtu: None if the interface is absent. offloads: those of OFFLOADS that are on."""

    name: str
    interface: str
    driver: str
    mtu: int | None
    offloads: tuple[str, ...]


@dataclass(frozen=True)
class HostFacts:
    """A generator host. name: empty for the host that ran the load test.

    cpu: `8 x NAME`. cores: how many the tester may use there.
    """

    name: str
    cpu: str
    cores: int
    kernel: str
    clock: ClockState
    ports: tuple[PortFacts, ...]
