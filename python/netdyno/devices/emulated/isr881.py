"""A Cisco 871, 881 and an ASA 5505 after a published test: one core that forwards, what services leave of it.

"iPerf3 TCP, 5 streams, FastEthernet": no mode does more than 95 Mbit/s, which is the line's. What it costs is
seen in the core: 47 % with CEF, 99 % with process switching or a logged access list; on the ASA 31.1 % of the
Dispatch Unit, near identical in all modes. At 99 % the 881 did less than the line, how much less is in a
picture alone: taken for 95 Mbit/s, its capacity there is an upper bound. Of the 871 the text says no more
than that it filled the line with CEF: that much it has, as if its core had no more to give, and no service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from netdyno.devices.emulated.model import Emulated, Model, fps
from netdyno.devices.reasons import CapacityFromCpu, CapacityUnknown
from netdyno.devices.wiring import LabLink
from netdyno.values.load import NO_SERVICE, SERVICE_SETTING

# 95 Mbit/s of payload, 1448 bytes a segment, and an acknowledgement for every other one (RFC 5681, 4.2).
FRAMES_PER_S = Fraction(95_000_000, 1448 * 8) * Fraction(3, 2)

BUSY_871 = {NO_SERVICE: Fraction(1)}
"""Assumed. Published is that the 871 filled the line, and that the 881 does better."""
BUSY_881 = {
    NO_SERVICE: Fraction(47, 100),
    "process-switching": Fraction(99, 100),
    "acl-log": Fraction(99, 100),
}
BUSY_ASA = dict.fromkeys((NO_SERVICE, "firewall-nat", "acl-log"), Fraction(311, 1000))
"""The part of the core that those frames took, by service. The ASA is a firewall without any."""

QUEUE = 75
"""Frames that wait: IOS holds 75 of an interface before it drops, unless told."""


def _model(busy: Mapping[str, Fraction]) -> Callable[[tuple[LabLink, ...], Mapping[str, str]], Model]:
    def model(_links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
        share = busy[chosen[SERVICE_SETTING]]
        capacity = int(FRAMES_PER_S / share)
        note = CapacityUnknown(capacity) if busy is BUSY_871 else CapacityFromCpu(share, capacity)
        return Model("ipv4", device={"box_fps": fps(capacity), "box_queue": QUEUE}, notes=(note,))

    return model


def _kind(name: str, title: str, busy: Mapping[str, Fraction]) -> Emulated:
    settings = {SERVICE_SETTING: tuple(busy)}
    return Emulated(f"emulated/{name}", f"emulated Cisco {title}", _model(busy), settings=settings)


KIND = (
    _kind("isr-871", "871", BUSY_871),
    _kind("isr-881", "881", BUSY_881),
    _kind("asa-5505", "ASA 5505", BUSY_ASA),
)
