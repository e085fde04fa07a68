"""Answers that come after the drain: what a trial counted as lost may only have been late, and then nobody
knows what was lost.

Test frames of an earlier trial are told apart when they come in a later one (`PortResult.stale`). A trial
behind which none is made is judged by how long the frames took that did come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from netdyno.errors import counted
from netdyno.methods.procedure import milliseconds
from netdyno.trial import Method, Result, TrialResult, Value

LATE_SHARE = Fraction(1, 100)
"""So much of what a trial lost comes after its end: then what is missing is not known."""

ABOUT_THE_TESTER = ("kept up to",)
"""Values that say nothing of the device, and stand."""


def watched(method: Method) -> Method:
    """The same method; what rests on trials whose frames came late has no number in its result."""
    outcomes: list[TrialResult] = []
    try:
        trial = next(method)
        while True:
            outcomes.append((yield trial))
            trial = method.send(outcomes[-1])
    except StopIteration as stop:
        return _told(stop.value, outcomes)
    finally:
        method.close()


def came_late(before: TrialResult, after: TrialResult) -> str | None:
    """Whether what a trial counted as lost came in the next one, a clause; None if hardly any of it did."""
    frames, gone = stale(after), sum(max(stream.lost, 0) for stream in before.streams)
    return _came(frames) if frames and frames >= LATE_SHARE * gone else None


def stale(outcome: TrialResult) -> int:
    """Frames of earlier trials that came in one."""
    return sum(port.stale for port in outcome.ports)


def _came(frames: int) -> str:
    return (
        f"{counted(frames, 'frame')} came only after the trial that counted them as lost: a longer `drain`"
        " would tell"
    )


def _told(result: Result, outcomes: Sequence[TrialResult]) -> Result:
    late = {number: why for number in range(len(outcomes)) if (why := _late(outcomes, number))}
    reasons: dict[str, str] = {}
    for name in result.judged:
        # What rests on no trial is what an earlier one left no room for.
        for number in result.resting(name) or range(len(outcomes)):
            if number in late:
                reasons.setdefault(name, late[number])
    if not reasons:
        return result
    every = len(reasons) == len(result.judged)
    whys = tuple(dict.fromkeys(reasons.values()))

    def withdrawn(value: Value) -> Value:
        why = reasons.get(value.name, whys[0] if every else "")
        if not why or value.name in ABOUT_THE_TESTER:
            return value
        # At the load that passed nothing was missing, and so nothing late.
        low = value.low if value.searched and value.low else None
        return replace(value, number=None, low=low, high=None, note=why)

    return replace(
        result,
        values=tuple(map(withdrawn, result.values)),
        notes=(*result.notes, *(why for why in whys if why not in result.notes)),
    )


def _late(outcomes: Sequence[TrialResult], number: int) -> str | None:
    """Why what is missing in a trial may only be late, a clause; None: it is not."""
    outcome = outcomes[number]
    if not any(stream.lost > 0 for stream in outcome.streams):
        return None
    if not any(stream.received for stream in outcome.streams):
        # None of its own told how long they take; but others of the case did come, later.
        frames = sum(map(stale, outcomes))
        return _came(frames) if frames else None
    if number + 1 < len(outcomes):
        return came_late(outcome, outcomes[number + 1])
    drain_ns = sum(phase.duration_ns for phase in outcome.phases if phase.name == "drain")
    longest_ns = max((stream.latency.max_ns for stream in outcome.streams if stream.latency), default=0)
    if longest_ns < drain_ns:
        return None
    return (
        f"frames took up to {milliseconds(longest_ns)}, and {milliseconds(drain_ns)} after the last was sent"
        " the trial ended: what is missing may have been on its way; a longer `drain` would tell"
    )
