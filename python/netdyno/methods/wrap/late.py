"""Answers that come after the drain: what a trial counted as lost may only have been late, and
then the loss is unknown.

Test frames of an earlier trial are told apart when they come in a later one (`PortResult.stale`). A trial
behind which none is made is judged by how long the frames took that did come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from fractions import Fraction

from netdyno.methods.parts.procedure import through
from netdyno.methods.reasons.loss import CameAfter, MayBeLate, StaleFrames
from netdyno.methods.throughput import FAILED_AT, OF_THE_LINE
from netdyno.values.finding import Result, Table, Value
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.unmeasured import NotMeasuredError

LATE_SHARE = Fraction(1, 100)
"""So much of what a trial lost comes after its end: then what is missing is not known."""


def without_late_values(method: Method) -> Method:
    """The same method; values from trials whose frames came late have no number in its result."""
    outcomes: dict[int, Outcome] = {}
    failures: set[Reason] = set()

    def note(number: int, outcome: Outcome | NotMeasuredError) -> None:
        if isinstance(outcome, NotMeasuredError):
            failures.add(outcome.reason)
        else:
            outcomes[number] = outcome

    result, _ = yield from through(method, lambda trial: trial, note)
    return _without_late(result, outcomes, failures)


def find_late_frames(before: Outcome, after: Outcome) -> Reason | None:
    """The reason if frames that a trial counted as lost arrived in the next one; None if hardly any did."""
    frames, gone = stale(after), sum(max(stream.lost, 0) for stream in before.streams)
    return CameAfter(frames) if frames and frames >= LATE_SHARE * gone else None


def stale(outcome: Outcome) -> int:
    """Frames of earlier trials that came in one."""
    return sum(port.stale for port in outcome.ports)


def _without_late(result: Result, outcomes: Mapping[int, Outcome], failures: Set[Reason]) -> Result:
    """The result without values that late frames make unknown. failures: of trials not measured."""
    failed = {value.name for value in result.values if value.note in failures}
    judged = [name for name in result.judged if name not in failed]
    late = {number: why for number in outcomes if (why := _late(outcomes, number))}
    reasons: dict[str, Reason] = {}
    for name in judged:
        # What rests on no trial is what an earlier one left no room for.
        for number in result.resting(name) or outcomes:
            if number in late:
                reasons.setdefault(name, late[number])
    if not reasons:
        return replace(result, notes=(*result.notes, *_little(outcomes)))
    # What is no headline is measured at a load that the first headline says.
    first = next((reasons[name] for name in result.headlines[:1] if name in reasons), None)
    for name in judged:
        if first is not None and name not in result.headlines:
            reasons.setdefault(name, first)
    every = len(reasons) == len(judged)
    whys = tuple(dict.fromkeys(reasons.values()))

    def withdrawn(value: Value) -> Value:
        why = reasons.get(value.name, whys[0] if every else None)
        # What the tester could do and what the plan says stand: they say nothing of the device.
        if why is None or value.kind.about != "device" or value.name in failed:
            return value
        # At the load that passed nothing was missing, and so nothing late.
        low = value.low if value.searched and value.low else None
        return replace(value, number=None, low=low, high=None, note=why, as_searched=None)

    values = tuple(map(withdrawn, result.values))
    gone = {one.name for one, before in zip(values, result.values, strict=True) if one is not before}
    return replace(
        result,
        values=values,
        tables=tuple(_without(table, gone) for table in result.tables),
        notes=(*result.notes, *(why for why in whys if why not in result.notes)),
    )


def _without(table: Table, gone: Set[str]) -> Table:
    """The table without numbers that became unknown, their shares of the line, and failed steps."""
    if not any(column.name in gone for column in table.columns):
        return table
    is_kept = [column.name not in (*gone, OF_THE_LINE, FAILED_AT) for column in table.columns]
    rows = (
        tuple(cell if keep else None for cell, keep in zip(row, is_kept, strict=True)) for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def _little(outcomes: Mapping[int, Outcome]) -> Iterator[Reason]:
    """The notes on late frames that change no result."""
    frames = sum(map(stale, outcomes.values()))
    trials = sum(stale(outcome) > 0 for outcome in outcomes.values())
    if frames:
        yield StaleFrames(frames, trials)


def _came_later(outcomes: Mapping[int, Outcome], number: int) -> int:
    """The number of late frames that may belong to a trial.

    Which trial they left in nobody counts. Where trials are short beside what the device holds frames for,
    they come several trials later: as many as it took from the first loss of all to the first such frame.
    Where a case ends before that, those that came at all show what is still on its way.
    """
    came = [place for place in sorted(outcomes) if stale(outcomes[place])]
    lossy = [place for place in sorted(outcomes) if any(one.lost > 0 for one in outcomes[place].streams)]
    if not came or not lossy:
        return 0
    reach = max(came[0] - lossy[0], 1)
    behind = range(number + 1, number + reach + 1)
    places = behind if behind[-1] in outcomes else outcomes.keys()
    return sum(stale(outcomes[place]) for place in places if place in outcomes)


def _late(outcomes: Mapping[int, Outcome], number: int) -> Reason | None:
    """The reason why missing frames of a trial may only be late; None: they are lost."""
    outcome = outcomes[number]
    if not any(stream.lost > 0 for stream in outcome.streams):
        return None
    if not any(stream.received for stream in outcome.streams):
        # None of its own told how long they take; but others of the case did come, later.
        frames = sum(map(stale, outcomes.values()))
        return CameAfter(frames) if frames else None
    frames = _came_later(outcomes, number)
    gone = sum(max(stream.lost, 0) for stream in outcome.streams)
    if frames >= LATE_SHARE * gone > 0:
        return CameAfter(frames)
    if number + 1 in outcomes:
        return None
    drain_ns = sum(phase.duration_ns for phase in outcome.phases if phase.name == "drain")
    longest_ns = max((stream.latency.max_ns for stream in outcome.streams if stream.latency), default=0)
    if longest_ns < drain_ns:
        return None
    return MayBeLate(longest_ns, drain_ns)
