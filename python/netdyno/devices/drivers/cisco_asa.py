"""Cisco ASA: firewalls. What they drop has a reason each (`show asp drop`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import CISCO, COUNTED_LINES, PAUSES, REFUSED, STATE, counters
from netdyno.devices.drivers.gauges import DATA_PLANE, SLOW_S, cpu_load
from netdyno.devices.drivers.reading import Quantity, Reading, UnknownLineError, Value
from netdyno.devices.live import Channel
from netdyno.devices.shell import Configuring, Shell

_AVERAGED = r"^[ \t]*(?P<minutes>1) minute"
RATES = (
    Quantity("rx_packet_rate", "packets/s", rf"{_AVERAGED} input rate (?P<n>\d+) pkts/sec"),
    Quantity("rx_byte_rate", "bytes/s", rf"{_AVERAGED} input rate \d+ pkts/sec, +(?P<n>\d+) bytes/sec"),
    Quantity("tx_packet_rate", "packets/s", rf"{_AVERAGED} output rate (?P<n>\d+) pkts/sec"),
    Quantity("tx_byte_rate", "bytes/s", rf"{_AVERAGED} output rate \d+ pkts/sec, +(?P<n>\d+) bytes/sec"),
)
"""The shorter of the two averages that it prints of an interface with a name."""

CPU = r"CPU utilization for 5 seconds = (?P<n>\d+)%"

_OF_PORT = {
    name: pattern + rf", \d+ {'no buffer' if name.startswith('rx') else 'underruns'}"
    for name, pattern in CISCO
    if not name.endswith("errors")
}
"""A port's own counters, by the field that ends their line."""
_OF_NAME = tuple((f"traffic_{name}", rf"{pattern}[ \t]*$") for name, pattern in CISCO if name in _OF_PORT)
"""Below `Traffic Statistics`: what passed the interface of this name, without layer 2."""

_SECTION = re.compile(r"(Frame|Flow) drop:[ \t]*")
_DROPPED = re.compile(r" {2}\S[^\n]{0,200}?\(([\w-]{1,60})\)? +(\d{1,20})[ \t]*")


def read_drops(text: str) -> Iterator[Value]:
    """Packets and flows that were dropped, by their reasons, which both may have: `show asp drop`."""
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        if found := _SECTION.fullmatch(line):
            section = found[1]
        elif section and (found := _DROPPED.fullmatch(line)):
            name, unit = ("dropped", "packets") if section == "Frame" else ("flows dropped", "flows")
            yield Value(Channel(found[1], name, unit, is_counter=True), Fraction(found[2]))
        elif line.strip() and not line.startswith("Last clearing"):
            raise UnknownLineError(number, line)


DRIVER = CliDriver(
    name="cisco_asa",
    title="Cisco ASA (5505, 5500-X), by SSH",
    proof="written",
    shell=Shell(
        netmiko="cisco_asa",
        refused=(*REFUSED, r"^ERROR: [^\n]*"),
        running="show running-config",
        volatile=(r"^: (?:Saved|Serial Number|Hardware|Written by)[^\n]*", r"^Cryptochecksum:[^\n]*"),
        configuring=Configuring(),
        grammar="cisco_asa",
        user_mode=">",
    ),
    version=("show version", r"Cisco Adaptive Security Appliance Software Version (?P<n>\S+)"),
    mark=r"(?i)Adaptive Security Appliance",
    port=("show interface {port}", STATE),
    readings=(
        counters(
            "show interface {port}",
            (
                *((name, _OF_PORT.get(name, pattern)) for name, pattern in CISCO),
                *_OF_NAME,
                *PAUSES,
                ("in_policy_drops", r"^[ \t]*(?P<n>\d+) switch ingress policy drops"),
                ("out_policy_drops", r"^[ \t]*(?P<n>\d+) switch egress policy drops"),
            ),
            beside=RATES,
            lines=COUNTED_LINES,
        ),
        Reading(
            "CPU", "show cpu usage", 5.0, (cpu_load(DATA_PLANE, CPU, "processor"),), lines="CPU utilization"
        ),
        Reading("drop reasons", "show asp drop", 5.0, by_text=read_drops),
        Reading(
            "memory",
            "show memory",
            SLOW_S,
            (
                Quantity("memory used", "B", r"^Used memory: +(?P<n>\d+) bytes", "memory"),
                Quantity("memory free", "B", r"^Free memory: +(?P<n>\d+) bytes", "memory"),
            ),
            lines=r"^(?:Used|Free) memory:",
        ),
    ),
    long_names=(("Et", "Ethernet"), ("Gi", "GigabitEthernet"), ("Te", "TenGigabitEthernet")),
    static_routes=("route {port} {address} {mask} {via}", "ipv6 route {port} {network} {via}"),
)
