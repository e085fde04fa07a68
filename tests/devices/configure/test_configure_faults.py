"""Lost sessions, garbage, reboots and Ctrl-C: a device is as before, or the error has the commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from configured import CASES, CONFIGURED, configurer, device_in, journal_in
from faketree import FakeCli
from netdyno.devices.configure.apply import Configurer, replay
from netdyno.devices.wiring import LabError

SYSTEMS = ("xr", "ios")


def apply_and_undo(subject: Configurer, system: str) -> None:
    subject.apply(CASES[system])
    subject.undo()


def test_commit_for_a_time_is_taken_back_by_the_device(tmp_path: Path) -> None:
    device = device_in(tmp_path, "xr")
    before = device.text()

    def lose(what: str) -> None:
        if what == "confirm":
            raise LabError("gone", code="session-lost")

    cli = FakeCli(device, lose)
    with journal_in(tmp_path) as journal, pytest.raises(LabError) as raised:
        configurer(cli, journal, "xr").apply(CASES["xr"], 60)
    assert raised.value.code == "session-lost"
    device.pass_time(100)
    assert device.text() == before


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("at", range(0, 60, 7))
def test_session_lost_midway_is_undone_by_the_next_start(system: str, at: int, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    steps = 0

    def lose(what: str) -> None:
        nonlocal steps
        steps += 1
        if steps > at:
            raise LabError("the session ended", code="session-lost")

    with journal_in(tmp_path) as journal, pytest.raises(LabError) as raised:
        apply_and_undo(configurer(FakeCli(device, lose), journal, system), system)
    assert raised.value.code == "session-lost"
    with journal_in(tmp_path) as journal:
        replay(FakeCli(device), journal)
        assert journal.pending is None
    assert device.text() == before


@pytest.mark.parametrize("system", SYSTEMS)
def test_ctrl_c_midway_undoes_and_is_passed_on(system: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    steps = 0

    def interrupt(what: str) -> None:
        nonlocal steps
        steps += 1
        if steps == 20:
            raise KeyboardInterrupt

    with journal_in(tmp_path) as journal:
        with pytest.raises(KeyboardInterrupt):
            configurer(FakeCli(device, interrupt), journal, system).apply(CASES[system])
        assert journal.pending is None
    assert device.text() == before


@pytest.mark.parametrize("system", SYSTEMS)
def test_reboot_during_a_case_is_reported_and_nothing_sent(system: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    with journal_in(tmp_path) as journal:
        subject = configurer(FakeCli(device), journal, system)
        subject.apply(CASES[system])
        device.reboot()
        with pytest.raises(LabError) as raised:
            subject.undo()
        assert raised.value.code == "configuration-lost"
        assert journal.pending is None
    assert device.text() == before


def test_commit_that_ran_out_before_it_was_confirmed_is_reported(tmp_path: Path) -> None:
    device = device_in(tmp_path, "xr")
    before = device.text()

    def wait(what: str) -> None:
        if what == "confirm":
            device.pass_time(100)

    with journal_in(tmp_path) as journal:
        with pytest.raises(LabError) as raised:
            configurer(FakeCli(device, wait), journal, "xr").apply(CASES["xr"], 60)
        assert raised.value.code == "configuration-lost"
        assert journal.pending is None
    assert device.text() == before


def test_undo_that_the_device_refuses_gives_its_commands(tmp_path: Path) -> None:
    device = device_in(tmp_path, "xr")
    with journal_in(tmp_path) as journal:
        subject = configurer(FakeCli(device), journal, "xr")
        subject.apply(CASES["xr"])

        def refuse(what: str) -> None:
            if what == "commit":
                raise LabError("% Failed to commit", code="command-refused")

        with pytest.raises(LabError) as raised:
            configurer(FakeCli(device, refuse), journal, "xr").undo()
        assert raised.value.code == "not-undone"
        assert (
            " no description netdyno\n" in raised.value.message or " no description\n" in raised.value.message
        )
        configurer(FakeCli(device), journal, "xr").undo()
    assert device.text() == CONFIGURED["xr"]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("cut", [0, 5, 40, 200, 400])
def test_running_configuration_cut_short_is_not_taken(system: str, cut: int, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()

    class Cutting(FakeCli):
        def ask(self, command: str, within_s: float = 15.0) -> str:
            return super().ask(command, within_s)[:cut]

    with journal_in(tmp_path) as journal:
        with pytest.raises(LabError) as raised:
            configurer(Cutting(device), journal, system).apply(CASES[system])
        assert raised.value.code == "not-understood"
        assert journal.pending is None
    assert device.text() == before


@pytest.mark.parametrize("garbage", ["\x00", "\x1b[2J", "\ufffd", "\x7f"])
def test_garbled_reading_during_a_case_leaves_it_for_the_next_start(garbage: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, "ios")
    before = device.text()

    class Garbling(FakeCli):
        asked = 0

        def ask(self, command: str, within_s: float = 15.0) -> str:
            self.asked += 1
            text = super().ask(command, within_s)
            return text.replace("hostname", garbage) if self.asked > 2 else text

    with journal_in(tmp_path) as journal, pytest.raises(LabError) as raised:
        configurer(Garbling(device), journal, "ios").apply(CASES["ios"])
    assert raised.value.code == "not-understood"
    assert " no description\n" in str(raised.value.hint)
    with journal_in(tmp_path) as journal:
        assert replay(FakeCli(device), journal)
    assert device.text() == before


def test_configuration_that_differs_each_time_is_not_taken(tmp_path: Path) -> None:
    device = device_in(tmp_path, "xr")

    def edit(what: str) -> None:
        if what == "ask":
            device.edit(f"hostname h{device.load()['clock']}")

    with journal_in(tmp_path) as journal, pytest.raises(LabError) as raised:
        configurer(FakeCli(device, edit), journal, "xr").apply(CASES["xr"])
    assert raised.value.code == "not-understood"


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("at", range(3, 40, 6))
def test_undo_after_an_interrupted_undo_completes_it(system: str, at: int, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    steps = -1

    def interrupt(what: str) -> None:
        nonlocal steps
        steps += steps >= 0
        if steps == at:
            raise KeyboardInterrupt

    with journal_in(tmp_path) as journal:
        subject = configurer(FakeCli(device, interrupt), journal, system)
        subject.apply(CASES[system])
        steps = 0
        with pytest.raises(KeyboardInterrupt):
            subject.undo()
        subject.undo()
        assert journal.pending is None
    assert device.text() == before
