"""Two FS S5860-20SQ switches and the 40 Gbit/s trunk between them, after a published test of such a pair.

Ports alternate: the first link is on one switch, the second on the other, so what a port sends to the next
one crosses the trunk. Four ports of 10 Gbit/s on each fill it. As L2 it passed all; with `dot1q-tunnel`
each frame has a tag more on the trunk than on the ports, and a full trunk loses what the tags take.
"""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices import addresses
from netdyno.devices.emulated.model import Emulated, Model
from netdyno.devices.reasons import TwoSwitches
from netdyno.devices.wiring import LabLink

TRUNK_BPS = 40_000_000_000
"""Fo0/26 to Fo0/26, a DAC."""

TAG_BYTES = 4
"""What `dot1q-tunnel` adds (IEEE 802.1ad)."""


def _model(links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
    tagged = chosen["vlans"] == "qinq"
    trunk = {
        "near": list(range(0, len(links), 2)),
        "rate_bps": TRUNK_BPS,
        "more_bytes": TAG_BYTES if tagged else 0,
    }
    notes = (TwoSwitches(TRUNK_BPS, TAG_BYTES if tagged else 0),)
    return Model("bridge-domain", device={"trunk": trunk}, notes=notes)


KIND = Emulated(
    "emulated/s5860",
    "emulated pair of FS S5860-20SQ",
    _model,
    {"vlans": ("plain", "qinq")},
    links=range(2, addresses.MOST_PORTS + 1),
)
