"""The API of a router with RouterOS: questions that end in time, whatever it answers.

librouteros is under GPL-2.0-or-later: it is no dependency but an extra, and imported here alone, when asked.
"""

from __future__ import annotations

import logging
import select
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from netdyno.devices import secrets
from netdyno.devices.access import Api
from netdyno.devices.telemetry.api import Target
from netdyno.devices.wiring import LabError

if TYPE_CHECKING:
    from librouteros.api import Api as Connected


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


PORTS = {True: 8729, False: 8728}
"""The usual ports, with TLS and without."""
CONNECT_S = 10.0
ANSWER_S = 5.0
LONGEST = 2**20
"""Bytes of one answer; that of all interfaces of a large router has some hundred thousand."""

Row = Mapping[str, Any]

# It logs the words of a login.
logging.getLogger("librouteros").setLevel(logging.CRITICAL + 1)


class Router:
    """Is connected when it is first asked, and again after an error."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._port = target.api.port or PORTS[target.api.tls]
        self._socket: BoundedSocket | None = None
        self._api: Connected | None = None

    @property
    def host(self) -> str:
        """The router's host."""
        return self._target.host

    def close(self) -> None:
        """Ends the connection."""
        held, self._socket, self._api = self._socket, None, None
        if held is not None:
            held.close()

    def ask(self, command: str, *words: str) -> tuple[Row, ...]:
        """The rows of an answer. Raises LabError; then the connection is closed, unless it was refused."""
        api = self._opened()
        assert self._socket is not None
        self._socket.begin(ANSWER_S, LONGEST)
        from librouteros.exceptions import MultiTrapError, TrapError

        try:
            return tuple(api.rawCmd(command, *words))
        except (TrapError, MultiTrapError) as error:
            raise LabError(
                f"the API of `{self._target.host}` refused `{command}`: {_shown(error)}",
                "check what the user may do (policies `read`, `api`), and the version of RouterOS",
                code="command-refused",
            ) from None
        except Exception as error:
            self.close()
            raise self._lost(error, command) from None

    def _opened(self) -> Connected:
        if self._api is None:
            self._api = self._login()
        return self._api

    def _login(self) -> Connected:
        import librouteros
        from librouteros.exceptions import MultiTrapError, TrapError

        user, password = self._target.find_login()
        context = tls_context(self._target.api) if self._target.api.tls else None

        def wrap(plain: socket.socket) -> Any:
            host = self._target.host
            self._socket = BoundedSocket(
                plain if context is None else handshake(plain, host, context, CONNECT_S)
            )
            self._socket.begin(CONNECT_S, LONGEST)
            return self._socket

        try:
            return librouteros.connect(
                self._target.host,
                user,
                password.reveal(),
                timeout=CONNECT_S,
                port=self._port,
                encoding="utf-8",
                ssl_wrapper=wrap,
                login_method=_log_in,
            )
        except (TrapError, MultiTrapError):
            raise LabError(
                f"the API of `{self._target.host}` refused the login of user `{user}`",
                f"check the user and {' or '.join(secrets.variables('PASSWORD', self._target.host))};"
                " the user's group needs the policy `api`",
                code="login-refused",
            ) from None
        except ssl.SSLCertVerificationError as error:
            raise LabError(
                f"the certificate of `{self._target.host}:{self._port}` is refused: {error.verify_message}",
                "name the file of its issuer: `api: {ca: FILE}`; `strict: false` takes any certificate",
                code="certificate-refused",
            ) from None
        except UnicodeError:
            raise self._target.refuse_characters() from None
        except Exception as error:
            # What the library makes of an answer that is none: any error of Python.
            raise self._unreachable(error) from None

    def _unreachable(self, error: Exception) -> LabError:
        where = f"{self._target.host}:{self._port}"
        if isinstance(error, ssl.SSLError):
            why = "it does not speak TLS as this machine does"
            hint = "give `api-ssl` a certificate on the device; `api: {tls: false}` is in clear text"
        else:
            why = _shown(error)
            hint = "check `host` and `api: {port: ...}`; `/ip service print` on the device has its ports"
        return LabError(f"the API at `{where}` cannot be reached: {why}", hint, code="device-unreachable")

    def _lost(self, error: Exception, command: str) -> LabError:
        host = self._target.host
        if isinstance(error, TimeoutError):
            return LabError(
                f"the API of `{host}` does not answer `{command}` within {ANSWER_S:.0f} s",
                "see whether the device is overloaded: `/tool profile`",
                code="device-silent",
            )
        if isinstance(error, TooLongError):
            return LabError(
                f"the API of `{host}` answers `{command}` without end",
                "check `host` and `api: {port: ...}`: another program may answer",
                code="too-long",
            )
        from librouteros.exceptions import ConnectionClosed, FatalError

        if isinstance(error, OSError | ConnectionClosed | FatalError):
            return LabError(
                f"the connection with the API of `{host}` ended during `{command}`: {_shown(error)}",
                "see whether the device restarted or limits its sessions",
                code="session-lost",
            )
        return not_understood(command, _shown(error))


def _log_in(api: Connected, user: str, password: str) -> None:
    """As version 6.43 and later have it; before, a router answers with a challenge."""
    from librouteros.login import encode_password

    answer = tuple(api("/login", name=user, password=password))
    challenge = next((str(row["ret"]) for row in answer if "ret" in row), None)
    if challenge is not None:
        tuple(api("/login", name=user, response=encode_password(challenge, password)))


def not_understood(what: str, found: str) -> LabError:
    """The error of an answer with something else in it."""
    return LabError(
        f"the answer of the device to `{what}` is not understood: {found}",
        "check `driver` of the device, and the version of its system",
        code="not-understood",
    )


def shorten(value: object) -> str:
    """At most 60 printable characters."""
    return "".join(one for one in str(value)[:60] if one.isprintable())


def _shown(error: Exception) -> str:
    """The first line of an error, without secrets."""
    return shorten(" ".join(secrets.redact(str(error)).split())) or type(error).__name__
