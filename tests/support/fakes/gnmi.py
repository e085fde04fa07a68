"""A gNMI target on loopback, with the messages of the specification as pygnmi has them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

USER, PASSWORD = "lab", "planted-password-7391"
Answer = Callable[[str], Any]
"""The JSON below a path, written `/interfaces/interface[name=x]/state/counters`; None: there is none."""


@dataclass
class Target(gnmi_pb2_grpc.gNMIServicer):
    """A target. origins: those that it takes. encodings: names. fault: in place of each answer to Get."""

    answer: Answer
    origins: Sequence[str] = ("openconfig",)
    encodings: Sequence[str] = ("JSON_IETF",)
    fault: str | grpc.StatusCode = ""
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._log_in(context)
        encodings = [gnmi_pb2.Encoding.Value(name) for name in self.encodings]
        return gnmi_pb2.CapabilityResponse(supported_encodings=encodings, gNMI_version="0.8.0")

    def Get(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._log_in(context)
        (path,) = request.path
        shown = to_text(path)
        self.asked.append(shown)
        if isinstance(self.fault, grpc.StatusCode):
            context.abort(self.fault, "as the test has it")
        if self.fault == "silent":
            time.sleep(3)
        if path.origin not in self.origins:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"origin {path.origin}")
        try:
            found = self.answer(shown)
        except PermissionError:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "not for this user")
        if found is None:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such path")
        update = gnmi_pb2.Update(path=path, val=self._packed(found, request.encoding))
        updates = [update] if request.encoding != gnmi_pb2.PROTO else list(_leaves(path, found))
        return gnmi_pb2.GetResponse(notification=[gnmi_pb2.Notification(update=updates)])

    def _packed(self, found: Any, encoding: int) -> Any:
        data = b"{" * 5000 if self.fault == "garbage" else json.dumps(found).encode()
        if self.fault == "endless":
            data = b'"' + b"a" * 5 * 2**20 + b'"'
        if encoding == gnmi_pb2.JSON:
            return gnmi_pb2.TypedValue(json_val=data)
        return gnmi_pb2.TypedValue(json_ietf_val=data)

    def _log_in(self, context: Any) -> None:
        given = dict(context.invocation_metadata())
        if (given.get("username"), given.get("password")) != (USER, PASSWORD):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, f"no entry for {given.get('password')}")


def to_text(path: Any) -> str:
    return "".join(
        f"/{one.name}" + "".join(f"[{key}={one.key[key]}]" for key in sorted(one.key)) for one in path.elem
    )


def _leaves(path: Any, value: Any) -> Iterator[Any]:
    """An update for each leaf, as targets have them that know no JSON."""
    for name, inner in value.items():
        below = gnmi_pb2.Path()
        below.CopyFrom(path)
        below.elem.add(name=name)
        yield gnmi_pb2.Update(path=below, val=gnmi_pb2.TypedValue(uint_val=int(inner)))


@contextmanager
def serving(target: Target, identity: tuple[Path, Path] | None = None) -> Iterator[Target]:
    """Serves the target until the block ends. identity: files of its certificate and key; None: no TLS."""
    server = grpc.server(ThreadPoolExecutor(4))
    gnmi_pb2_grpc.add_gNMIServicer_to_server(target, server)
    if identity is None:
        target.port = server.add_insecure_port("127.0.0.1:0")
    else:
        pair = (identity[1].read_bytes(), identity[0].read_bytes())
        target.port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
    server.start()
    try:
        yield target
    finally:
        server.stop(None).wait(5)
