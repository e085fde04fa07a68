"""Why a login by SSH failed: what the libraries raised, as an error with its next step."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import paramiko
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException

from netdyno.devices import secrets
from netdyno.devices.access import OLD_ALGORITHMS, Access
from netdyno.devices.reach.host_keys import changed_key, unknown_key
from netdyno.devices.wiring import LabError

CONNECT_S = 10.0
BANNER_S = 10.0


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that led to it: the library raises its own in place of what it caught."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        seen.append(one)
        yield one
        one = one.__cause__ or one.__context__


def explain(error: Exception, access: Access) -> LabError:
    """The error of a login that failed."""
    host, where = access.host, f"the device `{access.name}`"
    for one in _causes(error):
        if isinstance(one, LabError):
            return one
        if isinstance(one, paramiko.BadHostKeyException):
            return changed_key(access, one)
        if isinstance(one, paramiko.ssh_exception.IncompatiblePeer):
            return _incompatible(one, where)
        if isinstance(one, paramiko.SSHException) and "not found in known_hosts" in str(one):
            return unknown_key(access, login_name(access))
        if isinstance(one, paramiko.AuthenticationException | NetmikoAuthenticationException):
            return _refused(access)
        if isinstance(one, paramiko.hostkeys.InvalidHostKey):
            return LabError(
                f"a line of known_hosts is damaged: `{_line(one)}`",
                "remove it from `~/.ssh/known_hosts`, or from the file that the plan names",
                code="cannot-read",
            )
        if isinstance(one, OSError) and one.filename:
            return LabError(
                f"`{one.filename}` cannot be read: {one.strerror}",
                "look at its rights: `ls -l`",
                code="cannot-read",
            )
    for one in _causes(error):
        if isinstance(one, socket.gaierror):
            hint = "check `host` of the device in the plan"
            return LabError(f"the host name `{host}` is not known", hint, code="device-unreachable")
        if isinstance(one, OSError) and not isinstance(one, TimeoutError) and one.strerror:
            return _unreachable(access, one.strerror)
    what = str(error).lower()
    if "banner" in what or "eof" in what or "no existing session" in what:
        return _unreachable(access, "what answers there does not speak SSH, or closed the connection")
    if any(isinstance(one, TimeoutError) for one in _causes(error)) or "tcp connection" in what:
        return _unreachable(access, f"no answer within {CONNECT_S:.0f} s")
    if isinstance(error, NetmikoTimeoutException | paramiko.SSHException):
        return _unreachable(access, _line(error))
    return LabError(
        f"{where} took the login, and then printed no prompt that the driver knows",
        "log in by hand: if another system answers, correct `driver`; if nothing does, the device is busy",
        code="device-silent",
    )


def _refused(access: Access) -> LabError:
    """The error of a login that the device refused, or that nothing could be offered for."""
    own, any_host = secrets.variables("PASSWORD", access.host)
    if secrets.find("PASSWORD", access.host) is not None:
        hint = f"the password is taken from {own} or else {any_host}: check it and the user"
    elif has_keys(access.host):
        hint = f"it took none of your keys: load another into the ssh-agent, or set {own} or {any_host}"
    else:
        return LabError(
            f"no password and no key for the device `{access.name}`, which asks for one",
            f"set {own}, or {any_host} for all devices, or load a key into the ssh-agent",
            code="login-missing",
        )
    who = f"user `{login_name(access)}`"
    return LabError(f"the device `{access.name}` refused the login of {who}", hint, code="login-refused")


def login_name(access: Access) -> str:
    """The user who logs in: of the plan, else of the environment, else of ~/.ssh/config; empty: of none.

    Raises LabError `cannot-read`.
    """
    found = secrets.find("USER", access.host)
    return access.user or (found.reveal() if found else "") or str(ssh_options(access.host).get("user", ""))


def has_keys(host: str) -> bool:
    """Whether the ssh-agent or the user's configuration of SSH has a key to offer a host."""
    with suppress(paramiko.SSHException, OSError):
        agent = paramiko.Agent()
        try:
            if agent.get_keys():
                return True
        finally:
            agent.close()
    return bool(ssh_options(host).get("identityfile"))


def ssh_options(host: str) -> Mapping[str, Any]:
    """What the user's configuration of SSH has for a host. Raises LabError `cannot-read`."""
    path = ssh_config()
    if path is None:
        return {}
    try:
        found: Mapping[str, Any] = paramiko.SSHConfig.from_path(path).lookup(host)
    except (OSError, ValueError, paramiko.SSHException) as error:
        raise LabError(
            f"`{path}` cannot be read: {_line(error)}", "`ssh -G HOST` names the line", code="cannot-read"
        ) from None
    return found


def ssh_config() -> str | None:
    """The user's configuration of SSH; None: there is none."""
    path = os.path.expanduser("~/.ssh/config")
    return path if os.path.isfile(path) else None


def _unreachable(access: Access, why: str) -> LabError:
    user = f"{access.user}@" if access.user else ""
    return LabError(
        f"the device `{access.name}` is not reachable by SSH: {why}",
        f"check `host` and `ssh: {{port: ...}}`; `ssh -p {access.ssh.port} {user}{access.host}` must log in",
        code="device-unreachable",
    )


def _incompatible(error: Exception, where: str) -> LabError:
    # paramiko says which kind does not fit, not what the device offers.
    words = {"kex": "kex", "cipher": "ciphers", "mac": "macs", "host key": "keys"}
    kind = next((kind for word, kind in words.items() if word in str(error)), "kex")
    old = ", ".join(OLD_ALGORITHMS[kind])
    return LabError(
        f"{where} speaks only old algorithms of SSH: {_line(error)}",
        f"`ssh -vv` shows what it offers; if this lab may use it, name it: `ssh: {{old: [...]}}`, of {old}",
        code="algorithms-differ",
    )


def _line(error: BaseException) -> str:
    """The first line of an error, without secrets, at most 160 characters."""
    text = " ".join(secrets.redact(str(error)).split()) or type(error).__name__
    return text[:160]
