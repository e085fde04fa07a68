"""What is printed for a router is entered line by line on a stand-in for its command line, and read back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any

import pytest
from netdyno.devices.own_router import ROUTERS, Port
from netdyno.devices.stand_ins import STAND_INS
from netdyno.devices.stand_ins.chassis import Chassis

IOS = """\
interface GigabitEthernet0/{slot}0
 ip address 100.64.0.1 255.255.255.252
interface GigabitEthernet0/{slot}1
 ip address 100.64.1.1 255.255.255.252
ip route 198.18.0.0 255.255.0.0 100.64.0.2
ip route 198.19.0.0 255.255.0.0 100.64.1.2
"""
IOS_TAGGED = """\
interface GigabitEthernet0/{slot}0.10
 encapsulation dot1Q 10
 ip address 100.64.0.1 255.255.255.252
interface GigabitEthernet0/{slot}1.20
 encapsulation dot1Q 20
 ip address 100.64.1.1 255.255.255.252
ip route 198.18.0.0 255.255.0.0 100.64.0.2
ip route 198.19.0.0 255.255.0.0 100.64.1.2
arp 100.64.0.2 0200.0000.0101 arpa
arp 100.64.1.2 0200.0000.0102 arpa
"""
PRINTED = {
    "ios": (IOS.format(slot=""), IOS_TAGGED.format(slot="")),
    "ios-xe": (IOS.format(slot="0/"), IOS_TAGGED.format(slot="0/")),
    "ios-xr": (
        """\
interface TenGigE0/0/0/0
 ipv4 address 100.64.0.1 255.255.255.252
interface TenGigE0/0/0/1
 ipv4 address 100.64.1.1 255.255.255.252
router static
 address-family ipv4 unicast
  198.18.0.0/16 100.64.0.2
  198.19.0.0/16 100.64.1.2
""",
        """\
arp vrf default 100.64.0.2 0200.0000.0101 ARPA
arp vrf default 100.64.1.2 0200.0000.0102 ARPA
interface TenGigE0/0/0/0.10
 ipv4 address 100.64.0.1 255.255.255.252
 encapsulation dot1q 10
interface TenGigE0/0/0/1.20
 ipv4 address 100.64.1.1 255.255.255.252
 encapsulation dot1q 20
router static
 address-family ipv4 unicast
  198.18.0.0/16 100.64.0.2
  198.19.0.0/16 100.64.1.2
""",
    ),
    "asa": (
        """\
interface GigabitEthernet0/0
 nameif netdyno1
 security-level 100
 ip address 100.64.0.1 255.255.255.252
interface GigabitEthernet0/1
 nameif netdyno2
 security-level 100
 ip address 100.64.1.1 255.255.255.252
same-security-traffic permit inter-interface
route netdyno1 198.18.0.0 255.255.0.0 100.64.0.2 1
route netdyno2 198.19.0.0 255.255.0.0 100.64.1.2 1
""",
        """\
interface GigabitEthernet0/0.10
 vlan 10
 nameif netdyno1
 security-level 100
 ip address 100.64.0.1 255.255.255.252
interface GigabitEthernet0/1.20
 vlan 20
 nameif netdyno2
 security-level 100
 ip address 100.64.1.1 255.255.255.252
same-security-traffic permit inter-interface
arp netdyno1 100.64.0.2 0200.0000.0101
arp netdyno2 100.64.1.2 0200.0000.0102
route netdyno1 198.18.0.0 255.255.0.0 100.64.0.2 1
route netdyno2 198.19.0.0 255.255.0.0 100.64.1.2 1
""",
    ),
    "fsos": (
        """\
interface TenGigabitEthernet 0/1
 no switchport
 ip address 100.64.0.1 255.255.255.252
interface TenGigabitEthernet 0/2
 no switchport
 ip address 100.64.1.1 255.255.255.252
ip route 198.18.0.0 255.255.0.0 100.64.0.2
ip route 198.19.0.0 255.255.0.0 100.64.1.2
""",
        """\
interface TenGigabitEthernet 0/1
 no switchport
interface TenGigabitEthernet 0/1.10
 encapsulation dot1Q 10
 ip address 100.64.0.1 255.255.255.252
interface TenGigabitEthernet 0/2
 no switchport
interface TenGigabitEthernet 0/2.20
 encapsulation dot1Q 20
 ip address 100.64.1.1 255.255.255.252
ip route 198.18.0.0 255.255.0.0 100.64.0.2
ip route 198.19.0.0 255.255.0.0 100.64.1.2
arp 100.64.0.2 0200.0000.0101 arpa
arp 100.64.1.2 0200.0000.0102 arpa
""",
    ),
    "routeros": (
        """\
add address=100.64.0.1/30 disabled=no interface=ether2 network=100.64.0.0
add address=100.64.1.1/30 disabled=no interface=ether3 network=100.64.1.0
dst-address=198.18.0.0/16 gateway=100.64.0.2
dst-address=198.19.0.0/16 gateway=100.64.1.2
""",
        """\
name=netdyno-10-ether2
vlan-id=10
name=netdyno-20-ether3
vlan-id=20
add address=100.64.0.1/30 disabled=no interface=netdyno-10-ether2
add address=100.64.1.1/30 disabled=no interface=netdyno-20-ether3
add address=100.64.0.2 disabled=no interface=netdyno-10-ether2
mac-address=02:00:00:00:01:01
add address=100.64.1.2 disabled=no interface=netdyno-20-ether3
mac-address=02:00:00:00:01:02
dst-address=198.18.0.0/16 gateway=100.64.0.2
dst-address=198.19.0.0/16 gateway=100.64.1.2
""",
    ),
}
"""What each has afterwards, as it prints it: untagged; tagged with ARP entries."""


def ports_of(router: str, *, tagged: bool) -> tuple[Port, ...]:
    system = ROUTERS[router]
    return tuple(
        Port(
            system.long_name(name),
            IPv4Interface(f"100.64.{number}.1/30"),
            f"100.64.{number}.2",
            f"02:00:00:00:01:0{number + 1}",
            (IPv4Network(f"198.{18 + number}.0.0/16"),),
            10 * (number + 1) if tagged else None,
        )
        for number, name in enumerate(system.ports)
    )


@pytest.mark.parametrize("tagged", [False, True], ids=["untagged", "tagged"])
@pytest.mark.parametrize("router", PRINTED)
def test_text_is_taken_by_a_stand_in_and_is_there_afterwards(
    router: str, tagged: bool, tmp_path: Path
) -> None:
    system = ROUTERS[router]
    opened = STAND_INS[system.driver].opens(Chassis.new(system.ports, ""), tmp_path)
    session = opened.session()
    if router == "routeros":
        # As it is delivered: its ports are in a bridge.
        assert session.run("/interface bridge port add bridge=bridge interface=ether2") == ""
    before, ports = opened.device.text(), ports_of(router, tagged=tagged)
    enter(session, system.text(ports, static_arp=tagged))
    has = opened.device.text()
    at = 0
    # All lines, each section with its own behind its head.
    for wanted in PRINTED[router][tagged].splitlines():
        found = has.find(wanted, 0 if wanted[0] != " " else at)
        assert found >= 0, (wanted, has)
        at = found
    if router == "routeros":
        assert "bridge=bridge" not in has
    enter(session, system.undo(ports, static_arp=tagged))
    # Nothing of it stays. What it replaced, an address of before, is not there again.
    left = {*opened.device.text().splitlines()} - {*before.splitlines()}
    assert not {line for line in left if line[:1] not in "!#" and line not in STAYS[router]}


LAG = {
    "ios": ["interface GigabitEthernet0/1", " channel-group 2 mode active"],
    "ios-xe": ["interface GigabitEthernet0/0/1", " channel-group 2 mode active"],
    "ios-xr": ["interface TenGigE0/0/0/1", " bundle id 2 mode active", " lacp period short"],
    "asa": ["interface GigabitEthernet0/1", " channel-group 2 mode active"],
    "routeros": ["mode=802.3ad", "name=bond2", "slaves=ether3,ether3-b", "interface=bond2"],
    "fsos": ["interface TenGigabitEthernet 0/2", " port-group 2 mode active"],
}


@pytest.mark.parametrize("router", LAG)
def test_lag_is_taken_by_a_stand_in_and_undone(router: str, tmp_path: Path) -> None:
    system = ROUTERS[router]
    names = (*system.ports, f"{system.ports[1]}{'-b' if router == 'routeros' else '5'}")
    opened = STAND_INS[system.driver].opens(Chassis.new(names, ""), tmp_path)
    session, before = opened.session(), opened.device.text()
    plain, member = ports_of(router, tagged=False)
    members = tuple(map(system.long_name, names[1:]))
    lag = replace(member, name=system.lag.format(2), members=members, number=2)
    enter(session, system.text((plain, lag)))
    has, at = opened.device.text(), 0
    for wanted in LAG[router]:
        # RouterOS breaks long lines between its words.
        found = has.find(wanted, at if router != "routeros" else 0)
        assert found >= 0, (wanted, has)
        at = found
    enter(session, system.undo((plain, lag)))
    left = {*opened.device.text().splitlines()} - {*before.splitlines()}
    assert not {line for line in left if line[:1] not in "!#" and line not in STAYS[router]}


def test_page_of_lags_has_the_words_of_each_system() -> None:
    """The page and `netdyno new` print one text; IOS has that of IOS XE, FRR and BIRD have Linux's."""
    page = (Path(__file__).parents[2] / "docs" / "lags.md").read_text()
    for name in {*ROUTERS} - {"ios", "frr", "bird", "other"}:
        system = ROUTERS[name]
        port, members = ports_of(name, tagged=False)[1], tuple(map(system.long_name, system.ports))
        lag = replace(port, name=system.lag.format(1), members=members, number=1)
        assert f"```text\n{system.lag_text(lag)}```" in page, name


STAYS = defaultdict(tuple, fsos=(" no switchport",), asa=("same-security-traffic permit inter-interface",))
"""Lines that undoing leaves: the router may have had them before, or need them elsewhere."""


def enter(session: Any, text: str) -> None:
    """Enters a text line by line; none is refused, and the session is where it began."""
    begun = session.prompt
    for line in text.splitlines():
        answer = session.run(line)
        # The words with which configuration mode begins, and the date of IOS XR, refuse nothing.
        assert answer is not None
        assert not {"%", "ERROR:", "failure:", "bad", "expected", "input"} & {*answer.split()}, (line, answer)
    assert session.prompt == begun


def test_each_router_with_a_stand_in_is_tested_on_it() -> None:
    assert {one.name for one in ROUTERS.values() if one.proof == "stand-in"} == {*PRINTED}
    assert {one.driver for one in ROUTERS.values() if one.proof == "stand-in"} == {*STAND_INS}
