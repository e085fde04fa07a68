"""The extras of netdyno that devices need: which are not installed, and the command that installs them."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from netdyno.devices.access import Access
from netdyno.devices.drivers.driver import Driver
from netdyno.devices.wiring import LabError

LIBRARIES = {
    "devices": "netmiko",
    "routeros": "librouteros",
    "rehearse": "asyncssh",
    "tcp": "pyroute2",
    "hosts": "distributed",
}
"""A library of each extra, by its name: SSH and SNMP; an API; stand-ins; the sockets of a host."""
PACKAGES = {
    "devices": ("'netmiko<5'", "'paramiko<5'", "'gufo-snmp<0.14'"),
    "routeros": ("'librouteros<5'",),
    "rehearse": ("'asyncssh<3'",),
    "tcp": ("'pyroute2<0.10'",),
    "hosts": ("'distributed<2026.9'",),
}
"""What installs each: by the names of the packages, since netdyno itself may come from a file."""


def find_missing(name: str, what: str) -> LabError | None:
    """The error if this extra is not installed. Its code is `extra-missing`. what: what needs it."""
    library = LIBRARIES[name]
    if find_spec(library) is not None:
        return None
    return LabError(
        f"{what} needs the Python package `{library}`, which is not installed",
        f"{_installer()} {' '.join(PACKAGES[name])}",
        code="extra-missing",
    )


def _installer() -> str:
    is_of_pipx = "pipx" in Path(sys.prefix).parts
    return "pipx inject netdyno" if is_of_pipx else f"{sys.executable} -m pip install"


def find_missing_of(driver: Driver, access: Access | None) -> LabError | None:
    """The error if an extra is not installed by which a plan has its device reached."""
    if access is None:
        return None
    missing = find_missing("devices", f"the driver `{driver.name}`") if driver.needs_host else None
    if missing is None and driver.api and access.api is not None:
        missing = find_missing(driver.api, f"the API of {driver.title}")
    return missing
