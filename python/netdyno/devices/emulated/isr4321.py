"""A Cisco ISR 4321 after a published test: its licence is the limit.

"Two thresholds are used: base (50 Mbit/s for the 4321) and extended (100 Mbit/s, activated by the performance
licence)": a shaper of the whole box, not a policer, so what is over it waits before it is lost.
"""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.emulated.model import Emulated, Model
from netdyno.devices.reasons import DeviceLicence
from netdyno.devices.wiring import LabLink
from netdyno.values.load import NO_SERVICE, SERVICE_SETTING

LICENCES = {"performance": 100_000_000, "base": 50_000_000}
"""Bits per second."""

SERVICES = (NO_SERVICE, "acl", "acl-log", "nat", "firewall", "firewall-nat")

QUEUE = 64
"""Frames that wait for the shaper; not published."""


def _model(_links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
    rate = LICENCES[chosen["licence"]]
    return Model(
        "ipv4",
        device={"box_bits": {"rate_bps": rate, "layer": "l2"}, "box_queue": QUEUE},
        notes=(DeviceLicence(rate),),
    )


KIND = Emulated(
    "emulated/isr-4321",
    "emulated Cisco ISR 4321",
    _model,
    # "All six modes": 95 Mbit/s. What a service costs is hidden behind the licence.
    settings={"licence": tuple(LICENCES), SERVICE_SETTING: SERVICES},
)
