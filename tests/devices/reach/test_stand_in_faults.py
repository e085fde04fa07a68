"""Sessions of each driver with a device that misbehaves: survived, or named by a code in bounded time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from fakes import STAND_INS
from fakes.lab import Lab
from fakes.server import PASSWORD, USER, Faults
from fakes.stand_in import Opened, StandIn
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.system import System
from netdyno.devices.reach.session import Session
from netdyno.devices.wiring import LabError
from netmiko import BaseConnection

PAGED = ("cisco_ios", "cisco_iosxe", "cisco_asa", "fsos")
LINES = "".join(f"line {number} of a long text, 100 % plain\n" for number in range(60))


@dataclass
class Reached:
    """A stand-in with a session that tests share: what one of them does to it, it takes back."""

    stand_in: StandIn
    opened: Opened
    lab: Lab
    session: Session

    @property
    def faults(self) -> Faults:
        return self.lab.server.faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self.lab.server.faults = faults

    def login(self) -> Session:
        """A further session."""
        return Session(self.session.access, self.session.shell)

    def refused(self, command: str, within_s: float = 3.0) -> LabError:
        with pytest.raises(LabError) as caught:
            self.session.ask(command, within_s)
        return caught.value


@pytest.fixture(scope="module", params=STAND_INS.values(), ids=list(STAND_INS))
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reached]:
    stand_in: StandIn = request.param
    folder = tmp_path_factory.mktemp(stand_in.driver)
    system = import_module(f"netdyno.devices.drivers.{stand_in.driver}").SYSTEM
    assert isinstance(system, System)
    with pytest.MonkeyPatch.context() as patched, stand_in.serve(folder) as (opened, lab):
        patched.setenv("NETDYNO_PASSWORD", PASSWORD)
        patched.setenv("HOME", str(folder))
        patched.delenv("SSH_AUTH_SOCK", raising=False)
        if stand_in.enable:
            patched.setenv("NETDYNO_ENABLE", stand_in.enable)
        server = lab.server
        access = Access("127.0.0.1", USER, Ssh(server.port, known_hosts=server.known_hosts(folder)))
        with Session(access, system.shell) as session:
            session.open()
            yield Reached(stand_in, opened, lab, session)


@pytest.fixture
def reached(device: Reached) -> Iterator[Reached]:
    yield device
    device.faults = Faults()


@pytest.mark.parametrize(
    "faults",
    [
        Faults(),
        Faults(split=1),
        Faults(split=13, pause_s=0.0005),
        Faults(split=400, pause_s=0.03),
        Faults(colours=True),
        Faults(always_pages=True),
    ],
    ids=["plain", "bytes", "split", "slow", "colour", "paged"],
)
def test_text_is_read_alike_however_it_comes(reached: Reached, faults: Faults) -> None:
    if faults.always_pages and reached.stand_in.driver not in PAGED:
        pytest.skip("this system pages nothing for a login of this kind")
    command = reached.opened.print_by(LINES)
    reached.faults = faults
    assert reached.session.ask(command) == LINES


def test_login_takes_colours_pieces_and_a_banner(reached: Reached) -> None:
    reached.faults = Faults(colours=True, split=7)
    command = reached.opened.print_by(LINES)
    with reached.login() as session:
        assert session.ask(command) == LINES


def test_garbage_before_an_answer_does_not_end_it(reached: Reached) -> None:
    command = reached.opened.print_by(LINES)
    reached.faults = Faults(garbage_at_line=-1)
    assert reached.session.ask(command).endswith(LINES)
    assert reached.session.ask(command) == LINES


def test_prompt_inside_a_text_ends_nothing(reached: Reached) -> None:
    text = f"before\n{reached.opened.prompt}\n{reached.opened.prompt.rstrip()}\n" * 20 + "behind\n"
    assert reached.session.ask(reached.opened.print_by(text)) == text


def test_command_that_a_device_does_not_know_is_refused(reached: Reached) -> None:
    error = reached.refused("frobnicate the widget")
    assert error.code == "command-refused"
    assert "frobnicate" in error.message
    assert reached.session.ask(reached.opened.print_by(LINES)) == LINES


def test_silent_device_is_named_in_bounded_time(reached: Reached) -> None:
    reached.faults = Faults(silent_from_line=-1)
    begun = time.monotonic()
    assert reached.refused(reached.opened.print_by(LINES), 0.3).code == "device-silent"
    assert time.monotonic() - begun < 10
    reached.faults = Faults()
    assert reached.session.ask(reached.opened.print_by(LINES)) == LINES


def test_session_dropped_in_mid_answer_is_named(reached: Reached) -> None:
    reached.faults = Faults(drop_in_line=-1)
    assert reached.refused(reached.opened.print_by(LINES)).code == "session-lost"
    reached.faults = Faults()
    assert reached.session.ask(reached.opened.print_by(LINES)) == LINES


def test_wrong_password_is_named_with_its_variable(reached: Reached) -> None:
    reached.faults = Faults(never_takes=True)
    begun = time.monotonic()
    with pytest.raises(LabError) as caught:
        reached.login().open()
    assert caught.value.code == "login-refused"
    assert "NETDYNO_PASSWORD" in (caught.value.hint or "")
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("name", PAGED)
def test_refused_privileged_mode_is_named_with_its_variable(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = unprivileged(name, "planted-wrong-6612", tmp_path, monkeypatch)
    assert error.code == "login-refused"
    assert "NETDYNO_ENABLE" in (error.hint or "")
    assert "planted" not in f"{error} {error.hint}"


@pytest.mark.parametrize(
    ("name", "code", "hint"),
    [
        ("cisco_ios", "command-refused", "check the line"),
        ("fsos", "login-refused", "set NETDYNO_ENABLE"),
    ],
)
def test_missing_password_of_privileged_mode_is_named(
    name: str, code: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = unprivileged(name, "", tmp_path, monkeypatch)
    assert error.code == code
    assert hint in (error.hint or "")


def unprivileged(name: str, given: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> LabError:
    """The error of a login that is not privileged, with this password for privileged mode."""
    for reads in ("read_until_pattern", "read_until_prompt", "read_until_prompt_or_pattern"):
        shorten(monkeypatch, reads)
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.setenv("NETDYNO_ENABLE", given)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    system = import_module(f"netdyno.devices.drivers.{name}").SYSTEM
    with STAND_INS[name].serve(folder) as (opened, lab):
        opened.chassis.enable = "planted-right-6613"
        ssh = Ssh(lab.server.port, known_hosts=lab.server.known_hosts(folder))
        session = Session(Access("127.0.0.1", USER, ssh), system.shell)
        with pytest.raises(LabError) as caught, session:
            session.ask(system.shell.running)
    return caught.value


def shorten(monkeypatch: pytest.MonkeyPatch, reads: str) -> None:
    """Lets the library wait for a tenth of its time."""
    method = getattr(BaseConnection, reads)
    shorter = tuple(one / 10 if isinstance(one, float) else one for one in method.__defaults__)
    monkeypatch.setattr(method, "__defaults__", shorter)


def test_asa_without_a_password_of_its_own_is_entered_by_a_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    system = import_module("netdyno.devices.drivers.cisco_asa").SYSTEM
    with STAND_INS["cisco_asa"].serve(tmp_path) as (_, lab):
        ssh = Ssh(lab.server.port, known_hosts=lab.server.known_hosts(tmp_path))
        with Session(Access("127.0.0.1", USER, ssh), system.shell) as session:
            assert session.ask(system.shell.running).startswith(": Saved")
        assert lab.server.lines.count("***") == 1
