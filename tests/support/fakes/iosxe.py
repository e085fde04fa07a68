"""The Cisco ISR 4321 of the published test, by its texts."""

from __future__ import annotations

from fakes.cisco import Model, opens
from fakes.ios import INVALID, SECTIONS, print_running
from fakes.stand_in import StandIn
from fakes.texts import form, published

RUNNING = """\
version 15.5
hostname cbs-rtr-4321
enable secret 5 $1$mtAn$x.y
username lab secret 5 $1$mtAn$x.y
interface GigabitEthernet0
 vrf forwarding Mgmt-intf
 ip address 192.0.2.1 255.255.255.0
 negotiation auto
!
interface GigabitEthernet0/0/0
 description lab one
 ip address 198.51.100.1 255.255.255.252
 negotiation auto
!
interface GigabitEthernet0/0/1
 no ip address
 shutdown
 negotiation auto
!
ip route 0.0.0.0 0.0.0.0 192.0.2.254
line vty 0 4
 login local
 transport input ssh
!
"""
MODEL = Model(
    "cbs-rtr-4321",
    {
        "show version": published("iosxe_version"),
        "show processes cpu": published("iosxe_cpu"),
        "show platform software status control-processor brief": published("iosxe_cores"),
        "show platform hardware qfp active datapath utilization": published("iosxe_qfp"),
    },
    (
        "show interfaces",
        form(
            published("iosxe_interfaces"),
            {
                "GigabitEthernet0/0/0 is": "{name} is",
                "0/375/0/0": "0/375/{in_drops}/0",
                "output drops: 4127": "output drops: {out_drops}",
                "409607083 packets input, 567812345678 bytes": "{rx} packets input, {rx_bytes} bytes",
                "204803541 packets output, 14336247870 bytes": "{tx} packets output, {tx_bytes} bytes",
            },
        ),
    ),
    print_running,
    SECTIONS,
    INVALID,
    ("", "% Access denied\n"),
    quiet=("terminal width ",),
    banner="\n" + "*" * 60 + "\n*  Lab router: # do not touch >  *\n" + "*" * 60 + "\n",
)
FAKE = StandIn(
    driver="cisco_iosxe",
    opens=opens(MODEL, "router", RUNNING),
    kind="emulated/isr-4321",
    ports=("GigabitEthernet0/0/0", "GigabitEthernet0/0/1"),
    rate="1Gbps",
    load="5%",
    version="03.16.02.S",
    state="up",
    template="router",
    before={"rx": 409607083, "tx": 204803541, "in_drops": 0, "out_drops": 4127},
    gauges={
        "control-plane CPU": {"1"},
        "CPU": {"20.16", "4.01", "43.70", "100.00"},
        "data-plane CPU": {"37"},
    },
)
