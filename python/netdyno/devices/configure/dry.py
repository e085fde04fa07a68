"""What would be entered on a device, and what would undo it: nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.tree import diff_text
from netdyno.devices.configure.undo import Undoing
from netdyno.devices.hiding import hide_secrets


@dataclass(frozen=True)
class DryRun:
    """sent: what would be entered. undo: what would probably undo it: the real one follows from what the
    device then prints. diff: the lines that would change. None of them has secrets.
    """

    sent: str
    undo: str
    diff: str


def plan_changes(text: str, printed: str, undoing: Undoing, allowed: Allowed) -> DryRun:
    """What a text would do to a printed running configuration. Raises LabError as `Allowed.check`."""
    before = undoing.read(printed)
    allowed.check(text, before)
    after = undoing.predict(before, text)
    texts = (undoing.commands(text), undoing.undo(after, before), diff_text(before, after))
    return DryRun(*map(hide_secrets, texts))
