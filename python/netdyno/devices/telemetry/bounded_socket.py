"""A TCP or TLS connection to a device whose answers are bounded: in time, and in bytes."""

from __future__ import annotations

import select
import socket
import ssl
import time
from contextlib import ExitStack

from netdyno.devices.access import Api
from netdyno.devices.wiring import LabError

CHUNK = 65_536


class TooLongError(Exception):
    """An answer has more bytes than it may."""


class BoundedSocket:
    """What a library reads from and writes to, as from a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._held = bytearray()
        self._until = 0.0
        self._left = 0

    def begin(self, seconds: float, most: int) -> None:
        """Bounds all that follows, until the next call: time in s, bytes that are received."""
        self._until, self._left = time.monotonic() + seconds, most

    def sendall(self, data: bytes) -> None:
        """Raises OSError; TimeoutError after the time."""
        self._socket.settimeout(self._left_s())
        self._socket.sendall(data)

    def recv(self, size: int) -> bytes:
        """At most so many bytes; none at the end. Raises OSError, TooLongError."""
        if not self._held:
            if self._left <= 0:
                raise TooLongError
            self._socket.settimeout(self._left_s())
            self._held += self._socket.recv(min(CHUNK, self._left))
            self._left -= len(self._held)
        found = bytes(self._held[:size])
        del self._held[:size]
        return found

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def _left_s(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        return left


def tls_context(api: Api) -> ssl.SSLContext:
    """How certificates are checked. Raises LabError `cannot-read` if the file of them cannot be used."""
    context = ssl.create_default_context()
    if not api.strict:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif api.ca:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # The device's own certificate will do, whoever signed it.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        try:
            context.load_verify_locations(cafile=api.ca)
        except (OSError, ssl.SSLError) as error:
            raise LabError(
                f"the file of certificates `{api.ca}` cannot be used",
                f"`ca` names a file of certificates as PEM: {error.strerror or 'it has none'}",
                code="cannot-read",
            ) from None
    return context


def handshake(plain: socket.socket, host: str, context: ssl.SSLContext, seconds: float) -> ssl.SSLSocket:
    """The connection with TLS on it. Raises OSError; TimeoutError after so long, s, all told."""
    until = time.monotonic() + seconds
    plain.setblocking(False)
    with ExitStack() as failed:
        found = failed.enter_context(
            context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
        )
        while True:
            try:
                found.do_handshake()
                break
            except ssl.SSLWantReadError:
                waits: tuple[list[ssl.SSLSocket], list[ssl.SSLSocket]] = ([found], [])
            except ssl.SSLWantWriteError:
                waits = ([], [found])
            if not any(select.select(*waits, [], max(until - time.monotonic(), 0))):
                raise TimeoutError("no handshake in time")
        failed.pop_all()
    return found
