"""Answers that come after the drain: what a trial counted as lost may only have been late, and then nobody
knows what was lost.

Test frames of an earlier trial are told apart when they come in a later one (`PortResult.stale`). A trial
behind which none is made is judged by how long the frames took that did come.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from fractions import Fraction

from netdyno.errors import NotMeasuredError, counted
from netdyno.methods.procedure import milliseconds, through
from netdyno.trial import Method, Result, TrialResult, Value

LATE_SHARE = Fraction(1, 100)
"""So much of what a trial lost comes after its end: then what is missing is not known."""

ABOUT_THE_TESTER = ("kept up to",)
"""Values that say nothing of the device, and stand."""


def watched(method: Method) -> Method:
    """The same method; what rests on trials whose frames came late has no number in its result."""
    outcomes: dict[int, TrialResult] = {}
    failures: set[str] = set()

    def told(number: int, outcome: TrialResult | NotMeasuredError) -> None:
        if isinstance(outcome, NotMeasuredError):
            failures.add(outcome.message)
        else:
            outcomes[number] = outcome

    result, _ = yield from through(method, lambda trial: trial, told)
    return _told(result, outcomes, failures)


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


def _told(result: Result, outcomes: Mapping[int, TrialResult], failures: Set[str]) -> Result:
    """failures: why trials were not measured; what is missing for that has its reason."""
    kept = {value.name for value in result.values if value.note in failures}
    judged = [name for name in result.judged if name not in kept]
    late = {number: why for number in outcomes if (why := _late(outcomes, number))}
    reasons: dict[str, str] = {}
    for name in judged:
        # What rests on no trial is what an earlier one left no room for.
        for number in result.resting(name) or outcomes:
            if number in late:
                reasons.setdefault(name, late[number])
    if not reasons:
        return result
    every = len(reasons) == len(judged)
    whys = tuple(dict.fromkeys(reasons.values()))

    def withdrawn(value: Value) -> Value:
        why = reasons.get(value.name, whys[0] if every else "")
        if not why or value.name in ABOUT_THE_TESTER or value.name in kept:
            return value
        # At the load that passed nothing was missing, and so nothing late.
        low = value.low if value.searched and value.low else None
        return replace(value, number=None, low=low, high=None, note=why)

    return replace(
        result,
        values=tuple(map(withdrawn, result.values)),
        notes=(*result.notes, *(why for why in whys if why not in result.notes)),
    )


def _late(outcomes: Mapping[int, TrialResult], number: int) -> str | None:
    """Why what is missing in a trial may only be late, a clause; None: it is not."""
    outcome = outcomes[number]
    if not any(stream.lost > 0 for stream in outcome.streams):
        return None
    if not any(stream.received for stream in outcome.streams):
        # None of its own told how long they take; but others of the case did come, later.
        frames = sum(map(stale, outcomes.values()))
        return _came(frames) if frames else None
    if number + 1 in outcomes:
        return came_late(outcome, outcomes[number + 1])
    drain_ns = sum(phase.duration_ns for phase in outcome.phases if phase.name == "drain")
    longest_ns = max((stream.latency.max_ns for stream in outcome.streams if stream.latency), default=0)
    if longest_ns < drain_ns:
        return None
    return (
        f"frames took up to {milliseconds(longest_ns)}, and {milliseconds(drain_ns)} after the last was sent"
        " the trial ended: what is missing may have been on its way; a longer `drain` would tell"
    )
