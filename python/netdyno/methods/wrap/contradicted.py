"""Marks a throughput if a later trial of the same case lost frames at it or below.

A load that passed a trial of one length need not pass a longer one: frames above a device's capacity
wait in its queue, and a short trial ends before the queue is full. Latency is measured at the throughput for
twice as long as RFC 2544 has the trials of the search, and the loss curve goes down to it. If these trials
lose frames, the throughput gets a note with the name of the trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import find_own_shortfall, record_trials
from netdyno.methods.reasons.loss import LostAtThroughput
from netdyno.methods.throughput import KNOWN, of_a_port
from netdyno.values.finding import Result, Value
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation


def checked(method: Method, situation: Situation) -> Method:
    """The same method; a throughput in its result says which trials of the case lost frames at it."""
    result, made = yield from record_trials(method)
    return _with_marks(result, situation, made)


@dataclass(frozen=True)
class _Losing:
    """A trial at a throughput or below it that was not clean."""

    number: int
    trial: Trial
    outcome: Outcome
    streams: Mapping[str, StreamResult]

    def load(self, situation: Situation) -> Fraction:
        """Of a port, frames a second."""
        return max(situation.fps(rate) for rate in self.trial.rates)

    def of(self, names: Sequence[str]) -> tuple[StreamResult, ...]:
        """Its streams of these names that sent."""
        found = (self.streams.get(name) for name in names)
        return tuple(one for one in found if one is not None and one.intended)


def _with_marks(result: Result, situation: Situation, made: Mapping[int, tuple[Trial, Outcome]]) -> Result:
    losing: dict[str, tuple[_Losing, ...]] = {}
    values = list(result.values)
    sentences: list[Reason] = []
    refuting: dict[str, Fraction] = {}
    for place, value in enumerate(values):
        if value.kind not in KNOWN or not value.number:
            continue
        if value.name not in losing:
            losing[value.name] = tuple(_losing(of_a_port(result, situation, value.name), made, situation))
        names = [situation.streams[member] for member in situation.members(value.scope)]
        clause = _contradiction(names, value.scope, losing[value.name], situation)
        if clause is not None:
            values[place] = _with_contradiction(value, clause)
            if values[place].is_refuted:
                refuting.setdefault(value.name, clause.rate_pps / situation.share(value.scope))
            sentences += [About(value.name, clause)] if value.scope == "sum" else []
    result = replace(result, values=tuple(values), notes=(*result.notes, *sentences))
    for name, fps in refuting.items():
        # The limit of a rate that is refuted is that of the loss that refutes it.
        number = next(one.number for one in losing[name] if one.load(situation) == fps)
        result = result.with_resting(name, "", (*result.resting(name), number), result.values)
    return result


def _with_contradiction(value: Value, clause: LostAtThroughput) -> Value:
    """The value, of which no load is known to pass at which later trials lost frames."""
    high = clause.rate_pps if value.high is None else min(value.high, clause.rate_pps)
    return replace(value, contradicted=clause, high=high if value.searched else value.high)


def _losing(
    fps: Fraction | None, made: Mapping[int, tuple[Trial, Outcome]], situation: Situation
) -> Iterator[_Losing]:
    """The trials at a load or below it that were not clean.

    None of a search that found that load: all of its own at or below it passed.
    """
    for number, (trial, outcome) in made.items():
        if fps is None or not _within(trial, fps, situation):
            continue
        sending = {one.name: one for one in outcome.streams if one.intended}
        if (
            not rows.is_clean(tuple(sending.values()))
            and find_own_shortfall(outcome, trial.duration_ns) is None
        ):
            yield _Losing(number, trial, outcome, sending)


def _contradiction(
    names: Sequence[str], scope: str, losing: Sequence[_Losing], situation: Situation
) -> LostAtThroughput | None:
    """The note on trials in which these streams lost frames; None: none did."""
    found = [one for one in losing if not rows.is_clean(one.of(names))]
    if not found:
        return None
    first = min(found, key=lambda one: one.load(situation))
    streams, health = first.of(names), first.outcome.health
    return LostAtThroughput(
        trials=len(found),
        first=first.trial.name,
        rate_pps=first.load(situation) * situation.share(scope),
        lost=rows.count_lost(streams) + rows.count_refused(streams),
        sent=sum(one.offered + one.refused for one in streams),
        beyond=sum(max(-one.lost, 0) for one in streams),
        copies=sum(one.duplicates for one in streams),
        dropped=health.rx_dropped + health.tx_dropped,
    )


def _within(trial: Trial, fps: Fraction, situation: Situation) -> bool:
    """Whether a trial is of the traffic that was searched with, at no more than that load, and nothing else.

    What a device is asked for meanwhile loses frames by itself; bursts, other flows and loads of streams by
    themselves are other traffic.
    """
    load = trial.frames
    if trial.events or load.loads or load.burst is not None or load.flows is not None:
        return False
    return all(situation.fps(rate) <= fps for rate in trial.rates)
