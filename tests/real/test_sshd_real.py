"""OpenSSH's own server: logins as `ssh` makes them, and a run on a router of this kernel that it reaches."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from campaigns import wait_for
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import addresses
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.linux import DRIVER
from netdyno.devices.linux import ROUTER, links, namespaces
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.forwarding import Router, set_up
from netdyno.devices.linux.services import routes
from netdyno.devices.linux.services import service as services
from netdyno.devices.reach.session import Session
from netdyno.devices.telemetry.reasons import AnswerLate
from netdyno.devices.wiring import LabError, LabLink
from netdyno.plan import parse
from netdyno.reports.figures import device as device_figure
from netdyno.reports.model import device_table
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from pages import report_text
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
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
def sshd(folder: Path, taken: str, address: str = "127.0.0.1", before: Sequence[str] = ()) -> Iterator[Sshd]:
    """Serves logins by one key until the block ends. before: what starts it elsewhere, as `nsenter ...`."""
    folder.mkdir()
    Path("/run/sshd").mkdir(exist_ok=True)
    host_key = make_key(folder / "host")
    (folder / "taken").write_text(f"{taken}\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "config").write_text(
        f"ListenAddress {address}:{port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/taken\n"
        "PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n"
        "StrictModes no\nPrintMotd no\nPidFile none\nLogLevel VERBOSE\n"
    )
    log = folder / "log"
    assert SSHD is not None
    process = subprocess.Popen([*before, SSHD, "-D", "-f", str(folder / "config"), "-E", str(log)])
    try:
        wait_for(lambda: log.exists() and "Server listening" in log.read_text())
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


PLAN = """\
title: A router under load
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut:
      kind: external
      driver: linux
      host: {host}
      user: root
      ssh: {{port: {port}, known_hosts: {known}}}
  links:
    - {{endpoints: ["tester:t0", "dut:d0"], rate: 1Gbps, address: {own[0]}/30, gateway: {far[0]}}}
    - {{endpoints: ["tester:t1", "dut:d1"], rate: 1Gbps, address: {own[1]}/30, gateway: {far[1]}}}
traffic: {{it: {{size: 64B}}}}
matrix: {{direction: [uni]}}
method: {{soak: {{load: 500pps, duration: 10s, part: 0s}}}}
trial: {{settle: 200ms, drain: 500ms, retries: 0, catch_up: 1000%}}
"""
OURS, THEIRS = "192.0.2.1", "192.0.2.2"
LATE = """\
#!/bin/sh
# The third reading of the CPU never comes: nobody writes to this pipe.
[ "$1" = /proc/stat ] && echo >> {folder}/asked && [ $(wc -l < {folder}/asked) = 3 ] && read _ < {folder}/pipe
exec {folder}/own-cat "$@"
"""


@pytest.fixture
def router(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """Two ports and one for logins on a router of this kernel; what starts a program there.

    /sys is its own, and `cat` is late once.
    """
    own = Path("/bin/cat").resolve()
    shutil.copy(own, tmp_path / "own-cat")
    (tmp_path / "cat").write_text(LATE.format(folder=tmp_path))
    (tmp_path / "cat").chmod(0o755)
    os.mkfifo(tmp_path / "pipe")
    with ExitStack() as within:
        within.enter_context(namespaces.tester_namespace())
        device = within.enter_context(dut.device_namespace())
        links.ip("link set lo up")
        for port in range(2):
            mine = f"t{port} address {addresses.tester_mac(port)} type veth"
            links.ip(f"link add {mine} peer name d{port} netns {device.pid}")
            links.ip(f"link set t{port} up")
        set_up(device, Router(), 2)
        ends = tuple(LabLink(f"t{port}", f"d{port}", 10**9) for port in range(2))
        within.enter_context(routes.SERVICE.install(services.Lab(device, ROUTER.wire(ends, {}))))
        links.ip(f"link add m0 type veth peer name m0 netns {device.pid}")
        links.ip(f"address add {OURS}/30 dev m0")
        links.ip("link set m0 up")
        device.do(f"ip link set lo up && ip address add {THEIRS}/30 dev m0 && ip link set m0 up")
        mounted = f'mount -t sysfs netdyno /sys && mount --bind {tmp_path}/cat {own} && exec "$@"'
        yield (
            *(dut.tool("nsenter"), "--net", "--target", str(device.pid)),
            *(dut.tool("unshare"), "--mount", "sh", "-c", mounted, "sh"),
        )


@needs_root
def test_linux_router_under_load_has_its_cpu_beside_the_traffic(
    router: tuple[str, ...], home: Path, tmp_path: Path
) -> None:
    """One reading that never comes is missed, and the case is measured."""
    public = make_key(home / "id_ed25519")
    with sshd(tmp_path / "dut", public, THEIRS, router) as server:
        known = home / "known_hosts"
        known.write_text(f"[{THEIRS}]:{server.port} {server.host_key}\n")
        own, far = ([kind(port) for port in range(2)] for kind in (addresses.tester, addresses.device))
        text = PLAN.format(host=THEIRS, port=server.port, known=known, own=own, far=far)
        outcome = runner.run(parse(text), tmp_path / "runs", watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        run = view(stored, with_texts=True)
        (case,) = run.cases
        assert case.result is not None, case.error
        trial = case.trials[0]
        assert trial.result.streams[0].received > 0
        cpu = next(one for one in trial.result.series if (one.subject, one.name) == ("all cores", "CPU"))
        assert cpu.unit == "%"
        assert cpu.values
        assert all(0 <= percent <= 100 for percent in cpu.numbers)
        # A busy machine may miss others.
        assert AnswerLate("cat /proc/stat") in [one.reason for one in cpu.missed]
        highest = device_table.highest_cpu(case)
        assert highest is not None
        assert str(highest) in report_text("markdown", run)
        assert "<th>all cores</th><td>CPU (" in report_text("html", run)
        drawn = device_figure.figure(case)
    assert drawn is not None
    titles = [one["layer"][0]["encoding"]["y"]["axis"]["title"] for one in drawn.live["vconcat"]]
    assert [title[0].partition(",")[0] for title in titles] == ["traffic", "CPU"]
