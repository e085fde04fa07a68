"""How a plan says that a device is reached. No secret is in it: these come from the environment alone."""

from __future__ import annotations

from dataclasses import dataclass, field

OLD_ALGORITHMS: dict[str, tuple[str, ...]] = {
    "kex": (
        "diffie-hellman-group1-sha1",
        "diffie-hellman-group14-sha1",
        "diffie-hellman-group-exchange-sha1",
    ),
    "ciphers": ("3des-cbc", "aes128-cbc", "aes192-cbc", "aes256-cbc"),
    "macs": ("hmac-md5", "hmac-md5-96", "hmac-sha1-96", "hmac-sha1"),
    "keys": ("ssh-rsa",),
}
"""Algorithms of SSH that RFC 9142 or OpenSSH have given up: used where a plan names them for a device."""


@dataclass(frozen=True)
class Ssh:
    """strict: a host key that is not known is refused. known_hosts: a file beside the user's own.

    old: names in `OLD_ALGORITHMS` that this device needs.
    """

    port: int = 22
    strict: bool = True
    known_hosts: str = ""
    old: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snmp:
    """Version 2c or 3, as the environment has a community or a user."""

    port: int = 161


@dataclass(frozen=True)
class Api:
    """An API of a device. port: None, its usual one.

    tls: False sends the password in clear text. strict: the certificate must be trusted and have the host's
    name. ca: a file of trusted certificates (PEM); empty: those of this machine.
    """

    port: int | None = None
    tls: bool = True
    strict: bool = True
    ca: str = ""


@dataclass(frozen=True)
class Access:
    """Where a device is, and how it is spoken to. user: empty, that of the environment or ~/.ssh."""

    host: str
    user: str = ""
    ssh: Ssh = field(default_factory=Ssh)
    snmp: Snmp | None = None
    allow: tuple[str, ...] = ()
    """Sections of its configuration that a template may change beyond those of the lab."""
    api: Api | None = None
    """The API of its own system."""

    @property
    def name(self) -> str:
        """The host, with the port if it is not SSH's own."""
        return self.host if self.ssh.port == 22 else f"{self.host}:{self.ssh.port}"
