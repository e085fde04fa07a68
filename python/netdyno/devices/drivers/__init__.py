"""Drivers reach a device that netdyno does not build, beside the traffic. One file and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.drivers.driver import Driver, Reached
from netdyno.values.table import load_table

__all__ = ["DRIVERS", "Driver", "Reached"]

MODULES = (
    "kernel",
)  # fmt: skip
"""Each has its driver as `DRIVER`."""

DRIVERS: Mapping[str, Driver] = {
    driver.name: driver for driver in load_table(__name__, "DRIVER", Driver, MODULES)
}
"""Every driver, by the name a plan uses."""
