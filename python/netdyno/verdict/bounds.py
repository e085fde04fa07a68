"""Upper bounds of searches only where they stand: on a trial whose loss the tester does not explain.

A search ends at the lowest load that did not come back whole. In real time a pause of the tester may have
lost those frames. The device is then known not to pass the next higher load at which it lost more than the
tester explains: that is the upper bound, and the trials between say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from netdyno.methods import find_shortfall
from netdyno.methods.reasons.searches import Between
from netdyno.values.finding import Result, Value
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
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
    above = [(fps, number) for number, fps in sound.items() if fps > high]
    if not above:
        return result
    fps, number = min(above)
    values = tuple(
        _with_upper_bound(value, fps * situation.share(value.scope))
        if value.name == headline and value.high is not None and (value.scope == scope or not own.by_stream)
        else value
        for value in result.values
    )
    numbers = (*(one for one in resting if one not in lossy), number)
    return result.with_resting(headline, scope if own.by_stream else "", numbers, values)


def _with_upper_bound(value: Value, high: Fraction) -> Value:
    """The value with this upper bound, which its note names as well."""
    known = isinstance(value.note, Between)
    note = Between(value.low or Fraction(0), high) if known else value.note
    return replace(value, high=high, note=note)
