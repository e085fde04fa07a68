"""Configures a device for the cases of a run over its open session, and undoes what a killed run left."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from netdyno.devices.access import Access, Ssh
from netdyno.devices.configure.apply import Configurer, DryRun, plan_changes, replay
from netdyno.devices.configure.by_hand import commands_by_hand, shown, with_commands
from netdyno.devices.configure.journal import Journal, journal_path, list_pending
from netdyno.devices.configure.locks import Identity, SharedLocks
from netdyno.devices.configure.systems import find_undoing
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Applied
from netdyno.devices.reach.session import Session
from netdyno.devices.reach.template import find_allowed_of, render_case
from netdyno.devices.reasons import AwaitsDevice, UndoPending
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
        shared, journal = hold_device(of)
        _refuse_others(of, journal)
        replay(self.session, journal)
        allowed = find_allowed_of(self.system, self.reached, rendered.places)
        applied = Configurer(self.session, journal, allowed, self.run).apply(rendered.text, CONFIRM_S)
        return applied if shared.note is None else replace(applied, notes=(*applied.notes, shared.note))

    def dry_run(self, settings: Mapping[str, str]) -> DryRun:
        """What `apply` would send. Raises LabError."""
        rendered = render_case(self.system, self.reached, settings)
        self._require_privileges()
        printed = self.session.ask(self.system.shell.running, 120.0)
        allowed = find_allowed_of(self.system, self.reached, rendered.places)
        found = plan_changes(rendered.text, printed, find_undoing(self.system.shell), allowed)
        return replace(found, pending=find_pending(identity(self.system, self.session)))

    def _require_privileges(self) -> None:
        """Logs in. Raises LabError `login-refused` for a login that may not configure, or as `Session`."""
        self.session.open()
        if (lack := self.session.find_lack_of_privileges()) is not None:
            raise lack


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
    another key or none. The start of a run has undone it as far as it can.
    """
    own = journal.path.resolve()
    left = [
        one.identity
        for path, one in list_pending().items()
        if (_is_at(of, one.identity) and one.identity.key != of.key)
        or (path.resolve() != own and (one.identity.key or None) == of.key)
    ]
    if (pending := journal.pending) is not None and not (
        _is_at(of, pending.identity) and pending.identity.driver == of.driver
    ):
        left.append(pending.identity)
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
        with SharedLocks(of):
            return replay(session, journal)
