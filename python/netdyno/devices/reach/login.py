"""Logs in to a device by SSH, and says what went wrong in the user's terms."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import netmiko
import paramiko
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException

from netdyno.devices import secrets
from netdyno.devices.access import OLD_ALGORITHMS, Access
from netdyno.devices.shell import Shell
from netdyno.devices.wiring import LabError

CONNECT_S = 10.0
BANNER_S = 10.0

# They log what they send and receive: nothing of it is to leave this process.
for _name in ("netmiko", "paramiko"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


def login(access: Access, shell: Shell) -> netmiko.BaseConnection:
    """An open connection, paging off, in privileged mode where the environment has the password for it.

    Raises LabError: `device-unreachable`, `login-refused`, `host-key-unknown`, `host-key-changed`,
    `algorithms-differ`, `login-missing`, `device-silent`.
    """
    host = access.host
    user = access.user or _text(secrets.find("USER", host)) or _configured_user(host)
    if not user:
        raise LabError(
            f"no user name for the device `{host}`",
            f"give the device `user:` in the plan, or set {secrets.variables('USER', host)[1]}",
            code="login-missing",
        )
    password = secrets.find("PASSWORD", host)
    enable = secrets.find("ENABLE", host)
    try:
        connection: netmiko.BaseConnection = netmiko.ConnectHandler(
            device_type=shell.netmiko,
            host=host,
            port=access.ssh.port,
            username=user,
            password=_text(password),
            secret=_text(enable),
            use_keys=False,
            allow_agent=True,
            ssh_strict=access.ssh.strict,
            system_host_keys=True,
            alt_host_keys=bool(access.ssh.known_hosts),
            alt_key_file=access.ssh.known_hosts,
            ssh_config_file=_ssh_config(),
            disabled_algorithms=_disabled(access),
            conn_timeout=CONNECT_S,
            auth_timeout=CONNECT_S,
            banner_timeout=BANNER_S,
            global_cmd_verify=False,
            # The width of its terminal is configuration of an ASA: nothing is changed to log in.
            allow_auto_change=False,
        )
    except Exception as error:
        if _is_of_enabling(error):
            raise _not_enabled(access, has_password=enable is not None) from None
        raise _explain(error, access, has_password=password is not None) from None
    if enable is not None:
        _enable(connection, access)
    return connection


def _enable(connection: netmiko.BaseConnection, access: Access) -> None:
    """Enters privileged mode. Raises LabError `login-refused`; then the session is closed."""
    try:
        if not connection.check_enable_mode():
            connection.enable()
    except Exception:
        connection.paramiko_cleanup()
        raise _not_enabled(access, has_password=True) from None


def _is_of_enabling(error: BaseException) -> bool:
    """Whether the library raised it on the way to privileged mode, which some logins lead to."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name in ("enable", "asa_login"):
            return True
        trace = trace.tb_next
    return False


def _not_enabled(access: Access, *, has_password: bool) -> LabError:
    own, any_host = secrets.variables("ENABLE", access.host)
    if has_password:
        return LabError(
            f"the device `{access.name}` refused the password of privileged mode",
            f"it is taken from {own} or {any_host}: check it, or unset it",
            code="login-refused",
        )
    return LabError(
        f"the device `{access.name}` asks for a password of privileged mode, and none is set",
        f"set {any_host} (or {own})",
        code="login-refused",
    )


def _text(secret: secrets.Secret | None) -> str:
    return "" if secret is None else secret.reveal()


def _ssh_config() -> str | None:
    path = Path(os.path.expanduser("~/.ssh/config"))
    return str(path) if path.is_file() else None


def _configured_user(host: str) -> str:
    path = _ssh_config()
    if path is None:
        return ""
    found: str = paramiko.SSHConfig.from_path(path).lookup(host).get("user", "")
    return found


def _disabled(access: Access) -> dict[str, list[str]]:
    """The old algorithms that the plan does not name for this device."""
    found = {
        kind: [name for name in names if name not in access.ssh.old] for kind, names in OLD_ALGORITHMS.items()
    }
    return {**found, "pubkeys": found["keys"]}


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that led to it: the library raises its own in place of what it caught."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        seen.append(one)
        yield one
        one = one.__cause__ or one.__context__


def _explain(error: Exception, access: Access, *, has_password: bool) -> LabError:
    host, where = access.host, f"the device `{access.name}`"
    for one in _causes(error):
        if isinstance(one, LabError):
            return one
        if isinstance(one, paramiko.BadHostKeyException):
            return LabError(
                f"{where} has another host key than before: {_fingerprint(one.key)}, expected"
                f" {_fingerprint(one.expected_key)}",
                "find out why; if the device is the right one, remove its old key:"
                f" `ssh-keygen -R '{_known_as(access)}'`",
                code="host-key-changed",
            )
        if isinstance(one, paramiko.ssh_exception.IncompatiblePeer):
            return _incompatible(one, where)
        if isinstance(one, paramiko.SSHException) and "not found in known_hosts" in str(one):
            return LabError(
                f"the host key of {where} is not in known_hosts",
                f"`ssh -p {access.ssh.port} {host}` shows its fingerprint; compare it with the device's"
                " own and accept it there",
                code="host-key-unknown",
            )
        if isinstance(one, paramiko.AuthenticationException | NetmikoAuthenticationException):
            password, any_host = secrets.variables("PASSWORD", host)
            hint = (
                f"the password is taken from {password} or {any_host}: check it and the user"
                if has_password
                else f"set {any_host} (or {password}), or load a key into the ssh-agent"
            )
            return LabError(f"{where} refused the login", hint, code="login-refused")
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
        f"{where} let us in, but its prompt was not understood: {_line(error)}",
        "check `driver` of the device: another system may answer there",
        code="device-silent",
    )


def _unreachable(access: Access, why: str) -> LabError:
    return LabError(
        f"the device `{access.name}` is not reachable by SSH: {why}",
        f"check `host` and `ssh: {{port: ...}}`; `ssh -p {access.ssh.port} {access.host}` must log in",
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


def _known_as(access: Access) -> str:
    """As known_hosts has the host."""
    return access.host if access.ssh.port == 22 else f"[{access.host}]:{access.ssh.port}"


def _fingerprint(key: Any) -> str:
    return f"{key.get_name()} {key.fingerprint}"


def _line(error: BaseException) -> str:
    """The first line of an error, without secrets, at most 160 characters."""
    text = " ".join(secrets.redact(str(error)).split()) or type(error).__name__
    return text[:160]
