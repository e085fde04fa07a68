"""Undoes what a killed run left on a device. A kill while it does so is safe: run it again."""

from __future__ import annotations

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.by_hand import changed_since, commands_by_hand, is_ours
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.systems import find_undoing
from netdyno.devices.configure.undo import Undoing
from netdyno.devices.shell import Cli


def replay(cli: Cli, journal: Journal, undoing: Undoing | None = None) -> bool:
    """Undoes the pending entry of a journal; False: there is none, or the device has nothing of it.

    Raises LabError `changed-since` with the commands if the device is not as we left it, nothing being sent
    then; `not-undone`; or as `Cli.configure`.
    """
    entry = journal.pending
    if entry is None:
        return False
    how = undoing or find_undoing(cli.shell)
    configurer = Configurer(cli, journal, Allowed(), how)
    now = configurer.read()
    # Complete and untouched, it must be exactly what we left. Killed midway, it is somewhere between.
    is_midway = entry.after is None or entry.is_undoing
    if not commands_by_hand(how, entry, now):
        # Undone by hand, by the device's own timer or by a reboot; others may have changed the rest.
        journal.mark_undone()
        return False
    if now not in (entry.before, entry.after) and not (is_midway and is_ours(how, entry, now)):
        raise changed_since(how, entry, now, journal.path)
    configurer.restore(now)
    return True
