"""The stand-ins that ship, with counters and secrets of a test, and what must be read of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from netdyno.devices.stand_ins import STAND_INS

from fakes.stand_in import Opened, StandIn

PROMPTS = {
    "cisco_ios": "Router881#",
    "cisco_iosxe": "cbs-rtr-4321#",
    "cisco_asa": "cbs-asa-vpn# ",
    "fsos": "fsw0#",
    "routeros": "[lab@MikroTik] > ",
}
LOGS = {"routeros": "/log print"}
"""The command that prints a text of a test."""


@contextmanager
def opens(stand_in: StandIn, folder: Path) -> Iterator[Opened]:
    """Starts one."""
    found = STAND_INS[stand_in.driver].opens(stand_in.chassis(), folder)
    command = LOGS.get(stand_in.driver, "show logging")

    def print_by(text: str) -> str:
        found.chassis.prints[command] = text
        return command

    yield Opened(found.chassis, found.device, found.session, PROMPTS[stand_in.driver], print_by)


def fake(
    driver: str,
    rate: str,
    version: str,
    before: Mapping[str, int],
    template: str = "router",
    gauges: Mapping[str, set[str]] | None = None,
    *,
    state: str = "up",
    load: str = "100%",
    enable: str = "",
    allow: tuple[str, ...] = (),
) -> StandIn:
    """One with the ports and the emulated device that it ships with."""
    shipped = STAND_INS[driver]
    west, east = shipped.ports
    return StandIn(
        driver=driver,
        opens=opens,
        kind=shipped.kind,
        ports=(west, east),
        rate=rate,
        version=version,
        state=state,
        before=before,
        gauges=gauges or {},
        template=template,
        allow=allow,
        enable=enable,
        load=load,
    )


IOS = fake(
    "cisco_ios",
    "100Mbps",
    "15.2(4)M5",
    {"rx": 2**32 - 700, "tx": 2**32 - 500, "in_drops": 217, "out_drops": 31},
    "firewall-nat",
    gauges={"control-plane CPU": {"47"}, "data-plane CPU": {"42"}},
)
IOSXE = fake(
    "cisco_iosxe",
    "1Gbps",
    "03.16.02.S",
    {"rx": 409607083, "tx": 204803541, "in_drops": 0, "out_drops": 4127},
    gauges={
        "control-plane CPU": {"1"},
        "CPU": {"20.16", "4.01", "43.70", "100.00"},
        "data-plane CPU": {"37"},
    },
    load="5%",
)
ASA = fake(
    "cisco_asa",
    "100Mbps",
    "9.2(4)5",
    {"rx": 8241337, "tx": 4120668, "in_drops": 41, "out_drops": 7},
    "firewall",
    {"data-plane CPU": {"31"}},
    enable="planted-enable-4417",
    allow=("same-security-traffic permit inter-interface",),
)
FSOS = fake(
    "fsos",
    "10Gbps",
    "S5860_FSOS 12.4(1)B0101P1",
    {"rx": 146076456077, "tx": 146107830540, "in_drops": 31, "out_drops": 12},
    "s5860-qinq",
    {"CPU": {"16.40"}},
    state="UP",
)
ROUTEROS = fake(
    "routeros",
    "10Gbps",
    "6.44.2",
    {"rx": 158254, "tx": 150156, "in_drops": 0, "out_drops": 2},
    "ccr1072-vlan-routing",
    {"CPU": {"5", "7", "10"}, "power": {"60.1"}, "temperature": {"34", "53"}, "fan": {"4225"}},
    state="R",
)
