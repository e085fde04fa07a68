"""What drivers say of a device's neighbours and of the size of its table, by texts that others published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from netdyno.devices import outputs
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.reach.tables import count_routes
from netdyno.devices.shell import Shell
from netdyno.devices.watches.adjacency import Adjacency
from netdyno.devices.watches.by_cli import DaemonsByCli
from netdyno.devices.wiring import LabError
from test_driver_texts import system

DATA = Path(__file__).parents[1] / "data"
PRINTED = DATA / "outputs"
OSPF, BGP = "/routing ospf neighbor print detail", "/routing bgp session print detail"
PEERS = "/routing bgp peer print status"

OSPF_6 = """\
 0 instance=default router-id=89.188.172.2 address=89.188.172.81 interface=vlan68 priority=128 \
dr-address=0.0.0.0 backup-dr-address=0.0.0.0 state="Full" state-changes=5 ls-retransmits=0 \
ls-requests=0 db-summaries=0
   adjacency=7w5d8h40m21s

 1 instance=default router-id=89.188.172.3 address=89.188.172.93 interface=vlan71 priority=128 \
dr-address=0.0.0.0 backup-dr-address=0.0.0.0 state="ExStart" state-changes=5 ls-retransmits=0 \
ls-requests=0 db-summaries=0
"""
"""ntc-templates, test data `routing_ospf_neighbor_print` (RouterOS 6); the state of the second is changed."""
OSPF_7 = """\
Flags: V - virtual; D - dynamic
0 D instance=ospf-instance-1 area=ospf-area-1 address=172.17.0.1 router-id=172.17.0.1 state="Full" \
state-changes=4 adjacency=32m11s
timeout=39s

1 D instance=ospf-instance-1 area=ospf-area-1 address=172.18.0.1
router-id=172.18.0.1 state="Full" state-changes=5 adjacency=34m21s
timeout=39s
"""
"""Notes on OSPF over WireGuard between three RouterOS 7, on GitHub."""
PEER_6 = """\
Flags: X - disabled, E - established
 0   name="OVH-IPv4" instance=GinerNet BGP remote-address=5.196.187.14 remote-as=16276 tcp-md5-key="" \
nexthop-choice=default multihop=no route-reflect=no hold-time=3m ttl=default in-filter=OVH-IN
     out-filter=OVH-OUT address-families=ip update-source=ether1-vrack default-originate=never \
remove-private-as=no as-override=no passive=no use-bfd=no state=connect
"""
"""pastebin.com/JR76rgvz, RouterOS 6.22."""
SESSION_7 = """\
Flags: E - established 
 0 E ;;; BFD session down
     name="ovpn_test1-1" 
     remote.address=111.111.11.11@vrf1 .as=65530 .id=10.155.101.217 
     .capabilities=mp,rr,as4 .hold-time=infinity .messages=40717 
     .bytes=3436281 .eor="" 
     local.address=111.111.11.12@vrf1 .as=555 .id=111.111.11.12 
     .capabilities=mp,rr,gr,as4 .messages=1 .bytes=19 .eor="" 
     output.procid=20 
     input.procid=20 .filter=bgp-in ebgp 
     hold-time=infinity use-bfd=yes uptime=3s210ms 
     last-started=2023-05-19 09:54:04 prefix-count=3853 
"""  # noqa: W291
"""MikroTik's manual, BFD."""
TRIESTAT = """\
Basic info: size of leaf: 48 bytes, size of tnode: 40 bytes.
Id 100:
\tAver depth:     0.00
\tMax depth:      0
\tLeaves:         1
\tPrefixes:       1
Main:
\tAver depth:     2.51
\tMax depth:      7
\tLeaves:         870731
\tPrefixes:       900006
\tInternal nodes: 215420
"""
"""Linux 6.18 with 900,000 routes, 6 of its own and a table 100; `ip route show` lists as many."""


class Texts:
    """A command line that prints a text for each command; it refuses others."""

    shell = Shell("none", (), "")

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def ask(self, command: str, within_s: float = 15.0) -> str:
        if command not in self.texts:
            raise LabError("% Invalid input", code="command-refused")
        if self.texts[command] == "silent":
            raise LabError("silent", code="device-silent")
        return self.texts[command]

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        raise AssertionError

    def confirm(self) -> None:
        raise AssertionError


def neighbours(driver: str, texts: Mapping[str, str]) -> tuple[Adjacency, ...]:
    return DaemonsByCli(Texts(texts), system(DRIVERS[driver]).daemons).ask(1.0)


def counted(driver: str, texts: Mapping[str, str]) -> Mapping[int, int] | None:
    def rows(command: str, text: str) -> tuple[Mapping[str, str], ...]:
        return outputs.parse(driver, command, text).rows

    return count_routes(driver, system(DRIVERS[driver]).readings, Texts(texts), rows)


def text(name: str) -> str:
    return (PRINTED / f"{name}.laid_out.txt").read_text()


def up(protocol: str, *names: str) -> tuple[Adjacency, ...]:
    state = "Established" if protocol == "BGP" else "FULL"
    return tuple(Adjacency(protocol, name, state, True) for name in names)


XR = {
    "show ospf neighbor": text("iosxr_ospf"),
    "show ospfv3 neighbor": text("iosxr_ospfv3"),
    "show bgp ipv4 unicast summary": text("iosxr_bgp_ipv4"),
    "show bgp ipv6 unicast summary": text("iosxr_bgp_ipv6"),
}
"""The ASR9006 article."""
IOS = {
    "show ip ospf neighbor": text("ios_ospf"),
    "show ipv6 ospf neighbor": text("ios_ospfv3"),
    "show bgp ipv4 unicast summary": text("ios_bgp_ipv4"),
    "show bgp ipv6 unicast summary": text("ios_bgp_ipv6"),
}
"""ntc-templates, and labs on GitHub (`outputs/cisco.py` says which)."""


def test_neighbours_of_ios_xr_are_those_of_the_article() -> None:
    vlan = "TenGigE0/0/0/0.101"
    assert neighbours("cisco_iosxr", XR) == (
        Adjacency("OSPF", "194.1.163.66", "2WAY", False),
        *up("OSPF", "194.1.163.67", "194.1.163.87"),
        *up("OSPFv3", f"194.1.163.87 on {vlan}"),
        Adjacency("OSPFv3", f"194.1.163.3 on {vlan}", "2WAY", False),
        *up("OSPFv3", f"194.1.163.4 on {vlan}"),
        *up("BGP", "194.1.163.87", "194.1.163.140", "194.1.163.148"),
        *up("BGP", "2001:678:d78:3::87", "2001:678:d78:6::140", "2001:678:d78:7::148"),
    )


@pytest.mark.parametrize("driver", ["cisco_ios", "cisco_iosxe"])
def test_neighbours_of_ios_are_up_with_a_number_of_prefixes(driver: str) -> None:
    found = neighbours(driver, IOS)
    assert found == (
        *up("OSPF", "10.190.16.11", "10.190.16.12", "10.190.16.3", "10.190.16.4"),
        *up("OSPFv3", "1.1.1.1 on GigabitEthernet6", "3.3.3.3 on GigabitEthernet2"),
        *up("BGP", *(f"10.0.0.{number}" for number in range(1, 10))),
        Adjacency("BGP", "10.0.0.10", "Idle (Admin)", False),
        *(Adjacency("BGP", f"2003:100::{number}", "Idle", False) for number in (2, 3)),
    )


def test_neighbours_of_routeros_are_those_of_either_version() -> None:
    assert neighbours("routeros", {OSPF: OSPF_6, PEERS: PEER_6}) == (
        Adjacency("OSPF", "89.188.172.81", "Full", True),
        Adjacency("OSPF", "89.188.172.93", "ExStart", False),
        Adjacency("BGP", "5.196.187.14", "connect", False),
    )
    lost = SESSION_7.replace(" 0 E ", " 0   ")
    assert neighbours("routeros", {OSPF: OSPF_7, BGP: SESSION_7}) == (
        *(Adjacency("OSPF", one, "Full", True) for one in ("172.17.0.1", "172.18.0.1")),
        *up("BGP", "111.111.11.11@vrf1"),
    )
    assert neighbours("routeros", {BGP: lost}) == (Adjacency("BGP", "111.111.11.11@vrf1", "lost", False),)


@pytest.mark.parametrize(
    ("driver", "command", "printed"),
    [
        # The article's device, cut where a slow one may be; a pager; a log message in the table.
        ("cisco_iosxr", "show ospf neighbor", text("iosxr_ospf")[:400]),
        ("cisco_iosxr", "show bgp ipv6 unicast summary", text("iosxr_bgp_ipv6")[:-70]),
        ("cisco_iosxr", "show bgp ipv4 unicast summary", text("iosxr_bgp_ipv4") + " --More-- "),
        (
            "cisco_iosxe",
            "show bgp ipv4 unicast summary",
            text("ios_bgp_ipv4") + "%BGP-5-ADJCHANGE: neighbor 10.0.0.1 Down Peer closed the session\n",
        ),
        ("cisco_ios", "show ip ospf neighbor", text("ios_ospf")[:-30]),
        ("routeros", OSPF, OSPF_6[:150]),
        ("routeros", BGP, "garbage\n" + SESSION_7),
        ("routeros", BGP, " 0 E name=x\n"),
        ("routeros", PEERS, PEER_6[:-20]),
    ],
)
def test_neighbours_of_a_strange_text_are_an_error(driver: str, command: str, printed: str) -> None:
    with pytest.raises(LabError) as caught:
        neighbours(driver, {command: printed})
    assert caught.value.code == "not-understood"


@pytest.mark.parametrize(
    ("driver", "texts"),
    [
        ("cisco_iosxr", {"show bgp ipv4 unicast summary": "% BGP instance 'default' not active\n"}),
        (
            "cisco_iosxr",
            {
                "show bgp ipv6 unicast summary": "Mon Jul 14 12:59:35.390 UTC\n% None of the requested"
                " address families are configured for instance 'default'(36210)\n",
                "show ospf neighbor": "Mon Jul 14 12:59:35.390 UTC\n",
            },
        ),
        ("cisco_ios", {"show bgp ipv4 unicast summary": "% BGP not active\n", "show ip ospf neighbor": "\n"}),
        ("routeros", {OSPF: "", BGP: "Flags: E - established \n"}),
    ],
)
def test_device_that_routes_by_no_protocol_is_an_error(driver: str, texts: Mapping[str, str]) -> None:
    with pytest.raises(LabError) as caught:
        neighbours(driver, texts)
    assert caught.value.code == "no-routing-daemon"


@pytest.mark.parametrize(
    ("driver", "texts", "found"),
    [
        (
            "cisco_iosxr",
            {
                "show route summary": (DATA / "telemetry" / "iosxr_routes.txt").read_text(),
                "show route ipv6 summary": text("iosxr_routes_ipv6"),
            },
            {4: 14, 6: 29},
        ),
        (
            "cisco_iosxe",
            {
                "show ip route summary": (DATA / "telemetry" / "ios_routes_eigrp.txt").read_text(),
                "show ipv6 route summary": text("ios_routes_ipv6"),
            },
            {4: 3061, 6: 526},
        ),
        ("cisco_ios", {"show ipv6 route summary": text("ios_routes_ipv6")}, {6: 526}),
        ("fsos", {"show ip route": text("fsos_route")}, {4: 9}),
        (
            "routeros",
            {
                "/ip route print count-only where active": "903427\n",
                "/ipv6 route print count-only where active": "142 551\r\n",
            },
            {4: 903427, 6: 142551},
        ),
        (
            "linux",
            {
                "cat /proc/net/fib_triestat": TRIESTAT,
                "cat /proc/net/rt6_stats": "0d6b9 009d2 2e6a1 22ea1 0000 0000 0000\n",
            },
            {4: 900006, 6: 143009},
        ),
        # A kernel without statistics: FRR's own.
        (
            "linux",
            {"vtysh -c 'show ip route summary json'": '{"routesTotal": 12, "routesTotalFib": 11}'},
            {4: 11},
        ),
        ("vpp", {}, None),
        ("cisco_iosxr", {}, None),
    ],
)
def test_routes_are_those_that_the_device_counts(
    driver: str, texts: Mapping[str, str], found: Mapping[int, int] | None
) -> None:
    assert counted(driver, texts) == found


@pytest.mark.parametrize(
    ("driver", "command", "printed", "code"),
    [
        ("cisco_iosxr", "show route summary", "silent", "device-silent"),
        ("cisco_iosxr", "show route ipv6 summary", text("iosxr_routes_ipv6")[:-100], "not-understood"),
        ("cisco_iosxe", "show ipv6 route summary", text("ios_routes_ipv6")[:700], "not-understood"),
        ("linux", "cat /proc/net/fib_triestat", TRIESTAT[:200], "not-understood"),
        ("linux", "cat /proc/net/rt6_stats", "0d6b9", "not-understood"),
        ("routeros", "/ip route print count-only where active", "9034\nmany\n", "not-understood"),
    ],
)
def test_routes_of_a_strange_text_are_an_error(driver: str, command: str, printed: str, code: str) -> None:
    with pytest.raises(LabError) as caught:
        counted(driver, {command: printed})
    assert caught.value.code == code
