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

QUEUE = 1024
"""Frames that wait for the trunk, each way. Its depth is not published and does not change the share that is
lost: a deeper queue is only full later."""

RESUME = QUEUE * 7 // 8
"""Frames that wait when a queue that was full takes frames again.

A switch chip that drops resumes at a lower threshold; 7/8 of the first is a value of Broadcom's drivers
(`Q_RESET_SEL`), and the article's switch has a Broadcom chip (BCM56170). What its own driver sets is unknown
and matters little. At any value from 0 to 960 the queue drops for longer than the 3.7 us of a round of the
mix, so frames of all sizes are lost alike: 0.98 to 1.08 % of them. A queue that drops only while it is full
would lose short frames only where the ports send in step, 4.5 % of all. The article's is 0.84 to 1.45 %.
"""


def _model(links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
    tagged = chosen["vlans"] == "qinq"
    trunk = {
        "near": list(range(0, len(links), 2)),
        "rate_bps": TRUNK_BPS,
        "more_bytes": TAG_BYTES if tagged else 0,
        "queue": QUEUE,
        "resume": RESUME,
    }
    notes = (TwoSwitches(TRUNK_BPS, TAG_BYTES if tagged else 0),)
    return Model("bridge-domain", device={"trunk": trunk}, notes=notes)


KIND = Emulated(
    "emulated/s5860",
    "emulated pair of FS S5860-20SQ",
    _model,
    settings={"vlans": ("plain", "qinq")},
    links=range(2, addresses.MOST_PORTS + 1),
)
