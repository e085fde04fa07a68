"""Devices that tests reach by SSH. Written from what the systems do, not from what our parsers read."""

from __future__ import annotations

from collections.abc import Mapping

from fakes import asa, fsos, ios, iosxe, linux, routeros, vpp
from fakes.stand_in import StandIn

STAND_INS: Mapping[str, StandIn] = {
    one.driver: one
    for one in (
        ios.FAKE,
        iosxe.FAKE,
        asa.FAKE,
        fsos.FAKE,
        routeros.FAKE,
        linux.FAKE,
        vpp.FAKE,
    )
}
"""By the driver that reaches them."""
