"""Sessions of each driver with a device that misbehaves: survived, or named by a code in bounded time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import pytest
from configured import rendered
from fakes import STAND_INS
from fakes.lab import Lab
from fakes.server import PASSWORD, USER, Faults
from fakes.stand_in import Opened, StandIn
from netdyno.devices.access import Access, Ssh
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.locks import Identity
from netdyno.devices.configure.systems import find_allowed
from netdyno.devices.drivers.driver import NO_SUCH_PORT
from netdyno.devices.drivers.driver import Reached as Planned
from netdyno.devices.drivers.system import System
from netdyno.devices.reach import live
from netdyno.devices.reach.live import look
from netdyno.devices.reach.session import Session
from netdyno.devices.reasons import VersionUnknown
from netdyno.devices.wiring import LabError, LabLink
from netmiko import BaseConnection

PAGED = ("cisco_ios", "cisco_iosxe", "cisco_asa", "fsos")
"""The others page nothing for a login of this kind."""
SHELLS = ("linux", "vpp")
LINES = "".join(f"line {number} of a long text, 100 % plain\n" for number in range(60))


@dataclass
class Reached:
    """A stand-in with a session that tests share: what one of them does to it, it takes back."""

    stand_in: StandIn
    opened: Opened
    lab: Lab
    session: Session
    system: System

    @property
    def faults(self) -> Faults:
        return self.lab.server.faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self.lab.server.faults = faults

    def login(self) -> Session:
        """A further session."""
        return Session(self.session.access, self.session.shell)

    def refused(self, command: str, within_s: float = 60.0) -> LabError:
        with pytest.raises(LabError) as caught:
            self.session.ask(command, within_s)
        return caught.value


@pytest.fixture(scope="module", params=STAND_INS)
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reached]:
    stand_in = STAND_INS[request.param]
    folder = tmp_path_factory.mktemp(stand_in.driver)
    system = import_module(f"netdyno.devices.drivers.{stand_in.driver}").DRIVER
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
            yield Reached(stand_in, opened, lab, session, system)


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
    ],
    ids=["plain", "bytes", "split", "slow", "colour"],
)
def test_text_is_read_alike_however_it_comes(reached: Reached, faults: Faults) -> None:
    command = reached.opened.print_by(LINES)
    reached.faults = faults
    assert reached.session.ask(command) == LINES


@pytest.mark.parametrize("device", PAGED, indirect=True)
@pytest.mark.parametrize("pause_s", [0.0, 0.001])
def test_text_of_many_pages_is_read_whole(reached: Reached, pause_s: float) -> None:
    command = reached.opened.print_by(LINES)
    reached.faults = Faults(always_pages=True, split=5 if pause_s else 0, pause_s=pause_s)
    assert reached.session.ask(command) == LINES


def test_port_that_a_device_does_not_have_is_named(reached: Reached) -> None:
    there = reached.stand_in.ports[0]
    ports = (there, f"{there}7")
    found = look(reached.system, Planned(ports, access=reached.session.access))
    assert found.ports == {there: reached.stand_in.state, f"{there}7": NO_SUCH_PORT}


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


@pytest.mark.parametrize("device", SHELLS, indirect=True)
def test_terminal_that_prints_what_is_typed_ahead_ends_nothing(reached: Reached) -> None:
    text = f"before\n{reached.opened.prompt}\n" * 3
    slow = f"{reached.opened.print_by(text)}; sleep 0.2; {reached.opened.print_by(text)}"
    assert reached.session.ask(slow) == text * 2


def test_command_that_a_device_does_not_know_is_refused(reached: Reached) -> None:
    error = reached.refused("frobnicate the widget")
    assert error.code == "command-refused"
    assert "frobnicate" in error.message
    assert reached.session.ask(reached.opened.print_by(LINES)) == LINES


def test_silent_device_is_named_in_bounded_time(reached: Reached) -> None:
    reached.faults = Faults(silent_from_line=-1)
    begun = time.monotonic()
    assert reached.refused(reached.opened.print_by(LINES), 0.3).code == "device-silent"
    assert time.monotonic() - begun < 60
    reached.faults = Faults()
    assert reached.session.ask(reached.opened.print_by(LINES)) == LINES


def test_session_dropped_in_mid_answer_is_named(reached: Reached) -> None:
    reached.faults = Faults(drop_in_line=-1)
    assert reached.refused(reached.opened.print_by(LINES)).code == "session-lost"
    reached.faults = Faults()
    assert reached.session.ask(reached.opened.print_by(LINES)) == LINES


def configurer(reached: Reached, journal: Journal) -> Configurer:
    """What configures the device by its session."""
    system, ports = reached.system, reached.stand_in.ports
    allowed = find_allowed(system.shell, tuple(map(system.long_name, ports)), reached.stand_in.allow)
    return Configurer(reached.session, journal, allowed)


def case_of(reached: Reached) -> str:
    """The text of its ready template."""
    system, stand_in = reached.system, reached.stand_in
    own = (LabLink(port, system.long_name(port), 10**9) for port in stand_in.ports)
    return rendered(stand_in.template, system.name, {}, tuple(own))


REFUSED = {
    "cisco_ios": "interface FastEthernet4\n bandwidth plenty\n",
    "cisco_iosxe": "interface GigabitEthernet0/0/1\n bandwidth plenty\n",
    "cisco_asa": "route nowhere 198.18.0.0 255.254.0.0 100.64.0.2\n",
    "fsos": "interface TenGigabitEthernet 0/1\n ip address 100.64.0.1 255.255.255.252\n",
    "routeros": "/interface vlan add interface=sfp-sfpplus1 mtu=9000 name=netdyno-101 vlan-id=109\n",
    "linux": "ip route add 198.18.0.0/15 via 10.9.9.9\n",
}
"""A line that the device refuses where its ready template has been entered."""


@pytest.mark.parametrize("device", REFUSED, indirect=True)
@pytest.mark.parametrize("fault", ["refused", "dropped"])
def test_case_that_fails_midway_leaves_the_device_as_before(
    reached: Reached, fault: str, tmp_path: Path
) -> None:
    before, text = reached.opened.device.text(), case_of(reached)
    last = text.rstrip("!\n ").splitlines()[-1]
    if fault == "dropped":
        reached.faults = Faults(drop_at=last)
    else:
        text += REFUSED[reached.stand_in.driver]
    with Journal(Identity("stand-in", "192.0.2.1", 22, USER), tmp_path) as journal:
        with pytest.raises(LabError) as caught:
            configurer(reached, journal).apply(text)
        assert caught.value.code == {"dropped": "session-lost", "refused": "command-refused"}[fault]
        assert journal.pending is None
    assert any(last.strip() in line for line in reached.lab.server.lines)
    assert reached.opened.device.text() == before


def test_wrong_password_is_named_with_its_variable(reached: Reached) -> None:
    reached.faults = Faults(never_takes=True)
    begun = time.monotonic()
    with pytest.raises(LabError) as caught:
        reached.login().open()
    error = caught.value
    assert error.code == "login-refused"
    assert f"`{USER}`" in error.message
    assert {"NETDYNO_127_0_0_1_PASSWORD", "NETDYNO_PASSWORD"} <= {
        *re.findall(r"NETDYNO_\w+", error.hint or "")
    }
    assert PASSWORD not in f"{error}{error.hint}"
    assert time.monotonic() - begun < 60


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
        ("cisco_ios", "command-refused", "set NETDYNO_ENABLE"),
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
    system = import_module(f"netdyno.devices.drivers.{name}").DRIVER
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
    system = import_module("netdyno.devices.drivers.cisco_asa").DRIVER
    with STAND_INS["cisco_asa"].serve(tmp_path) as (_, lab):
        ssh = Ssh(lab.server.port, known_hosts=lab.server.known_hosts(tmp_path))
        with Session(Access("127.0.0.1", USER, ssh), system.shell) as session:
            assert session.ask(system.shell.running).startswith(": Saved")
        assert lab.server.lines.count("***") == 1


@pytest.mark.parametrize("name", ["cisco_ios", "cisco_iosxe", "cisco_asa"])
def test_login_in_user_mode_is_refused_before_configuring(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a port that it does not show there is not said to be missing."""
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.delenv("NETDYNO_ENABLE", raising=False)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    stand_in = STAND_INS[name]
    system = import_module(f"netdyno.devices.drivers.{name}").DRIVER
    with stand_in.serve(tmp_path) as (opened, lab):
        opened.chassis.enable = "planted-right-6613"
        # An ASA asks for the user's password once more, which is none of its own users'.
        opened.chassis.password = "of-nobody"
        ssh = Ssh(lab.server.port, known_hosts=lab.server.known_hosts(tmp_path))
        access = Access("127.0.0.1", USER, ssh)
        for ports in (stand_in.ports, (f"{stand_in.ports[0]}7",)):
            with pytest.raises(LabError) as caught:
                look(system, Planned(ports, access=access, configuration=stand_in.template))
            assert caught.value.code == "login-refused"
            assert "NETDYNO_ENABLE" in (caught.value.hint or "")


def test_port_whose_state_is_not_understood_is_an_error(
    reached: Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "nothing of the kind\n"
    monkeypatch.setattr(Session, "ask", lambda self, command, within_s=0: said)
    with pytest.raises(LabError) as caught:
        live._read_states(reached.system, reached.session, Planned(("x",)), "1")
    assert caught.value.code == "no-such-interface"


@pytest.mark.parametrize("template", ["router", ""])
def test_version_that_is_not_understood_is_warned_of_once(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = replace(STAND_INS["cisco_ios"], template=template)
    monkeypatch.setenv("NETDYNO_ENABLE", stand_in.enable)
    with stand_in.serve(tmp_path) as (opened, lab):
        opened.chassis.prints["show version"] = "Cisco IOS Software, of a release of tomorrow\n"
        plan = str(lab.plan(**{"size: 256B, flows: 64": "size: 256B, flows: 64}, more: {size: 512B"}))
        warning = f"warning: {VersionUnknown('cisco_ios')}\n"
        # The run first: the sessions of the others stay with this process.
        for words in (("run",), ("check", "--device"), ("run", "--dry-run"))[: 3 if template else 2]:
            code, said = lab.run(*words, plan)
            assert (code, said.count(warning)) == (0, 1), said
        cases = lab.cases()
    assert len(cases) == 2
    assert all("not-understood" in [note["code"] for note in case["lab_notes"]] for case in cases)
