"""Services of a Linux router: what it does beside forwarding, one file each."""

from __future__ import annotations

from netdyno.devices.linux.services.service import Service
from netdyno.values.table import load_table

MODULES = (
    "routes",
    "filters",
    "routing",
    "agent",
    "features",
)
"""Each has its service as `SERVICE`. In the order they are installed; they are undone in reverse."""

SERVICES: tuple[Service, ...] = load_table(__name__, "SERVICE", Service, MODULES)  # type: ignore[type-abstract]
"""Every service, each the setting of its name."""
