"""What a login offers, in the order of `ssh`: keys of the agent, keys of files, then a password."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import paramiko
from paramiko.agent import AgentSSH
from paramiko.pkey import PublicBlob

from netdyno.devices.reach.ssh_config import SshHost


@contextmanager
def _open_agent(path: str) -> Iterator[tuple[paramiko.AgentKey, ...]]:
    """The keys of the ssh-agent behind a socket; none if there is no agent."""
    agent = AgentSSH()
    with socket.socket(socket.AF_UNIX) as connection:
        with suppress(OSError, paramiko.SSHException):
            if path:
                connection.connect(path)
                agent._connect(connection)
        yield agent.get_keys()


@dataclass
class Offer:
    """What one login offers, as paramiko takes it (`auth_strategy`).

    offered: how many keys were. locked: files of keys with a passphrase that no agent holds. is_cut: the
    device ended the connection before the password.
    """

    host: SshHost
    password: str
    takes_keys: bool = True
    offered: int = 0
    locked: list[str] = field(default_factory=list)
    is_cut: bool = False

    def authenticate(self, transport: paramiko.Transport) -> None:
        """Logs in. Raises paramiko's exceptions."""
        with _open_agent(self.host.agent if self.takes_keys else "") as held:
            for key in self._keys(held) if self.takes_keys else ():
                self.offered += 1
                try:
                    if not transport.auth_publickey(self.host.user, key):
                        return
                    # The device wants a password besides.
                    break
                except paramiko.BadAuthenticationType:
                    break
                except paramiko.SSHException:
                    if not transport.is_active():
                        self.is_cut = True
                        raise
        transport.auth_password(self.host.user, self.password)

    def _keys(self, held: tuple[paramiko.AgentKey, ...]) -> Iterator[paramiko.PKey]:
        public = {file: _read_public(file) for file in self.host.keys}
        named = [key for key in held if key.blob in public.values()]
        yield from named
        yield from () if self.host.has_only_these else (key for key in held if key not in named)
        for file in self.host.keys:
            if any(key.blob == public[file] for key in named):
                continue
            try:
                yield paramiko.PKey.from_path(file)
            except (paramiko.PasswordRequiredException, TypeError):
                self.locked.append(file)
            except (OSError, ValueError, paramiko.SSHException, paramiko.UnknownKeyType):
                # A kind of key that needs its device, or the public half of one that the agent lacks.
                continue


def _read_public(file: str) -> bytes | None:
    """The public half of a key, of the file beside it; None: there is none."""
    for path in (file, f"{file}.pub"):
        with suppress(OSError, ValueError, UnicodeDecodeError):
            if path.endswith(".pub") and os.path.isfile(path):
                blob: bytes = PublicBlob.from_file(path).key_blob
                return blob
    return None
