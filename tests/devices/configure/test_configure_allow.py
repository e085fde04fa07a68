"""Only sections of the lab are configured; commands never."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from configured import CONFIGURED, allowed
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.sections import ASA
from netdyno.devices.wiring import LabError


def refused(system: str, text: str, *allow: str) -> bool:
    """Whether the text is refused on the usual configuration."""
    try:
        allowed(system, *allow).check(text, CONFIGURED[system])
    except LabError as error:
        found = error
    else:
        return False
    assert found.code == "section-not-allowed"
    assert found.hint
    return True


@pytest.mark.parametrize(
    "text",
    [
        "interface TenGigE0/1/0/0.100 l2transport\n encapsulation dot1q 100\n",
        "interface TenGigE0/1/0/0.100\n rewrite ingress tag pop 1 symmetric\n",
        "interface Bundle-Ether1\n mtu 9000\ninterface TenGigE0/1/0/0\n bundle id 1 mode active\n",
        "interface Bundle-Ether1.5\n mtu 9000\ninterface TenGigE0/1/0/0\n bundle id 1 mode active\n",
        "no interface TenGigE0/1/0/0\n",
        "router ospf 1\n area 0\n  interface TenGigE0/1/0/0\n",
        "arp vrf default 10.0.0.7 0000.0000.0001 ARPA\n",
        "l2vpn\n no xconnect group loadtest\n",
        "interface TenGigE0/1/0/0\n ipv4 address 100.64.0.1/30\narp vrf default 100.64.0.2 0.0.1 ARPA\n",
    ],
)
def test_section_of_the_lab_on_ios_xr_is_allowed(text: str) -> None:
    assert not refused("xr", text)


@pytest.mark.parametrize(
    "text",
    [
        # Management, logins, other interfaces.
        "username evil secret x\n",
        "aaa authentication login default none\n",
        "line vty 0 4\n transport input telnet\n",
        "interface TenGigE0/0/0/0\n shutdown\n",
        "interface MgmtEth0/RSP0/CPU0/0\n shutdown\n",
        "no interface TenGigE0/0/0/0\n",
        "default interface TenGigE0/0/0/0\n",
        "interface TenGigE0/1/0/00\n shutdown\n",
        "interface TenGigE0/1\n shutdown\n",
        "hostname other\n",
        # Bundles, bridges and cross connects with interfaces of others.
        "interface Bundle-Ether9\n shutdown\n",
        "interface TenGigE0/1/0/0\n bundle id 9 mode active\n",
        "no l2vpn\n",
        "l2vpn\n load-balancing flow src-dst-ip\n",
        "l2vpn\n no bridge group prod\n",
        "l2vpn\n bridge group prod\n  bridge-domain office\n   interface TenGigE0/1/0/0\n",
        "l2vpn\n bridge group x\n  bridge-domain y\n   interface TenGigE0/0/0/0\n",
        "l2vpn\n xconnect group x\n  p2p y\n   interface TenGigE0/0/0/0\n",
        "router ospf 1\n area 0\n  interface TenGigE0/0/0/0\n",
        # Routes in the place of the default route, and of others.
        "router static\n address-family ipv4 unicast\n  0.0.0.0/0 10.0.0.2\n",
        "router static\n address-family ipv4 unicast\n  0.0.0.0/1 10.0.0.2\n",
        "router static\n address-family ipv6 unicast\n  ::/0 2001:db8::1\n",
        "router static\n address-family ipv4 unicast\n  no 16.0.0.0/8 10.0.0.9\n",
        "router static\n no address-family ipv4 unicast\n",
        "no router static\n",
        "router static\n vrf management\n",
        "arp vrf default 192.0.2.9 0000.0000.0001 ARPA\n",
        # Lines that an interface does not have are looked up above it.
        "interface TenGigE0/1/0/0\n username evil secret x\n",
        "interface TenGigE0/1/0/0\n router static\n  0.0.0.0/0 1.1.1.1\n",
        "interface TenGigE0/1/0/0\n ipv4 access-list x\n",
        "interface TenGigE0/1/0/0\n lacp system priority 1\n",
        "router bgp 1\n",
        # Other spellings of the same.
        "interface TenGigE0/1/0/0\n bundle  id 9 mode active\n",
        "interface TenGigE0/1/0/0\n Bundle id 9 mode active\n",
        "interface TenGigE0/1/0/0\n bundle i 9 mode active\n",
        "l2vpn\n bridge group x\n  bridge-domain y\n   Interface TenGigE0/0/0/0\n",
        "l2vpn\n bridge group x\n  bridge-domain y\n   int TenGigE0/0/0/0\n",
        "l2vpn\n NO bridge group prod\n",
        "L2VPN\n no  bridge  group  prod\n",
        "NO l2vpn\n",
        "interface preconfigure TenGigE0/0/0/0\n shutdown\n",
        "interface TenGigE0/0/0/0 shutdown\n",
    ],
)
def test_section_of_others_on_ios_xr_is_refused(text: str) -> None:
    assert refused("xr", text)
    first = re.sub("(?i)^(?:no|default) ", "", text.split("\n")[0])
    assert not refused("xr", text.replace("NO ", "no "), first)


@pytest.mark.parametrize(
    "text",
    [
        "interface TenGigabitEthernet 0/26\n shutdown\n",
        "interface VLAN 5\n shutdown\n",
        "vlan 5\n name mine\n",
        "no vlan 5\n",
        "interface TenGigabitEthernet 0/2\n switchport access vlan 5\n",
        "ip route 0.0.0.0 0.0.0.0 100.64.0.2\n",
        "ip route 128.0.0.0 128.0.0.0 100.64.0.2\n",
        "no ip route 10.9.0.0 255.255.0.0 10.0.0.9\n",
        "router ospf 1\n network 0.0.0.0 255.255.255.255 area 0\n",
        "interface TenGigabitEthernet 0/1\n ip route 0.0.0.0 0.0.0.0 1.1.1.1\n",
        "interface TenGigabitEthernet 0/1\n aggregateport load-balance dst-ip\n",
        "interface TenGigabitEthernet 0/1\n spanning-tree portfast bpdufilter default\n",
        "line vty 0 4\n no login\n",
        "interface TenGigabitEthernet 0/2\n switchport acc vlan 5\n",
        "interface TenGigabitEthernet 0/2\n switchport  access  vlan  5\n",
        "interface TenGigabitEthernet 0/2\n switchport mode trunk\n",
        "interface range TenGigabitEthernet 0/1-26\n shutdown\n",
        "interface range TenGigabitEthernet 0/1\n shutdown\n",
        "snmp-server community x rw\n",
    ],
)
def test_section_of_others_on_a_switch_is_refused(text: str) -> None:
    assert refused("ios", text)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "end",
            "exit",
            "root",
            "commit",
            "abort",
            "do reload",
            "do-exec show run",
            "no do reload",
            "reload",
        ),
        *("copy running-config tftp:", "hw-module location 0/0/CPU0 reload", "admin", "write erase", "wr"),
        *("show run", "conf t", "run rm", "quit", " end", "  Exit", "REL", "clear counters"),
        *("description x\rreload", "description \x1a", "description \x03", "mtu\t9000", "description a\x85b"),
        *("description \u2028reload", "description why?", "description " + "x" * 1001, "terminal length 0"),
    ],
)
def test_command_is_refused_even_if_the_plan_allows_it(line: str) -> None:
    assert refused("xr", f"interface TenGigE0/1/0/0\n {line}\n", "interface", "interface TenGigE0/1/0/0")
    assert refused("xr", f"{line}\n", line, line.strip(), "interface")


def test_plan_that_allows_a_line_allows_no_longer_name() -> None:
    assert not refused("xr", "interface TenGigE0/0/0/0\n shutdown\n", "interface TenGigE0/0/0/0")
    assert refused("xr", "interface TenGigE0/0/0/01\n shutdown\n", "interface TenGigE0/0/0/0")
    assert not refused("ios", "vlan 5\n name x\n", "vlan")
    assert not refused("ios", "ip route 0.0.0.0 0.0.0.0 1.1.1.1\n", "ip route 0.0.0.0 0.0.0.0")
    assert refused("ios", "ip route 0.0.0.0 0.0.0.0 1.1.1.1\n", "", " ")


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("router", "no ip cef\n"),
        ("router", "default ip cef\n"),
        ("router", "interface GigabitEthernet0/0/0\n no ip redirects\n"),
        ("ios", "no vlan 5\n"),
        ("xr", "no router bgp 1\n"),
        ("xr", "router bgp 1\n no neighbor 192.0.2.9\n"),
        ("xr", "line vty 0 4\n no exec-timeout\n"),
        ("xr", "interface TenGigE0/1/0/0\n no lacp system priority\n"),
        ("xr", "l2vpn\n no bridge group prod\n"),
    ],
)
def test_line_is_allowed_as_its_own_hint_says(system: str, text: str) -> None:
    checked = allowed(system)
    before = CONFIGURED[system]
    hints = []
    for _ in range(3):
        try:
            checked.check(text, before)
            break
        except LabError as error:
            hints.append((error.hint or "").split("`")[1])
            checked = replace(checked, allow=(*checked.allow, hints[-1]))
    checked.check(text, before)


def test_removal_that_is_allowed_allows_no_addition() -> None:
    assert not refused("xr", "no hostname\n", "no hostname")
    assert refused("xr", "hostname other\n", "no hostname")


def test_error_names_the_line_and_what_to_allow() -> None:
    with pytest.raises(LabError) as raised:
        allowed("xr").check("line vty 0 4\n transport input telnet\n", CONFIGURED["xr"])
    assert "`line vty 0 4`" in raised.value.message
    assert "`line vty 0 4` in `allow:`" in str(raised.value.hint)


def test_asa_interface_and_route_of_the_lab_are_allowed() -> None:
    asa = Allowed(ASA, ("GigabitEthernet0/1",))
    asa.check("interface GigabitEthernet0/1\n nameif lab\n ip address 10.0.0.1 255.0.0.0\n", "")
    asa.check("route lab 48.0.0.0 255.0.0.0 10.0.0.2\n", "")
    for text in ("route lab 0.0.0.0 0.0.0.0 10.0.0.2\n", "access-list x permit ip any any\n"):
        with pytest.raises(LabError):
            asa.check(text, "")
