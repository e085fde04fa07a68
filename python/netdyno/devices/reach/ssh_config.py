"""What the user's own `ssh` would do to reach a device: its address, its keys, and the hosts on the way."""

from __future__ import annotations

import getpass
import os
import pwd
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any

import paramiko

from netdyno.devices import secrets
from netdyno.devices.access import Access
from netdyno.devices.wiring import LabError

READ_S = 10.0
"""Longest time for `ssh -G`, s: a `Match exec` of the user may ask a network."""
DEFAULT_KEYS = ("id_rsa", "id_ecdsa", "id_ed25519")
"""Of `~/.ssh`, where nothing else is configured and there is no `ssh` to ask."""
_OPTIONS = (
    *("hostname", "port", "user", "identityfile", "identitiesonly", "identityagent"),
    *("proxyjump", "proxycommand"),
)


@dataclass(frozen=True)
class SshHost:
    """Where a device is, and who logs in with what.

    keys: files, in order. has_only_these: the agent's other keys are not offered. agent: its socket; empty:
    there is none. way: the command whose input and output are a connection to the device; empty: none is
    needed. via: the hosts on the way, as the user has them.
    """

    host: str
    port: int = 22
    user: str = ""
    keys: tuple[str, ...] = ()
    has_only_these: bool = False
    agent: str = ""
    way: tuple[str, ...] = ()
    via: str = ""

    @property
    def known_as(self) -> str:
        """As known_hosts has the device."""
        return self.host if self.port == 22 else f"[{self.host}]:{self.port}"


def resolve(access: Access) -> SshHost:
    """Where a device is by the plan, the environment and the configuration of SSH. Raises LabError.

    The user is that of the plan, else of the environment, else the configured one, else whoever runs this.
    """
    found = secrets.find("USER", access.host)
    user = access.user or (found.reveal() if found else "")
    options = _read_options(access, user)
    host = str(options["hostname"])
    port = access.ssh.port if access.ssh.port != 22 else int(options.get("port", 22))
    jumps, command = str(options.get("proxyjump") or ""), str(options.get("proxycommand") or "")
    way: tuple[str, ...] = ()
    if command and command.lower() != "none":
        way = (os.environ.get("SHELL") or "/bin/sh", "-c", f"exec {command}")
    elif jumps and jumps.lower() != "none":
        way = _through(jumps.split(","), host, port)
    else:
        jumps = ""
    default = [os.path.join("~", ".ssh", name) for name in DEFAULT_KEYS]
    keys = tuple(os.path.expanduser(one) for one in options.get("identityfile", default))
    return SshHost(
        host,
        port,
        user or str(options.get("user") or "") or _own_name(),
        tuple(one for one in keys if os.path.isfile(one) or os.path.isfile(f"{one}.pub")),
        options.get("identitiesonly") == "yes",
        _find_agent(str(options.get("identityagent") or "SSH_AUTH_SOCK")),
        way,
        jumps if way and not command else command,
    )


def _read_options(access: Access, user: str) -> Mapping[str, Any]:
    """The options of the user's configuration for a device. Raises LabError `cannot-read`.

    `ssh` itself says them, which knows all of its language; without it the file is read as far as paramiko
    knows that.
    """
    path, program = ssh_config(), shutil.which("ssh")
    try:
        if program is None:
            own = paramiko.SSHConfig() if path is None else paramiko.SSHConfig.from_path(path)
            return dict(own.lookup(access.host))
        asked = [program, "-G", *_config_option()]
        # It takes no other name there, though a configuration may have it.
        asked += ["-l", user] if re.fullmatch(r"\w[\w.@+-]*", user) else []
        asked += ["-p", str(access.ssh.port)] if access.ssh.port != 22 else []
        done = subprocess.run(
            [*asked, "--", access.host],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=_environment(),
            timeout=READ_S,
            check=False,
        )
        if done.returncode:
            raise ValueError(done.stderr)
        lines = (line for line in done.stdout.splitlines() if line.partition(" ")[0] in _OPTIONS)
        return dict(paramiko.SSHConfig.from_text("\n".join(lines)).lookup(access.host))
    except (OSError, ValueError, paramiko.SSHException, subprocess.SubprocessError) as error:
        named = path or "the configuration of ssh"
        why = " ".join(secrets.redact(str(error)).split())[:160]
        raise LabError(
            f"`{named}` cannot be read: {why}", "`ssh -G HOST` names the line", code="cannot-read"
        ) from None


def ssh_config() -> str | None:
    """The user's configuration of SSH; None: there is none."""
    path = os.path.expanduser("~/.ssh/config")
    return path if os.path.isfile(path) else None


def _config_option() -> tuple[str, ...]:
    """The option that has `ssh` read the configuration of HOME: it reads that of the user's own folder."""
    with suppress(KeyError):
        if os.path.expanduser("~") == pwd.getpwuid(os.getuid()).pw_dir:
            return ()
    return "-F", ssh_config() or "none"


def _environment() -> dict[str, str]:
    """Of a program of the user's configuration: without our secrets, and it asks nobody for its own.

    Nobody may sit there, and a prompt would be drawn over what netdyno prints.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(secrets.PREFIX)}
    return {**kept, "SSH_ASKPASS_REQUIRE": "never"}


def _through(hops: list[str], host: str, port: int) -> tuple[str, ...]:
    """The command that `ssh` itself would use to get to a device through its jump hosts."""
    *before, last = (hop.strip() for hop in hops)
    where = last if last.startswith("ssh://") else f"ssh://{last}"
    return (
        *("ssh", *_config_option()),
        *(("-J", ",".join(before)) if before else ()),
        *("-W", f"[{host}]:{port}", "--", where),
    )


def _find_agent(named: str) -> str:
    """The socket of the agent that a configuration names; empty: there is none."""
    if named.lower() == "none":
        return ""
    if named == "SSH_AUTH_SOCK":
        return os.environ.get(named, "")
    return os.environ.get(named[1:], "") if named.startswith("$") else os.path.expanduser(named)


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


@dataclass
class Way:
    """A connection to a device by a command. sock: its input and output. Raises OSError."""

    command: tuple[str, ...]
    sock: socket.socket = field(init=False)
    _process: subprocess.Popen[bytes] = field(init=False)
    _said: IO[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self._said = TemporaryFile()  # noqa: SIM115
        self.sock, theirs = socket.socketpair()
        with theirs:
            # In a session of its own: Ctrl-C is to undo the device, over this connection.
            self._process = subprocess.Popen(
                self.command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._said,
                env=_environment(),
                start_new_session=True,
            )
        Thread(target=self._process.wait, name="ssh", daemon=True).start()

    def read_error(self) -> str:
        """What the command said when it ended; empty: it runs, or said nothing."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
            self._said.seek(0)
            return " ".join(secrets.redact(self._said.read(4096).decode(errors="replace")).split())[:160]
        return ""
