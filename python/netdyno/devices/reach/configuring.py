"""Configures a device for the cases of a run over its open session, and undoes what a killed run left."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace

from netdyno.devices.access import Access, Ssh
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.by_hand import commands_by_hand, with_commands
from netdyno.devices.configure.dry import DryRun, plan_changes
from netdyno.devices.configure.journal import Journal, journal_path, list_pending
from netdyno.devices.configure.locks import Identity
from netdyno.devices.configure.replay import replay
from netdyno.devices.configure.shared_lock import SharedLocks
from netdyno.devices.configure.systems import find_undoing
from netdyno.devices.configure.undo import Undoing
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Applied
from netdyno.devices.reach.session import Session
from netdyno.devices.reach.template import find_allowed_of, render_case
from netdyno.devices.reach.turn import held, identity
from netdyno.devices.reasons import UndoPending
from netdyno.devices.wiring import LabError

CONFIRM_S = 120
"""A device that can reverts by itself after so long, s, if netdyno dies before it has verified."""


@dataclass(frozen=True)
class Configuration:
    """The configuration of a device by its plan."""

    system: System
    session: Session
    reached: Reached
    run: str = ""
    """The folder of the run, for the journal."""

    def apply(self, settings: Mapping[str, str]) -> Applied:
        """Configures the device for a case; what a killed run left is undone first. Raises LabError."""
        rendered = render_case(self.system, self.reached, settings)
        self.session.open()
        of = identity(self.system, self.session)
        shared, journal = hold_device(of)
        _refuse_others(of, journal)
        undoing = find_undoing(self.system.shell)
        replay(self.session, journal, undoing)
        self._replay_by_host(of, undoing)
        allowed = find_allowed_of(self.system, self.reached, rendered.places)
        subject = Configurer(self.session, journal, allowed, undoing, self.run)
        applied = subject.apply(rendered.text, CONFIRM_S)
        return applied if shared.note is None else replace(applied, notes=(*applied.notes, shared.note))

    def _replay_by_host(self, of: Identity, undoing: Undoing) -> None:
        """Undoes what is in a journal that knows the device by its host alone. Raises LabError."""
        older = replace(of, key="")
        path = journal_path(older)
        if of.key and path.exists() and path.stat().st_size:
            with Journal(older) as journal:
                replay(self.session, journal, undoing)

    def dry_run(self, settings: Mapping[str, str]) -> DryRun:
        """What `apply` would send. Raises LabError."""
        rendered = render_case(self.system, self.reached, settings)
        printed = self.session.ask(self.system.shell.running, 120.0)
        allowed = find_allowed_of(self.system, self.reached, rendered.places)
        found = plan_changes(rendered.text, printed, find_undoing(self.system.shell), allowed)
        return replace(found, pending=find_pending(identity(self.system, self.session)))


def hold_device(of: Identity) -> tuple[SharedLocks, Journal]:
    """The locks and the journal of a device, which this process holds from then on.

    Raises LabError `device-in-use`.
    """
    found = held.get(of.file_name)
    if found is None:
        shared = SharedLocks(of)
        try:
            found = held[of.file_name] = shared, Journal(of)
        except BaseException:
            shared.release()
            raise
    return found


def _refuse_others(of: Identity, journal: Journal) -> None:
    """Raises LabError `undo-pending` if a killed run left a change that this session may not undo.

    It is of a device with this key at another address, which may be a copy of it, or of this address under
    another key. The start of a run has undone it as far as it can.
    """
    left = [one.identity for one in list_pending().values() if _is_at(of, one.identity)]
    left = [one for one in left if one.key not in ("", of.key)]
    if journal.pending is not None and not _is_at(of, journal.pending.identity):
        left.append(journal.pending.identity)
    if left:
        raise _pending_elsewhere(of, left[0])


def _pending_elsewhere(of: Identity, other: Identity) -> LabError:
    """The error of a device that may be the one on which a killed run left a change."""
    return LabError(
        f"{of.host}: a configuration that an earlier run left on `{other.host}` is not undone.",
        f"undo it by hand as that run says, then delete {journal_path(other)}",
        code="undo-pending",
    )


def find_pending(of: Identity) -> UndoPending | None:
    """The configuration that an earlier run left on a device, by address or key; None: there is none."""
    for one in list_pending().values():
        if _is_at(of, one.identity) or (of.key and of.key == one.identity.key):
            return UndoPending(of.host, one.run)
    return None


def _is_at(of: Identity, other: Identity) -> bool:
    """Whether both are of one address, as plans have it."""
    return (of.host, of.port) == (other.host, other.port)


def restore(system: System, of: Identity) -> bool:
    """Undoes what a killed run left on a device; False: nothing is left. Raises LabError.

    The error of a device that cannot be reached has the commands to enter by hand.
    """
    ssh = Ssh(of.port, of.strict, of.known_hosts, of.old)
    undoing = find_undoing(system.shell)
    with Journal(of) as journal, Session(Access(of.host, of.user, ssh), system.shell) as session:
        entry = journal.pending
        if entry is None:
            return False
        try:
            session.open()
            if of.key not in ("", session.host_key):
                raise LabError(
                    f"{of.host} has another host key than the device that was configured, {of.key}.",
                    "find the device that has this key",
                    code="host-key-changed",
                )
        except LabError as error:
            raise with_commands(error, commands_by_hand(undoing, entry), journal.path) from error
        with ExitStack() as locked:
            now = replace(of, key=session.host_key)
            locked.enter_context(SharedLocks(now))
            if now != of:
                # Known by its host alone: another run may have it by its key, or have left a later change.
                later = locked.enter_context(Journal(now))
                if later.pending is not None and not _is_at(now, later.pending.identity):
                    # At another address it may be of a copy of this device.
                    raise _pending_elsewhere(now, later.pending.identity)
                replay(session, later, undoing)
            return replay(session, journal, undoing)
