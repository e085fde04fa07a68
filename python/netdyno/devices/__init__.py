"""Kinds of devices under test, and their table."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.kind import Kind as Kind
from netdyno.devices.wiring import LabError as LabError
from netdyno.devices.wiring import LabLink as LabLink
from netdyno.devices.wiring import Trait as Trait
from netdyno.devices.wiring import WiredPort as WiredPort
from netdyno.devices.wiring import Wiring as Wiring
from netdyno.values.table import load_table

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
