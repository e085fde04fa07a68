"""Kinds of devices under test, and their table."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices import emulated, external, linux
from netdyno.devices.wiring import Device, LabError, LabLink, Loopback, Preflight, Trait, WiredPort, Wiring

__all__ = [
    "KINDS",
    "Device",
    "LabError",
    "LabLink",
    "Loopback",
    "Preflight",
    "Trait",
    "WiredPort",
    "Wiring",
]

KINDS: Mapping[str, Device] = {
    kind.name: kind
    for kind in (
        *emulated.KINDS,
        linux.ROUTER,
        linux.BRIDGE,
        linux.XCONNECT,
        external.EXTERNAL,
    )
}
"""Every kind, by the name a plan uses, in the order the reference pages list them."""
