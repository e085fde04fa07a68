"""The Cisco ISR 4321 of the published test, by its texts."""

from __future__ import annotations

from netdyno.devices.drivers.cisco_iosxe import DRIVER
from netdyno.devices.stand_ins.cisco import Model, opens
from netdyno.devices.stand_ins.ios import INVALID, SECTIONS, print_running
from netdyno.devices.stand_ins.routing import print_xe
from netdyno.devices.stand_ins.stand_in import StandIn

MODEL = Model(
    "iosxe",
    "cbs-rtr-4321",
    "show interfaces",
    print_running,
    SECTIONS,
    INVALID,
    ("", "% Access denied\n"),
    quiet=("terminal width ",),
    routing=print_xe,
    banner="\n" + "*" * 60 + "\n*  Lab router: # do not touch >  *\n" + "*" * 60 + "\n",
)
STAND_IN = StandIn(
    "cisco_iosxe",
    "emulated/router",
    ("GigabitEthernet0/0/0", "GigabitEthernet0/0/1"),
    opens(MODEL, "xe", DRIVER),
    has_routing=True,
)
