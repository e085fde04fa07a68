"""The result of a search, as RFC 9971 section 4.8 wants it: every bound with its goal's attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.methods.mlr.goals import Shot, Target
from netdyno.methods.mlr.presets import Goal
from netdyno.methods.mlr.shooting import Shooting
from netdyno.methods.parts.ended import as_ended_by_others, find_common
from netdyno.methods.parts.queued import as_lasting, longer_may_lose
from netdyno.methods.reasons.searches import (
    Between,
    Conditional,
    EndedEarly,
    NonePassed,
    NoRfc2544,
    PassedAt,
    PassedHighest,
    ShortWaits,
    StillQueued,
    TesterBound,
    TrafficSent,
    TrialsShort,
    UnknownAtAll,
)
from netdyno.values import number as printed
from netdyno.values.finding import Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import decimal

RFC_TRIAL_NS = 60 * 10**9
"""RFC 2544 section 24: at least 60 seconds for the trial whose value is reported."""

RFC_WAIT_NS = 2 * 10**9
"""RFC 2544 section 23, phases b and d: 2 seconds before and after the traffic."""

STANDARD = "RFC 9971"

NDR = ValueKind(
    "NDR",
    "fps",
    "the highest load without loss, as its search goal has it (RFC 9971)",
    goal="NDR >= 1Mpps",
    closer="a narrower `width`",
)
PDR = ValueKind(
    "PDR",
    "fps",
    "the highest load with no more loss than its search goal allows (RFC 9971)",
    goal="PDR >= 1.2Mpps",
    closer="a narrower `width`",
)
JUDGED = (NDR.name, PDR.name)
"""Goals of which a search has one at least; the first of them that it has stands for the case."""

GOALS = columns(
    "goal | loss ratio: share | exceed ratio: share | trial: ns | duration sum: ns | width: share"
    " | lower bound: fps | upper bound: fps | conditional throughput: fps"
    " | loss at the lower bound: share | trials at the bounds | result"
)
TRIALS = columns("trial | load: fps | length: ns | sent: frames | missing: frames | loss: share | use")


@dataclass(frozen=True)
class _Found:
    """The bounds found for one goal; loads of one direction, frames per second."""

    name: str
    goal: Goal
    target: Target
    lower: int | None
    upper: int | None
    ceiling: bool
    """The upper bound is the tester's."""
    good: tuple[Shot, ...]
    """Trials that make the lower bound one."""
    bad: tuple[Shot, ...]


def result(method: str, goals: Mapping[str, Goal], situation: Situation, shooting: Shooting) -> Result:
    """The values of each goal, the tables, and the trials that the first judged value rests on."""
    found = [_find(name, goal, shooting) for name, goal in goals.items()]
    judged = next((one for name in JUDGED for one in found if one.name == name), found[0])
    return Result(
        method,
        tuple(value for one in found for value in _values(one, situation, shooting)),
        _find_resting_trials(judged, shooting),
        notes=(*_beside_rfc2544(found, shooting), *_notes(found, shooting)),
        tables=(_goals_table(found, situation, shooting), _trials_table(shooting)),
        standard=STANDARD,
        headlines=tuple(one.name for one in sorted(found, key=lambda one: one is not judged)),
        rests={one.name: _find_resting_trials(one, shooting) for one in found},
    )


def _find(name: str, goal: Goal, shooting: Shooting) -> _Found:
    target = goal.final(shooting.grid)
    evidence = shooting.evidence
    lower, upper = evidence.bounds(target)
    ceiling = upper is not None and upper == evidence.ceiling and evidence.classify(target, upper) != "upper"
    good = () if lower is None else tuple(s for s in evidence.at(lower) if s.loss <= target.loss)
    bad = () if upper is None or ceiling else tuple(s for s in evidence.at(upper) if s.loss > target.loss)
    return _Found(name, goal, target, lower, upper, ceiling, good, bad)


def _find_resting_trials(found: _Found, shooting: Shooting) -> tuple[int, ...]:
    """The trials that the value rests on; the first one passed, and the loss at the value is read from it."""
    numbers = [*(shot.number for shot in _full_shots(found)), *(shot.number for shot in found.bad)]
    if found.ceiling or shooting.senseless is not None:
        numbers += shooting.at_fault
    return tuple(dict.fromkeys(numbers)) or (max(shooting.count - 1, 0),)


def _full_shots(found: _Found) -> list[Shot]:
    """The good trials of full length."""
    return [shot for shot in found.good if shot.duration_ns >= found.target.trial_ns]


def _values(found: _Found, situation: Situation, shooting: Shooting) -> Iterator[Value]:
    number, low, high, note = _bounds(found, shooting)
    if number is not None and low is not None:
        low *= _find_lasting_share(found, shooting)
    kind = _kind(found)
    full = _full_shots(found)
    sent = min((shot.sent for shot in full), default=0) // len(situation.streams)
    others = find_common(shooting.unharmed.get(shot.number, ()) for shot in found.bad)
    for scope in situation.scopes:
        times = situation.share(scope)
        each = [None if one is None else one * times for one in (number, low, high)]
        value = Value(
            kind,
            scope,
            each[0],
            low=each[1],
            high=each[2],
            note=note,
            searched=True,
            allowed=found.target.loss,
        )
        value = as_lasting(value, sent, shooting.finest)
        yield as_ended_by_others(value, each[2]) if each[2] is not None and scope in others else value


def _find_lasting_share(found: _Found, shooting: Shooting) -> Fraction:
    """The share of the load that passed that the device is known to forward for as long as it may last."""
    full = _full_shots(found)
    least = min((shooting.lasts.get(shot.number, Fraction(1)) for shot in full), default=Fraction(1))
    return min(least / (1 - found.target.loss), Fraction(1))


def _bounds(
    found: _Found, shooting: Shooting
) -> tuple[Fraction | None, Fraction | None, Fraction | None, Reason]:
    """The number, its lower and its upper bound, and the note on them."""
    grid = shooting.grid
    low = None if found.lower is None else grid.fps(found.lower)
    high = None if found.upper is None or found.ceiling else grid.fps(found.upper)
    if shooting.senseless is not None:
        return None, None, None, shooting.senseless
    if found.upper is None and found.lower == grid.steps:
        assert low is not None
        return low, low, None, PassedHighest(low, is_irregular=True)
    apart = None if found.lower is None or found.upper is None else found.upper - found.lower
    if found.ceiling and found.upper is not None and (apart is None or apart <= found.target.width):
        assert shooting.short is not None
        if low is None:
            return None, None, None, UnknownAtAll(shooting.short)
        return low, low, None, TesterBound(shooting.short, grid.fps(found.upper))
    if found.lower is None and found.upper == 0:
        return Fraction(0), Fraction(0), high, NonePassed(grid.lowest)
    if apart is not None and apart <= found.target.width:
        assert low is not None
        assert high is not None
        return low, low, high, Between(low, high)
    return None, low, high, EndedEarly(shooting.spent, low or Fraction(0), high)


def _conditional(found: _Found, shooting: Shooting) -> tuple[Fraction, Fraction] | None:
    """The conditional throughput of one direction, frames per second, and the loss ratio it takes off."""
    if found.lower is None or shooting.senseless is not None:
        return None
    loss = found.target.conditional_loss(shooting.evidence.at(found.lower))
    return shooting.grid.fps(found.lower) * (1 - loss), loss


def _kind(found: _Found) -> ValueKind:
    """The kind of value that a search goal makes, its attributes in the meaning; one that a user named has no
    goal of a plan."""
    declared = next((one for one in (NDR, PDR) if one.name == found.name), None)
    goal = found.goal
    loss = f"no more than {printed.share(goal.loss.amount)} of loss" if goal.loss.amount else "no loss"
    bad = f", of which {printed.share(goal.exceed.amount)} may be bad by time" if goal.exceed.amount else ""
    length, total = (printed.duration(time.ns) for time in (goal.duration, goal.sum))
    meaning = f"the highest load with {loss} in trials of {length}{bad}, by {total} of them (RFC 9971)"
    if declared is None:
        return ValueKind(found.name, PDR.unit, meaning, closer=PDR.closer)
    return replace(declared, meaning=meaning)


def _beside_rfc2544(found: list[_Found], shooting: Shooting) -> Iterator[Reason]:
    """Where a goal is not the throughput of RFC 2544, and the waits are not its. No deviation from RFC 9971,
    which wants it told."""
    for one in found:
        goal = one.goal
        trial_ns = goal.duration.ns if goal.duration.ns < RFC_TRIAL_NS else None
        if goal.loss.amount or goal.exceed.amount or trial_ns is not None:
            yield NoRfc2544(one.name, goal.loss.amount, goal.exceed.amount, trial_ns)
    settle_ns, drain_ns = (shooting.waits_ns.get(name, 0) for name in ("settle", "drain"))
    if min(settle_ns, drain_ns) < RFC_WAIT_NS:
        yield ShortWaits(settle_ns, drain_ns)


def _notes(found: list[_Found], shooting: Shooting) -> Iterator[Reason]:
    for one in found:
        conditional = _conditional(one, shooting)
        if conditional is not None and conditional[1]:
            yield About(one.name, Conditional(*conditional))
        held = _find_queue_note(one, shooting)
        if held is not None:
            assert one.lower is not None
            yield About(one.name, PassedAt(shooting.grid.fps(one.lower), held))
    uses = [made.use for made in shooting.made]
    short = uses.count("the tester fell short")
    if short:
        yield TrialsShort(short)
    yield TrafficSent(len(uses), shooting.traffic_ns)
    if shooting.spent is not None:
        yield EndedEarly(shooting.spent)


def _find_queue_note(found: _Found, shooting: Shooting) -> StillQueued | None:
    """The note on frames still queued at the lower bound, if beyond the goal's width; else None."""
    if found.lower is None or shooting.senseless is not None:
        return None
    longest = max((shot.duration_ns for shot in found.good), default=0)
    numbers = [shot.number for shot in found.good if shot.duration_ns == longest]
    step = shooting.grid.fps(found.lower) * found.goal.width.amount
    reasons = (
        longer_may_lose(shooting.waiting.get(number, ()), shooting.situation, step, "load")
        for number in numbers
    )
    return next(filter(None, reasons), None)


def _goals_table(found: list[_Found], situation: Situation, shooting: Shooting) -> Table:
    rows = []
    for one in found:
        _, low, high, note = _bounds(one, shooting)
        conditional = _conditional(one, shooting)
        goal = one.goal
        at = [() if load is None else shooting.evidence.at(load) for load in (one.lower, one.upper)]
        rows.append(
            (
                one.name if goal.preset is None else f"{one.name} ({goal.preset})",
                goal.loss.amount,
                goal.exceed.amount,
                Fraction(goal.duration.ns),
                Fraction(goal.sum.ns),
                goal.width.amount,
                low,
                high,
                None if conditional is None else conditional[0],
                None if conditional is None else conditional[1],
                f"{len(at[0])} and {len(at[1])}",
                str(note),
            )
        )
    together = situation.share("sum")
    total = "" if together == 1 else f"; of all together it is {decimal(together, 3)} times that"
    caption = (
        f"Relevant bounds by RFC 9971, loads of each sending port as searched{total}. What was not sent is"
        " the tester's and counts nowhere; frames that came twice count as missing."
    )
    return Table("Search goals", GOALS, tuple(rows), caption)


def _trials_table(shooting: Shooting) -> Table:
    rows = tuple(
        (
            Fraction(made.number + 1),
            None if made.use == "ramp" else made.fps,
            Fraction(made.duration_ns),
            Fraction(made.sent),
            Fraction(made.bad),
            min(Fraction(made.bad, made.sent), Fraction(1)) if made.sent else None,
            made.use,
        )
        for made in shooting.made
    )
    figure = Figure("load", ("loss",))
    caption = "Every trial, at its load of each sending port; only those that count classify a load."
    return Table("Trials of the search", TRIALS, rows, caption, figure)
