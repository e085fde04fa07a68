"""A Cisco ASA by its published texts. Its login is not privileged; its pager has a sign of its own."""

from __future__ import annotations

from fakes.cisco import Model, opens
from fakes.stand_in import StandIn
from fakes.texts import form, published

DROPPED = """\

Frame drop:
  Reverse-path verify failed (rpf-violated)                                   23
  Flow is denied by configured rule (acl-drop)                                29
  Slowpath security checks failed (sp-security-failed)                        11
  FP L2 rule drop (l2_acl)                                                    35

Last clearing: 10:43:33 EDT Mar 27 2019 by genie

Flow drop:
  NAT failed (nat-failed)                                                    528

Last clearing: 10:43:33 EDT Mar 27 2019 by genie
"""
RUNNING = """\
ASA Version 9.2(4)5
hostname cbs-asa-vpn
enable password 8Ry2YjIyt7RRXU24 encrypted
names
interface Ethernet0/0
 shutdown
 no nameif
 no security-level
 no ip address
!
interface Ethernet0/1
 description lab two
 shutdown
 no nameif
 no security-level
 no ip address
!
interface Management0/0
 nameif management
 security-level 100
 ip address 192.0.2.1 255.255.255.0
!
route management 0.0.0.0 0.0.0.0 192.0.2.254 1
ssh 192.0.2.0 255.255.255.0 management
username lab password 8Ry2YjIyt7RRXU24 encrypted privilege 15
"""


def print_running(text: str) -> str:
    """`show running-config`."""
    head = ": Saved\n\n: \n: Serial Number: JMX1433Z0AB\n: Hardware:   ASA5505, 512 MB RAM\n:\n"
    return f"{head}{text}Cryptochecksum:{sum(text.encode()):032x}\n: end\n"


MODEL = Model(
    "cbs-asa-vpn",
    {
        "show version": published("asa_version"),
        "show cpu usage": "CPU utilization for 5 seconds = 31%; 1 minute: 25%; 5 minutes: 13%\n",
        "show asp drop": DROPPED,
        "show curpriv": "Username : lab\nCurrent privilege level : 1\nCurrent Mode/s : P_UNPR\n",
    },
    (
        "show interface",
        form(
            published("asa_interface", "Interface Ethernet0/0"),
            {
                "Interface Ethernet0/0": "Interface {name}",
                "8241337 packets input, 10934872211 bytes": "{rx} packets input, {rx_bytes} bytes",
                "4120668 packets output, 288446760 bytes": "{tx} packets output, {tx_bytes} bytes",
                "41 switch ingress policy drops": "{in_drops} switch ingress policy drops",
                "7 switch egress policy drops": "{out_drops} switch egress policy drops",
            },
        ),
    ),
    print_running,
    {"if": "-if"},
    "                 ^\nERROR: % Invalid input detected at '^' marker.\n",
    ("Invalid password\n", "Access denied.\n"),
    paging="terminal pager",
    configures=("", ""),
    banner="Type help or '?' for a list of available commands.\n",
    more="<--- More --->",
    erase="\r              \r",
    space=" ",
)
FAKE = StandIn(
    driver="cisco_asa",
    opens=opens(MODEL, "asa", RUNNING),
    kind="emulated/router",
    ports=("Ethernet0/0", "Ethernet0/1"),
    rate="100Mbps",
    version="9.2(4)5",
    state="up",
    template="firewall",
    allow=("same-security-traffic permit inter-interface",),
    before={"rx": 8241337, "tx": 4120668, "in_drops": 41, "out_drops": 7},
    gauges={"data-plane CPU": {"31"}},
    enable="planted-enable-4417",
)
