"""Undos of a run that failed: what of them is left at its end, and what a later case undid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from netdyno.campaign.events import Event, Failed, UndoFailed, Wired
from netdyno.devices.reasons import NotUndone, StillConfigured, UndoneLater
from netdyno.errors import CHANGED, without_commands
from netdyno.values.reason import Reason
from netdyno.values.records import CaseWiring, StoredCase


@dataclass
class Undos:
    """Follows a run. left: the last undo that failed. late: earlier ones, which a later case undid.

    is_changed: nothing undoes what is left, for others have changed the device.
    """

    left: UndoFailed | None = None
    late: list[UndoFailed] = field(default_factory=list)
    is_changed: bool = False

    def follow(self, event: Event | None) -> None:
        """Takes an event of the run."""
        match event:
            case Wired():
                # A case is only configured once nothing of an earlier one is left.
                self.late += [self.left] if self.left is not None else []
                self.left, self.is_changed = None, False
            case UndoFailed():
                self.left, self.is_changed = event, event.reason.error_code == CHANGED
            case Failed():
                self.is_changed |= event.error.code == CHANGED

    def list_warnings(self, pending: Sequence[StillConfigured]) -> Iterator[Reason]:
        """What is said at the end of the run. pending: the devices with an undo in their journal."""
        yield from (as_undone(one.reason) for one in self.late)
        if self.left is not None:
            yield self.left.reason if pending else as_undone(self.left.reason)
        yield from (replace(one, is_changed=self.is_changed) for one in pending)

    def correct_notes(
        self, cases: Sequence[StoredCase], pending: Sequence[StillConfigured]
    ) -> Iterator[tuple[int, CaseWiring]]:
        """The cases with a note that the device is configured, which it is no more; and what is right."""
        left = [case for case in cases if case.wiring and any(map(_is_left, case.wiring.notes))]
        last = max(left, key=lambda case: case.ended.timestamp() if case.ended else 0.0, default=None)
        still = self.left.case if self.left is not None else None if last is None else last.head.number
        for case in left:
            if case.wiring is not None and not (pending and case.head.number == still):
                notes = (as_undone(one) if isinstance(one, NotUndone) else one for one in case.wiring.notes)
                yield case.head.number, replace(case.wiring, notes=tuple(notes))


def as_undone(reason: NotUndone) -> UndoneLater:
    """The reason of an undo that failed and was made up for."""
    return UndoneLater(without_commands(reason.what).partition("\n")[0])


def _is_left(reason: Reason) -> bool:
    return isinstance(reason, NotUndone)
