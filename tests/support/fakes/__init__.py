"""Devices that tests reach by SSH: those that ship, and machines of this kernel."""

from __future__ import annotations

from collections.abc import Mapping

from fakes import linux, systems, vpp
from fakes.stand_in import StandIn

STAND_INS: Mapping[str, StandIn] = {
    one.driver: one
    for one in (
        systems.IOS,
        systems.IOSXE,
        systems.ASA,
        systems.FSOS,
        systems.ROUTEROS,
        linux.FAKE,
        vpp.FAKE,
    )
}
"""By the driver that reaches them."""
