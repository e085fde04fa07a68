"""A MikroTik router by published texts: grouped digits, repainted prompts, statements of whole paths."""

from __future__ import annotations

import json
from pathlib import Path

from netdyno.devices.stand_ins.chassis import INSTANT, Chassis
from netdyno.devices.stand_ins.menus import MenuDevice, RefusedError
from netdyno.devices.stand_ins.stand_in import Opened, StandIn, texts
from netdyno.devices.stand_ins.terminal import Terminal

PROMPT = "[lab@MikroTik] > "
BANNER = """

  MMM      MMM       KKK                          TTTTTTTTTTT      KKK
  MMMM    MMMM       KKK                          TTTTTTTTTTT      KKK
  MMM MMMM MMM  III  KKK  KKK  RRRRRR     OOOOOO      TTT     III  KKK  KKK
  MMM  MM  MMM  III  KKKKK     RRR  RRR  OOO  OOO     TTT     III  KKKKK
  MMM      MMM  III  KKK KKK   RRRRRR    OOO  OOO     TTT     III  KKK KKK
  MMM      MMM  III  KKK  KKK  RRR  RRR   OOOOOO      TTT     III  KKK  KKK

  MikroTik RouterOS 6.44.2 (c) 1999-2019       http://www.mikrotik.com/

[?]             Gives the list of available commands
command [?]     Gives help on the command and list of arguments

"""
EXPORT = """\
# jan/02/1970 00:00:11 by RouterOS 6.44.2
# software id = 7429-0761
#
# model = CCR1036-8G-2S+
# serial number = 742907610A54
"""
SHOWS = texts("routeros")
OF_PORTS = {command: text for command, text in SHOWS.items() if "{name}" in command}
OF_ALL = {command: text for command, text in SHOWS.items() if "{name}" not in command}
STATISTICS = '/interface print stats-detail where name="{name}"'
PORTS = ("sfp-sfpplus1", "sfp-sfpplus2")


def with_ports(*names: str) -> list[dict[str, str]]:
    """Its cards, and further ports."""
    return [
        {"name": name, "default-name": name, "mac-address": f"E4:8D:8C:3F:92:{0xA0 + number:02X}"}
        for number, name in enumerate(dict.fromkeys(("ether1", *PORTS, *names)))
    ]


ITEMS: dict[str, list[dict[str, str]]] = {
    "/interface ethernet": with_ports(),
    "/interface vlan": [{"interface": "ether1", "name": '"office lan"', "vlan-id": "5"}],
    "/ip pool": [{"name": "dhcp", "ranges": "192.0.2.100-192.0.2.200"}],
    "/ip address": [{"address": "192.0.2.1/24", "interface": "ether1", "network": "192.0.2.0"}],
    "/ip route": [{"gateway": "192.0.2.254", "dst-address": "0.0.0.0/0"}],
    "/ip settings": [{}],
    "/ip traffic-flow": [{}],
    "/ip service": [
        {"#": "telnet", "port": "23", "disabled": "yes"},
        {"#": "ftp", "port": "21"},
        {"#": "ssh", "port": "22"},
    ],
    "/snmp community": [{"default": "yes", "name": "public"}],
    "/system identity": [{"name": "MikroTik"}],
    "/system logging": [{"topics": "info"}, {"topics": "error"}],
}


def grouped(number: int) -> str:
    """`1 473 603`: digits in groups of three."""
    return f"{number:,}".replace(",", " ")


class Session(Terminal):
    """One login, with the height that netmiko asks for behind the user's name: nothing is paged."""

    banner = BANNER
    enter = b"\r"
    page = 0
    repaints = True
    prompt = PROMPT

    def __init__(self, chassis: Chassis, device: MenuDevice) -> None:
        self.chassis, self.device = chassis, device

    def run(self, line: str) -> str | None:
        plain = line.strip()
        if plain.startswith(f"# {INSTANT} "):
            self.chassis.stand_at(json.loads(plain.partition(INSTANT)[2]))
            return ""
        if not plain or plain.startswith("#"):
            return ""
        if plain in ("quit", "/quit"):
            return None
        shown = self._print(plain)
        if shown is not None:
            return shown
        try:
            self.device.enter(plain)
        except RefusedError as error:
            return f"{error} {self.chassis.leak}"
        return ""

    def _print(self, plain: str) -> str | None:
        name = plain.partition('where name="')[2].rstrip('"')
        counted = self.chassis.counted(name)
        fields = {what: grouped(n) for what, n in (counted or {}).items()}
        shown = {
            command.format(name=name): text.format(name=name, **fields) if counted else ""
            for command, text in OF_PORTS.items()
        }
        # Its first lines explain flags, also where nothing is listed.
        legend = SHOWS[STATISTICS].partition("\n")[0]
        shown[STATISTICS.format(name=name)] = shown[STATISTICS.format(name=name)] or f"{legend}\n"
        shown |= {
            **OF_ALL,
            "/system resource print": SHOWS["/system resource print"] + self.chassis.leak,
            "/export verbose": EXPORT + self.device.text(),
        }
        return (shown | self.chassis.prints).get(plain)


def opens(chassis: Chassis, folder: Path) -> Opened:
    """Starts it."""
    device = MenuDevice(folder / "device.json")
    device.create({**ITEMS, "/interface ethernet": with_ports(*chassis.names)})
    return Opened(chassis, device, lambda: Session(chassis, device))


STAND_IN = StandIn("routeros", "emulated/ccr1072", PORTS, opens)
