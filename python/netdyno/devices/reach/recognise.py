"""Which system answers: a driver that was named by mistake is found before it is used."""

from __future__ import annotations

import re

from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.system import System
from netdyno.devices.reach.session import Session
from netdyno.devices.wiring import LabError

WITHIN_S = 5.0
"""Longest time for an answer to a command that may be another system's, s."""


def read_version(system: System, session: Session) -> str | None:
    """The version of the software; None: the device prints none. Raises LabError `driver-differs`.

    What is neither the driver's system nor another that is known is left to the commands that follow.
    """
    command, pattern = system.version
    try:
        said = session.ask(command)
    except LabError as error:
        if error.code != "command-refused":
            raise
        said = ""
    found = re.search(pattern, said, re.MULTILINE)
    if found is None and (other := _find_other(system, session, {command: said})):
        name, version = other
        raise LabError(
            f"the device `{session.access.name}` is no `{system.name}`: it answers as `{name}`, version"
            f" {version}",
            f"write `driver: {name}` in the plan, or check its `host`",
            code="driver-differs",
        )
    return found["n"].strip() if found else None


def _find_other(system: System, session: Session, said: dict[str, str]) -> tuple[str, str] | None:
    """Driver and version of another system that the device is. said: what it has printed, by command."""
    for driver in DRIVERS.values():
        command, pattern = driver.version
        if not command or driver.name == system.name:
            continue
        if command not in said:
            try:
                said[command] = session.ask(command, WITHIN_S)
            except LabError:
                said[command] = ""
        found = re.search(pattern, said[command], re.MULTILINE)
        if found is not None:
            return driver.name, found["n"].strip()[:40]
    return None
