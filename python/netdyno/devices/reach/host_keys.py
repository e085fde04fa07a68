"""Host keys that are unknown or have changed: which files were read, and the commands that put it right."""

from __future__ import annotations

import os
import shlex
from typing import Any

import paramiko

from netdyno.devices.access import Access
from netdyno.devices.wiring import LabError

_OWN = "~/.ssh/known_hosts"


def unknown_key(access: Access, user: str) -> LabError:
    """The error of a host key that no file has, with the files. user: who logs in; empty: unknown."""
    named = access.ssh.known_hosts
    files = f"`{_OWN}`"
    if named:
        lack = "" if os.path.isfile(named) else ", which does not exist"
        files += f" or in `{named}`{lack}"
    known_as = _known_as(access)
    written = "" if known_as == access.host else f"; the file has it as `{known_as}`"
    command = ["ssh"]
    if access.ssh.port != 22:
        command += ["-p", str(access.ssh.port)]
    if named:
        command += ["-o", f"UserKnownHostsFile={shlex.quote(named)}"]
    command.append(f"{user}@{access.host}" if user else access.host)
    return LabError(
        f"the host key of the device `{access.name}` is not in {files}",
        f"`{' '.join(command)}` shows its fingerprint; compare it with the device's own and accept it"
        f" there{written}",
        code="host-key-unknown",
    )


def changed_key(access: Access, error: paramiko.BadHostKeyException) -> LabError:
    """The error of a host key that differs from the one in a file."""
    named = access.ssh.known_hosts
    there = _OWN if _has(os.path.expanduser(_OWN), access) or not named else named
    option = "" if there == _OWN else f" -f {shlex.quote(there)}"
    return LabError(
        f"the device `{access.name}` has another host key than `{there}`: {_fingerprint(error.key)}, expected"
        f" {_fingerprint(error.expected_key)}",
        "find out why; if the device is the right one, remove its old key:"
        f" `ssh-keygen -R {shlex.quote(_known_as(access))}{option}`",
        code="host-key-changed",
    )


def _has(file: str, access: Access) -> bool:
    """Whether a file has a key of the device; the library looks into the user's own first."""
    try:
        return paramiko.HostKeys(file).lookup(_known_as(access)) is not None
    except (OSError, paramiko.SSHException, paramiko.hostkeys.InvalidHostKey):
        return False


def _known_as(access: Access) -> str:
    """As known_hosts has the host."""
    return access.host if access.ssh.port == 22 else f"[{access.host}]:{access.ssh.port}"


def _fingerprint(key: Any) -> str:
    return f"{key.get_name()} {key.fingerprint}"
