"""Configures a device for the cases of a run over its open session, and undoes what a killed run left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netdyno.devices.access import Access, Ssh
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.dry import DryRun, plan_changes
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.locks import Identity
from netdyno.devices.configure.replay import replay
from netdyno.devices.configure.systems import find_undoing
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Applied
from netdyno.devices.reach.session import Session
from netdyno.devices.reach.template import case_text, find_allowed_of
from netdyno.devices.reach.turn import identity

CONFIRM_S = 120
"""A device that can reverts by itself after so long, s, if netdyno dies before it has verified."""

_journals: dict[Identity, Journal] = {}
"""Of this process: a device is its own until it ends."""


@dataclass(frozen=True)
class Configuration:
    """The configuration of a device by its plan."""

    system: System
    session: Session
    reached: Reached

    def apply(self, settings: Mapping[str, str]) -> Applied:
        """Configures the device for a case; what a killed run left is undone first. Raises LabError."""
        text = case_text(self.system, self.reached, settings)
        journal = open_journal(identity(self.system, self.session.access))
        undoing = find_undoing(self.system.shell)
        replay(self.session, journal, undoing)
        return Configurer(self.session, journal, find_allowed_of(self.system, self.reached), undoing).apply(
            text, CONFIRM_S
        )

    def dry_run(self, settings: Mapping[str, str]) -> DryRun:
        """What `apply` would send. Raises LabError."""
        text, allowed = (
            case_text(self.system, self.reached, settings),
            find_allowed_of(self.system, self.reached),
        )
        printed = self.session.ask(self.system.shell.running, 120.0)
        return plan_changes(text, printed, find_undoing(self.system.shell), allowed)


def open_journal(of: Identity) -> Journal:
    """The journal of a device, which this process holds from then on. Raises LabError `device-in-use`."""
    found = _journals.get(of)
    if found is None:
        found = _journals[of] = Journal(of)
    return found


def restore(system: System, of: Identity) -> bool:
    """Undoes what a killed run left on a device; False: nothing is left. Raises LabError."""
    ssh = Ssh(of.port, of.strict, of.known_hosts, of.old)
    with Journal(of) as journal, Session(Access(of.host, of.user, ssh), system.shell) as session:
        return replay(session, journal, find_undoing(system.shell))
