"""Kinds of devices under test, and their table."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.kind import Kind
from netdyno.devices.wiring import LabError, LabLink, Trait, WiredPort, Wiring
from netdyno.values.table import load_table

__all__ = [
    "KINDS",
    "Kind",
    "LabError",
    "LabLink",
    "Trait",
    "WiredPort",
    "Wiring",
]

MODULES = (
    "emulated",
    "linux",
    "external",
)
"""Each has its kind, or several, as `KIND`. In the order the reference pages list them."""

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in load_table(__name__, "KIND", Kind, MODULES)  # type: ignore[type-abstract]
}
"""Every kind, by the name a plan uses."""
