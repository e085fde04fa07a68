"""Sessions with a device's command line: what is asked, what comes back, and all that can go wrong."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import paramiko
import pytest
from campaigns import PATIENCE_S
from fakes.server import PASSWORD, USER, Server, serve
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.cisco_iosxr import SHELL
from netdyno.devices.drivers.linux import DRIVER as LINUX
from netdyno.devices.reach import session as session_module
from netdyno.devices.reach.recognise import read_version
from netdyno.devices.reach.session import Session
from netdyno.devices.reach.ssh_config import resolve
from netdyno.devices.shell import Shell
from netdyno.devices.stand_ins import iosxr
from netdyno.devices.stand_ins.chassis import Chassis
from netdyno.devices.wiring import LabError

SHOW = "show interfaces TenGigE0/1/0/0"


@pytest.fixture
def chassis() -> Chassis:
    return Chassis({"Te0/1/0/0": {"rx": 11, "tx": 22, "in_drops": 3, "out_drops": 4}})


@pytest.fixture
def fridge(chassis: Chassis, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with serve(lambda: iosxr.Session(chassis)) as server:
        yield server


def access(server: Server, folder: Path, **ssh: object) -> Access:
    known = {"known_hosts": server.known_hosts(folder), "port": server.port, **ssh}
    return Access("127.0.0.1", USER, Ssh(**known))  # type: ignore[arg-type]


def refused(session: Session, command: str = SHOW, within_s: float = 60.0) -> LabError:
    with pytest.raises(LabError) as caught:
        session.ask(command, within_s)
    return caught.value


def test_answer_of_many_pages_comes_whole(fridge: Server, tmp_path: Path) -> None:
    with Session(access(fridge, tmp_path), SHELL) as session:
        said = session.ask(SHOW)
    assert said.splitlines()[0] == iosxr.DATE
    assert said.splitlines()[1].startswith("TenGigE0/1/0/0 is up")
    assert said.splitlines()[-1].strip() == "1 carrier transitions"
    assert "More" not in said


def test_running_configuration_that_reads_like_a_refusal_is_taken(
    fridge: Server, tmp_path: Path, chassis: Chassis
) -> None:
    banner = "hostname fridge\nbanner motd x\n% Invalid input detected at '^' marker.\nend\n"
    box = iosxr.Session
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(box, "_show", lambda self, words: f"Building configuration...\n!! IOS XR\n{banner}")
        with Session(access(fridge, tmp_path), SHELL) as session:
            assert session.ask("show running-config").endswith(banner)
            # Of any other command it is a refusal, behind a date and a caret as well.
            assert refused(session).code == "command-refused"
        patch.setattr(box, "_show", lambda self, words: None)
        with Session(access(fridge, tmp_path), SHELL) as session:
            assert refused(session, "show running-config").code == "command-refused"


def test_login_that_ends_too_late_is_closed(fridge: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would keep a line of the device as long as netdyno runs."""
    goes_on, closed = Event(), Event()

    class Late:
        def paramiko_cleanup(self) -> None:
            closed.set()

    def log_in(access: Access, shell: Shell) -> Late:
        goes_on.wait(PATIENCE_S)
        return Late()

    monkeypatch.setattr(session_module, "login", log_in)
    monkeypatch.setattr(session_module, "LOGIN_S", 0.1)
    with pytest.raises(LabError) as raised, Session(Access("192.0.2.1"), SHELL) as session:
        session.open()
    assert raised.value.code == "device-silent"
    goes_on.set()
    assert closed.wait(PATIENCE_S)


def test_end_of_a_shells_answer_is_no_part_of_its_hosts_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """`lab@netdyno-123:~$` holds the mark of every command that its number begins with."""

    class Bash:
        base_prompt, RETURN = "lab@netdyno-123", "\n"

        def __init__(self) -> None:
            self.remote_conn, self.said = self, deque([b""])

        def recv_ready(self) -> bool:
            return False

        def settimeout(self, within_s: float) -> None:
            pass

        def sendall(self, typed: bytes) -> None:
            answer = b"netdyno-12\r\n" if b"net" in typed else b"eth0 is up\r\n"
            self.said.append(typed.replace(b"\n", b"\r\n") + answer + b"lab@netdyno-123:~$ ")

        def recv(self, most: int) -> bytes:
            return self.said.popleft() or self.recv(most)

    monkeypatch.setattr(session_module, "_marks", iter([12]))
    session = Session(Access("192.0.2.1"), LINUX.shell)
    session._connection = Bash()
    assert session._exchange("ip link", time.monotonic() + 5) == "eth0 is up\n"


def test_device_that_falls_silent_is_asked_for_no_further_system() -> None:
    """Each question would cost a login."""
    asked = []

    class Silent:
        access = Access("192.0.2.1")

        def open(self) -> None:
            pass

        def ask(self, command: str, within_s: float = 0) -> str:
            asked.append(command)
            if len(asked) > 1:
                raise LabError("silent", code="device-silent")
            return "nothing that is known\n"

    with pytest.raises(LabError) as raised:
        read_version(LINUX, Silent())  # type: ignore[arg-type]
    assert raised.value.code == "driver-differs"
    assert len(asked) == 2


def test_device_that_prints_without_end_is_left(
    fridge: Server, tmp_path: Path, chassis: Chassis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netdyno.devices.reach.session.LONGEST", 50_000)
    chassis.prints["show version"] = "x" * 100_000
    with Session(access(fridge, tmp_path), SHELL) as session:
        assert refused(session, "show version").code == "too-long"


def test_login_without_password_or_key_names_the_variables(
    fridge: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NETDYNO_PASSWORD")
    error = refused(Session(access(fridge, tmp_path), SHELL))
    assert error.code == "login-missing"
    hint = error.hint or ""
    assert 0 < hint.index("NETDYNO_127_0_0_1_PASSWORD") < hint.index("NETDYNO_PASSWORD")


def test_key_that_the_device_does_not_take_is_refused(
    fridge: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NETDYNO_PASSWORD")
    (tmp_path / ".ssh").mkdir()
    paramiko.ECDSAKey.generate().write_private_key_file(str(tmp_path / "key"))
    (tmp_path / ".ssh" / "config").write_text(f"Host 127.0.0.1\n IdentityFile {tmp_path / 'key'}\n")
    assert refused(Session(access(fridge, tmp_path), SHELL)).code == "login-refused"


def test_user_of_the_plan_comes_before_environment_and_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host 127.0.0.1\n User third\n")
    monkeypatch.delenv("NETDYNO_USER", raising=False)
    assert resolve(Access("127.0.0.1")).user == "third"
    monkeypatch.setenv("NETDYNO_USER", "second")
    assert resolve(Access("127.0.0.1")).user == "second"
    assert resolve(Access("127.0.0.1", "first")).user == "first"


def test_broken_configuration_of_ssh_is_named(fridge: Server, tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host *\n Port none\n")
    error = refused(Session(Access("127.0.0.1", ssh=Ssh(fridge.port)), SHELL))
    assert error.code == "cannot-read"
    assert str(tmp_path / ".ssh" / "config") in error.message


def test_missing_known_hosts_of_the_plan_is_named(fridge: Server, tmp_path: Path) -> None:
    there = tmp_path / "lab keys"
    error = refused(Session(Access("127.0.0.1", USER, Ssh(fridge.port, known_hosts=str(there))), SHELL))
    assert error.code == "host-key-unknown"
    assert f"`{there}`, which does not exist" in error.message
    hint = error.hint or ""
    assert f"`ssh -p {fridge.port} -o UserKnownHostsFile='{there}' {USER}@127.0.0.1`" in hint
    assert f"`[127.0.0.1]:{fridge.port}`" in hint


def test_unreadable_known_hosts_of_the_plan_is_named(fridge: Server, tmp_path: Path) -> None:
    file = Path(fridge.known_hosts(tmp_path))
    file.write_text(f"127.0.0.1 ssh-ed25519 {'A' * 41}\n")
    error = refused(Session(Access("127.0.0.1", USER, Ssh(fridge.port, known_hosts=str(file))), SHELL))
    assert error.code == "cannot-read"


def test_host_key_that_is_unknown_or_changed_is_refused(fridge: Server, tmp_path: Path) -> None:
    unknown = Access("127.0.0.1", USER, Ssh(fridge.port))
    assert refused(Session(unknown, SHELL)).code == "host-key-unknown"
    file = Path(fridge.known_hosts(tmp_path))
    with serve(lambda: iosxr.Session(Chassis())) as other:
        file.write_text(f"[127.0.0.1]:{fridge.port} {other.key}\n")
    changed = Access("127.0.0.1", USER, Ssh(fridge.port, known_hosts=str(file)))
    error = refused(Session(changed, SHELL))
    assert error.code == "host-key-changed"
    assert f"ssh-keygen -R '[127.0.0.1]:{fridge.port}' -f {file}" in (error.hint or "")
    (tmp_path / ".ssh").mkdir()
    own = tmp_path / ".ssh" / "known_hosts"
    own.write_text(file.read_text())
    error = refused(Session(changed, SHELL))
    assert error.code == "host-key-changed"
    assert (error.hint or "").endswith(f"`ssh-keygen -R '[127.0.0.1]:{fridge.port}'`")
    assert fridge.sessions == 0


def test_unknown_host_key_is_taken_where_the_plan_says_so(fridge: Server) -> None:
    with Session(Access("127.0.0.1", USER, Ssh(fridge.port, strict=False)), SHELL) as session:
        assert "11 packets input" in session.ask(SHOW)


def test_port_without_a_listener_is_unreachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        error = refused(Session(Access("127.0.0.1", USER, Ssh(free.getsockname()[1])), SHELL))
    assert error.code == "device-unreachable"


def test_what_speaks_no_ssh_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def talk() -> None:
            taken, _ = other.accept()
            with taken:
                taken.sendall(b"220 mail ready\r\n" * 3)

        Thread(target=talk, daemon=True).start()
        error = refused(Session(Access("127.0.0.1", USER, Ssh(other.getsockname()[1])), SHELL))
    assert error.code == "device-unreachable"


def test_old_algorithms_need_their_names_in_the_plan(
    chassis: Chassis, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    old = "diffie-hellman-group14-sha1"
    with serve(lambda: iosxr.Session(chassis), kex_algs=[old]) as server:
        error = refused(Session(access(server, tmp_path), SHELL))
        assert error.code == "algorithms-differ"
        assert old in (error.hint or "")
        with Session(access(server, tmp_path, old=(old,)), SHELL) as session:
            assert "11 packets input" in session.ask(SHOW)
