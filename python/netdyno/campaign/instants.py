"""Instruments of an emulated device, read at times of a trial in virtual time.

The trial is over when they are read. Nothing is lost by that: at each time the device that answers has
counted what the emulated one had counted then, and the clock stands while it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from netdyno.campaign.readings import ReadingFailed, Readings, ReadingsLeftOut, with_readings
from netdyno.devices.live import Instrument, Live
from netdyno.devices.wiring import Trait, Wiring
from netdyno.errors import NetdynoError
from netdyno.values.outcome import Outcome

PERIOD_S = 1
"""Time between two readings, s, of a plan at its full length."""
LEAST_NS = 1_000_000
BEFORE = ("resolve", "settle")
"""Phases before traffic, in which the tester sends frames of its own."""


def with_readings_asked(wiring: Wiring, scale: Fraction) -> Wiring:
    """The wiring of a device that is read, which notes its counters at each of the times.

    scale: of the plan: a trial a hundredth as long is read a hundred times as often.
    """
    if wiring.clock != "virtual" or Trait.IS_READ not in wiring.traits:
        return wiring
    every_ns = max(int(PERIOD_S * 10**9 * scale), LEAST_NS)
    return replace(wiring, session={**wiring.session, "read_devices_ns": every_ns})


def with_instants(live: Live, outcome: Outcome, scale: Fraction) -> Outcome:
    """The outcome with what the instruments read at each time. Raises LabError if nothing answers."""
    if not outcome.readings:
        return outcome
    instruments = live.instruments()
    due_ns = [0] * len(instruments)
    found = [Readings(one.name) for one in instruments]
    readings = _from_idle(outcome)
    mean_bytes = _mean_bytes(outcome)
    last = len(readings) - 1
    for number, (at_ns, counters) in enumerate(readings):
        due = [place for place, _ in enumerate(instruments) if at_ns >= due_ns[place] or number in (0, last)]
        if not due:
            continue
        try:
            if not live.stand_at(at_ns, counters, mean_bytes):
                return outcome
        except NetdynoError as error:
            if number == 0:
                raise
            # Who does not answer now is not asked for each of the times that are left.
            for one in found:
                one.miss(at_ns, ReadingFailed(error.code))
            break
        for place in due:
            instrument = instruments[place]
            due_ns[place] = at_ns + max(int(instrument.period_s * 10**9 * scale), LEAST_NS)
            _read(instrument, at_ns, found[place], is_first=number == 0)
    if outcome.readings_left_out:
        # They were due between the last two that there are.
        for one in found:
            one.miss(readings[-2][0], ReadingsLeftOut(outcome.readings_left_out))
    return with_readings(outcome, found, 0)


def _mean_bytes(outcome: Outcome) -> float:
    """Of the frames that were offered, with FCS: an emulated device counts no bytes."""
    frames = sum(stream.offered for stream in outcome.streams)
    return sum(stream.offered_bytes for stream in outcome.streams) / frames if frames else 0.0


def _from_idle(outcome: Outcome) -> list[tuple[int, tuple[Mapping[str, Any], ...]]]:
    """The readings behind one of before the trial, when the emulated device had counted nothing: frames that
    resolve its addresses are counted, as they are where a real device is read before each trial."""
    at_ns, counters = outcome.readings[0]
    before_ns = sum(phase.duration_ns for phase in outcome.phases if phase.name in BEFORE)
    return [(at_ns - max(before_ns, 1), _zeroed(counters)), *outcome.readings]


def _zeroed(counted: Any) -> Any:
    """Counters of the same names, all of them 0."""
    if isinstance(counted, Mapping):
        return {name: _zeroed(one) for name, one in counted.items()}
    if isinstance(counted, list | tuple):
        return type(counted)(map(_zeroed, counted))
    return 0 if isinstance(counted, int) else counted


def _read(instrument: Instrument, at_ns: int, found: Readings, *, is_first: bool) -> None:
    """One reading while the clock stands. A later one that fails is missed."""
    try:
        samples = instrument.read(lambda: at_ns)
    except NetdynoError as error:
        if is_first:
            raise
        found.miss(at_ns, ReadingFailed(error.code))
    else:
        found.add(samples)
