"""The FS S5860-20SQ of the published test, by its texts."""

from __future__ import annotations

from netdyno.devices.drivers.fsos import DRIVER
from netdyno.devices.stand_ins.cisco import Model, opens
from netdyno.devices.stand_ins.ios import INVALID
from netdyno.devices.stand_ins.stand_in import StandIn


def print_running(text: str) -> str:
    """`show running-config`."""
    return f"\nBuilding configuration...\nCurrent configuration : {len(text)} bytes\n!\n{text}end\n"


MODEL = Model(
    "fsos",
    "fsw0",
    "show interfaces",
    print_running,
    {"if": "-if-{}", "vlan": "-vlan", "vty": "-line", "ospf": "-router"},
    INVALID,
    ("% Access denied\n", "% Access denied\n"),
    quiet=("terminal width ",),
    more="--More--",
    erase="\r        \r",
    asks="Password:",
)
STAND_IN = StandIn("fsos", "emulated/s5860", ("Te0/1", "Te0/2"), opens(MODEL, "ios", DRIVER))
