"""Configuration of a device is applied, verified and undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from configured import CASES, CONFIGURED, PORTS, allowed, configurer, device_in, journal_in, links
from faketree import FakeCli
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.journal import list_pending
from netdyno.devices.configure.render import list_ready, render
from netdyno.devices.configure.replay import replay
from netdyno.devices.configure.systems import find_allowed
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


BARE = "hostname x\n" + "".join(f"interface {port}\n shutdown\n!\n" for port in sorted(PORTS["xr"]))


@pytest.mark.parametrize("name", list_ready("cisco_iosxr"))
def test_ready_template_is_applied_and_undone(name: str, tmp_path: Path) -> None:
    first, second, *others = PORTS["xr"]
    ports = (first, others[0], second, others[1]) if name.endswith("lag") else (first, second)
    text = render(name, "cisco_iosxr", {}, links(*ports))
    device = device_in(tmp_path, "xr", BARE)
    with journal_in(tmp_path) as journal:
        cli = FakeCli(device)
        subject = Configurer(cli, journal, find_allowed(cli.shell, ports))
        subject.apply(text, 60)
        assert ("l2vpn" in device.text()) == ("ipv4" not in name)
        subject.undo()
    assert device.text() == BARE


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


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("xr", "interface TenGigE0/1/0/0\n mtu 1514\n l2transport\n"),
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
        assert replay(FakeCli(device), journal)
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
        assert replay(FakeCli(device), journal)
    assert device.text() == changed


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
    assert [entry.identity.host for entry in list_pending(tmp_path / "state")] == ["192.0.2.1"]


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
