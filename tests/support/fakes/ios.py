"""The Cisco 881 of the published test, by its texts. Its counters of frames have 32 bits and wrap soon."""

from __future__ import annotations

from fakes.cisco import Model, opens
from fakes.stand_in import StandIn
from fakes.texts import form, published

INVALID = "                 ^\n% Invalid input detected at '^' marker.\n"
SECTIONS = {"if": "-if", "vty": "-line", "ospf": "-router"}
COUNTED = {
    "3/75/217/4": "3/75/{in_drops}/4",
    "output drops: 31": "output drops: {out_drops}",
    "5420113 packets input, 3614206331 bytes": "{rx} packets input, {rx_bytes} bytes",
    "2710211 packets output, 182347812 bytes": "{tx} packets output, {tx_bytes} bytes",
    "11 input errors, 0 CRC, 0 frame, 0 overrun, 11 ignored": "0 input errors, 0 CRC, 0 frame, 0 overrun,"
    " 0 ignored",
}
RUNNING = """\
version 15.2
hostname Router881
enable secret 5 $1$mtAn$x.y
aaa new-model
username lab secret 5 $1$mtAn$x.y
interface FastEthernet0
 no ip address
!
interface FastEthernet3
 description lab one
 no ip address
 shutdown
 duplex auto
 speed auto
!
interface FastEthernet4
 description outside
 ip address 192.0.2.1 255.255.255.0
 duplex auto
 speed auto
!
ip route 0.0.0.0 0.0.0.0 198.51.100.254
line vty 0 4
 login local
 transport input ssh
!
"""
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
    "Router881",
    {
        "show version": published("ios_version"),
        "show processes cpu": published("ios_cpu_cef"),
    },
    (
        "show interfaces",
        form(published("ios_interfaces", "FastEthernet4"), COUNTED | {"FastEthernet4 is": "{name} is"}),
    ),
    print_running,
    SECTIONS,
    INVALID,
    ("", "% Bad secrets\n"),
    quiet=("terminal width ",),
    banner="\nAuthorized access only\n\n",
    wraps=2**32,
)
FAKE = StandIn(
    driver="cisco_ios",
    opens=opens(MODEL, "router", RUNNING),
    kind="emulated/router",
    ports=("FastEthernet3", "FastEthernet4"),
    rate="100Mbps",
    version="15.2(4)M5",
    state="up",
    template="router",
    before={"rx": 2**32 - 700, "tx": 2**32 - 500, "in_drops": 217, "out_drops": 31},
    gauges={"control-plane CPU": {"47"}, "data-plane CPU": {"42"}},
)
