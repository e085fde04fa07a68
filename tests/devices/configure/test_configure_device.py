"""Configuration of a device is applied, verified and undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from configured import CASES, CONFIGURED, configurer, device_in, journal_in
from faketree import FakeCli
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.journal import list_pending
from netdyno.devices.wiring import LabError

SYSTEMS = ("xr", "ios")


def apply_and_undo(subject: Configurer, system: str) -> None:
    subject.apply(CASES[system])
    subject.undo()


@pytest.mark.parametrize("system", SYSTEMS)
def test_fake_device_prints_what_it_was_created_with(system: str, tmp_path: Path) -> None:
    assert device_in(tmp_path, system).text() == CONFIGURED[system]


@pytest.mark.parametrize("system", SYSTEMS)
def test_case_is_applied_and_undone_byte_for_byte(system: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    with journal_in(tmp_path) as journal:
        for _ in range(2):
            applied = configurer(FakeCli(device), journal, system).apply(CASES[system], 60)
            assert device.load()["trial"] is None
            assert "+ description netdyno" in applied.diff
            assert "- description lab one" in applied.diff
            assert applied.undo is not None
            applied.undo()
            assert device.text() == before
            assert journal.pending is None


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("xr", "interface TenGigE0/2/0/0\n ipv4 address 10.1.0.1 255.0.0.0\n mtu 1514\n l2transport\n"),
        ("ios", "interface TenGigabitEthernet 0/1\n mtu 1500\n ip address 100.64.0.1 255.255.255.0\n"),
    ],
)
def test_refused_line_leaves_the_device_as_it_was(system: str, text: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    with journal_in(tmp_path) as journal:
        with pytest.raises(LabError) as raised:
            configurer(FakeCli(device), journal, system).apply(text)
        assert raised.value.code == "command-refused"
        assert journal.pending is None
    assert device.text() == before


def test_line_that_takes_no_effect_is_named_and_undone(tmp_path: Path) -> None:
    device = device_in(tmp_path, "ios")
    before = device.text()
    text = "interface TenGigabitEthernet 0/1\n switchport access vlan 7\n no switchport\n"
    with journal_in(tmp_path) as journal, pytest.raises(LabError) as raised:
        configurer(FakeCli(device), journal, "ios").apply(text)
    assert raised.value.code == "not-applied"
    assert "switchport access vlan 7" in raised.value.message
    assert device.text() == before


def test_side_effect_in_a_section_of_the_case_is_undone(tmp_path: Path) -> None:
    device = device_in(tmp_path, "xr")
    before = device.text()

    def add(what: str) -> None:
        if what == "committed" and "netdyno" in device.text():
            device.edit("interface TenGigE0/1/0/0\nload-interval 30")

    with journal_in(tmp_path) as journal:
        apply_and_undo(configurer(FakeCli(device, add), journal, "xr"), "xr")
    assert device.text() == before


def test_text_without_a_line_sends_nothing(tmp_path: Path) -> None:
    sent: list[str] = []
    with journal_in(tmp_path) as journal:
        applied = configurer(FakeCli(device_in(tmp_path, "xr"), sent.append), journal, "xr").apply("!\n")
        assert journal.pending is None
    assert applied.undo is None
    assert set(sent) == {"ask", "asked"}


def test_second_case_before_the_undo_is_refused(tmp_path: Path) -> None:
    device = device_in(tmp_path, "xr")
    with journal_in(tmp_path) as journal:
        subject = configurer(FakeCli(device), journal, "xr")
        subject.apply(CASES["xr"])
        with pytest.raises(LabError) as raised:
            subject.apply(CASES["xr"])
        assert raised.value.code == "undo-pending"
    assert [entry.identity.host for entry in list_pending(tmp_path / "state").values()] == ["192.0.2.1"]
