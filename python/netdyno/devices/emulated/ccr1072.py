"""A MikroTik CCR1072-1G-8S+ after a published test of its eight 10 Gbit/s ports.

It routed just under 80 Gbit/s of TCP at an MTU of 9000 with no core busier than a tenth: its lines were the
limit, and no other is published there. So the model has none.
"""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices import addresses
from netdyno.devices.emulated.model import Emulated, Model
from netdyno.devices.reasons import NoPublishedLimit
from netdyno.devices.wiring import LabLink


def _model(_links: tuple[LabLink, ...], _chosen: Mapping[str, str]) -> Model:
    return Model("ipv4", notes=(NoPublishedLimit(),))


KIND = Emulated(
    "emulated/ccr1072",
    "emulated MikroTik CCR1072",
    _model,
    links=range(1, addresses.MOST_PORTS + 1),
)
