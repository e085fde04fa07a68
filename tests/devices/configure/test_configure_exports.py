"""RouterOS: the statements of an export are changed, and lead back."""

from __future__ import annotations

import pytest
from configured import links, rendered
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.exports import ExportUndoing, statements
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.wiring import LabError

EXPORT = r"""# 2026-11-01 00:00:00 by RouterOS 7.14
# software id = AAAA-BBBB
#
/interface ethernet
set [ find default-name=sfp-sfpplus1 ] disabled=no l2mtu=1580 mtu=1500 name=sfp-sfpplus1 \
    speed=10G-baseCR
set [ find default-name=sfp-sfpplus2 ] disabled=no l2mtu=1580 mtu=1500 name=sfp-sfpplus2
/interface vlan
add interface=sfp-sfpplus1 mtu=1500 name="office lan" vlan-id=5
/ip address
add address=192.0.2.1/24 interface=ether1
/ip service
set telnet disabled=yes
/system identity
set name=core
"""
PORTS = ("sfp-sfpplus1", "sfp-sfpplus2")
UNDOING = ExportUndoing()
BEFORE = UNDOING.read(EXPORT)
TEXT = rendered("ccr1072-vlan-routing", "routeros", {}, links(*PORTS))
AFTER = UNDOING.predict(BEFORE, TEXT)


def test_reading_joins_lines_and_leaves_out_comments() -> None:
    assert "speed=10G-baseCR" in BEFORE.splitlines()[0]
    assert "/system identity set name=core" in BEFORE.splitlines()
    assert UNDOING.read(EXPORT.replace("00:00:00", "00:00:01")) == BEFORE
    assert UNDOING.read(BEFORE) == BEFORE


def test_case_is_undone_by_removals_and_former_values() -> None:
    assert UNDOING.missing(TEXT, AFTER) == ()
    assert UNDOING.missing(TEXT, BEFORE) == tuple(TEXT.splitlines())
    commands = UNDOING.undo(AFTER, BEFORE)
    assert "/interface vlan remove [ find name=netdyno-202 ]\n" in commands
    assert "/interface ethernet set [ find default-name=sfp-sfpplus1 ] l2mtu=1580 mtu=1500\n" in commands
    assert UNDOING.predict(AFTER, commands) == BEFORE
    assert UNDOING.undo(BEFORE, BEFORE) == ""


def test_every_part_of_a_case_is_ours_and_undone() -> None:
    lines = TEXT.splitlines(keepends=True)
    for count in range(len(lines) + 1):
        now = UNDOING.predict(BEFORE, "".join(lines[:count]))
        assert UNDOING.only_ours(BEFORE, now, TEXT, None) == now
        assert UNDOING.only_ours(BEFORE, now, TEXT, AFTER) == now
        assert UNDOING.predict(now, UNDOING.undo(now, BEFORE)) == BEFORE


@pytest.mark.parametrize(
    "change",
    [
        "/ip address add address=203.0.113.1/24 interface=ether2",
        "/system identity set name=other",
        "/ip address remove [ find interface=ether1 ]",
        "/interface ethernet set [ find default-name=sfp-sfpplus1 ] speed=1G",
    ],
)
def test_change_of_an_administrator_is_not_ours(change: str) -> None:
    now = UNDOING.predict(AFTER, change)
    assert now != AFTER
    kept = UNDOING.only_ours(BEFORE, now, TEXT, AFTER)
    assert kept == AFTER
    assert UNDOING.undo(kept, BEFORE) == UNDOING.undo(AFTER, BEFORE)


def test_items_without_a_selector_are_known_by_their_names() -> None:
    before = "/ip service\nset telnet disabled=yes port=23\nset ftp disabled=no port=21\n"
    read = UNDOING.read(before)
    assert read.splitlines()[1] == "/ip service set ftp disabled=no port=21"
    assert UNDOING.undo(read, read) == ""
    now = UNDOING.predict(read, "/ip service set telnet disabled=no")
    assert UNDOING.undo(now, read) == "/ip service set telnet disabled=yes\n"
    assert UNDOING.only_ours(read, now, TEXT, None) == read


def test_text_that_is_no_export_is_refused() -> None:
    with pytest.raises(LabError) as raised:
        list(statements("bad command name x (line 1 column 1)"))
    assert raised.value.code == "not-understood"


def refused(text: str) -> bool:
    try:
        Allowed(SECTIONS["mikrotik_routeros"], PORTS, comment="#").check(text, BEFORE)
    except LabError as error:
        return error.code == "section-not-allowed"
    return False


@pytest.mark.parametrize(
    "text",
    [
        "/user add name=evil group=full\n",
        "/system identity set name=x\n",
        "/interface ethernet set [ find name=ether1 ] mtu=9000\n",
        "/interface vlan add interface=ether1 mtu=9000 name=netdyno-1 vlan-id=1\n",
        "/interface vlan add interface=sfp-sfpplus1 mtu=9000 name=netdyno-1 vlan-id=1; /system reboot\n",
        "/ip address add address=10.0.0.1/24 interface=ether1\n",
        "/ip address add address=10.0.0.1/24 interface=netdyno-[/system reboot]\n",
        "/interface ethernet set [ find name=sfp-sfpplus1 ] mtu=[/system reboot]\n",
        "/ip route add dst-address=0.0.0.0/0 gateway=10.0.0.1\n",
        ":execute x\n",
        "interface/ethernet/set sfp-sfpplus1 mtu=9000\n",
    ],
)
def test_statement_of_others_is_refused(text: str) -> None:
    assert refused(text)
