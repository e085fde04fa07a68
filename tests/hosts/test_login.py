"""`netdyno hosts --start` and `--stop`: by a stand-in for ssh that runs commands here, and by a real sshd."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from netdyno.hosts.login import find_services

pytest.importorskip("distributed")

STAND_IN = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
case $2 in
    *gone) echo "ssh: connect to host gone port 22: No route to host" >&2; exit 255 ;;
    *bare) PATH=/usr/bin:/bin HOME=/nowhere exec sh -c "$3" ;;
esac
exec sh -c "$3"
"""
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
PLAN = """\
title: By ssh
lab:
  hosts: {{scheduler: "tcp://127.0.0.1:{port}", ssh: {{{logins}}}}}
  nodes: {{gen1: {{kind: netdyno, host: gen1}}, gen2: {{kind: netdyno, host: gen2}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["gen1:west", "dut:d0"], rate: 1Gbps, interface: lo}}
    - {{endpoints: ["gen2:east", "dut:d1"], rate: 1Gbps, interface: lo}}
traffic: {{it: {{size: 128B}}}}
matrix: {{profile: [it], direction: [bidir]}}
method: {{sweep: {{loads: [1kpps], duration: 1s}}}}
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def put_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@contextmanager
def real_ssh(folder: Path, programs: Path) -> Iterator[None]:
    """`ssh` that logs in at an sshd of this test, without the files of the user."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    port = free_port()
    server, client = folder / "sshd_config", folder / "ssh_config"
    server.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
        f"StrictModes no\nUsePAM no\nPidFile none\n"
        f"SetEnv XDG_STATE_HOME={folder}/state PATH={programs}:{os.environ['PATH']}\n"
    )
    client.write_text(
        f"Host *\nHostName 127.0.0.1\nPort {port}\nIdentityFile {folder}/user\n"
        f"StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
    )
    put_program(programs / "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {client} "$@"\n')
    assert SSHD is not None
    # It wants a folder of the system's.
    within = "mount -t tmpfs none /run && mkdir /run/sshd && exec " + f"{SSHD} -D -e -f {server}"
    running = subprocess.Popen(["unshare", "-m", "sh", "-c", within], stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        running.terminate()
        running.wait(10)


@pytest.fixture(params=["stand-in", "sshd"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Mapping[str, str]]:
    programs = tmp_path / "bin"
    programs.mkdir()
    put_program(programs / "netdyno", f'#!/bin/sh\nexec {sys.executable} -m netdyno "$@"\n')
    with ExitStack() as stack:
        if request.param == "sshd":
            if SSHD is None or os.getuid() != 0:
                pytest.skip("wants root and sshd (apt-get install openssh-server)")
            stack.enter_context(real_ssh(tmp_path, programs))
        else:
            put_program(programs / "ssh", STAND_IN)
        path = f"{programs}:{os.environ['PATH']}"
        yield {**os.environ, "PATH": path, "XDG_STATE_HOME": str(tmp_path / "state")}


def test_hosts_started_by_ssh_are_ended_by_stop(environment: Mapping[str, str], tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.format(port=free_port(), logins="gen1: root@localhost"))

    def hosts(option: str) -> list[str]:
        words = [sys.executable, "-m", "netdyno", "hosts", plan, option]
        ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
        assert ended.returncode in (0, 3), ended.stderr
        return [line for line in ended.stdout.splitlines() if line.startswith(("scheduler  ", "gen"))]

    def pids() -> list[int]:
        return [int(one.read_text()) for one in (tmp_path / "state" / "netdyno").glob("*.pid")]

    try:
        first = hosts("--start")
        assert first[:3] == ["scheduler  started", "gen1  started", "gen2  started"], first
        assert [line.split()[:2] for line in first[3:]] == [["gen1", "netdyno"], ["gen2", "netdyno"]]
        began = pids()
        assert len(began) == 3
        assert hosts("--start")[:3] == [
            f"{name}  was running already" for name in ("scheduler", "gen1", "gen2")
        ]
        assert pids() == began
    finally:
        assert sorted(hosts("--stop")) == ["gen1  ended", "gen2  ended", "scheduler  ended"]
    assert not pids()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in began):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert all("began nothing" in line for line in hosts("--stop"))


@pytest.mark.parametrize("environment", ["stand-in"], indirect=True)
def test_host_without_login_or_program_is_named(environment: Mapping[str, str], tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.format(port=free_port(), logins="gen1: root@gone, gen2: root@bare"))
    words = [sys.executable, "-m", "netdyno", "hosts", plan]
    try:
        ended = subprocess.run(
            [*words, "--start"], env=environment, capture_output=True, text=True, timeout=120
        )
        assert ended.returncode == 3
        assert ended.stdout.splitlines() == ["scheduler  started"]
        assert "No route to host" in ended.stderr
        assert "root@bare" in ended.stderr
    finally:
        subprocess.run([*words, "--stop"], env=environment, capture_output=True, timeout=120)


def test_scheduler_is_started_where_its_address_is() -> None:
    logins = {"gen1": "root@192.0.2.11"}
    scheduler, workers = find_services("tls://192.0.2.11:8786", ("gen1", "gen2"), logins)
    assert scheduler is not None
    assert scheduler.login == "root@192.0.2.11"
    assert [one.login for one in workers] == ["root@192.0.2.11", "gen2"]
    assert find_services("tls://192.0.2.99:8786", ("gen1",), logins)[0] is None
    here = find_services("tcp://127.0.0.1:8786", ("gen1",), logins)[0]
    assert here is not None
    assert here.login is None
