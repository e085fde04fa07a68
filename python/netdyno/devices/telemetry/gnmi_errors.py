"""What went wrong with a question to a target of gNMI, in the user's terms."""

from __future__ import annotations

from typing import Any

from netdyno.devices import secrets
from netdyno.devices.wiring import LabError
from netdyno.values.printable import printable

LOST = ("login-refused", "device-silent", "session-lost")
"""Codes of errors after which a new connection is tried."""


def explain(error: Any, host: str, asked: str) -> LabError:
    """The error of a question by the status that gRPC gives it."""
    import grpc

    status = error.code()
    what = printable(secrets.redact(str(error.details() or status.name)))[:100]
    if status == grpc.StatusCode.UNAUTHENTICATED:
        return LabError(
            f"gNMI of `{host}` refused the login",
            f"check the user and {' or '.join(secrets.variables('PASSWORD', host))}",
            code="login-refused",
        )
    if status == grpc.StatusCode.DEADLINE_EXCEEDED:
        return LabError(
            f"gNMI of `{host}` does not answer `{asked}` in time",
            "see whether the device is overloaded, and what else it is asked",
            code="device-silent",
        )
    if status == grpc.StatusCode.UNAVAILABLE:
        return LabError(
            f"the gNMI connection with `{host}` ended during `{asked}`: {what}",
            "see whether the device restarted or limits its sessions",
            code="session-lost",
        )
    if status == grpc.StatusCode.RESOURCE_EXHAUSTED:
        return LabError(
            f"the answer of gNMI of `{host}` to `{asked}` is too long: {what}",
            "see what the device has there, and what it limits",
            code="too-long",
        )
    return LabError(
        f"gNMI of `{host}` refused `{asked}`: {what}",
        "check whether the user may read it, and whether the system has this model of OpenConfig",
        code="command-refused",
    )
