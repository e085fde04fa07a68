"""The address by which this machine reaches another one."""

from __future__ import annotations

import socket


def find_own_address(host: str, port: int) -> str:
    """This machine's address towards another one. Nothing is sent. Raises OSError: no such name, no route."""
    family, kind, protocol, _, to = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as asked:
        asked.connect(to)
        return str(asked.getsockname()[0])
