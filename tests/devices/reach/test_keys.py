"""Logins by keys, as `ssh` makes them; tests/real/test_sshd_real.py does the same at OpenSSH's server."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import asyncssh
import paramiko
import pytest
from fakes.server import PASSWORD, USER, Server, serve
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.cisco_iosxr import SHELL
from netdyno.devices.reach import ssh_config
from netdyno.devices.reach.session import Session
from netdyno.devices.reach.transport import Transport
from netdyno.devices.stand_ins import iosxr
from netdyno.devices.stand_ins.chassis import Chassis
from netdyno.devices.wiring import LabError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `.ssh` without keys, and an environment without a login."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("NETDYNO_PASSWORD", "NETDYNO_USER", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".ssh").mkdir()
    return tmp_path / ".ssh"


def make_key(file: Path, passphrase: str | None = None) -> str:
    """A new key; returns its public half."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(str(file), passphrase=passphrase)
    key.write_public_key(f"{file}.pub")
    return key.export_public_key().decode()


@contextmanager
def fridge(taken: str, folder: Path) -> Iterator[tuple[Server, Access]]:
    """A device that takes one key, or the password."""
    (folder / "taken").write_text(taken)
    with serve(lambda: iosxr.Session(Chassis()), authorized_client_keys=str(folder / "taken")) as server:
        known = server.known_hosts(folder)
        yield server, Access("127.0.0.1", USER, Ssh(server.port, known_hosts=known))


def log_in(access: Access) -> str:
    with Session(access, SHELL) as session:
        return session.ask("show version")


def refused(access: Access) -> LabError:
    with pytest.raises(LabError) as caught:
        log_in(access)
    return caught.value


@pytest.mark.parametrize("has_ssh", [True, False])
@pytest.mark.parametrize("name", ["id_ed25519", "lab_key"])
def test_key_of_a_file_logs_in(
    name: str, has_ssh: bool, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on a machine without OpenSSH."""
    if not has_ssh:
        monkeypatch.setattr(shutil, "which", lambda _: None)
    taken = make_key(home / name)
    if name == "lab_key":
        (home / "config").write_text("Host 127.*\n IdentityFile ~/.ssh/lab_key\n")
    with fridge(taken, tmp_path) as (_, access):
        assert "5.3.4" in log_in(access)


@pytest.mark.skipif(shutil.which("ssh") is None, reason="needs ssh")
def test_configuration_that_includes_another_is_followed(home: Path, tmp_path: Path) -> None:
    taken = make_key(home / "lab_key")
    (home / "config").write_text(f"Include {home}/lab.conf\n")
    with fridge(taken, tmp_path) as (server, access):
        (home / "lab.conf").write_text(
            f"Host fridge\n HostName 127.0.0.1\n Port {server.port}\n User {USER}\n"
            f" IdentityFile {home}/lab_key\n"
        )
        assert "5.3.4" in log_in(Access("fridge", ssh=Ssh(known_hosts=access.ssh.known_hosts)))
        # The key of the device is known by its address, and messages say so.
        Path(access.ssh.known_hosts).write_text("")
        error = refused(Access("fridge", ssh=Ssh(known_hosts=access.ssh.known_hosts)))
        assert error.code == "host-key-unknown"
        assert f"`[127.0.0.1]:{server.port}`" in (error.hint or "")


@pytest.mark.parametrize("name", ["id_ed25519", "lab key"])
def test_key_with_a_passphrase_says_what_to_do(name: str, home: Path, tmp_path: Path) -> None:
    taken = make_key(home / name, "planted-phrase")
    (home / "config").write_text(f'Host *\n IdentityFile "{home / name}"\n')
    with fridge(taken, tmp_path) as (_, access):
        error = refused(access)
    assert error.code == "login-missing"
    assert f"`ssh-add {shlex.quote(str(home / name))}`" in (error.hint or "")


def test_device_that_leaves_after_some_keys_gets_the_password(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts each key as a wrong password."""
    make_key(home / "id_ed25519")
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    with fridge(make_key(tmp_path / "other"), tmp_path) as (_, access):
        offered: list[str] = []

        def hang_up(transport: paramiko.Transport, user: str, _key: paramiko.PKey) -> None:
            offered.append(user)
            transport.close()
            raise paramiko.AuthenticationException

        monkeypatch.setattr(paramiko.ServiceRequestingTransport, "auth_publickey", hang_up)
        assert "5.3.4" in log_in(access)
        assert offered == [USER]
        monkeypatch.delenv("NETDYNO_PASSWORD")
        assert refused(access).code == "login-refused"


@pytest.mark.parametrize("user", ["lab;reboot", "$(reboot)", "-oProxyCommand=reboot", "o'hara"])
@pytest.mark.parametrize("is_there", [True, False])
def test_command_to_copy_is_one_login_for_any_user(
    user: str, is_there: bool, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fridge(make_key(home / "id_ed25519"), tmp_path) as (server, _):
        port = server.port if is_there else 1
        errors = [refused(Access("127.0.0.1", user, Ssh(port)))]
        monkeypatch.setenv("NETDYNO_USER", user)
        errors.append(refused(Access("127.0.0.1", "", Ssh(port))))
    for error in errors:
        assert error.code == ("host-key-unknown" if is_there else "device-unreachable")
        words = shlex.split(next(one for one in (error.hint or "").split("`") if one.startswith("ssh ")))
        behind = ["--"] if user.startswith("-") else []
        assert words == ["ssh", "-p", str(port), *behind, f"{user}@127.0.0.1"]


def test_secrets_are_not_passed_to_a_proxy_command(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    said = tmp_path / "said"
    (home / "config").write_text(f"Host *\n ProxyCommand sh -c 'env >{said}; echo no way to %h >&2'\n")
    error = refused(Access("192.0.2.1", USER))
    assert error.code == "device-unreachable"
    assert "no way to 192.0.2.1" in error.message
    assert PASSWORD not in said.read_text()


@pytest.mark.parametrize(
    ("hops", "expected"),
    [
        ("one", ["-W", "[192.0.2.1]:22", "--", "ssh://one"]),
        ("a, b@c:33,ssh://d", ["-J", "a,b@c:33", "-W", "[192.0.2.1]:22", "--", "ssh://d"]),
    ],
)
def test_jump_hosts_are_passed_to_ssh(hops: str, expected: list[str], home: Path) -> None:
    way = ssh_config._through(hops.split(","), "192.0.2.1", 22)
    assert [*way][-len(expected) :] == expected


def test_answer_that_comes_before_it_is_waited_for_is_heard() -> None:
    """Of a device that is quicker than the library: its event is made when the answer has come."""

    class Quick:
        lock, auth_timeout, server_mode = nullcontext(), 5.0, False

        def _send_message(self, message: object) -> None:
            handler._parse_userauth_success(None)

        def _log(self, *said: object) -> None:
            pass

        def _auth_trigger(self) -> None:
            pass

        def is_active(self) -> bool:
            return True

    quick = Quick()
    handler = Transport.get_auth_handler(quick)
    assert handler.auth_password("lab", "x") == []
    assert handler.is_authenticated()
