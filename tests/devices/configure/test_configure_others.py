"""Changes of others are left, and the commands for ours are given."""

from __future__ import annotations

from pathlib import Path

import pytest
from configured import CASES, allowed, configurer, device_in, journal_in
from faketree import FakeCli
from netdyno.devices.configure.apply import Configurer, replay
from netdyno.devices.wiring import LabError

SYSTEMS = ("xr", "ios")


@pytest.mark.parametrize("system", SYSTEMS)
def test_change_of_an_administrator_is_left_and_commands_given(system: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    with journal_in(tmp_path) as journal:
        subject = configurer(FakeCli(device), journal, system)
        subject.apply(CASES[system])
        device.edit("username mallory secret 0 x")
        changed = device.text()
        with pytest.raises(LabError) as raised:
            subject.undo()
    assert raised.value.code == "changed-since"
    assert device.text() == changed
    with journal_in(tmp_path) as journal, pytest.raises(LabError) as again:
        replay(FakeCli(device), journal)
    assert again.value.code == "changed-since"
    assert again.value.message == raised.value.message
    assert "mallory" not in raised.value.message
    device.edit(raised.value.message.split("By hand:\n")[1])
    with journal_in(tmp_path) as journal:
        assert not replay(FakeCli(device), journal)
        assert journal.pending is None
    device.edit("no username mallory secret 0 x")
    assert device.text() == before


@pytest.mark.parametrize("system", SYSTEMS)
def test_administrator_s_change_while_killed_midway_is_left(system: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    with journal_in(tmp_path) as journal:
        journal.begin(Configurer(FakeCli(device), journal, allowed(system)).read(), CASES[system])
    port = {"xr": "TenGigE0/0/0/0", "ios": "TenGigabitEthernet 0/3"}[system]
    device.edit(f"interface {port}\ndescription changed\nexit\nhostname other")
    changed = device.text()
    with journal_in(tmp_path) as journal:
        # Nothing of the case was entered: there is nothing to undo.
        assert not replay(FakeCli(device), journal)
        assert journal.pending is None
    assert device.text() == changed


@pytest.mark.parametrize(
    ("at", "code"), [("committed", "changed-since"), ("confirmed", "configuration-lost")]
)
def test_change_of_others_while_a_case_is_applied_is_left(at: str, code: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, "xr")

    def edit(what: str) -> None:
        if what == at:
            device.edit("interface TenGigE0/0/0/0\nload-interval 30")

    with journal_in(tmp_path) as journal, pytest.raises(LabError) as raised:
        configurer(FakeCli(device, edit), journal, "xr").apply(CASES["xr"], 60)
    said = f"{raised.value.message}{raised.value.hint}"
    assert raised.value.code == code
    assert " no description\n" in said
    assert "load-interval" not in said
    assert "load-interval" in device.text()
