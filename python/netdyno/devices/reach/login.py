"""Logs in to a device by SSH, and says what went wrong in the user's terms."""

from __future__ import annotations

import logging
import os
import shlex
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import netmiko
import paramiko
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException

from netdyno.devices import secrets
from netdyno.devices.access import OLD_ALGORITHMS, Access
from netdyno.devices.shell import Shell
from netdyno.devices.wiring import LabError

# They log what they send and receive: nothing of it is to leave this process.
for _name in ("netmiko", "paramiko"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


def login(access: Access, shell: Shell) -> netmiko.BaseConnection:
    """An open connection, paging off, in privileged mode where the environment has the password for it.

    Raises LabError: `device-unreachable`, `login-refused`, `host-key-unknown`, `host-key-changed`,
    `algorithms-differ`, `login-missing`, `cannot-read`, `device-silent`.
    """
    host = access.host
    user = login_name(access)
    if not user:
        raise LabError(
            f"no user name for the device `{host}`",
            "give the device `user:` in the plan, or set {} or {}".format(*secrets.variables("USER", host)),
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
            ssh_config_file=ssh_config(),
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
        raise explain(error, access) from None
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


def _disabled(access: Access) -> dict[str, list[str]]:
    """The old algorithms that the plan does not name for this device."""
    found = {
        kind: [name for name in names if name not in access.ssh.old] for kind, names in OLD_ALGORITHMS.items()
    }
    return {**found, "pubkeys": found["keys"]}


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
