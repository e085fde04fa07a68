"""The target of gNMI in a device: questions that end in time, whatever it answers.

pygnmi's own client waits without a deadline, and trusts any certificate unless it has a file: only its
messages are used here.
"""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any

from netdyno.devices.telemetry.api import Target
from netdyno.devices.telemetry.bounded_socket import handshake, tls_context
from netdyno.devices.telemetry.gnmi_errors import LOST, explain
from netdyno.devices.telemetry.gnmi_values import Leaf, UnreadableError, list_leaves
from netdyno.devices.wiring import LabError
from netdyno.values.printable import printable

PORT = 57400
"""Of IOS XR; few systems use the registered one, 9339."""
CONNECT_S = 10.0
ANSWER_S = 5.0
LONGEST = 4 * 2**20
"""Bytes of one answer."""
ENCODINGS = ("JSON_IETF", "JSON", "PROTO")
"""The first that a target has is used."""
MODULE = "module"
ORIGINS = ("openconfig", "", MODULE)
"""What stands before a path, in the order in which it is tried: targets differ. `module`: its name."""

Steps = tuple[tuple[str, str], ...]
"""A path: names of nodes, each with its key (`name`); an empty one: it is no list."""


class GnmiTarget:
    """Is connected when it is first asked, and again after an error."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._port = target.api.port or PORT
        self._channel: Any = None
        self._stub: Any = None
        self._login: tuple[tuple[str, str], ...] = ()
        self._encoding = ENCODINGS[0]
        self._origin: str | None = None

    @property
    def host(self) -> str:
        """The device's host."""
        return self._target.host

    def close(self) -> None:
        """Ends the connection."""
        held, self._channel, self._stub = self._channel, None, None
        if held is not None:
            held.close()

    def get(self, module: str, steps: Steps) -> tuple[Leaf, ...]:
        """The leaves below a path; none if the target has no such path. Raises LabError."""
        if self._stub is None:
            self._open()
        if self._origin is not None:
            return self._ask(self._origin, module, steps)
        refused: list[LabError] = []
        for origin in ORIGINS:
            try:
                found = self._ask(origin, module, steps)
            except LabError as error:
                if error.code != "command-refused":
                    raise
                refused.append(error)
                continue
            if found:
                self._origin = origin
                return found
        if len(refused) == len(ORIGINS):
            raise refused[0]
        return ()

    def _ask(self, origin: str, module: str, steps: Steps) -> tuple[Leaf, ...]:
        import grpc
        from pygnmi.spec.v080 import gnmi_pb2

        elements = [gnmi_pb2.PathElem(name=name, key={"name": key} if key else None) for name, key in steps]
        request = gnmi_pb2.GetRequest(
            path=[gnmi_pb2.Path(origin=module if origin == MODULE else origin, elem=elements)],
            encoding=gnmi_pb2.Encoding.Value(self._encoding),
        )
        shown = "/" + "/".join(name for name, _ in steps)
        try:
            answer = self._stub.Get(request, timeout=ANSWER_S, metadata=self._login)
            return tuple(list_leaves(answer))
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.NOT_FOUND:
                return ()
            raise self._failed(error, shown) from None
        except UnreadableError as error:
            raise LabError(
                f"the answer of `{self.host}` to `{shown}` is not understood: {error}",
                "check `gnmi: {port: ...}`, and the version of the device's system",
                code="not-understood",
            ) from None

    def _open(self) -> None:
        """Logs in. Raises LabError."""
        # It writes to the terminal what it then raises as an error, too.
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
        import grpc
        from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

        user, password = self._target.find_login()
        if not all(one.isascii() and one.isprintable() for one in (user, password.reveal())):
            raise self._target.refuse_characters()
        self._login = (("username", user), ("password", password.reveal()))
        host = f"[{self.host}]" if ":" in self.host else self.host
        options: list[tuple[str, str | int]] = [
            ("grpc.enable_http_proxy", 0),
            ("grpc.max_receive_message_length", LONGEST),
        ]
        certificate = self._look()
        if self._target.api.tls:
            trusted = _trusted(self._target.api.ca)
            if not self._target.api.strict:
                # gRPC always checks: what was presented just now is trusted, under the name that it has.
                trusted = ssl.DER_cert_to_PEM_cert(certificate).encode()
                options.append(("grpc.ssl_target_name_override", _name_in(certificate)))
            credentials = grpc.ssl_channel_credentials(trusted)
            self._channel = grpc.secure_channel(f"{host}:{self._port}", credentials, options)
        else:
            self._channel = grpc.insecure_channel(f"{host}:{self._port}", options)
        self._stub = gnmi_pb2_grpc.gNMIStub(self._channel)
        try:
            has = self._stub.Capabilities(
                gnmi_pb2.CapabilityRequest(), timeout=CONNECT_S, metadata=self._login
            )
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.UNIMPLEMENTED:
                return
            raise self._failed(error, "Capabilities") from None
        names = {gnmi_pb2.Encoding.Name(one) for one in has.supported_encodings if one in range(5)}
        self._encoding = next((one for one in ENCODINGS if one in names), ENCODINGS[0])

    def _look(self) -> bytes:
        """Connects once without gRPC, which does not report why it cannot: the certificate, or b"".

        Raises LabError.
        """
        where = f"{self.host}:{self._port}"
        try:
            plain = socket.create_connection((self.host, self._port), CONNECT_S)
            if not self._target.api.tls:
                plain.close()
                return b""
            context = tls_context(self._target.api)
            context.set_alpn_protocols(["h2"])
            with handshake(plain, self.host, context, CONNECT_S) as found:
                return found.getpeercert(binary_form=True) or b""
        except ssl.SSLCertVerificationError as error:
            raise LabError(
                f"the certificate of `{where}` is refused: {error.verify_message}",
                "name the file of its issuer: `gnmi: {ca: FILE}`; `strict: false` takes any certificate",
                code="certificate-refused",
            ) from None
        except OSError as error:
            why = error.strerror or "no answer in time"
            if isinstance(error, ssl.SSLError):
                why = "it does not speak TLS as this machine does"
            raise LabError(
                f"gNMI at `{where}` cannot be reached: {printable(why)[:100]}",
                "check `host` and `gnmi: {port: ...}`; `gnmi: {tls: false}` is in clear text",
                code="device-unreachable",
            ) from None

    def _failed(self, error: Any, asked: str) -> LabError:
        """The error of a question; the connection is closed, unless the target refused the question alone."""
        found = explain(error, self.host, asked)
        if found.code in LOST:
            self.close()
        return found


def _trusted(ca: str) -> bytes | None:
    """Certificates that are trusted, as PEM; None: those of gRPC."""
    file = ca or ssl.get_default_verify_paths().cafile
    with suppress(OSError):
        return Path(file).read_bytes() if file else None
    return None


def _name_in(certificate: bytes) -> str:
    """A name that a certificate is for, its alternative names first; empty: it has none."""
    from cryptography import x509

    try:
        read = x509.load_der_x509_certificate(certificate)
        with suppress(x509.ExtensionNotFound):
            names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
            found = [str(one.value) for one in names if isinstance(one, x509.DNSName | x509.IPAddress)]
            if found:
                return found[0]
        common = read.subject.get_attributes_for_oid(x509.oid.NameOID.COMMON_NAME)
        return str(common[0].value) if common else ""
    except ValueError:
        return ""
