"""The Cisco 881 of the published test, by its texts. Its counters of frames have 32 bits and wrap soon."""

from __future__ import annotations

from netdyno.devices.drivers.cisco_ios import DRIVER
from netdyno.devices.stand_ins.cisco import Model, opens
from netdyno.devices.stand_ins.stand_in import StandIn

INVALID = "                 ^\n% Invalid input detected at '^' marker.\n"
SECTIONS = {"if": "-if", "vty": "-line", "ospf": "-router"}
HEAD = """\
Building configuration...

Current configuration : {bytes} bytes
!
! Last configuration change at 10:11:12 UTC Wed Jun 22 2016 by lab
!
"""


def print_running(text: str) -> str:
    """`show running-config`."""
    return HEAD.format(bytes=len(text)) + text + "end\n\n"


MODEL = Model(
    "ios",
    "Router881",
    "show interfaces",
    print_running,
    SECTIONS,
    INVALID,
    ("", "% Bad secrets\n"),
    quiet=("terminal width ",),
    banner="\nAuthorized access only\n\n",
    wraps=2**32,
)
STAND_IN = StandIn(
    "cisco_ios", "emulated/router", ("FastEthernet3", "FastEthernet4"), opens(MODEL, "router", DRIVER)
)
