"""Which system answers: a driver that was named by mistake is found before it is used."""

from __future__ import annotations

import re
from contextlib import suppress

from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.system import System
from netdyno.devices.outputs.refused import show
from netdyno.devices.reach.session import Session
from netdyno.devices.shell import Shell
from netdyno.devices.wiring import LabError

ROUTER = Shell(netmiko="cisco_ios", refused=(), running="")
"""What most routers speak well enough to say what they are."""
WITHIN_S = 5.0
"""Longest time for an answer to a command that may be another system's, s."""


def read_version(system: System, session: Session) -> str | None:
    """The version of the software; None: it is not understood. Raises LabError `driver-differs`.

    A device that refuses the question is left to the commands that follow.
    """
    try:
        session.open()
    except LabError as error:
        # A shell's way to end an answer is unknown to a router: it never comes to that end.
        if error.code != "device-silent" or not system.shell.echo:
            raise
        raise _find_router(system, session) or error from None
    command, pattern = system.version
    try:
        said = session.ask(command)
    except LabError as error:
        if error.code != "command-refused":
            raise
        said = ""
    if not re.search(system.mark or pattern, said, re.MULTILINE):
        if other := _find_other(system, session, {command: said}):
            raise _differs(system, session, *other)
        if said.strip():
            raise _unknown(system, session, said)
    found = re.search(pattern, said, re.MULTILINE)
    return found["n"].strip() if found else None


def _differs(system: System, session: Session, name: str, version: str) -> LabError:
    return LabError(
        f"the device `{session.access.name}` is no `{system.name}`: it answers as `{name}`"
        + (f", version {version}" if version else ""),
        f"write `driver: {name}` in the plan, or check its `host`",
        code="driver-differs",
    )


def _unknown(system: System, session: Session, said: str) -> LabError:
    """The error of a system that no driver is for."""
    begin = next(line.strip() for line in said.splitlines() if line.strip())
    return LabError(
        f"the device `{session.access.name}` is no `{system.name}`: `{system.version[0]}` prints"
        f" `{show(begin)}`",
        "check `driver` and `host`: `netdyno drivers` lists the systems",
        code="driver-differs",
    )


def _find_router(system: System, session: Session) -> LabError | None:
    """The error of a router that was taken for a shell; None: it is none that is known."""
    session.close()
    with suppress(LabError), Session(session.access, ROUTER) as router:
        other = _find_other(system, router, {})
        return None if other is None else _differs(system, session, *other)
    return None


def _find_other(system: System, session: Session, said: dict[str, str]) -> tuple[str, str] | None:
    """Driver and version of another system that the device is. said: what it has printed, by command."""
    for driver in DRIVERS.values():
        command, pattern = driver.version
        if not command or driver.name == system.name:
            continue
        if command not in said:
            try:
                said[command] = session.ask(command, WITHIN_S)
            except LabError as error:
                if error.code not in ("command-refused", "too-long"):
                    # Of a device that does not answer nothing is found, and each question would cost a login.
                    return None
                said[command] = ""
        if re.search(driver.mark or pattern, said[command], re.MULTILINE):
            found = re.search(pattern, said[command], re.MULTILINE)
            return driver.name, found["n"].strip()[:40] if found else ""
    return None
