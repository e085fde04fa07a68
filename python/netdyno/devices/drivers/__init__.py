"""Drivers reach a device that netdyno does not build, beside the traffic. One file and one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netdyno.devices.drivers.driver import Driver, Reached
from netdyno.values.table import load_entry

__all__ = ["DRIVERS", "Driver", "Reached"]

MODULES = {
    "this-kernel": "kernel",
    "cisco_iosxr": "cisco_iosxr",
    "cisco_iosxe": "cisco_iosxe",
    "cisco_ios": "cisco_ios",
    "cisco_asa": "cisco_asa",
    "fsos": "fsos",
    "routeros": "routeros",
    "linux": "linux",
    "vpp": "vpp",
    "openvswitch": "openvswitch",
}
"""The module of each driver, by the name a plan uses; each has it as `DRIVER`."""


class _Drivers(Mapping[str, Driver]):
    """Loads a driver when it is named: a plan without one starts as fast as before."""

    def __getitem__(self, name: str) -> Driver:
        return load_entry(f"{__name__}.{MODULES[name]}", "DRIVER", Driver)

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


DRIVERS: Mapping[str, Driver] = _Drivers()
"""Every driver, by the name a plan uses."""
