"""A Cisco ASA by its published texts. Its login is not privileged; its pager has a sign of its own."""

from __future__ import annotations

from netdyno.devices.drivers.cisco_asa import DRIVER
from netdyno.devices.stand_ins.cisco import Model, opens
from netdyno.devices.stand_ins.stand_in import StandIn


def print_running(text: str) -> str:
    """`show running-config`."""
    head = ": Saved\n\n: \n: Serial Number: JMX1433Z0AB\n: Hardware:   ASA5505, 512 MB RAM\n:\n"
    return f"{head}{text}Cryptochecksum:{sum(text.encode()):032x}\n: end\n"


MODEL = Model(
    "asa",
    "cbs-asa-vpn",
    "show interface",
    print_running,
    {"if": "-if"},
    "                 ^\nERROR: % Invalid input detected at '^' marker.\n",
    ("Invalid password\n", "Access denied.\n"),
    paging="terminal pager",
    begins="",
    banner="Type help or '?' for a list of available commands.\n",
    more="<--- More --->",
    erase="\r              \r",
    space=" ",
)
STAND_IN = StandIn(
    "cisco_asa", "emulated/router", ("Ethernet0/0", "Ethernet0/1"), opens(MODEL, "asa", DRIVER)
)
