"""How many routes a device forwards by, from the readings of its system."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from netdyno.devices.drivers.reading import Reading
from netdyno.devices.reach.instrument import CliInstrument, Rows, Turn
from netdyno.devices.shell import Cli
from netdyno.devices.telemetry.reasons import AnswerLate, CommandRefused, NothingPrinted
from netdyno.devices.wiring import LabError
from netdyno.values.sample import Absent

_TABLES = {
    4: (("IPv4 routes", "IPv4"), ("routes of FRR", "FIB")),
    6: (("IPv6 routes", "IPv6"), ("IPv6 routes of FRR", "IPv6 FIB")),
}
"""Readings that have the size of a table, and the subject of it. A kernel's own comes before its daemon's."""


def count_routes(
    name: str, readings: Sequence[Reading], cli: Cli, rows: Rows, within_s: float = 5.0
) -> Mapping[int, int] | None:
    """Routes by IP version; None: the system has no such reading, or the device refuses each.

    name: of the system. Raises LabError: `device-silent`, `not-understood`, or as the session does.
    """
    known = {reading.name: reading for reading in readings}
    found: dict[int, int] = {}
    for version, ways in _TABLES.items():
        for reading, subject in ways:
            if reading in known and version not in found:
                asked = CliInstrument(name, cli, known[reading], (), rows, Turn(), within_s)
                count = _count(asked, subject)
                found |= {} if count is None else {version: count}
    return found or None


def _count(instrument: CliInstrument, subject: str) -> int | None:
    for channel, sample in instrument.read(time.monotonic_ns).items():
        value = sample.value
        if not isinstance(value, Absent):
            if channel.subject == subject:
                return value
        elif not isinstance(value.reason, CommandRefused | NothingPrinted):
            code = "device-silent" if isinstance(value.reason, AnswerLate) else "not-understood"
            raise LabError(str(value.reason), code=code)
    return None
