"""Logs in to a device by SSH, and says what went wrong in the user's terms."""

from __future__ import annotations

import logging

import netmiko

from netdyno.devices import secrets
from netdyno.devices.access import OLD_ALGORITHMS, Access
from netdyno.devices.reach.refusals import BANNER_S, CONNECT_S, explain, login_name, ssh_config
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
