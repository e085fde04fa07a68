"""Upper bounds of searches only where they stand: on a trial whose loss the tester does not explain.

A search ends at the lowest load that did not come back whole. In real time a pause of the tester may have
lost those frames. The device is then known not to pass the next higher load at which it lost more than the
tester explains: that is the upper bound, and the trials between say nothing. So it is with the knee of a
ramp, sample by sample. Where the tester may have lost all of it there is no upper bound.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from netdyno.methods import find_shortfall
from netdyno.methods.parts.samples import Sample, inside, scopes
from netdyno.methods.reasons.searches import Between
from netdyno.values.finding import Result, Value
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.situation import Situation
from netdyno.values.verdict import Verdict
from netdyno.verdict.evidence import Evidence


def with_standing_bounds(
    result: Result,
    trials: Mapping[int, tuple[Trial, Outcome]],
    known: Evidence,
) -> Result:
    """The result with the upper bounds of its searched headlines raised to loads at which they stand.

    trials: all of the case, by number. known: what is known of the case beside its trials. Where no bound
    stands, the search's own is left, and its verdict says why.
    """
    sound: dict[tuple[str | None, Fraction], dict[int, Fraction]] = {}
    for headline in result.headlines:
        together = result.value(headline, "sum")
        if together is None or not together.searched:
            continue
        # Of a search of all streams at once there is one bound; else each stream has its own.
        scopes = known.situation.scopes if together.by_stream else ("sum",)
        for scope in scopes:
            of = scope if together.by_stream and scope in known.situation.streams else None
            key = of, together.allowed
            if key not in sound:
                sound[key] = _sound(trials, known, *key)
            result = _with_bound(result, headline, scope, trials, known.situation, sound[key])
    return result


def _sound(
    trials: Mapping[int, tuple[Trial, Outcome]], known: Evidence, of: str | None, allowed: Fraction
) -> dict[int, Fraction]:
    """The loads of the trials that lost more of a stream, or of all, than is allowed beside what the tester
    explains, by number."""
    found: dict[int, Fraction] = {}
    for number, (trial, outcome) in trials.items():
        fps = _load(trial, known.situation)
        if fps is None or find_shortfall(outcome, trial.duration_ns) is not None:
            continue
        is_constant = len(trial.segments) == 1
        alone = replace(known, trials=(outcome,), planned_ns=(trial.duration_ns,), is_constant=is_constant)
        if alone.has_own_loss(of, allowed):
            found[number] = fps
    return found


def _load(trial: Trial, situation: Situation) -> Fraction | None:
    """Frames per second that a trial held on every port; None: it held none, or not on all."""
    load = trial.frames
    if load.loads or load.burst or not trial.constant:
        return None
    rates = {situation.fps(segment.to_rate) for segment in trial.segments}
    return rates.pop() if len(rates) == 1 else None


def _with_bound(
    result: Result,
    headline: str,
    scope: str,
    trials: Mapping[int, tuple[Trial, Outcome]],
    situation: Situation,
    sound: Mapping[int, Fraction],
) -> Result:
    """The result with the bound of a headline raised: in one scope, or of a common search in all."""
    own = result.value(headline, scope)
    if own is None or own.high is None:
        return result
    streams = {situation.streams[member] for member in situation.members(scope)}
    resting = result.resting(headline, scope)
    lossy = [
        number
        for number in resting
        if number in trials
        and any(one.missing > 0 for one in trials[number][1].streams if one.name in streams)
    ]
    high = own.high / situation.share(scope)
    if not lossy or any(sound.get(number, high + 1) <= high for number in lossy):
        return result
    if own.contradicted is not None and high in sound.values():
        return result
    above = [(fps, number) for number, fps in sound.items() if fps > high]
    if not above and not own.is_refuted:
        return result
    fps, number = min(above, default=(None, None))
    values = tuple(
        _with_upper_bound(value, None if fps is None else fps * situation.share(value.scope))
        if value.name == headline and value.high is not None and (value.scope == scope or not own.by_stream)
        else value
        for value in result.values
    )
    numbers = (*(one for one in resting if one not in lossy), *(() if number is None else (number,)))
    return result.with_resting(headline, scope if own.by_stream else "", numbers, values)


def _with_upper_bound(value: Value, high: Fraction | None) -> Value:
    """The value with this upper bound, which its note names as well; None: with none."""
    known = isinstance(value.note, Between) and high is not None
    note = Between(value.low or Fraction(0), high) if known and high is not None else value.note
    return replace(value, high=high, note=note)


def with_proven_bounds(
    result: Result,
    verdicts: Mapping[str, Mapping[str, Verdict]],
    trials: Mapping[int, tuple[Trial, Outcome]],
    known: Evidence,
) -> Result:
    """The result without upper bounds that only the tester may have caused: it is then known from below.

    verdicts: on its values, by name and scope. A bound at a full line stands, whoever lost frames there.
    """
    if known.clock == "virtual":
        return result
    values = []
    for value in result.values:
        verdict = verdicts.get(value.name, {}).get(value.scope)
        if value.searched and value.high is not None and verdict is not None:
            is_proven = verdict.limit not in UNKNOWN or _is_proven(value, result, trials, known)
            values.append(value if is_proven else _without_upper_bound(value))
        else:
            values.append(value)
    first = verdicts.get(result.headlines[0], {}) if result.headlines else {}
    knees = {
        value.scope: value
        for value in values
        if value.kind.role == "knee" and value.high is not None and _limit(first, value.scope) != "line"
    }
    if knees:
        standing = _find_standing_knees(knees, trials, known)
        values = [standing.get(one.scope, one) if one.kind.role == "knee" else one for one in values]
        lost = {scope for scope, knee in standing.items() if knee.high is None}
        values = [
            _without_upper_bound(one)
            if one.kind.role == "best rate" and one.scope in lost and _limit(first, one.scope) in UNKNOWN
            else one
            for one in values
        ]
    return replace(result, values=tuple(values))


UNKNOWN = ("tester", "receiver", "inconclusive")
"""Limits with which the device's own is not known."""


def _limit(verdicts: Mapping[str, Verdict], scope: str) -> str | None:
    return None if scope not in verdicts else verdicts[scope].limit


def _is_proven(
    value: Value, result: Result, trials: Mapping[int, tuple[Trial, Outcome]], known: Evidence
) -> bool:
    """Whether a trial that a search rests on lost more than the tester explains, at its upper bound or below;
    or failed by something other than loss."""
    situation = known.situation
    assert value.high is not None
    own = {number: trials[number] for number in result.resting(value.name, value.scope) if number in trials}
    if not any(stream.missing > 0 for _, outcome in own.values() for stream in outcome.streams):
        return True
    of = value.scope if value.by_stream and value.scope in situation.streams else None
    high = value.high / situation.share(value.scope)
    return any(fps <= high for fps in _sound(own, known, of, value.allowed).values())


def _without_upper_bound(value: Value) -> Value:
    number = value.lasting if value.searched else value.low if value.kind.role == "knee" else value.number
    note = None if isinstance(value.note, Between) else value.note
    if not number and value.searched:
        # No load passed, and that of none is known.
        return replace(value, number=None, low=None, high=None, note=note)
    return replace(value, number=number, low=number, high=None, note=note)


def _find_standing_knees(
    knees: Mapping[str, Value], trials: Mapping[int, tuple[Trial, Outcome]], known: Evidence
) -> dict[str, Value]:
    """The knees of these scopes with the lowest upper bound, from their own on, at which more was lost since
    the knee than the tester explains; without one, if there is none."""
    found: dict[str, Value] = {}
    # Of two ramps either may show it.
    for trial, outcome in trials.values():
        if not any(segment.name == "ramp" for segment in trial.segments):
            continue
        alone = replace(known, trials=(outcome,), planned_ns=(trial.duration_ns,), is_constant=False)
        for scope, samples in scopes(outcome, trial, known.situation):
            knee = found.get(scope, knees.get(scope))
            if knee is None or (scope in found and found[scope].high is not None):
                continue
            of = scope if scope in known.situation.streams else None
            rise = inside(samples, trial, "ramp", outcome.sample_ns)
            high = _find_standing_bound(knees[scope], rise, alone, of)
            found[scope] = replace(knees[scope], high=high) if high else _without_upper_bound(knees[scope])
    return found


def _find_standing_bound(
    knee: Value, rise: Sequence[Sample], alone: Evidence, of: str | None
) -> Fraction | None:
    assert knee.high is not None
    if not alone.judged(of)[0].explained:
        return knee.high
    first = next((place for place, one in enumerate(rise) if one.reaches(knee.high)), len(rise))
    behind = rise[first:]

    def left(samples: int) -> int:
        cut = _until(alone.trials[0], samples)
        return replace(alone, trials=(cut,)).judged(of)[0].left

    if not behind:
        return None
    before = left(behind[0].place)
    place = bisect_left(behind, True, key=lambda one: left(one.place + 1) > before)
    return None if place == len(behind) else max(knee.high, behind[place].peak)


def _until(outcome: Outcome, samples: int) -> Outcome:
    """A trial up to so many samples: what has no date in it is not counted."""

    def until(stream: StreamResult) -> StreamResult:
        tx, rx, arrived = (of[:samples] for of in (stream.tx, stream.rx, stream.arrived))
        return replace(
            stream,
            offered=sum(tx),
            received=sum(rx),
            lost=sum(tx) - sum(arrived),
            elsewhere=0,
            corrupted=0,
            tx=tx,
            rx=rx,
            arrived=arrived,
            gaps=None,
        )

    return outcome.with_counts(streams=tuple(map(until, outcome.streams)))
