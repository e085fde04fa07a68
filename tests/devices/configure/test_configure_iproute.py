"""Linux: what `ip` and `sysctl` print is read as commands, and undone by their inverse."""

from __future__ import annotations

import pytest
from configured import links
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.iproute import IpUndoing
from netdyno.devices.configure.render import render
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.wiring import LabError

PRINTED = r"""1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT\    link/ether 02:00
3: eth1@if7: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN mode DEFAULT\    link/ether 02:01
4: eth2: <BROADCAST,MULTICAST> mtu 9000 qdisc noop state DOWN mode DEFAULT\    link/ether 02:02
1: lo    inet 127.0.0.1/8 scope host lo\       valid_lft forever
2: eth0    inet 192.0.2.9/24 brd 192.0.2.255 scope global dynamic eth0\       valid_lft 85993sec
2: eth0    inet6 fe80::1/64 scope link \       valid_lft forever
2: eth0    inet 198.51.100.1/24 scope global eth0\       valid_lft forever
default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.9 metric 100
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.9
203.0.113.0/24 via 192.0.2.1 dev eth0
2001:db8::/32 via fe80::2 dev eth0 proto static metric 1024 pref medium
10.0.0.0/8 via 192.0.2.7 dev eth0 proto bird metric 32
net.ipv4.ip_forward = 0
net.ipv6.conf.all.forwarding = 0
"""
PORTS = ("eth1", "eth2")
UNDOING = IpUndoing()
BEFORE = UNDOING.read(PRINTED)
TEXT = render("router", "linux", {}, links(*PORTS))
AFTER = UNDOING.predict(BEFORE, TEXT).replace("via 100.64.0.2", "via 100.64.0.2 dev eth1")


def test_reading_is_the_commands_that_make_it() -> None:
    assert BEFORE.splitlines() == [
        "sysctl -w net.ipv4.ip_forward=0",
        "sysctl -w net.ipv6.conf.all.forwarding=0",
        *("ip link set dev lo mtu 65536", "ip link set dev lo up", "ip link set dev eth0 mtu 1500"),
        *("ip link set dev eth0 up", "ip link set dev eth1 mtu 1500", "ip link set dev eth1 down"),
        *("ip link set dev eth2 mtu 9000", "ip link set dev eth2 down"),
        *("ip address add 127.0.0.1/8 dev lo", "ip address add 198.51.100.1/24 dev eth0"),
        "ip route add 203.0.113.0/24 via 192.0.2.1 dev eth0",
        "ip -6 route add 2001:db8::/32 via fe80::2 dev eth0",
    ]


def test_lease_and_routes_of_daemons_do_not_change_a_reading() -> None:
    changed = PRINTED.replace("85993sec", "3sec").replace(
        "10.0.0.0/8 via 192.0.2.7 dev eth0 proto bird metric 32\n", ""
    )
    assert UNDOING.read(changed) == BEFORE


def test_case_is_undone_by_inverse_commands() -> None:
    assert UNDOING.missing(TEXT, AFTER) == ()
    assert set(UNDOING.missing(TEXT, BEFORE)) == set(TEXT.splitlines())
    commands = UNDOING.undo(AFTER, BEFORE)
    assert commands.splitlines() == [
        "ip route del 48.0.0.0/8 via 100.64.1.2",
        "ip route del 16.0.0.0/8 via 100.64.0.2 dev eth1",
        *("ip address del 100.64.1.1/30 dev eth2", "ip address del 100.64.0.1/30 dev eth1"),
        *("sysctl -w net.ipv4.ip_forward=0", "ip link set dev eth1 down", "ip link set dev eth2 down"),
    ]
    assert sorted(UNDOING.predict(AFTER, commands).splitlines()) == sorted(BEFORE.splitlines())


def test_every_part_of_a_case_is_ours() -> None:
    lines = TEXT.splitlines(keepends=True)
    for count in range(len(lines) + 1):
        now = UNDOING.predict(BEFORE, "".join(lines[:count]))
        for after in (None, UNDOING.predict(BEFORE, TEXT)):
            kept = UNDOING.only_ours(BEFORE, now, TEXT, after)
            assert not UNDOING.undo(now, kept)
            assert not UNDOING.undo(kept, now)


@pytest.mark.parametrize(
    "change",
    [
        "ip address add 10.9.9.9/24 dev eth0",
        "ip link set dev eth0 mtu 9000",
        "ip route add 198.18.0.0/15 via 192.0.2.1",
        "ip address del 198.51.100.1/24 dev eth0",
        "sysctl -w net.ipv6.conf.all.forwarding=1",
    ],
)
def test_change_of_an_administrator_is_not_ours(change: str) -> None:
    now = UNDOING.predict(AFTER, change)
    assert now != AFTER
    for after in (None, AFTER):
        kept = UNDOING.only_ours(BEFORE, now, TEXT, after)
        assert UNDOING.undo(now, kept)
        assert set(UNDOING.undo(kept, BEFORE).splitlines()) == set(UNDOING.undo(AFTER, BEFORE).splitlines())


def refused(text: str) -> bool:
    try:
        Allowed(SECTIONS["linux"], PORTS, comment="#").check(text, BEFORE)
    except LabError as error:
        return error.code == "section-not-allowed"
    return False


def test_commands_of_the_ready_template_are_allowed() -> None:
    assert not refused(TEXT)


@pytest.mark.parametrize(
    "text",
    [
        "ip link set dev eth0 down\n",
        "ip address add 10.0.0.1/24 dev eth0\n",
        "ip address flush dev eth1\n",
        "ip route add default via 100.64.0.2\n",
        "ip route add 0.0.0.0/1 via 100.64.0.2\n",
        "sysctl -w kernel.panic=1\n",
        "ip link set dev eth1 up; reboot\n",
        "ip link set dev eth1 up && reboot\n",
        "ip address add $(reboot)/24 dev eth1\n",
        "rm -rf x\n",
    ],
)
def test_command_of_others_is_refused(text: str) -> None:
    assert refused(text)
