"""Cisco ASA: firewalls. What they drop has a reason each (`show asp drop`)."""

from __future__ import annotations

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import CISCO, REFUSED, STATE, counters
from netdyno.devices.drivers.gauges import DATA_PLANE, SLOW_S, cpu_load
from netdyno.devices.drivers.reading import Quantity, Reading
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
DROPPED = Quantity("dropped", "packets", r"^ {2}\S.*?\((?P<subject>[\w-]+)\) +(?P<n>\d+)$", is_counter=True)

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
    ),
    version=("show version", r"Cisco Adaptive Security Appliance Software Version (?P<n>\S+)"),
    port=("show interface {port}", STATE),
    readings=(
        counters(
            "show interface {port}",
            (
                *CISCO,
                ("in_policy_drops", r"^[ \t]*(?P<n>\d+) switch ingress policy drops"),
                ("out_policy_drops", r"^[ \t]*(?P<n>\d+) switch egress policy drops"),
            ),
            beside=RATES,
        ),
        Reading("CPU", "show cpu usage", 5.0, (cpu_load(DATA_PLANE, CPU, "processor"),)),
        Reading("drop reasons", "show asp drop", 5.0, (DROPPED,)),
        Reading(
            "memory",
            "show memory",
            SLOW_S,
            (
                Quantity("memory used", "B", r"^Used memory: +(?P<n>\d+) bytes", "memory"),
                Quantity("memory free", "B", r"^Free memory: +(?P<n>\d+) bytes", "memory"),
            ),
        ),
    ),
    long_names=(("Et", "Ethernet"), ("Gi", "GigabitEthernet"), ("Te", "TenGigabitEthernet")),
    static_routes=("route {port} {address} {mask} {via}", "ipv6 route {port} {network} {via}"),
)
