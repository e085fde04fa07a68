"""Configures a device for the cases of a run over its open session, and undoes what a killed run left."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from netdyno.devices.access import Access, Ssh
from netdyno.devices.configure.apply import WITHIN_S, Configurer, DryRun, plan_changes, replay
from netdyno.devices.configure.by_hand import commands_by_hand, is_changed, shown, with_commands
from netdyno.devices.configure.gateways import list_gateways
from netdyno.devices.configure.journal import (
    Journal,
    explain_name,
    find_user,
    journal_path,
    list_pending,
    read_entry,
)
from netdyno.devices.configure.locks import Identity, InUseError, SharedLock
from netdyno.devices.configure.systems import find_undoing
from netdyno.devices.configure.undo import Undoing
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.external import BRIDGING, FORWARDING
from netdyno.devices.live import Applied
from netdyno.devices.reach.session import Session
from netdyno.devices.reach.template import find_allowed_of, render_case
from netdyno.devices.reasons import AwaitsDevice, DeviceInUse, UndoPending, UndoUnknown
from netdyno.devices.wiring import LabError
from netdyno.values.reason import Reason

STEP_S = 0.25
"""Time between two looks whether a device is free, s."""


@dataclass
class Held:
    """The journal and the locks of a device, which a run holds. process: the one that has read the journal.

    Forked processes share it: the device is free when all of them have released it or ended, so that nobody
    takes it over from a killed run whose worker still undoes its configuration.
    """

    journal: Journal
    shared: SharedLock
    process: int

    @classmethod
    def take(cls, of: Identity) -> Held:
        """Raises InUseError, or LabError as `Journal`."""
        journal = Journal(of)
        try:
            return cls(journal, SharedLock(of), os.getpid())
        except BaseException:
            journal.close()
            raise

    @property
    def files(self) -> tuple[int, ...]:
        """Those that a forked process keeps open to share it."""
        return *self.journal.files, *self.shared.files

    def release(self) -> None:
        """Lets others use the device."""
        # The journal last: its lock says who held both.
        self.shared.release()
        self.journal.close()


held: dict[str, Held] = {}
"""Of this process, by the name of the journal's file."""


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


@contextmanager
def take_device(system: System, access: Access, say: Callable[[Reason], None]) -> Iterator[tuple[int, ...]]:
    """Logs in, and holds the device as `take_turn` does. Raises LabError."""
    with Session(access, system.shell) as session:
        session.open()
        of = identity(system, session)
    with take_turn(of, say) as files:
        yield files


@contextmanager
def take_turn(of: Identity, say: Callable[[Reason], None]) -> Iterator[tuple[int, ...]]:
    """Holds a device until the block ends; the files that a forked process keeps open to hold it, too.

    Waits for as long as other runs use it: one may take hours. Each of them is said. Raises LabError as
    `Journal`.
    """
    said: set[int] = set()
    while of.file_name not in held:
        try:
            held[of.file_name] = Held.take(of)
        except InUseError as error:
            if error.holder.process not in said:
                said.add(error.holder.process)
                say(AwaitsDevice(of.host, error.message))
            time.sleep(STEP_S)
    try:
        yield held[of.file_name].files
    finally:
        held.pop(of.file_name).release()


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
        self._require_privileges()
        of = identity(self.system, self.session)
        found = hold_device(of)
        journal, note = found.journal, found.shared.note
        journal.lock.describe(self.run)
        _refuse_others(of, journal)
        replay(self.session, journal)
        allowed = find_allowed_of(self.system, self.reached, rendered.places)
        applied = Configurer(self.session, journal, allowed, self.run).apply(rendered.text, CONFIRM_S)
        return applied if note is None else replace(applied, notes=(*applied.notes, note))

    def dry_run(self, settings: Mapping[str, str]) -> DryRun:
        """What `apply` would send. Raises LabError."""
        rendered = render_case(self.system, self.reached, settings)
        self._require_privileges()
        printed = self.session.ask(self.system.shell.running, WITHIN_S)
        allowed = find_allowed_of(self.system, self.reached, rendered.places)
        undoing = find_undoing(self.system.shell)
        # A case that bridges asks no next hop.
        gateways = {} if settings.get(FORWARDING) in BRIDGING else list_gateways(self.reached.links)
        found = plan_changes(rendered.text, printed, undoing, allowed, gateways)
        pending = find_pending(identity(self.system, self.session), undoing, lambda: printed)
        return found if pending is None else replace(found, warnings=(pending, *found.warnings))

    def _require_privileges(self) -> None:
        """Logs in. Raises LabError `login-refused` for a login that may not configure, or as `Session`."""
        self.session.open()
        if (lack := self.session.find_lack_of_privileges()) is not None:
            raise lack


def hold_device(of: Identity) -> Held:
    """The journal and the locks of a device, which this process holds from then on. Raises LabError."""
    found = held.get(of.file_name)
    if found is None:
        found = held[of.file_name] = Held.take(of)
    elif found.process != os.getpid():
        # A worker: one before it, which ended unexpectedly, may have left an undo.
        found.journal.read_again()
        found.process = os.getpid()
    return found


def _refuse_others(of: Identity, journal: Journal) -> None:
    """Raises LabError `undo-pending` if a killed run left a change that this session may not undo.

    It is of a device with this key at another address, which may be a copy of it, or of this address under
    another key or none. The start of a run has undone it as far as it can.
    """
    own = journal.path.resolve()
    left = [
        (path, one.identity)
        for path, one in list_pending().items()
        if (_is_at(of, one.identity) and one.identity.key != of.key)
        or (path.resolve() != own and (one.identity.key or None) == of.key)
    ]
    if (pending := journal.pending) is not None and not (
        _is_at(of, pending.identity) and pending.identity.driver == of.driver
    ):
        left.append((own, pending.identity))
    if left:
        raise _pending_elsewhere(of, *left[0])


def _pending_elsewhere(of: Identity, journal: Path, other: Identity) -> LabError:
    """The error of a device that may be the one on which a killed run left a change."""
    return LabError(
        f"{of.host}: a configuration that an earlier run left on `{other.host}` is not undone.",
        explain_name(journal, other) or f"undo it by hand as that run says, then delete {journal}",
        code="undo-pending",
    )


def find_pending(
    of: Identity, undoing: Undoing, read: Callable[[], str]
) -> UndoPending | UndoUnknown | DeviceInUse | None:
    """What a device that is looked at may have of another run: one that uses it, or one that was killed.

    By address or key; None: nothing. read: prints its running configuration.
    """
    if (holder := find_user(of)) is not None:
        return DeviceInUse(of.host, str(holder))
    own = journal_path(of)
    try:
        with suppress(OSError):
            read_entry(own, of.host)
    except LabError as error:
        return UndoUnknown(of.host, error.message, error.hint or "")
    for path, one in list_pending().items():
        if _is_at(of, one.identity) or (of.key and of.key == one.identity.key):
            remedy = explain_name(path, one.identity)
            obstacle = f"its journal has another name: {remedy}" if remedy else ""
            # One that cannot be read now says nothing of others.
            with suppress(LabError):
                if path == own and is_changed(undoing, one, undoing.read(read())):
                    obstacle = "others changed the device since, and its error has the commands to enter"
            return UndoPending(of.host, one.run, obstacle)
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
        if not of.key:
            commands = shown(commands_by_hand(undoing, entry), journal.path)
            raise LabError(
                f"{of.host}: the stored undo does not say which host key the configured device has.",
                f"undo it by hand, then delete {journal.path}:\n{commands}",
                code="host-key-changed",
            )
        try:
            session.open()
            if of.key != session.host_key:
                raise LabError(
                    f"{of.host} has another host key than the device that was configured, {of.key}.",
                    "find the device that has this key",
                    code="host-key-changed",
                )
        except LabError as error:
            raise with_commands(error, commands_by_hand(undoing, entry), journal.path) from error
        with SharedLock(of):
            return replay(session, journal)
