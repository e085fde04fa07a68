"""Logins at OpenSSH's own server, as `ssh` makes them: by keys, by an agent, through jump hosts."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from campaigns import wait_for
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.linux import DRIVER
from netdyno.devices.reach.session import Session
from netdyno.devices.wiring import LabError

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin")
pytestmark = [
    pytest.mark.skipif(SSHD is None, reason="needs sshd: apt-get install openssh-server"),
    pytest.mark.skipif(os.getuid() != 0, reason="needs root, for sshd to give it a login"),
]


def make_key(file: Path, passphrase: str = "") -> str:
    """A new key; returns its public half."""
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", str(file)]
    subprocess.run(made, check=True)
    return file.with_suffix(".pub").read_text().strip()


@dataclass
class Sshd:
    """A server that takes one key. log: what it says."""

    port: int
    host_key: str
    log: Path

    def count_logins(self) -> int:
        return self.log.read_text().count("Accepted publickey")


@contextmanager
def sshd(folder: Path, taken: str) -> Iterator[Sshd]:
    """Serves logins by one key until the block ends."""
    folder.mkdir()
    Path("/run/sshd").mkdir(exist_ok=True)
    host_key = make_key(folder / "host")
    (folder / "taken").write_text(f"{taken}\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/taken\n"
        "PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n"
        "StrictModes no\nPrintMotd no\nPidFile none\nLogLevel VERBOSE\n"
    )
    log = folder / "log"
    assert SSHD is not None
    process = subprocess.Popen([SSHD, "-D", "-f", str(folder / "config"), "-E", str(log)])
    try:
        wait_for(lambda: log.exists() and "Server listening" in log.read_text(), 20)
        yield Sshd(port, host_key, log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with an empty `.ssh`, and no other way to log in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("NETDYNO_PASSWORD", "NETDYNO_USER", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".ssh").mkdir(mode=0o700)
    return tmp_path / ".ssh"


def name_of_system(access: Access) -> str:
    with Session(access, DRIVER.shell) as session:
        return session.ask("uname -s").strip()


def know(home: Path, *servers: Sshd, file: str = "known_hosts") -> Path:
    known = home / file
    known.write_text("".join(f"[127.0.0.1]:{one.port} {one.host_key}\n" for one in servers))
    return known


def configure(home: Path, text: str) -> None:
    (home / "config").write_text(text)


def test_login_takes_the_one_key_of_the_configuration(home: Path, tmp_path: Path) -> None:
    public = make_key(home / "lab_key")
    with sshd(tmp_path / "dut", public) as server:
        know(home, server)
        configure(home, f"Host dut\n HostName 127.0.0.1\n Port {server.port}\n IdentityFile ~/.ssh/lab_key\n")
        assert name_of_system(Access("dut")) == "Linux"
        assert server.count_logins() == 1
        assert f"Accepted publickey for {getpass.getuser()} " in server.log.read_text()


def test_login_takes_a_default_key(home: Path, tmp_path: Path) -> None:
    public = make_key(home / "id_ed25519")
    with sshd(tmp_path / "dut", public) as server:
        know(home, server)
        assert name_of_system(Access("127.0.0.1", "root", Ssh(server.port))) == "Linux"


@contextmanager
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A new ssh-agent, which the environment names."""
    said = subprocess.run(["ssh-agent", "-s"], capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"(SSH_AUTH_SOCK|SSH_AGENT_PID)=([^;]+);", said))
    monkeypatch.setenv("SSH_AUTH_SOCK", found["SSH_AUTH_SOCK"])
    try:
        yield
    finally:
        os.kill(int(found["SSH_AGENT_PID"]), signal.SIGTERM)


def add_key(file: Path, passphrase: str, folder: Path) -> None:
    """`ssh-add`, which asks a program of ours for the passphrase."""
    asked = folder / "ask"
    asked.write_text(f"#!/bin/sh\necho {passphrase}\n")
    asked.chmod(0o700)
    env = {**os.environ, "SSH_ASKPASS": str(asked), "SSH_ASKPASS_REQUIRE": "force"}
    subprocess.run(["ssh-add", "-q", str(file)], env=env, check=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("only", ["yes", "no"])
def test_key_with_a_passphrase_is_taken_from_the_agent(
    only: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = make_key(home / "lab_key", "planted-phrase")
    make_key(home / "other")
    with sshd(tmp_path / "dut", public) as server, agent(monkeypatch):
        know(home, server)
        configure(home, f"Host *\n IdentityFile ~/.ssh/lab_key\n IdentitiesOnly {only}\n")
        access = Access("127.0.0.1", "root", Ssh(server.port))
        with pytest.raises(LabError) as caught:
            name_of_system(access)
        assert caught.value.code == "login-missing"
        assert f"`ssh-add {home / 'lab_key'}`" in (caught.value.hint or "")
        subprocess.run(["ssh-add", "-q", str(home / "other")], check=True)
        add_key(home / "lab_key", "planted-phrase", tmp_path)
        assert name_of_system(access) == "Linux"
        assert ("Failed publickey" in server.log.read_text()) is False


@pytest.mark.parametrize("nested", [False, True])
def test_device_behind_two_jump_hosts_is_reached(nested: bool, home: Path, tmp_path: Path) -> None:
    public = make_key(home / "lab_key")
    with ExitStack() as stack:
        dut, one, two = (stack.enter_context(sshd(tmp_path / name, public)) for name in ("dut", "one", "two"))
        know(home, dut)
        known = know(home, one, two, file="known_jumps")
        jumps = "".join(
            f"Host {name}\n HostName 127.0.0.1\n Port {server.port}\n UserKnownHostsFile {known}\n"
            for name, server in (("one", one), ("two", two))
        )
        way = (
            "Host two\n ProxyJump one\nHost dut\n ProxyJump two\n"
            if nested
            else "Host dut\n ProxyJump one,two\n"
        )
        configure(
            home,
            f"{jumps}{way}Host dut\n HostName 127.0.0.1\n Port {dut.port}\n"
            f"Host *\n User root\n IdentityFile {home / 'lab_key'}\n",
        )
        assert name_of_system(Access("dut")) == "Linux"
        assert [server.count_logins() for server in (one, two, dut)] == [1, 1, 1]
        # What a jump host is not known by is as strict.
        know(home, one, file="known_jumps")
        with pytest.raises(LabError) as caught:
            name_of_system(Access("dut"))
        assert caught.value.code == "device-unreachable"
        assert "Host key verification failed" in caught.value.message
        assert dut.count_logins() == 1


def test_changed_host_key_is_refused(home: Path, tmp_path: Path) -> None:
    public = make_key(home / "id_ed25519")
    with sshd(tmp_path / "dut", public) as server:
        know(home, Sshd(server.port, make_key(tmp_path / "before"), server.log))
        configure(home, "Host *\n StrictHostKeyChecking no\n")
        with pytest.raises(LabError) as caught:
            name_of_system(Access("127.0.0.1", "root", Ssh(server.port)))
        assert caught.value.code == "host-key-changed"
        know(home)
        with pytest.raises(LabError) as caught:
            name_of_system(Access("127.0.0.1", "root", Ssh(server.port)))
        assert caught.value.code == "host-key-unknown"
        assert server.count_logins() == 0
