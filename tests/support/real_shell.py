"""An SSH server on loopback that gives each session a real bash on a real terminal."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import subprocess
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import asyncssh
import pytest
from fakes.server import PASSWORD, USER, Server
from netdyno.devices.stand_ins.server import listening

BASH = ("bash", "--noprofile", "--norc", "-i")


class _Door(asyncssh.SSHServer):
    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)


def _own_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


async def _give_bash(
    process: asyncssh.SSHServerProcess[bytes], before: Sequence[str], env: Mapping[str, str]
) -> None:
    """Runs bash on a terminal until the client goes."""
    ours, theirs = pty.openpty()
    columns, rows, *_ = process.term_size
    termios.tcsetwinsize(ours, (rows, columns))
    bash = subprocess.Popen(
        [*before, *BASH],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=_own_terminal,
        env={"PS1": r"\u@dut:\w\$ ", "TERM": "xterm", "HOME": "/", **env},
    )
    os.close(theirs)
    loop = asyncio.get_running_loop()

    def pass_on() -> None:
        try:
            process.stdout.write(os.read(ours, 65536))
        except OSError:
            # Bash has gone.
            loop.remove_reader(ours)

    loop.add_reader(ours, pass_on)
    try:
        while piece := await process.stdin.read(4096):
            os.write(ours, piece)
    except (asyncssh.Error, OSError):
        pass
    finally:
        loop.remove_reader(ours)
        bash.kill()
        bash.wait()
        os.close(ours)
        with suppress(asyncssh.Error, OSError):
            process.exit(0)


@contextmanager
def serve_bash(before: Sequence[str], env: Mapping[str, str]) -> Iterator[Server]:
    """Serves until the block ends. before: what starts bash elsewhere, such as `nsenter ...`."""
    server = Server()

    async def give(process: asyncssh.SSHServerProcess[bytes]) -> None:
        server.sessions += 1
        await _give_bash(process, before, env)

    key = asyncssh.generate_private_key("ssh-ed25519")
    server.key = key.export_public_key().decode().strip()

    async def listen() -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            _Door,
            "127.0.0.1",
            0,
            server_host_keys=[key],
            process_factory=give,
            encoding=None,
            line_editor=False,
        )

    with listening(listen) as acceptor:
        server.port = acceptor.get_port()
        yield server


def log_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Sets the login of this server, and no other, in the environment."""
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
