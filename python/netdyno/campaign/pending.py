"""Devices that still have the configuration of a case: undone before a run, followed, named at its end."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from netdyno.campaign.events import Event, Failed, UndoFailed, Wired
from netdyno.campaign.interrupts import Interrupts
from netdyno.campaign.logged import warn
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.reasons import NothingLeft, NotUndone, Restored, StillConfigured, UndoGoesOn, UndoneLater
from netdyno.errors import CHANGED, NetdynoError, without_commands
from netdyno.values.reason import Reason
from netdyno.values.records import CaseWiring, StoredCase

if TYPE_CHECKING:
    from pathlib import Path

    from netdyno.devices.configure.journal import Entry


def restore_devices() -> None:
    """Undoes what killed runs left on any device, as far as it can be; warns of what cannot.

    A device that another run uses is that run's. Without a pending entry nothing is loaded or asked. Signals
    let an undo that has begun end; they take effect when it has.
    """
    # Loaded here: most runs have nothing to undo, and are to begin as fast as without it.
    from netdyno.devices.configure.journal import list_journals, read_entry

    pending: list[tuple[Path, Entry]] = []
    for path in list_journals():
        try:
            entry, _ = read_entry(path)
        except NetdynoError as error:
            warn(NotUndone(error.message, error.hint or "", error.code))
        except OSError as error:
            warn(NotUndone(f"{path}: {error.strerror}.", "the user who ran netdyno before can undo it"))
        else:
            pending += [(path, entry)] if entry is not None else []
    if not pending:
        return
    interrupts = Interrupts()
    interrupts.install()
    try:
        for path, entry in pending:
            if not interrupts.seen:
                _restore(path, entry, interrupts)
    finally:
        interrupts.restore()
    if interrupts.seen:
        signal.raise_signal(interrupts.seen[0])
        # A parent had it ignored, and yet it came: it ends this run as well.
        raise KeyboardInterrupt


def _restore(path: Path, entry: Entry, interrupts: Interrupts) -> None:
    from netdyno.devices.configure.journal import explain_name

    driver = DRIVERS.get(entry.identity.driver)
    host = entry.identity.host
    if driver is None or not driver.configures:
        what = f"left by {_describe_run(entry)}: {host}: no driver `{entry.identity.driver}` undoes it."
        warn(NotUndone(what, f"run the netdyno that has this driver, or undo it by hand: it is in {path}"))
        return
    if remedy := explain_name(path, entry.identity):
        what = f"left by {_describe_run(entry)}: {host}: its journal has another name, {path}."
        warn(NotUndone(what, remedy))
        return
    goes_on, left = undo_goes_on(StillConfigured(host, str(path))), StillConfigured(host, str(path))
    try:
        with interrupts.undoing(f"warning: {goes_on}\n", f"warning: {left}\n"):
            is_restored = driver.restore(entry.identity)
        # The device or its user may have undone it, or nothing had been sent.
        warn((Restored if is_restored else NothingLeft)(host, _describe_run(entry)))
    except NetdynoError as error:
        # The run that begins may be of another device: it goes on.
        if error.code != "device-in-use":
            warn(NotUndone(f"left by {_describe_run(entry)}: {error.message}", error.hint or "", error.code))
    except OSError as error:
        warn(NotUndone(f"{host}: {error.strerror or error}.", f"the undo is in {path}"))


def _describe_run(entry: Entry) -> str:
    """Folder and begin of the run that an entry is of."""
    name = f"the run {entry.run}" if entry.run else "a run"
    try:
        since = datetime.fromtimestamp(entry.when).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        # A clock that jumped, or a journal that somebody wrote: the undo does not depend on it.
        return name
    return f"{name} ({since})"


def list_configured(run: str) -> tuple[StillConfigured, ...]:
    """The devices that are configured, by the run in this folder, or by another that it did not undo."""
    from netdyno.devices.configure.journal import list_held

    return tuple(StillConfigured(entry.identity.host, str(path)) for path, entry in list_held(run))


def undo_goes_on(left: StillConfigured) -> UndoGoesOn:
    """The reason of a signal that does not cut the undo of a device short."""
    from netdyno.devices.configure.apply import UNDO_S

    return UndoGoesOn(left.host, int(UNDO_S))


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
