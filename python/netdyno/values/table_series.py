"""Series of a device's routing table: how many routes it forwards by."""

from __future__ import annotations

ROUTES = "routes"
"""Source of these series."""
TABLE = "table"
"""Their subject."""


def name_routes(version: int) -> str:
    """The name of the series of an IP version: `ipv4 routes`."""
    return f"ipv{version} routes"
