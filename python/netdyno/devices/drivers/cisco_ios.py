"""Cisco IOS: ISR 800 and other routers whose one processor both forwards and controls."""

from __future__ import annotations

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import (
    CISCO,
    CISCO_RATES,
    COUNTED_LINES,
    IOS_DATED,
    PAUSES,
    REFUSED,
    STATE,
    counters,
)
from netdyno.devices.drivers.gauges import (
    CONTROL_PLANE,
    DATA_PLANE,
    IOS_MEMORY,
    cpu_load,
    of_bgp,
    of_ospf,
    of_ospf3,
    routes,
    watched,
)
from netdyno.devices.drivers.reading import Quantity, Reading
from netdyno.devices.shell import Configuring, Shell

DROPS = (
    ("in_queue_drops", r"Input queue: \d+/\d+/(?P<n>\d+)/\d+"),
    ("out_queue_drops", r"Total output drops: (?P<n>\d+)"),
    *PAUSES,
)
"""Beside those of `CISCO`."""

QUEUES = (
    Quantity("input queue", "packets", r"Input queue: (?P<n>\d+)/\d+/\d+/\d+"),
    Quantity("output queue", "packets", r"Output queue: (?P<n>\d+)/\d+ \(size/max\)"),
)
"""Packets that wait for the processor at the moment."""

NAMES = (
    ("Te", "TenGigabitEthernet"),
    ("Gi", "GigabitEthernet"),
    ("Fa", "FastEthernet"),
    ("Et", "Ethernet"),
    ("Po", "Port-channel"),
)
"""Short names of ports and what they stand for."""

SHELL = Shell(
    netmiko="cisco_ios",
    refused=REFUSED,
    running="show running-config",
    volatile=IOS_DATED,
    configuring=Configuring(),
    grammar="cisco_ios",
    user_mode=">",
)

ROUTES = (
    routes("show ip route summary", "IPv4", "networks", "subnets"),
    routes("show ipv6 route summary", "IPv6", "networks"),
)

NEIGHBORS = (
    ("show ip ospf neighbor", "OSPF", of_ospf),
    ("show ipv6 ospf neighbor", "OSPFv3", of_ospf3),
    ("show bgp ipv4 unicast summary", "BGP IPv4", of_bgp),
    ("show bgp ipv6 unicast summary", "BGP IPv6", of_bgp),
)
"""Commands that list neighbors of routing protocols, and how a row is read."""

XE_MARK = r"\bIOS[ -]?XE\b|LINUX_IOSD|\bIOS Software \[\w+\]"
"""What IOS XE alone prints with its version: it prints the version of its IOS as well."""

CPU = r"CPU utilization for five seconds: (?P<n>\d+)%/\d+%"
CPU_LINES = r"CPU utilization for five seconds"
INTERRUPTS = r"CPU utilization for five seconds: \d+%/(?P<n>\d+)%"

DRIVER = CliDriver(
    name="cisco_ios",
    title="Cisco IOS (ISR 800, 1900, 2900), by SSH",
    proof="transcript",
    shell=SHELL,
    version=("show version", r"Cisco IOS Software[^\n]{0,200}?, Version (?P<n>[^,\s]+)"),
    mark=rf"(?is)\A(?!.*(?:{XE_MARK})).*(?:Cisco IOS Software|Internetwork Operating System|\bIOS \(tm\))",
    port=("show interfaces {port}", STATE),
    readings=(
        counters(
            "show interfaces {port}",
            (*CISCO, *DROPS),
            bits=32,
            beside=(*CISCO_RATES, *QUEUES),
            lines=COUNTED_LINES,
        ),
        Reading(
            "CPU",
            "show processes cpu",
            5.0,
            (cpu_load(CONTROL_PLANE, CPU, "processor"), cpu_load(DATA_PLANE, INTERRUPTS, "processor")),
            lines=CPU_LINES,
        ),
        IOS_MEMORY,
        *ROUTES,
    ),
    daemons=tuple(watched("cisco_ios", *one) for one in NEIGHBORS),
    long_names=NAMES,
    static_routes=("ip route {address} {mask} {via}", "ipv6 route {network} {via}"),
)
