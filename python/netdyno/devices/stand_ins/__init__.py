"""Command lines that stand in for devices: rehearsals, before the lab is booked, and tests reach them by SSH.

Written from what the systems print and do, without the code that reads them. They neither forward nor time
anything: their counters are those of an emulated device, which a run in virtual time tells them.
"""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.stand_ins import asa, fsos, ios, iosxe, iosxr, routeros
from netdyno.devices.stand_ins.stand_in import StandIn

STAND_INS: Mapping[str, StandIn] = {
    one.driver: one
    for one in (
        iosxr.STAND_IN,
        iosxe.STAND_IN,
        ios.STAND_IN,
        asa.STAND_IN,
        fsos.STAND_IN,
        routeros.STAND_IN,
    )
}
"""By the driver that reaches them."""
