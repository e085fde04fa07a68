"""Reads a device by SNMP: interfaces, sensors, processors, memory."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Lock

from netdyno.devices import secrets as environment
from netdyno.devices.live import Channel, InSeries
from netdyno.devices.telemetry import snmp_objects as objects
from netdyno.devices.telemetry.reasons import (
    AgentRefused,
    AgentSilent,
    IndexMoved,
    InterfaceUnlisted,
    ObjectMissing,
    SensorFailed,
    SensorsLeftOut,
    WideCounterStill,
    WrongType,
)
from netdyno.devices.telemetry.snmp_agent import PORT, AgentError, Answer, SnmpAgent
from netdyno.devices.telemetry.snmp_items import Item, to_text
from netdyno.devices.telemetry.snmp_login import Secrets
from netdyno.devices.telemetry.snmp_plan import DEVICE, UPTIME, Group, Plan, resolve, resolve_again
from netdyno.devices.wiring import LabError
from netdyno.values.reason import Reason
from netdyno.values.sample import Absent, Sample

SHARE = 0.8
"""Of the time between two readings, what one may take."""
CONNECT_S = 5.0
"""How long the first login may take, and the first look at the tables, each try."""
TRIES = 2
"""Of the first login: a datagram may be lost."""
LEFT_OUT = Channel(DEVICE, "sensors left out", "n/a")
FRESH_S = 100.0
"""SNMPv3 wants a new login after 150 s without a request (RFC 3414)."""


class SnmpInstrument(InSeries):
    """An agent's interfaces of these names, and its sensors, processors and memory.

    A counter of an interface (IF-MIB) has 64 bits, or the 32 bits of an agent that has no wide one. The
    processor's load is the mean of the last minute: no rate over a trial. Names become indexes once, and
    again when the agent restarted or an index has another name.
    """

    def __init__(
        self,
        host: str,
        port: int = PORT,
        secrets: Secrets | None = None,
        interfaces: Sequence[str] | Mapping[str, str] = (),
        period_s: float = 1.0,
    ) -> None:
        """secrets: finds a secret by its name, as `devices.secrets.find` does for a host. period_s: s.

        interfaces: the device's own names; by them, the names of the lab where these differ.
        """
        self.name, self.period_s = "snmp", period_s
        self.host = host
        self.description = ""
        """The device's own description (sysDescr), once connected."""
        named = interfaces if isinstance(interfaces, Mapping) else {one: one for one in interfaces}
        self._interfaces: Mapping[str, str] = dict(named)
        self._agent = SnmpAgent(host, port, secrets)
        self._lock = Lock()
        self._plan: Plan | None = None
        self._known: dict[Channel, str | None] = {}
        self._is_open = False
        self._is_stale = False
        self._uptime: int | None = None
        self._heard_s = 0.0

    def connect(self) -> None:
        """Logs in and looks through the tables.

        Raises LabError: `login-missing`, `device-unreachable`, `login-refused`, `no-such-interface`.
        """
        for left in reversed(range(TRIES)):
            try:
                self._agent.open(CONNECT_S / TRIES)
                until = time.monotonic() + CONNECT_S
                said = self._agent.get((objects.SYS_DESCR,), lambda: 0, until).values
                plan = resolve(self._agent, self._interfaces, until)
                break
            except AgentError as error:
                if not left or not isinstance(error.reason, AgentSilent):
                    raise self._unreachable(error.reason) from None
        for one in self._interfaces:
            if one not in plan.found:
                raise _no_interface(self.host, one, plan.found)
        self.description = to_text(said.get(objects.SYS_DESCR, b""))
        self._is_open, self._heard_s = True, time.monotonic()
        self._take(plan)

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """A sample of each quantity; absent with its reason if the agent does not give it in time.

        Raises LabError as `connect` does, and only before the first reading.
        """
        # A reading that hangs keeps the session: another one beside it has nothing to ask.
        if not self._lock.acquire(timeout=self.period_s):
            return self._absent(now, AgentSilent(self.host))
        try:
            if self._plan is None:
                self.connect()
            until = time.monotonic() + SHARE * self.period_s
            try:
                plan = self._refreshed(until)
            except AgentError as error:
                self._is_open = False
                return self._absent(now, error.reason)
            found = dict(self._samples(plan, now, until))
            if plan.left_out:
                found[LEFT_OUT] = Sample(now(), now(), Absent(SensorsLeftOut(plan.left_out)))
            return {**self._gone(found, now), **found}
        finally:
            self._lock.release()

    def close(self) -> None:
        """Ends the session."""
        self._agent.close()

    def _take(self, plan: Plan) -> None:
        """Reads by this plan from now on. What is read is settled by the first one: a later one moves it."""
        if self._plan is None:
            for group in plan.groups:
                self._known.update((one.channel, group.interface) for one in group.items)
        groups = (
            replace(group, items=tuple(one for one in group.items if one.channel in self._known))
            for group in plan.groups
        )
        self._plan, self._is_stale = replace(plan, groups=tuple(groups)), False

    def _refreshed(self, until: float) -> Plan:
        """What is read, after a new login or a new look at the tables if need be. Raises AgentError."""
        assert self._plan is not None
        if not self._is_open or not self._agent.is_open or time.monotonic() - self._heard_s > FRESH_S:
            self._agent.open(until - time.monotonic())
            self._is_open = True
        if self._is_stale:
            # Half of the time: what has not moved is read in any case.
            half = time.monotonic() + (until - time.monotonic()) / 2
            with suppress(AgentError):
                self._take(resolve_again(self._agent, self._plan, self._interfaces, half))
        return self._plan

    def _samples(self, plan: Plan, now: Callable[[], int], until: float) -> Iterator[tuple[Channel, Sample]]:
        for groups in plan.requests():
            oids = [oid for group in groups for oid in group.oids]
            asked_ns = now()
            try:
                answer = self._agent.get(oids, now, until)
            except AgentError as error:
                # After a restart the agent of SNMPv3 does not answer to the login of before.
                self._is_open = False
                sample = Sample(asked_ns, now(), Absent(error.reason))
                yield from ((one.channel, sample) for group in groups for one in group.items)
                continue
            self._heard_s = time.monotonic()
            for group in groups:
                yield from self._group(group, answer)

    def _group(self, group: Group, answer: Answer) -> Iterator[tuple[Channel, Sample]]:
        moved: Reason | None = None
        if group.name_oid is not None and group.interface is not None:
            name = answer.values.get(group.name_oid)
            if name is None:
                moved = ObjectMissing("ifName")
            elif to_text(name) != group.interface:
                moved = IndexMoved(group.interface)
            self._is_stale = self._is_stale or moved is not None
        for one in group.items:
            value: int | Absent = Absent(moved) if moved is not None else _value(one, answer.values)
            if one.channel == UPTIME and isinstance(value, int):
                self._is_stale = self._is_stale or value < (self._uptime or 0)
                self._uptime = value
            if one.narrow is not None and value == 0:
                narrow = _value(one.narrow, answer.values)
                if isinstance(narrow, int) and narrow > 0:
                    yield one.narrow.channel, Sample(answer.asked_ns, answer.answered_ns, narrow)
                    value = Absent(WideCounterStill(one.channel.name))
            yield one.channel, Sample(answer.asked_ns, answer.answered_ns, value, one.window_ns)

    def _absent(self, now: Callable[[], int], reason: Reason) -> dict[Channel, Sample]:
        sample = Sample(now(), now(), Absent(reason))
        return dict.fromkeys(self._known, sample)

    def _gone(self, found: Mapping[Channel, Sample], now: Callable[[], int]) -> dict[Channel, Sample]:
        """What was there before the agent's tables changed."""
        at = now()
        return {
            channel: Sample(
                at,
                at,
                Absent(ObjectMissing(channel.name) if interface is None else InterfaceUnlisted(interface)),
            )
            for channel, interface in self._known.items()
            if channel not in found
        }

    def _unreachable(self, reason: Reason) -> LabError:
        if isinstance(reason, AgentRefused):
            hint = f"check {self._variables('SNMP_USER', 'SNMP_AUTH', 'SNMP_PRIV')}"
            return LabError(f"the agent of `{self.host}` refused the login", hint, code="login-refused")
        own = self._variables("SNMP_COMMUNITY", "SNMP_PRIV")
        return LabError(
            f"the agent of `{self.host}` cannot be read: {reason}",
            f"check address and port, and {own}: an agent does not answer to wrong ones",
            code="device-unreachable",
        )

    def _variables(self, *names: str) -> str:
        """The environment variables of these names, the one for this host first."""
        return ", ".join(one for name in names for one in environment.variables(name, self.host))


def _value(item: Item, values: Mapping[str, object]) -> int | Absent:
    """The value of an item in an answer, or why there is none."""
    if item.status is not None:
        status = values.get(item.status)
        if status != objects.OK:
            return Absent(SensorFailed(status if isinstance(status, int) and 0 < status < 4 else 0))
    value = values.get(item.oid)
    if value is None:
        return Absent(ObjectMissing(item.channel.name))
    if not isinstance(value, int) or not item.least <= value < item.limit:
        return Absent(WrongType(item.channel.name))
    return value * item.factor


def _no_interface(host: str, name: str, found: Sequence[str]) -> LabError:
    close = difflib.get_close_matches(name, found, n=3, cutoff=0.4) or found[:3]
    shown = ", ".join(f"`{one}`" for one in close)
    return LabError(
        f"the agent of `{host}` lists no interface `{name}`",
        f"it lists {shown}" if shown else "it lists none: check what the agent may show (its view)",
        code="no-such-interface",
    )
