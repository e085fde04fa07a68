"""Drivers reach a device that netdyno does not build, beside the traffic. One file and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.drivers.driver import Driver, Reached
from netdyno.devices.drivers.kernel import THIS_KERNEL

__all__ = ["DRIVERS", "Driver", "Reached"]

DRIVERS: Mapping[str, Driver] = {
    driver.name: driver
    for driver in (THIS_KERNEL,)
}  # fmt: skip
"""Every driver, by the name a plan uses."""
