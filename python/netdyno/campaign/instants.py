"""Instruments of an emulated device, read at times of a trial in virtual time.

The trial is over when they are read. Nothing is lost by that: at each time the device that answers has
counted what the emulated one had counted then, and the clock stands while it is asked.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from netdyno.campaign.readings import ReadingFailed, Readings, ReadingsLeftOut, with_readings
from netdyno.campaign.watching import Watching
from netdyno.devices.live import Channel, Instrument, Live
from netdyno.devices.telemetry.reasons import AnswerLate
from netdyno.devices.wiring import Trait, Wiring
from netdyno.errors import NetdynoError
from netdyno.values.breaks import ANSWER_TIME, ANSWERS
from netdyno.values.outcome import Outcome
from netdyno.values.sample import Absent, Sample

NOTHING_WATCHED = Watching()
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


def with_instants(
    live: Live,
    outcome: Outcome,
    scale: Fraction,
    watching: Watching = NOTHING_WATCHED,
    *,
    is_strict: bool = True,
) -> Outcome:
    """The outcome with what the instruments read at each time.

    is_strict: raises LabError if nothing answers from the begin.
    """
    if not outcome.readings:
        return outcome
    instruments = (*watching.instruments, *live.instruments())
    due_ns = [0] * len(instruments)
    found = [Readings(one.name) for one in instruments]
    answers = {name: Readings(ANSWERS) for name in sorted(watching.answering)}
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
            if number == 0 and is_strict:
                raise
            # Who does not answer now is not asked for each of the times that are left.
            for one in (*found, *answers.values()):
                one.miss(at_ns, ReadingFailed(error.code))
            break
        took: dict[str, list[int | None]] = {}
        for place in due:
            instrument = instruments[place]
            due_ns[place] = at_ns + max(int(instrument.period_s * 10**9 * scale), LEAST_NS)
            took_ns = _read(instrument, at_ns, found[place], is_strict=number == 0 and is_strict)
            took.setdefault(instrument.name, []).append(took_ns)
        for name, one in answers.items():
            _add_answer(one, name, at_ns, took.get(name, []))
    if outcome.readings_left_out:
        # They were due between the last two that there are.
        for one in found:
            one.miss(readings[-2][0], ReadingsLeftOut(outcome.readings_left_out))
    # Watches first: there is room for so many series.
    return with_readings(outcome, (*answers.values(), *found), 0)


def _add_answer(found: Readings, source: str, at_ns: int, took: Sequence[int | None]) -> None:
    """The longest that a command line took at a time, ns; None among them: an answer did not come."""
    longest_ns = max((one for one in took if one is not None), default=None)
    if None in took:
        found.miss(at_ns, ReadingFailed("device-silent"))
    elif longest_ns is not None:
        found.add({Channel(source, ANSWER_TIME, "ns"): Sample(at_ns, at_ns, longest_ns)})


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


def _read(instrument: Instrument, at_ns: int, found: Readings, *, is_strict: bool) -> int | None:
    """One reading while the clock of the trial stands. A later one that fails is missed.

    Returns the longest that an answer took, ns; None: one did not come.
    """
    begun_ns = time.monotonic_ns()
    try:
        samples = instrument.read(lambda: at_ns + time.monotonic_ns() - begun_ns)
    except NetdynoError as error:
        if is_strict:
            raise
        found.miss(at_ns, ReadingFailed(error.code))
        return None
    found.add({channel: replace(one, asked_ns=at_ns, answered_ns=at_ns) for channel, one in samples.items()})
    values = [one.value for one in samples.values()]
    if any(isinstance(one, Absent) and isinstance(one.reason, AnswerLate) for one in values):
        return None
    return max((one.answered_ns - one.asked_ns for one in samples.values()), default=0)
