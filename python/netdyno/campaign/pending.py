"""Undoes, before a run begins, what killed runs left on devices."""

from __future__ import annotations

from netdyno.campaign.logged import warn
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.reasons import NotUndone, Restored
from netdyno.errors import NetdynoError


def restore_devices() -> None:
    """Undoes what is left on each device, as far as it can be; warns of what cannot.

    A device that another run uses is that run's. Without a pending entry nothing is loaded or asked.
    """
    # Loaded here: most runs have nothing to undo, and are to begin as fast as without it.
    from netdyno.devices.configure.journal import Entry, list_journals, read_entry

    pending: list[Entry] = []
    for path in list_journals():
        try:
            entry, _ = read_entry(path)
        except NetdynoError as error:
            warn(NotUndone(error.message, error.hint or ""))
        except OSError as error:
            warn(NotUndone(f"{path}: {error.strerror}.", "the user who ran netdyno before can undo it"))
        else:
            pending += [entry] if entry is not None else []
    for entry in pending:
        driver = DRIVERS.get(entry.identity.driver)
        if driver is None or driver.restore is None:
            continue
        try:
            if driver.restore(entry.identity):
                warn(Restored(entry.identity.host))
        except NetdynoError as error:
            if error.code != "device-in-use":
                warn(NotUndone(error.message, error.hint or ""))
