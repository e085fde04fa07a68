"""Commands that lead back: where a wrong order or a section that is not left does harm."""

from __future__ import annotations

import pytest
from configured import CASES, CONFIGURED, allowed
from faketree import SHELLS
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.apply import plan_changes
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.configure.tree import key, parse, read_running
from netdyno.devices.configure.undo import TreeUndoing

BRIDGE = "l2vpn\n bridge group a\n  bridge-domain b\n   interface Te1\n"


def test_undo_leaves_a_bridge_domain_before_an_interface() -> None:
    now, before = f"{BRIDGE}interface Te1\n mtu 5\n", f"{BRIDGE}   interface Te2\ninterface Te1\n mtu 6\n"
    assert TreeUndoing(SHELLS["xr"]).undo(now, before).splitlines() == [
        *("interface Te1", " no mtu", "root"),
        *("l2vpn", " bridge group a", "  bridge-domain b", "   interface Te2", "  exit", " exit", "root"),
        *("interface Te1", " mtu 6", "root"),
    ]


def test_undo_removes_addresses_before_the_mode_they_need() -> None:
    now = "interface Te1\n no switchport\n ip address 1.1.1.1 255.0.0.0\n"
    before = "interface Te1\n switchport access vlan 5\n"
    assert TreeUndoing(SHELLS["ios"]).undo(now, before).splitlines()[:3] == [
        *("interface Te1", " no ip address 1.1.1.1 255.0.0.0", " switchport"),
    ]


def test_undo_with_a_line_twice_elsewhere_is_the_change_alone() -> None:
    same = "banner motd ^C\nhello\nhello\n^C\nobject x\nobject x\n"
    assert TreeUndoing(SHELLS["ios"]).undo(f"{same}vlan 7\n", same) == "no vlan 7\n"


def test_undo_removes_members_before_their_bundle() -> None:
    now = "interface Te1\n channel-group 1 mode active\ninterface Port-channel1\n"
    lines = TreeUndoing(SHELLS["ios"]).undo(now, "interface Te1\n").splitlines()
    assert lines.index(" no channel-group 1 mode active") < lines.index("no interface Port-channel1")


@pytest.mark.parametrize(
    ("line", "alike"),
    [
        ("interface TenGigabitEthernet 0/1", "interface TenGigabitEthernet0/1"),
        ("interface VLAN 100", "interface vlan 100"),
        ("switchport trunk allowed vlan only 1,20-22", "switchport trunk allowed vlan only 1,20,21,22"),
    ],
)
def test_line_as_a_device_prints_it_is_the_same(line: str, alike: str) -> None:
    assert key(line) == key(alike)


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("switchport trunk allowed vlan only 1,20-22", "switchport trunk allowed vlan only 1,20,22"),
        ("interface TenGigE0/1/0/1", "interface TenGigE0/1/0/11"),
        ("vlan 9-1", "vlan 1-9"),
    ],
)
def test_line_with_another_number_is_another(line: str, other: str) -> None:
    assert key(line) != key(other)


def test_reading_leaves_out_what_changes_by_itself() -> None:
    printed = (
        "Sun Nov  1 00:00:00.1 UTC\r\nBuilding configuration...\r\n!! Last\r\nhostname x\r\n!\r\n\r\nend\r\n"
    )
    assert read_running(printed, SHELLS["xr"]) == "hostname x\n"


def test_section_that_stands_twice_is_one() -> None:
    assert parse("interface a\n mtu 1\ninterface b\ninterface a\n  shutdown\n") == {
        "interface a": {"mtu 1": {}, "shutdown": {}},
        "interface b": {},
    }


@pytest.mark.parametrize("system", ["xr", "ios"])
def test_dry_run_gives_what_is_sent_undone_and_changed(system: str) -> None:
    shell = SHELLS[system]
    dry = plan_changes(CASES[system], f"{CONFIGURED[system]}end\n", TreeUndoing(shell), allowed(system))
    assert " description netdyno\n" in dry.sent
    assert " description lab one\n" in dry.undo
    assert "- description lab one\n" in dry.diff
    assert "+ description netdyno\n" in dry.diff
    assert not [word for word in ("secret", "aaa", "vty", "uplink") if word in dry.diff]
    assert "hostname" not in dry.undo


@pytest.mark.parametrize(
    ("line", "there"),
    [
        ("no ip address", "ip address 192.0.2.1 255.255.255.0"),
        ("no mtu", "mtu 1400"),
        ("no channel-group", "channel-group 1 mode active"),
        ("no description", "description 2 uplinks"),
    ],
)
def test_dry_run_shows_the_whole_line_that_a_bare_no_removes(line: str, there: str) -> None:
    ports = Allowed(SECTIONS["cisco_ios"], ("TenGigabitEthernet0/1",), ("interface TenGigabitEthernet0/1",))
    port = "interface TenGigabitEthernet0/1"
    dry = plan_changes(f"{port}\n {line}\n", f"{port}\n {there}\nend\n", TreeUndoing(SHELLS["ios"]), ports)
    assert dry.sent == f"{port}\n {line}\nexit\n"
    assert dry.diff == f" {port}\n- {there}\n"
    assert dry.undo == f"{port}\n {there}\nexit\n"


def test_address_that_is_printed_as_absent_is_restored_alone() -> None:
    """IOS prints `no ip address`; its negation, `ip address`, it would refuse."""
    now = "interface Te1\n no ip address\n"
    before = "interface Te1\n ip address 192.0.2.1 255.255.255.0\n"
    entered = "interface Te1\n ip address 192.0.2.1 255.255.255.0\nexit\n"
    undoing = TreeUndoing(SHELLS["ios"])
    assert undoing.undo(now, before) == entered
    assert undoing.missing("interface Te1\n no ip address\n", before) == ("interface Te1 / no ip address",)
    text = "interface Te1\n ip address 10.0.0.1 255.0.0.0\n"
    assert undoing.only_ours(before, now, text, None) == now
