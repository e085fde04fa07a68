"""A device that is reached by its command line: looked at, read, configured for a case."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from netdyno.devices import secrets
from netdyno.devices.access import Access
from netdyno.devices.configure.apply import WITHIN_S as CONFIGURATION_S
from netdyno.devices.configure.apply import DryRun
from netdyno.devices.configure.systems import find_undoing
from netdyno.devices.drivers.driver import NO_SUCH_PORT, NO_VERSION, Facts, Reached, missing_ports
from netdyno.devices.drivers.system import System
from netdyno.devices.extras import find_missing_of
from netdyno.devices.live import Applied, Instrument, Live
from netdyno.devices.outputs.refused import show
from netdyno.devices.reach.configuring import Configuration, find_pending, identity
from netdyno.devices.reach.instrument import CliInstrument, Turn
from netdyno.devices.reach.recognise import read_version
from netdyno.devices.reach.session import Session
from netdyno.devices.reach.tables import count_routes
from netdyno.devices.reach.template import template_name
from netdyno.devices.reasons import VersionUnknown
from netdyno.devices.telemetry.api import ApiInstrument, Connection, Target, open_api
from netdyno.devices.watches.adjacency import AdjacencyInstrument
from netdyno.devices.watches.by_cli import WITHIN_S, DaemonsByCli
from netdyno.devices.wiring import LabError, Wiring
from netdyno.values.load import Event
from netdyno.values.unmeasured import NotAskable, NotMeasuredError

INSTANT = "netdyno-instant"
"""Begins the comment that tells an emulated device's counters."""

_sessions: dict[tuple[Access, str], tuple[Session, tuple[VersionUnknown, ...]]] = {}
"""Of this process, open from case to case: a login takes longer than a configuration. With its warnings."""
_apis: dict[tuple[str, Target], tuple[Connection, tuple[ApiInstrument, ...]]] = {}
"""Likewise of APIs, with what each reads."""


@dataclass
class _Entered:
    """What a device is configured with now."""

    settings: Mapping[str, str] = field(default_factory=dict)
    applied: Applied = field(default_factory=Applied)

    def undo(self) -> None:
        """Raises LabError."""
        if self.applied.undo is not None:
            self.applied.undo()


@dataclass(frozen=True)
class CliLive(Live):
    """A device with an open session."""

    stands_apart = True
    system: System
    session: Session
    reached: Reached
    by_api: tuple[ApiInstrument, ...] = ()
    by_snmp: tuple[Instrument, ...] = ()
    """Kept through the case: its agent knows the login, and the tables were looked through."""
    _now: _Entered = field(default_factory=_Entered, repr=False)

    def configure(self, settings: Mapping[str, str]) -> Applied:
        """Applies the plan's template; without one the device stays as it was left. Raises LabError."""
        if not self.reached.configuration:
            return Applied()
        # Before: an error behind it would leave nothing to undo with.
        version = read_version(self.system, self.session) or NO_VERSION
        applied = self._apply(settings)
        name = template_name(self.reached.configuration, settings)
        # In mid-case it may be configured otherwise: the undo is that of what there is at the end.
        return replace(applied, version=version, name=name, undo=self._now.undo)

    def _apply(self, settings: Mapping[str, str]) -> Applied:
        applied = Configuration(self.system, self.session, self.reached, self.wiring.run).apply(settings)
        self._now.settings, self._now.applied = settings, applied
        return applied

    def switch(self, settings: Mapping[str, str]) -> None:
        """Undoes the configuration and applies that of these settings, where they are others."""
        wanted = {**self.wiring.settings, **settings}
        if not self.reached.configuration:
            super().switch(settings)
        elif wanted != self._now.settings:
            self._now.undo()
            self._now.applied = Applied()
            self._apply(wanted)

    def ask(self, event: Event) -> None:
        raise NotMeasuredError(NotAskable((event.kind,)), "no driver carries out events yet")

    def stand_at(self, at_ns: int, counters: Sequence[Mapping[str, Any]], mean_bytes: float) -> bool:
        """Tells who stands in for an emulated device what that one has counted, in a comment."""
        told = json.dumps(
            {"at_ns": at_ns, "mean_bytes": mean_bytes, "devices": list(counters)}, separators=(",", ":")
        )
        self.session.ask(f"{self.system.shell.comment} {INSTANT} {told}", WITHIN_S)
        return True

    def instruments(self) -> tuple[Instrument, ...]:
        """One for each reading of the system: by an API where the plan has one, else by command."""
        ports = _ports(self.system, self.reached)
        turn = Turn()
        has_api = {one.reading.name for one in self.by_api}
        by_command = (
            CliInstrument(self.system.name, self.session, reading, ports, self._rows, turn)
            for reading in self.system.readings
            if reading.name not in has_api
        )
        return (*self.by_api, *by_command, *self.by_snmp)

    def adjacencies(self) -> Instrument | None:
        """Reads the neighbours of the routing daemons that its system may have; None: none are known."""
        if not self.system.daemons:
            return None
        daemons = DaemonsByCli(self.session, self.system.daemons)
        return AdjacencyInstrument(daemons.ask, daemons.asked, WITHIN_S)

    def count_routes(self) -> Mapping[int, int] | None:
        """By the readings of its system that have a table's size, each asked once."""
        return count_routes(self.system.name, self.system.readings, self.session, self._rows)

    def _rows(self, command: str, text: str) -> tuple[Mapping[str, str], ...]:
        # TextFSM is imported by the first text that needs it: plans without such devices start faster.
        from netdyno.devices import outputs

        return outputs.parse(self.system.name, command, text).rows


def _opened(system: System, reached: Reached) -> tuple[Session, tuple[VersionUnknown, ...]]:
    """The session of this process with a device, and warnings of its system. Raises LabError.

    A new one is with the driver's system.
    """
    assert reached.access is not None, "a checked plan has the host"
    found = _sessions.get((reached.access, system.name))
    if found is None:
        session = Session(reached.access, system.shell)
        try:
            version = read_version(system, session)
            if (missing := missing_ports(_read_states(system, session, reached, version))) is not None:
                raise missing
        except BaseException:
            session.close()
            raise
        warnings = () if version else (VersionUnknown(system.name),)
        found = _sessions[reached.access, system.name] = session, warnings
    found[0].open()
    return found


@contextmanager
def reach(system: System, wiring: Wiring, reached: Reached) -> Iterator[Live]:
    """The device for one case, with the session of the case before. Raises LabError."""
    assert reached.access is not None, "a checked plan has the host"
    by_api = _open_api(system, reached)
    session, warnings = _opened(system, reached)
    wiring = replace(wiring, notes=(*wiring.notes, *warnings))
    with _by_snmp(system, reached) as by_snmp:
        yield CliLive(wiring, system, session, reached, by_api, by_snmp)


@contextmanager
def _by_snmp(system: System, reached: Reached) -> Iterator[tuple[Instrument, ...]]:
    """What reads the device by SNMP, if the plan asks for it. It logs in when it is first read."""
    access = reached.access
    if access is None or access.snmp is None:
        yield ()
        return
    from netdyno.devices.telemetry.snmp import SnmpInstrument

    host, interfaces = access.host, {own: port for port, own in _ports(system, reached)}
    instrument = SnmpInstrument(host, access.snmp.port, lambda name: secrets.find(name, host), interfaces)
    try:
        yield (instrument,)
    finally:
        instrument.close()


def _ports(system: System, reached: Reached) -> tuple[tuple[str, str], ...]:
    """Name in the lab and on the device of each port."""
    return tuple((port, system.long_name(port)) for port in reached.ports)


def _open_api(system: System, reached: Reached) -> tuple[ApiInstrument, ...]:
    """What the API of the system reads, if the plan asks for it. Raises LabError."""
    access = reached.access
    assert access is not None, "a checked plan has the host"
    missing = find_missing_of(system, access)
    if missing is not None:
        raise missing
    if access.api is None:
        return ()
    target = Target(access.host, access.user, access.api, _ports(system, reached))
    if (system.api, target) not in _apis:
        _apis[system.api, target] = open_api(system.api, target)
    return _apis[system.api, target][1]


def _read_states(system: System, session: Session, reached: Reached, version: str | None) -> dict[str, str]:
    """The state of each port of the lab. version: None: not understood. Raises LabError.

    `command-refused` of a device that has told nothing at all: what it refuses is not one port.
    """
    states, refused = {}, list[LabError]()
    command, pattern = system.port
    for port in reached.ports:
        asked = command.format(port=system.long_name(port))
        try:
            said = session.ask(asked)
        except LabError as error:
            if error.code != "command-refused":
                raise
            if (lack := session.find_lack_of_privileges()) is not None:
                raise lack from None
            states[port] = NO_SUCH_PORT
            refused.append(error)
            continue
        state = re.search(pattern, said, re.MULTILINE)
        if state is not None:
            # RouterOS prints no flag of a port that is down, and nothing of one that it does not have.
            states[port] = state["n"].strip() or "down"
        elif said.strip():
            begin = next(line for line in said.splitlines() if line.strip())
            raise LabError(
                f"the device prints no state of a port for `{asked}`: `{show(begin.strip())}`",
                "check the `endpoints` of the links, and `driver`: another system may answer",
                code="no-such-interface",
            )
        else:
            states[port] = NO_SUCH_PORT
    if version is None and refused and len(refused) == len(states):
        raise refused[0]
    return states


def look(system: System, reached: Reached) -> Facts:
    """Reads version and ports, and by the plan's API once; changes nothing. Raises LabError."""
    access = reached.access
    assert access is not None, "a checked plan has the host"
    _open_api(system, reached)
    with Session(access, system.shell) as session:
        version = read_version(system, session)
        ports = _read_states(system, session, reached, version)
        if reached.configuration and (lack := session.find_lack_of_privileges()) is not None:
            raise lack
        of, shell = identity(system, session), system.shell
        pending = find_pending(of, find_undoing(shell), lambda: session.ask(shell.running, CONFIGURATION_S))
        return Facts(version or NO_VERSION, ports, pending)


def dry_run(system: System, reached: Reached, settings: Mapping[str, str]) -> DryRun:
    """What would be entered for a case, and what would undo it; changes nothing. Raises LabError."""
    session, warnings = _opened(system, reached)
    found = Configuration(system, session, reached).dry_run(settings)
    return replace(found, warnings=(*warnings, *found.warnings))
