"""What would be entered on a device, and what would undo it: nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.tree import diff_text
from netdyno.devices.configure.undo import Undoing
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.reasons import UndoPending


@dataclass(frozen=True)
class DryRun:
    """sent: what would be entered. undo: what would probably undo it: the real one follows from what the
    device then prints. diff: the lines that would change. None of them has secrets. pending: an earlier
    configuration that is still there, which the real run undoes first; None: there is none.
    """

    sent: str
    undo: str
    diff: str
    pending: UndoPending | None = None


def plan_changes(text: str, printed: str, undoing: Undoing, allowed: Allowed) -> DryRun:
    """What a text would do to a printed running configuration. Raises LabError as `Allowed.check`."""
    before = undoing.read(printed)
    allowed.check(text, before)
    after = undoing.predict(before, text)
    undo, diff = undoing.undo(after, before), diff_text(before, after)
    return DryRun(hide_secrets(undoing.commands(text)), hide_secrets(undo), hide_secrets(diff))
