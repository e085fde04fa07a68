"""Logs in to a device by SSH, and says what went wrong in the user's terms."""

from __future__ import annotations

import logging
import os
import shlex
import socket
from collections.abc import Iterator
from typing import Any

import netmiko
import paramiko
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException

from netdyno.devices import secrets
from netdyno.devices.access import OLD_ALGORITHMS, Access
from netdyno.devices.reach.keys import Offer
from netdyno.devices.reach.ssh_config import SshHost, Way, resolve
from netdyno.devices.reach.transport import Transport
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
    host = resolve(access)
    if not host.user:
        raise LabError(
            f"no user name for the device `{access.host}`",
            "give the device `user:` in the plan, or set {} or {}".format(
                *secrets.variables("USER", access.host)
            ),
            code="login-missing",
        )
    password = secrets.find("PASSWORD", access.host)
    enable = secrets.find("ENABLE", access.host)
    offer = Offer(host, _text(password))
    try:
        connection = _connect(access, shell, offer, enable)
    except LabError:
        if not offer.is_cut or password is None:
            raise
        # Some devices end the connection after a few keys that they do not know.
        connection = _connect(access, shell, Offer(host, _text(password), takes_keys=False), enable)
    if enable is not None:
        _enable(connection, access)
    return connection


def _connect(
    access: Access, shell: Shell, offer: Offer, enable: secrets.Secret | None
) -> netmiko.BaseConnection:
    """An open connection. Raises LabError as `login`."""
    host = offer.host
    way: Way | None = None
    try:
        way = Way(host.way) if host.way else None
        connection: netmiko.BaseConnection = _offering(shell.netmiko, offer)(
            device_type=shell.netmiko,
            host=host.host,
            port=host.port,
            sock=None if way is None else way.sock,
            username=host.user,
            password=offer.password,
            secret=_text(enable),
            ssh_strict=access.ssh.strict,
            system_host_keys=True,
            alt_host_keys=bool(access.ssh.known_hosts),
            alt_key_file=access.ssh.known_hosts,
            disabled_algorithms=_disabled(access),
            conn_timeout=CONNECT_S,
            auth_timeout=CONNECT_S,
            banner_timeout=BANNER_S,
            global_cmd_verify=False,
            # The width of its terminal is configuration of an ASA: nothing is changed to log in.
            allow_auto_change=False,
        )
    except Exception as error:
        if way is not None:
            way.sock.close()
        if _is_of_enabling(error):
            raise _not_enabled(access, has_password=enable is not None) from None
        raise explain(error, access, offer, way) from None
    return connection


def _offering(device_type: str, offer: Offer) -> Any:
    """The library's class for a kind of device, which logs in by an offer of ours."""
    base: Any = netmiko.ssh_dispatcher(device_type)

    class Offering(base):  # type: ignore[misc]
        def _connect_params_dict(self) -> dict[str, Any]:
            own = {"auth_strategy": offer, "transport_factory": Transport}
            return {**super()._connect_params_dict(), **own}

    return Offering


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


def unknown_key(access: Access, host: SshHost) -> LabError:
    """The error of a host key that no file has, with the files."""
    named = access.ssh.known_hosts
    files = f"`{_OWN}`"
    if named:
        lack = "" if os.path.isfile(named) else ", which does not exist"
        files += f" or in `{named}`{lack}"
    written = "" if host.known_as == access.host else f"; the file has it as `{host.known_as}`"
    options = ("-o", f"UserKnownHostsFile={shlex.quote(named)}") if named else ()
    return LabError(
        f"the host key of the device `{access.name}` is not in {files}",
        f"`{_command(access, host.user, *options)}` shows its fingerprint; compare it with the device's own"
        f" and accept it there{written}",
        code="host-key-unknown",
    )


def _command(access: Access, user: str, *options: str) -> str:
    """The command by which the user logs in by hand. options: quoted."""
    port = ("-p", str(access.ssh.port)) if access.ssh.port != 22 else ()
    where = f"{user}@{access.host}" if user else access.host
    return " ".join(("ssh", *port, *options, *(("--",) if where[0] == "-" else ()), shlex.quote(where)))


def changed_key(access: Access, host: SshHost, error: paramiko.BadHostKeyException) -> LabError:
    """The error of a host key that differs from the one in a file."""
    named = access.ssh.known_hosts
    there = _OWN if _has(os.path.expanduser(_OWN), host) or not named else named
    option = "" if there == _OWN else f" -f {shlex.quote(there)}"
    return LabError(
        f"the device `{access.name}` has another host key than `{there}`: {_fingerprint(error.key)}, expected"
        f" {_fingerprint(error.expected_key)}",
        "find out why; if the device is the right one, remove its old key:"
        f" `ssh-keygen -R {shlex.quote(host.known_as)}{option}`",
        code="host-key-changed",
    )


def _has(file: str, host: SshHost) -> bool:
    """Whether a file has a key of the device; the library looks into the user's own first."""
    try:
        return paramiko.HostKeys(file).lookup(host.known_as) is not None
    except (OSError, paramiko.SSHException, paramiko.hostkeys.InvalidHostKey):
        return False


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


def explain(error: Exception, access: Access, offer: Offer, way: Way | None) -> LabError:
    """The error of a login that failed. way: by which the device was to be reached; None: directly."""
    host, where = offer.host, f"the device `{access.name}`"
    for one in _causes(error):
        if isinstance(one, LabError):
            return one
        if isinstance(one, paramiko.BadHostKeyException):
            return changed_key(access, host, one)
        if isinstance(one, paramiko.ssh_exception.IncompatiblePeer):
            return _incompatible(one, where)
        if isinstance(one, paramiko.SSHException) and "not found in known_hosts" in str(one):
            return unknown_key(access, host)
        if isinstance(one, paramiko.AuthenticationException | NetmikoAuthenticationException):
            return _refused(access, offer)
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
    if way is not None and (why := way.read_error()):
        return _unreachable(access, f"`{host.via}`, by which your SSH reaches it: {why}", host.user)
    for one in _causes(error):
        if isinstance(one, socket.gaierror):
            hint = "check `host` of the device in the plan"
            return LabError(f"the host name `{host.host}` is not known", hint, code="device-unreachable")
        if isinstance(one, OSError) and not isinstance(one, TimeoutError) and one.strerror:
            return _unreachable(access, one.strerror, host.user)
    what = str(error).lower()
    if "banner" in what or "eof" in what or "no existing session" in what:
        return _unreachable(
            access, "what answers there does not speak SSH, or closed the connection", host.user
        )
    if any(isinstance(one, TimeoutError) for one in _causes(error)) or "tcp connection" in what:
        return _unreachable(access, f"no answer within {CONNECT_S:.0f} s", host.user)
    if isinstance(error, NetmikoTimeoutException | paramiko.SSHException):
        return _unreachable(access, _line(error), host.user)
    return LabError(
        f"{where} took the login, and then printed no prompt that the driver knows",
        "log in by hand: if another system answers, correct `driver`; if nothing does, the device is busy",
        code="device-silent",
    )


def _refused(access: Access, offer: Offer) -> LabError:
    """The error of a login that the device refused, or that nothing could be offered for."""
    own, any_host = secrets.variables("PASSWORD", access.host)
    if offer.password:
        hint = f"the password is taken from {own} or else {any_host}: check it and the user"
    elif offer.locked:
        add = f"`ssh-add {shlex.quote(offer.locked[0])}`"
        running = "" if offer.host.agent else "start an ssh-agent, ``eval `ssh-agent` ``, and "
        return LabError(
            f"the key `{offer.locked[0]}` for the device `{access.name}` has a passphrase, and no ssh-agent"
            " holds it",
            f"{running}load it: {add}; sudo takes `--preserve-env=SSH_AUTH_SOCK`",
            code="login-missing",
        )
    elif offer.offered:
        hint = f"it took none of your keys: load another into the ssh-agent, or set {own} or {any_host}"
    else:
        return LabError(
            f"no password and no key for the device `{access.name}`, which asks for one",
            f"set {own}, or {any_host} for all devices, or load a key into the ssh-agent",
            code="login-missing",
        )
    who = f"user `{offer.host.user}`"
    return LabError(f"the device `{access.name}` refused the login of {who}", hint, code="login-refused")


def _unreachable(access: Access, why: str, user: str) -> LabError:
    return LabError(
        f"the device `{access.name}` is not reachable by SSH: {why}",
        f"check `host` and `ssh: {{port: ...}}`; `{_command(access, user)}` must log in",
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
