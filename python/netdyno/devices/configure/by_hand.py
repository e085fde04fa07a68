"""Which changes of a device are ours, and errors that hold the commands to undo them by hand."""

from __future__ import annotations

from pathlib import Path

from netdyno.devices.configure.journal import Entry
from netdyno.devices.configure.undo import Undoing
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.secrets import HIDDEN
from netdyno.devices.wiring import LabError


def is_ours(undoing: Undoing, entry: Entry, now: str) -> bool:
    """Whether every difference between a reading and the one before it is a change of the entry."""
    kept = undoing.only_ours(entry.before, now, entry.text, entry.after)
    return not undoing.undo(now, kept) and not undoing.undo(kept, now)


def is_changed(undoing: Undoing, entry: Entry, now: str) -> bool:
    """Whether others changed a device since a killed run configured it, so that no run undoes it.

    Complete and untouched, it is exactly what the run left; killed midway, somewhere between.
    """
    if not commands_by_hand(undoing, entry, now):
        return False
    is_midway = entry.after is None or entry.is_undoing
    return now not in (entry.before, entry.after) and not (is_midway and is_ours(undoing, entry, now))


def commands_by_hand(undoing: Undoing, entry: Entry, now: str | None = None) -> str:
    """The commands that undo an entry. now: what is there; None: unknown, so that all of it is undone."""
    if now is None:
        now = entry.after or undoing.predict(entry.before, entry.text)
    kept = undoing.only_ours(entry.before, now, entry.text, entry.after)
    return undoing.undo(kept, entry.before)


def changed_since(undoing: Undoing, entry: Entry, now: str, journal: Path) -> LabError:
    """The error of a device that others have changed: nothing is sent, the commands are in it.

    journal: the file with the entry.
    """
    return LabError(
        f"{entry.identity.host}: the running configuration is not what netdyno left, so it is not undone. "
        f"By hand:\n{shown(commands_by_hand(undoing, entry, now), journal)}",
        "compare with the device and enter what still applies; the next start of a run verifies it. "
        f"To leave the device as it is, delete {journal}",
        code="changed-since",
    )


def with_commands(error: LabError, commands: str, journal: Path, *, is_changed: bool = False) -> LabError:
    """The same error with the commands that undo by hand what it left. journal: the file with the entry.

    is_changed: others have changed the device since, so that no run undoes it.
    """
    who = (
        f"others have changed the device since: enter what still applies, or delete {journal}"
        if is_changed
        else "the next start of a run undoes the configuration; by hand"
    )
    hint = f"{who}:\n{shown(commands, journal)}"
    return LabError(error.message, "\n".join(filter(None, (error.hint, hint))), error.link, code=error.code)


def shown(commands: str, journal: Path) -> str:
    """Commands without secrets; where one is hidden, with the file that has it."""
    hidden = hide_secrets(commands)
    return hidden if hidden == commands else f"{hidden}({HIDDEN} stands for a secret: {journal} has it)\n"


def lost(host: str) -> LabError:
    """The error of a configuration that was no longer there while its case ran."""
    return LabError(
        f"{host}: the configuration of the case was gone before its end.",
        "look for a reboot or a rollback in the device's log, then rerun the case",
        code="configuration-lost",
    )
