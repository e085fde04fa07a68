"""Linux: what `ip` and `sysctl` print is read as commands, and undone by their inverse."""

from __future__ import annotations

import pytest
from configured import links, rendered
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.iproute import IpUndoing
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.wiring import LabError

LINKS = (
    '[{"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536},'
    '{"ifname":"eth0","flags":["BROADCAST","UP"],"mtu":1500,"address":"02:00:00:00:00:01"},'
    '{"link_index":7,"ifname":"eth1","flags":["BROADCAST"],"mtu":1500},'
    '{"ifname":"eth2","flags":["BROADCAST"],"mtu":9000}]'
)
ADDRESSES = (
    '[{"ifname":"lo","addr_info":[{"local":"127.0.0.1","prefixlen":8,"scope":"host","label":"lo"}]},'
    '{"ifname":"eth0","address":"02:00:00:00:00:01","addr_info":['
    '{"local":"192.0.2.9","prefixlen":24,"broadcast":"192.0.2.255","scope":"global","dynamic":true,'
    '"label":"eth0","valid_life_time":85993},'
    '{"local":"198.51.100.1","prefixlen":24,"scope":"global","label":"eth0"},'
    '{"local":"fe80::ff:fe00:1","prefixlen":64,"scope":"link"}]}]'
)
PRINTED = rf"""{LINKS}
{ADDRESSES}
unicast default via 192.0.2.1 dev eth0 table main proto dhcp scope global src 192.0.2.9 metric 100
unicast 192.0.2.0/24 dev eth0 table main proto kernel scope link src 192.0.2.9
unicast 203.0.113.0/24 via 192.0.2.1 dev eth0 table main proto boot scope global
unicast 10.0.0.0/8 via 192.0.2.7 dev eth0 table main proto bird scope global metric 32
netdyno-ipv6
unicast 2001:db8::/32 via fe80::2 dev eth0 table main proto static scope global metric 1024 pref medium
net.ipv4.ip_forward = 0
net.ipv4.conf.all.accept_redirects = 1
net.ipv6.conf.all.forwarding = 0
/proc/sys/net/ipv4/conf/eth0/forwarding:0
netdyno-end
"""
PORTS = ("eth1", "eth2")
UNDOING = IpUndoing()
BEFORE = UNDOING.read(PRINTED)
TEXT = rendered("router", "linux", {}, links(*PORTS))
AFTER = UNDOING.predict(BEFORE, TEXT).replace("via 100.64.0.2", "via 100.64.0.2 dev eth1")


def test_reading_is_the_commands_that_make_it() -> None:
    assert BEFORE.splitlines() == [
        "sysctl -w net.ipv4.ip_forward=0",
        "sysctl -w net.ipv4.conf.all.accept_redirects=1",
        "sysctl -w net.ipv6.conf.all.forwarding=0",
        "sysctl -w net/ipv4/conf/eth0/forwarding=0",
        *("ip link set dev lo mtu 65536", "ip link set dev lo up", "ip link set dev eth0 mtu 1500"),
        *("ip link set dev eth0 up", "ip link set dev eth1 mtu 1500", "ip link set dev eth1 down"),
        *("ip link set dev eth2 mtu 9000", "ip link set dev eth2 down"),
        *("ip address add 127.0.0.1/8 dev lo", "ip address add 198.51.100.1/24 dev eth0"),
        "ip route add 203.0.113.0/24 via 192.0.2.1 dev eth0 proto boot scope global",
        "ip -6 route add 2001:db8::/32 via fe80::2 dev eth0 proto static scope global metric 1024"
        " pref medium",
    ]


@pytest.mark.parametrize("line", range(1, len(PRINTED.splitlines()) + 1))
def test_reading_that_was_cut_short_is_refused(line: int) -> None:
    """At the end of each line, in its middle, and without the lines before it."""
    lines = PRINTED.splitlines()
    cuts = ["\n".join(lines[: line - 1]), "\n".join(lines[:line])[: -len(lines[line - 1]) // 2 or -1]]
    for cut in cuts:
        with pytest.raises(LabError) as raised:
            UNDOING.read(cut)
        assert raised.value.code == "not-understood"


@pytest.mark.parametrize(
    "unknown", ["RTNETLINK answers: x", "Error: x", "2: eth0: <UP> mtu 1", "ip: not found"]
)
def test_line_that_is_unknown_is_refused(unknown: str) -> None:
    with pytest.raises(LabError) as raised:
        UNDOING.read(PRINTED.replace("netdyno-ipv6", f"{unknown}\nnetdyno-ipv6"))
    assert raised.value.code == "not-understood"


def test_settings_of_interfaces_that_forwarding_sets_are_ours() -> None:
    now = BEFORE.replace("ip_forward=0", "ip_forward=1").replace("redirects=1", "redirects=0")
    now = now.replace("eth0/forwarding=0", "eth0/forwarding=1")
    assert UNDOING.foreign(BEFORE, now, TEXT) == ()
    other = now.replace("ip_forward=1", "ip_forward=0")
    assert UNDOING.foreign(BEFORE, other, "ip link set dev eth1 up\n") != ()


def test_lease_and_routes_of_daemons_do_not_change_a_reading() -> None:
    changed = PRINTED.replace("85993", "3").replace(
        "unicast 10.0.0.0/8 via 192.0.2.7 dev eth0 table main proto bird scope global metric 32\n", ""
    )
    assert changed != PRINTED
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
