"""APIs of devices, whose answers have fields: where a plan names one, it is read before the command line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Protocol

from netdyno.devices import secrets
from netdyno.devices.access import Api
from netdyno.devices.drivers.reading import Value
from netdyno.devices.live import Channel, InSeries
from netdyno.devices.secrets import Secret
from netdyno.devices.telemetry.reasons import WrongType
from netdyno.devices.wiring import LabError
from netdyno.values.sample import Absent, Sample
from netdyno.values.table import load_entry

MODULES = {"routeros": "routeros_api"}
"""The module of each API; each has it as `SOURCE`."""
COUNTERS, CPU, CORES = "counters and drops", "CPU", "CPU per core"
"""Readings that command lines have, too: an API that gives one takes its place."""
MOST_VALUES = 1024
"""Values of a reading that are kept."""
LIMIT = 2**63
"""Values of a sample have 64 bits, with their sign."""


@dataclass(frozen=True)
class Target:
    """The device that an API is of. ports: name in the lab and on the device of each."""

    host: str
    user: str
    api: Api
    ports: tuple[tuple[str, str], ...]

    def find_login(self) -> tuple[str, Secret]:
        """User and password. Raises LabError `login-missing`."""
        user = self.user or _reveal(secrets.find("USER", self.host))
        password = secrets.find("PASSWORD", self.host)
        for name, value in (("USER", user), ("PASSWORD", password)):
            if not value:
                raise LabError(
                    f"the API of `{self.host}` needs a {name.lower()}",
                    f"set one of the environment variables {', '.join(secrets.variables(name, self.host))}",
                    code="login-missing",
                )
        assert password is not None
        return user, password

    def refuse_characters(self) -> LabError:
        """The error of a user or a password that this API cannot be sent."""
        return LabError(
            f"the user or the password for `{self.host}` has characters that its API does not take",
            f"use printable ASCII alone: {' or '.join(secrets.variables('PASSWORD', self.host))}",
            code="login-refused",
        )


@dataclass(frozen=True)
class ApiReading:
    """What is asked again and again. name: the command line's reading of this name is left out.

    requests: each asks the device and returns values of one time. Each raises LabError.
    """

    name: str
    period_s: float
    requests: tuple[Callable[[], Iterable[Value]], ...]
    is_optional: bool = True
    """Whether a device that does not have it is read all the same."""


class Connection(Protocol):
    """An API that is connected when it is first asked, and again after it was lost."""

    @property
    def readings(self) -> Sequence[ApiReading]:
        """Those that a device may have."""
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...


@dataclass(frozen=True)
class ApiSource:
    """An API, whose library is an extra with its name. title: also the source of its series."""

    title: str
    connect: Callable[[Target], Connection]


def _load(name: str) -> ApiSource:
    """The API of this name, which is loaded when it is needed."""
    return load_entry(f"{__package__}.{MODULES[name]}", "SOURCE", ApiSource)


@dataclass(frozen=True)
class ApiInstrument(InSeries):
    """Reads one reading of an API."""

    name: str
    reading: ApiReading
    turn: Lock
    """Of all instruments of a connection: the time that one waits for another is not the device's."""

    @property
    def period_s(self) -> float:
        """Time between two readings, s."""
        return self.reading.period_s

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """The values now; absent where one has more than 64 bits. Raises LabError."""
        found: dict[Channel, Sample] = {}
        for request in self.reading.requests:
            with self.turn:
                asked_ns = now()
                values = tuple(request())
                answered_ns = now()
            for value in values[: MOST_VALUES - len(found)]:
                number = round(value.number * Fraction(10**value.channel.scale))
                kept = number if -LIMIT <= number < LIMIT else Absent(WrongType(value.channel.name))
                found[value.channel] = Sample(asked_ns, answered_ns, kept, value.window_ns)
        if not found:
            raise LabError(
                f"the device gives none of its {self.reading.name} by {self.name}",
                "check the version of its system",
                code="not-understood",
            )
        return found


def open_api(name: str, target: Target) -> tuple[Connection, tuple[ApiInstrument, ...]]:
    """Connects, reads everything once, and returns an instrument for each reading that the device has.

    Raises LabError.
    """
    source = _load(name)
    connection = source.connect(target)
    turn = Lock()
    found = []
    try:
        for reading in connection.readings:
            instrument = ApiInstrument(source.title, reading, turn)
            try:
                instrument.read(time.monotonic_ns)
            except LabError as error:
                if reading.is_optional and error.code in ("command-refused", "not-understood"):
                    continue
                raise
            found.append(instrument)
    except BaseException:
        connection.close()
        raise
    return connection, tuple(found)


def _reveal(secret: Secret | None) -> str:
    return "" if secret is None else secret.reveal()
