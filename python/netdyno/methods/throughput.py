"""Throughput as RFC 2544 section 26.1 has it: the highest rate at which no frame is lost."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from typing import Any, TypeVar

from pydantic import field_serializer

from netdyno.methods.parts import rows
from netdyno.methods.parts.ended import as_ended_by_others, find_clean_groups
from netdyno.methods.parts.procedure import (
    Allowed,
    FromMaximum,
    Parameters,
    Procedure,
    constant,
    find_own_shortfall,
    numbered_from,
    part,
)
from netdyno.methods.parts.queued import (
    as_lasting,
    count_sent,
    find_lasting_share,
    find_queued,
    longer_may_lose,
)
from netdyno.methods.parts.rules import deviations
from netdyno.methods.parts.search import find_bracket
from netdyno.methods.reasons.common import Taken
from netdyno.methods.reasons.searches import (
    Between,
    FailedAt,
    NonePassed,
    NoThroughput,
    PassedAt,
    PassedHighest,
    StreamFailed,
    TesterBound,
    UnknownAtAll,
)
from netdyno.values.finding import Column, Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Duration, FrameRate, Load, Percent, PositiveDuration, PositiveLoad

WAIT = Duration(Fraction(5 + 2))
"""What a plan waits for before traffic if it does not say: 5 seconds of rest behind the trial before, and 2
behind the learning frames (RFC 2544 section 23, phases e and b)."""


OF_THE_LINE = "of the line"
FAILED_AT = "did not pass"

THROUGHPUT = ValueKind(
    "throughput",
    "fps",
    "the highest load at which no frame was lost (RFC 1242, section 3.17)",
    goal="throughput >= 95%",
    closer="a narrower `width`",
)
GIVEN = ValueKind("throughput, given", "fps", "the throughput that the plan says", about="plan")
"""One that the plan says is no finding: no goal is met by it."""
KNOWN = (THROUGHPUT, GIVEN)
"""What a method that rests on the throughput finds besides its own."""


class ThroughputParameters(FromMaximum):
    """Parameters of the throughput search."""

    duration: PositiveDuration = PositiveDuration(Fraction(60))
    """Length of the trial that the result rests on."""
    search: PositiveDuration | None = None
    """Length of the trials while searching; as long as the final one unless given."""
    width: PositiveLoad = PositiveLoad(Percent(Fraction(1, 1000)))
    """Stop when the bounds are this close: `0.1%`, `1kpps`."""

    @property
    def searched(self) -> Mapping[str, Allowed]:
        """No frame may be lost."""
        return {THROUGHPUT.name: Allowed()}


def throughput(parameters: ThroughputParameters, situation: Situation) -> Method:
    """RFC 2544 section 26.1: the highest load at which every frame sent is received.

    Loads are steps of a grid from nothing to the maximum, no wider than `width`. The maximum is tried
    first, then the interval is halved until its ends are neighbours. `lower` is the highest load
    passed, `upper` the lowest that did not pass.
    """
    maximum = situation.fps(parameters.maximum.amount)
    steps = -((-maximum) // situation.fps(parameters.width.amount))
    search = parameters.search or parameters.duration
    seen = _Seen(maximum / steps)

    found = yield from find_bracket(seen.trials("search", search), steps)
    if search.ns < parameters.duration.ns and found.lower > 0:
        # By trials of full length, which a queue does not deceive as it may a short one.
        final = seen.trials("final", parameters.duration)
        found = yield from find_bracket(final, found.lower, start=found.lower)
    return _result(parameters, situation, maximum / steps, found.lower, found.upper, seen)


class _Seen:
    """The trials of one search and their losses. step: of the loads, frames per second."""

    def __init__(self, step: Fraction) -> None:
        self.step = step
        self.count = 0
        self.last: Outcome | None = None
        self.passing: dict[int, int] = {}
        self.failing: dict[int, int] = {}
        self.outcomes: dict[int, Outcome] = {}
        self.short: dict[int, Reason] = {}
        """Why the tester fell short, of the trials in which it did."""

    def trials(
        self, name: str, duration: PositiveDuration
    ) -> Callable[[int], Generator[Trial, Outcome, bool]]:
        """A function that tests a load by one trial of this length, named and counted from 1."""
        attempts = count(1)

        def passes(load: int) -> Generator[Trial, Outcome, bool]:
            rate = FrameRate(self.step * load)
            outcome = yield constant(f"{name} {next(attempts)}", rate, duration.ns)
            return self.passed(load, outcome, duration)

        return passes

    def passed(self, load: int, outcome: Outcome, planned: PositiveDuration) -> bool:
        """Whether every frame came back, once and intact, and the tester sent them all.

        Loss is signed and taken for each stream by itself: frames that one direction made do not make
        up for those the other one lost.
        """
        number = self.count
        self.count += 1
        self.outcomes[number] = outcome
        short = find_own_shortfall(outcome, planned.ns)
        if short is not None:
            self.short[number] = short
        clean = short is None and rows.is_clean(outcome.streams)
        (self.passing if clean else self.failing)[load] = number
        return clean


def _result(
    parameters: ThroughputParameters,
    situation: Situation,
    step: Fraction,
    lower: int,
    upper: int,
    seen: _Seen,
) -> Result:
    failed = seen.failing.get(upper)
    passed = seen.passing.get(lower)
    notes: list[Reason] = []
    high: Fraction | None = upper * step
    number: Fraction | None = lower * step
    note: Reason = Between(lower * step, upper * step)
    if failed is None:
        high, note = None, PassedHighest(lower * step)
    elif (reason := seen.short.get(failed)) is not None:
        # The upper bound is the tester's: what the device does there is not known.
        high, note = None, TesterBound(reason, upper * step)
        if lower == 0:
            number, note = None, UnknownAtAll(reason)
    else:
        notes.append(_why_failed(upper * step, seen.outcomes[failed]))
        if lower == 0:
            note = NonePassed(step)
    others = (
        find_clean_groups(situation, seen.outcomes[failed]) if failed is not None and high is not None else ()
    )
    values = []
    lasts = Fraction(1) if passed is None else find_lasting_share(seen.outcomes[passed])
    sent = 0 if passed is None else count_sent(seen.outcomes[passed])
    for scope in situation.scopes:
        times = situation.share(scope)
        value = Value(
            THROUGHPUT,
            scope,
            None if number is None else number * times,
            low=lower * step * times * lasts,
            high=None if high is None else high * times,
            note=note,
            searched=True,
        )
        value = as_lasting(value, sent, Fraction(1, max(lower, 1)))
        values.append(as_ended_by_others(value, upper * step * times) if scope in others else value)
    held = None
    if passed is not None:
        waiting = find_queued(situation, seen.outcomes[passed])
        held = longer_may_lose(waiting, situation, step, "throughput")
    if held is not None:
        notes.append(PassedAt(lower * step, held))
    # The one that passed first: it is the one the number is of.
    trials = tuple(place for place in (passed, failed) if place is not None)
    rested = () if passed is None else (seen.outcomes[passed],)
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=trials,
        **deviations(METHOD.name, parameters, situation, rested, held),
        notes=tuple(notes),
        headlines=(THROUGHPUT.name,),
        tables=(_table(values, situation),),
    )


def _table(values: list[Value], situation: Situation) -> Table:
    """RFC 2544 section 26.1: the rate over the frame size, beside the theoretical one."""
    several = len(situation.streams) > 1
    cells = []
    for value in (one for one in values if several or one.scope != "sum"):
        line = situation.line(value.scope)
        # Where no load passed, nothing is known but that the throughput is less than the least one tried.
        number = value.number or None
        share = None if number is None else number / line
        passed = value.load if number and value.low else None
        cells.append((situation.mean_size, value.scope, number, line, share, passed, value.high))
    return Table(
        "Throughput",
        columns(
            "frame size: B | stream",
            Column(THROUGHPUT.name, THROUGHPUT.unit, at_throughput=True, lasts=True),
            "theoretical: fps",
            Column(OF_THE_LINE, "share", at_throughput=True, lasts=True),
            f"passed: fps * | {FAILED_AT}: fps",
        ),
        tuple(cells),
        "RFC 2544 section 26.1: the highest rate at which as many frames came back as were sent, beside what"
        " the line carries.",
        Figure("frame size", (THROUGHPUT.name, "theoretical"), reference=("theoretical",), by="stream"),
    )


def _why_failed(fps: Fraction, outcome: Outcome) -> FailedAt:
    failed = (
        StreamFailed(
            stream.name,
            stream.offered,
            lost=max(stream.lost, 0),
            beyond=max(-stream.lost, 0),
            corrupted=stream.corrupted,
            duplicated=stream.duplicates,
            refused=stream.refused,
        )
        for stream in outcome.streams
    )
    return FailedAt(fps, tuple(one for one in failed if not one.is_clean))


def _traffic_seconds(parameters: ThroughputParameters) -> Fraction:
    # About ten halvings at the default width of 0.1 %, and the final trial.
    search = (parameters.search or parameters.duration).amount
    return 11 * search + (parameters.duration.amount if parameters.search else Fraction(0))


@dataclass(frozen=True)
class Known:
    """The throughput that something is measured at."""

    fps: Fraction | None
    """As the load of a port. 0: no load passed; None: at every load tried the tester fell short."""
    bound: Reason | None = None
    """Why the device may pass more than this; None: it does not, as far as is known."""
    found: Result | None = field(default=None, compare=False)
    """What a search found; or of one that was given, that it was."""

    @classmethod
    def given(cls, load: Load, situation: Situation) -> Known:
        """One that the plan says."""
        fps = situation.fps(load.amount)
        result = Result(
            method=METHOD.name,
            values=tuple(
                Value(GIVEN, scope, fps * situation.share(scope), note=Taken("given"))
                for scope in situation.scopes
            ),
            trials=(),
            **deviations(GIVEN.name, load),
        )
        return cls(fps, found=result)

    @classmethod
    def searched(cls, found: Result, situation: Situation) -> Known:
        """One that a search found."""
        value, fps = found.value(THROUGHPUT.name, situation.streams[0]), of_a_port(found, situation)
        # All that the line carries is no bound of anybody's.
        open_above = fps is not None and fps < situation.line_fps and value is not None and value.high is None
        return cls(fps, value.note if open_above and value is not None else None, found)

    @property
    def is_missing(self) -> NoThroughput:
        """Why there is no throughput to measure at."""
        return NoThroughput(is_testers=self.fps is None)

    def with_throughput(self, result: Result) -> Result:
        """The result measured at the throughput, with the values and notes of the throughput itself."""
        if self.found is None:
            return result

        def also(said: Sequence[Reason], of_it: Sequence[Reason]) -> tuple[Reason, ...]:
            return (*said, *(About(THROUGHPUT.name, one) for one in of_it if one not in said))

        bound = (self.bound,) if self.bound else ()
        rests = {name: result.resting(name) for name in result.headlines}
        return replace(
            result,
            values=(*result.values, *self.found.values),
            compliance=also(result.compliance, self.found.compliance),
            recommended=also(result.recommended, self.found.recommended),
            notes=also(result.notes, (*bound, *self.found.notes)),
            headlines=(*result.headlines, *self.found.headlines),
            rests={**dict.fromkeys(self.found.headlines, self.found.trials), **rests},
        )


def of_a_port(found: Result, situation: Situation, name: str = THROUGHPUT.name) -> Fraction | None:
    """The load of a port that passed a search, by its name, as its standard has it; None if none did."""
    scope = situation.streams[0]
    value = found.value(name, scope)
    return None if value is None or value.load is None else value.load / situation.share(scope)


class OnThroughput(Parameters):
    """Parameters of a method that rests on a throughput."""

    throughput: PositiveLoad | ThroughputParameters = ThroughputParameters()
    """That of the device: a load that is known, or how it is searched first."""

    @field_serializer("throughput")
    def _written(self, value: Any) -> Any:
        return str(value) if isinstance(value, Load) else value.model_dump(mode="json", by_alias=True)

    @property
    def searched(self) -> Mapping[str, Allowed]:
        """That of the throughput, unless it is known."""
        return {} if isinstance(self.throughput, Load) else self.throughput.searched

    @property
    def search_seconds(self) -> Fraction:
        """About how long is sent to find the throughput, s; nothing where it is known."""
        return Fraction(0) if isinstance(self.throughput, Load) else _traffic_seconds(self.throughput)


K = TypeVar("K", bound=Parameters)


def at_the_throughput(
    measure: Callable[[K, Situation, Known], Method],
) -> Callable[[K, Situation], Method]:
    """The start of a method that rests on the throughput, which is searched first unless it is given.

    measure: what it does, given the throughput.
    """

    def start(parameters: K, situation: Situation) -> Method:
        assert isinstance(parameters, OnThroughput)
        given = parameters.throughput
        if isinstance(given, Load):
            known, first = Known.given(given, situation), 0
        else:
            found, first = yield from part(METHOD.name, throughput(given, situation), 0)
            known = Known.searched(found, situation)
        result = yield from measure(parameters, situation, known)
        return known.with_throughput(numbered_from(first, result))

    return start


METHOD = Procedure(
    name="throughput",
    title="Throughput",
    doc="The highest rate at which no frame is lost, by halving; the final trial has the full length.",
    standard="RFC 2544 section 26.1",
    parameters=ThroughputParameters,
    groups=True,
    start=throughput,
    settle=WAIT,
    conditions="RFC 2544",
    is_meshed=True,
    traffic_seconds=_traffic_seconds,
    values=(THROUGHPUT,),
    counts_alone=True,
)
