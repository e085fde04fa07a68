"""How to log in at an SNMP agent: its address, and a community or a user.

SNMPv2c with `NETDYNO_SNMP_COMMUNITY`; SNMPv3 if there is `NETDYNO_SNMP_USER`, with the passwords
`NETDYNO_SNMP_AUTH` and `NETDYNO_SNMP_PRIV`. A password may name its algorithm, `SHA256:password`; without,
SHA (RFC 3414) and AES128 (RFC 3826).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from netdyno.devices import secrets
from netdyno.devices.secrets import Secret
from netdyno.devices.wiring import LabError

if TYPE_CHECKING:
    from gufo.snmp import User

AUTH = {
    "MD5": "Md5Key",
    "SHA": "Sha1Key",
    "SHA224": "Sha224Key",
    "SHA256": "Sha256Key",
    "SHA384": "Sha384Key",
    "SHA512": "Sha512Key",
}
PRIV = {
    "DES": "DesKey",
    "AES": "Aes128Key",
    "AES128": "Aes128Key",
    "AES192": "Aes192Key",
    "AES256": "Aes256Key",
}
"""Algorithms of SNMPv3, by the names before a password, and the library's classes of keys."""

Secrets = Callable[[str], Secret | None]
"""Finds a secret by its name: `SNMP_COMMUNITY`."""


def find_address(host: str, port: int) -> str:
    """The first address of a host. Raises LabError, `device-unreachable`."""
    try:
        return str(socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0][4][0])
    except (OSError, UnicodeError) as error:
        raise LabError(
            f"the host `{host}` has no address", "check the name", code="device-unreachable"
        ) from error


def find_login(host: str, find: Secrets) -> tuple[User | None, str]:
    """The user of SNMPv3, or None and the community of SNMPv2c.

    Raises LabError: `login-missing` if there is neither, `login-refused` if a password cannot be one.
    """
    user = _find_user(host, find)
    if user is not None:
        return user, ""
    community = find("SNMP_COMMUNITY")
    if community is None:
        names = (*secrets.variables("SNMP_COMMUNITY", host), secrets.variables("SNMP_USER", host)[1])
        raise LabError(
            f"no SNMP community and no SNMPv3 user for `{host}`",
            f"set one of the environment variables {', '.join(names)}",
            code="login-missing",
        )
    return None, community.reveal()


def _find_user(host: str, find: Secrets) -> User | None:
    name = find("SNMP_USER")
    if name is None:
        return None
    from gufo.snmp import User

    auth = _key(host, "SNMP_AUTH", find("SNMP_AUTH"), AUTH, "SHA")
    priv = _key(host, "SNMP_PRIV", find("SNMP_PRIV"), PRIV, "AES128")
    try:
        return User(name.reveal(), auth_key=auth, priv_key=priv)
    except ValueError:
        raise _unfit(host, "SNMP_AUTH") from None


def _key(host: str, name: str, secret: Secret | None, algorithms: Mapping[str, str], usual: str) -> Any:
    """A key of the library, from a password that may name its algorithm; None without a password."""
    if secret is None:
        return None
    import gufo.snmp

    algorithm, colon, password = secret.reveal().partition(":")
    if not colon or algorithm.upper() not in algorithms:
        algorithm, password = usual, secret.reveal()
    secrets.hide(password)
    try:
        return getattr(gufo.snmp, algorithms[algorithm.upper()])(password.encode())
    except ValueError:
        raise _unfit(host, name) from None


def _unfit(host: str, name: str) -> LabError:
    return LabError(
        f"the SNMPv3 password for `{host}` cannot be used",
        f"{secrets.variables(name, host)[1]} is a password of 8 characters or more, or"
        " `SHA256:password`; NETDYNO_SNMP_PRIV needs NETDYNO_SNMP_AUTH",
        code="login-refused",
    )
