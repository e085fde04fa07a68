"""Waits, before a run begins, until no other netdyno configures its device."""

from __future__ import annotations

import time
from collections.abc import Callable

from netdyno.devices.access import Access
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.locks import Identity
from netdyno.devices.configure.shared_lock import SharedLocks
from netdyno.devices.drivers.system import System
from netdyno.devices.reach.session import Session
from netdyno.devices.reasons import AwaitsDevice
from netdyno.devices.wiring import LabError
from netdyno.values.reason import Reason

WAIT_S = 60.0
"""Longest wait, s: a run that is ending has undone its configuration by then."""
STEP_S = 0.25

held: dict[str, tuple[SharedLocks, Journal]] = {}
"""Of this process, by the name of the journal's file: a device is its own until it ends."""


def identity(system: System, session: Session) -> Identity:
    """A device as its journal knows it; the session is open."""
    access, ssh = session.access, session.access.ssh
    return Identity(
        system.name,
        access.host,
        ssh.port,
        access.user,
        ssh.strict,
        ssh.known_hosts,
        ssh.old,
        session.host_key,
    )


def await_device(system: System, access: Access, say: Callable[[Reason], None]) -> None:
    """Logs in, and returns once no other netdyno configures the device. Raises LabError as `await_turn`."""
    with Session(access, system.shell) as session:
        session.open()
        of = identity(system, session)
    await_turn(of, say)


def await_turn(of: Identity, say: Callable[[Reason], None]) -> None:
    """Returns once a device is free, which is said if it is not at once.

    Raises LabError: `device-in-use` after `WAIT_S`, or as `Journal`.
    """
    if of.file_name in held:
        return
    deadline = time.monotonic() + WAIT_S
    is_said = False
    while True:
        try:
            with SharedLocks(of), Journal(of):
                return
        except LabError as error:
            if error.code != "device-in-use" or time.monotonic() >= deadline:
                raise
            if not is_said:
                say(AwaitsDevice(of.host, error.message, round(WAIT_S)))
                is_said = True
        time.sleep(STEP_S)
