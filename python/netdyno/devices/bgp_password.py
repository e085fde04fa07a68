"""The password of BGP sessions (RFC 2385), which goes into the configuration of BIRD and FRR."""

from __future__ import annotations

from netdyno.devices import secrets
from netdyno.devices.peering import Bgp
from netdyno.devices.wiring import LabError

NAME = "BGP_PASSWORD"
MOST_BYTES = 80
"""Of TCP_MD5SIG_MAXKEYLEN (linux/tcp.h)."""


def read_password(port: str, bgp: Bgp | None) -> str:
    """The password of the sessions at a port, from the environment; empty: they have none.

    Raises LabError: `login-missing`, or `wrong-format` of one that those programs or the kernel cannot take.
    """
    if bgp is None or not bgp.has_password:
        return ""
    secret = secrets.find(NAME, port)
    own, common = secrets.variables(NAME, port)
    if secret is None:
        raise LabError(
            f"`{port}` has BGP with `md5`, and no environment variable has its password",
            f"set {common}, or {own} for this port alone",
            code="login-missing",
        )
    password = secret.reveal()
    if '"' in password or not password.isprintable() or len(password.encode()) > MOST_BYTES:
        raise LabError(
            f"the BGP password of `{port}`, from {own} or {common}, cannot be one",
            f'at most {MOST_BYTES} bytes, without `"` and without control characters',
            code="wrong-format",
        )
    return password
