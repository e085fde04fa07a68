"""The FS S5860-20SQ of the published test, by its texts."""

from __future__ import annotations

from fakes.cisco import Model, opens
from fakes.ios import INVALID
from fakes.stand_in import StandIn
from fakes.texts import form, published

RUNNING = """\
hostname fsw0
username lab privilege 15 secret 5 $1$mtAn$x.y
interface FortyGigabitEthernet 0/26
 switchport mode trunk
 switchport trunk allowed vlan only 1
!
interface TenGigabitEthernet 0/1
!
interface TenGigabitEthernet 0/2
 description lab two
 switchport access vlan 5
!
ip route 0.0.0.0 0.0.0.0 192.0.2.254
line vty 0 4
 transport input ssh
!
"""


def print_running(text: str) -> str:
    """`show running-config`."""
    return f"\nBuilding configuration...\nCurrent configuration : {len(text)} bytes\n!\n{text}end\n"


MODEL = Model(
    "fsw0",
    {
        "show version": published("fsos_version"),
        "show cpu core": published("fsos_cpu_core"),
    },
    (
        "show interfaces",
        form(
            published("fsos_interfaces", "============")
            + published("fsos_interfaces", "TenGigabitEthernet 0/1 is"),
            {
                "= TenGigabitEthernet 0/1 =": "= {name} =",
                "TenGigabitEthernet 0/1 is": "{name} is",
                "146076456077 packets input, 52855428936763": "{rx} packets input, {rx_bytes}",
                "31 dropped": "{in_drops} dropped",
                "146107830540 packets output, 52866706405253": "{tx} packets output, {tx_bytes}",
                "12 dropped": "{out_drops} dropped",
            },
        ),
    ),
    print_running,
    {"if": "-if-{}", "vlan": "-vlan", "vty": "-line", "ospf": "-router"},
    INVALID,
    ("% Access denied\n", "% Access denied\n"),
    quiet=("terminal width ",),
    more="--More--",
    erase="\r        \r",
    password="Password:",
)
FAKE = StandIn(
    driver="fsos",
    opens=opens(MODEL, "ios", RUNNING),
    kind="emulated/s5860",
    ports=("Te0/1", "Te0/2"),
    rate="10Gbps",
    version="S5860_FSOS 12.4(1)B0101P1",
    state="UP",
    template="s5860-qinq",
    before={"rx": 146076456077, "tx": 146107830540, "in_drops": 31, "out_drops": 12},
    gauges={"CPU": {"16.40"}},
)
