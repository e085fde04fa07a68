"""A MikroTik router by published texts: grouped digits, repainted prompts, statements of whole paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fakemenu import FakeRouter, RefusedError

from fakes.chassis import INSTANT, Chassis
from fakes.server import Terminal
from fakes.stand_in import Opened, StandIn
from fakes.texts import DATA, form

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
RESOURCE = """\
                   uptime: 1d14h6m41s
                  version: 6.44.2 (stable)
               build-time: Apr/01/2019 12:47:57
         factory-software: 6.28
              free-memory: 15.5GiB
             total-memory: 15.9GiB
                      cpu: tilegx
                cpu-count: 36
            cpu-frequency: 1200MHz
                 cpu-load: 7%
           free-hdd-space: 882.7MiB
          total-hdd-space: 1024.0MiB
        architecture-name: tile
               board-name: CCR1036-8G-2S+
                 platform: MikroTik
"""
CORES = """\
 # CPU                                LOAD            IRQ           DISK
 0 cpu0                                 5%             0%             0%
 1 cpu1                                10%             9%             0%
"""
HEALTH = """\
         voltage: 23.8V
         current: 2516mA
     temperature: 34C
 cpu-temperature: 53C
power-consumption: 60.1W
      fan1-speed: 4225RPM
"""
FLAGS, _, STATISTICS = (DATA / "routeros-stats-detail.txt").read_text().partition("\n")
STATISTICS = form(
    STATISTICS,
    {
        '"ether1"': '"{name}"',
        " rx-byte=205 164 277": " rx-byte={rx_bytes}",
        "tx-byte=147 977 500": "tx-byte={tx_bytes}",
        " rx-packet=158 254": " rx-packet={rx}",
        "tx-packet=150 156": "tx-packet={tx}",
        "tx-queue-drop=2": "tx-queue-drop={out_drops}",
    },
)
TERSE = (
    " 0 R  name={name} default-name={name} type=ether mtu=1500 actual-mtu=1500 l2mtu=1580 max-l2mtu=10226\n"
)
ITEMS = {
    "/interface ethernet": [
        {"name": name, "default-name": name, "mac-address": f"E4:8D:8C:3F:92:A{number}"}
        for number, name in enumerate(("ether1", "sfp-sfpplus1", "sfp-sfpplus2"))
    ],
    "/interface vlan": [{"interface": "ether1", "name": '"office lan"', "vlan-id": "5"}],
    "/ip pool": [{"name": "dhcp", "ranges": "192.0.2.100-192.0.2.200"}],
    "/ip address": [{"address": "192.0.2.1/24", "interface": "ether1", "network": "192.0.2.0"}],
    "/ip route": [{"gateway": "192.0.2.254", "dst-address": "0.0.0.0/0"}],
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

    def __init__(self, chassis: Chassis, device: FakeRouter) -> None:
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
        texts = {
            "/system resource print": RESOURCE + self.chassis.leak,
            "/system resource cpu print": CORES,
            "/system health print": HEALTH,
            "/export verbose": "# jan/02/1970 00:00:11 by RouterOS 6.44.2\n# software id = 7429-0761\n#\n"
            f"# model = CCR1036-8G-2S+\n# serial number = 742907610A54\n{self.device.text()}",
            f'/interface print terse where name="{name}"': TERSE.format(name=name) if counted else "",
            f'/interface print stats-detail where name="{name}"': f"{FLAGS}\n"
            + (
                STATISTICS.format(name=name, **{what: grouped(n) for what, n in counted.items()})
                if counted
                else ""
            ),
        }
        return (texts | self.chassis.prints).get(plain)


@contextmanager
def opens(stand_in: StandIn, folder: Path) -> Iterator[Opened]:
    """Starts it."""
    chassis = stand_in.chassis()
    device = FakeRouter(folder / "device.json")
    device.create(ITEMS)

    def print_by(text: str) -> str:
        chassis.prints["/log print"] = text
        return "/log print"

    yield Opened(chassis, device, lambda: Session(chassis, device), PROMPT, print_by)


FAKE = StandIn(
    driver="routeros",
    opens=opens,
    kind="emulated/ccr1072",
    ports=("sfp-sfpplus1", "sfp-sfpplus2"),
    rate="10Gbps",
    version="6.44.2",
    state="R",
    template="ccr1072-vlan-routing",
    before={"rx": 158254, "tx": 150156, "in_drops": 0, "out_drops": 2},
    gauges={"CPU": {"5", "7", "10"}, "power": {"60.1"}, "temperature": {"34", "53"}, "fan": {"4225"}},
)
