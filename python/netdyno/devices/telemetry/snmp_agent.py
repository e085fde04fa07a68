"""A device's SNMP agent: requests that end in time, whatever it answers."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from netdyno.devices import secrets
from netdyno.devices.extras import find_missing
from netdyno.devices.telemetry import snmp_login as login
from netdyno.devices.telemetry.reasons import AgentRefused, AgentSilent, AnswerUnreadable
from netdyno.devices.telemetry.snmp_login import Secrets
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from gufo.snmp.aio import SnmpSession

T = TypeVar("T")

PORT = 161
AT_ONCE = 40
"""Objects of one request: the answer fits into a frame."""
FEW = 5
"""Objects of which an answer without values is taken as one that has none."""
ROWS_AT_ONCE = 40
"""Rows of a column that are asked for at once."""
MOST_ROWS = 4096
"""Rows that are read of one column of a table."""
LONGEST_OID = 600
"""Characters of an OID: 128 numbers (RFC 2578) are no more, but for hostile ones."""


class AgentError(Exception):
    """A request without an answer. reason: why. is_of_a_value: the same of fewer objects may be answered."""

    def __init__(self, reason: Reason, *, is_of_a_value: bool = False) -> None:
        super().__init__(reason.code)
        self.reason, self.is_of_a_value = reason, is_of_a_value


@dataclass(frozen=True)
class Answer:
    """Values by OID, those that the agent has; asked and answered: on the caller's clock, ns."""

    asked_ns: int
    answered_ns: int
    values: Mapping[str, object]


class SnmpAgent:
    """The agent at an address. Requests are made one after the other."""

    def __init__(self, host: str, port: int = PORT, find: Secrets | None = None) -> None:
        """find: finds secrets; None: in the environment, for this host."""
        import asyncio

        self.host = host
        self._port = port
        self._find = find or (lambda name: secrets.find(name, host))
        self._loop = asyncio.new_event_loop()
        self._session: SnmpSession | None = None

    def open(self, seconds: float) -> None:
        """Logs in. Raises LabError without the extra, secrets or address, AgentError if it is not let in."""
        missing = find_missing("devices", "SNMP")
        if missing is not None:
            raise missing
        from gufo.snmp.aio import SnmpSession

        self._session = None
        user, community = login.find_login(self.host, self._find)
        session = SnmpSession(
            login.find_address(self.host, self._port),
            self._port,
            community=community,
            user=user,
            timeout=seconds,
        )
        self._within(time.monotonic() + seconds, lambda: session.refresh())
        self._session = session

    @property
    def is_open(self) -> bool:
        """Whether there is a session; an answer may have ended it."""
        return self._session is not None

    def close(self) -> None:
        """Ends the session; there is nothing to say to the agent."""
        self._session = None
        with suppress(RuntimeError):
            self._loop.close()

    def get(self, oids: Sequence[str], now: Callable[[], int], until: float) -> Answer:
        """The values of these objects. Raises AgentError. until: when it gives up, monotonic clock, s."""
        asked_ns = now()
        values = self._get(list(oids), until)
        return Answer(asked_ns, now(), {oid: values[oid] for oid in oids if oid in values})

    def walk(self, column: str, until: float) -> dict[tuple[int, ...], object]:
        """The values of a column of a table, by index, at most `MOST_ROWS`. Raises AgentError."""
        found: dict[tuple[int, ...], object] = {}

        async def rows() -> None:
            session = self._opened()
            several: AsyncIterator[tuple[str, object]] = session.getbulk(column, ROWS_AT_ONCE)
            async for oid, value in several:
                index = _below(column, oid)
                # An agent that goes back or elsewhere would be asked for ever.
                if index is None or index <= next(reversed(found), ()) or len(found) >= MOST_ROWS:
                    return
                found[index] = value

        self._within(until, rows)
        return found

    def _get(self, oids: list[str], until: float) -> dict[str, Any]:
        """Values by OID. If the answer would be too long, or cannot be read, parts of it are asked for."""
        failed = None
        try:
            found = self._within(until, lambda: self._opened().get_many(oids))
            # The library drops what an answer says of its errors: `tooBig` is an answer without values.
            if found or len(oids) <= FEW:
                return found
        except AgentError as error:
            if not error.is_of_a_value or len(oids) < 2:
                raise
            failed = error
        found, half = {}, len(oids) // 2
        for some in (oids[:half], oids[half:]):
            try:
                found |= self._get(some, until)
            except AgentError as error:
                failed = error
        if failed is not None and not found:
            raise failed
        return found

    def _opened(self) -> SnmpSession:
        if self._session is None:
            raise AgentError(AgentSilent(self.host))
        return self._session

    def _within(self, until: float, make: Callable[[], Awaitable[T]]) -> T:
        """What is awaited, if it comes in time. Raises AgentError.

        The library's own timeout begins anew with each datagram: an agent that keeps sending others' answers
        would hold it for ever.
        """
        import asyncio

        from gufo.snmp import SnmpAuthError, SnmpError

        left = until - time.monotonic()
        if left <= 0:
            raise AgentError(AgentSilent(self.host))

        async def bounded() -> T:
            return await asyncio.wait_for(make(), left)

        try:
            return self._loop.run_until_complete(bounded())
        except TimeoutError:
            raise AgentError(AgentSilent(self.host)) from None
        except SnmpAuthError:
            raise AgentError(AgentRefused(self.host)) from None
        except (SnmpError, ValueError, RuntimeError):
            # Of what it said nothing is kept: it may be anything.
            raise AgentError(AnswerUnreadable(self.host), is_of_a_value=True) from None
        except OSError:
            raise AgentError(AgentSilent(self.host)) from None
        except BaseException as error:
            # At some answers that are not BER the library panics (gufo-snmp 0.13); its session may be lost.
            if type(error).__name__ != "PanicException":
                raise
            self._session = None
            raise AgentError(AnswerUnreadable(self.host)) from None


def _below(column: str, oid: str) -> tuple[int, ...] | None:
    """The index of an object in a column; None if it is not in it."""
    if not oid.startswith(f"{column}.") or len(oid) > LONGEST_OID:
        return None
    try:
        return tuple(map(int, oid[len(column) + 1 :].split(".")))
    except ValueError:
        return None
