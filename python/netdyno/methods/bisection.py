"""Bisection with loss verification, as ETSI GS NFV-TST 009 section 12.3.3 has it.

A trial that lost frames is retried before it counts as failed: a software device loses a few frames now and
then at any load, and a plain bisection would end at the first such loss. The rate found is no throughput of
RFC 2544, because a trial at the same load did lose frames; it is called NDR.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from pydantic import Field

from netdyno.methods.parts.ended import as_ended_by_others, find_clean_groups, find_common
from netdyno.methods.parts.procedure import Allowed, FromMaximum, Procedure, constant, find_own_shortfall
from netdyno.methods.parts.queued import (
    Queued,
    as_lasting,
    count_sent,
    find_lasting_share,
    find_queued,
    longer_may_lose,
)
from netdyno.methods.parts.rows import count_refused
from netdyno.methods.parts.rules import deviations
from netdyno.methods.parts.search import find_bracket
from netdyno.methods.reasons.searches import (
    Between,
    LostOnce,
    MoreArrived,
    NonePassed,
    PassedAt,
    PassedHighest,
    TesterBound,
    TrialsAtLoads,
    UnknownAtAll,
)
from netdyno.values.finding import Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Percent, PositiveDuration, PositiveLoad

NDR = ValueKind(
    "NDR",
    "fps",
    "the highest load at which a trial lost no frame, though another one there may have (TST 009)",
    goal="NDR >= 1Mpps",
    closer="a narrower `width`",
)


class BisectionParameters(FromMaximum):
    """Parameters of the bisection."""

    duration: PositiveDuration = PositiveDuration(Fraction(60))
    """Length of each trial."""
    width: PositiveLoad = PositiveLoad(Percent(Fraction(1, 1000)))
    """Stop when the bounds are this close: `0.1%`, `1kpps`."""
    repeats: int = Field(default=1, ge=0, le=100)
    """How often a trial that lost frames is retried: one less than TST 009's max(r), 2."""
    hopeless: int | None = Field(default=None, ge=0)
    """More lost frames than this are believed at once: TST 009's z; `null`: none are."""

    @property
    def searched(self) -> Mapping[str, Allowed]:
        """One trial without a loss among the repeats is enough."""
        return {NDR.name: Allowed(exceed=Fraction(self.repeats, self.repeats + 1))}


@dataclass
class _Tried:
    """The trials at one load, and their losses."""

    fps: Fraction
    numbers: list[int] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)
    """Of each trial: frames not back once and intact, and frames sent."""
    verdict: Literal["passed", "failed", "short", "made"] = "short"
    failing: list[int] = field(default_factory=list)
    """Numbers of the trials that lost frames."""
    short: Reason | None = None
    """Why the tester fell short, if it did."""
    waiting: tuple[Queued, ...] = ()
    """Frames still queued at the end of the one that passed."""
    lasts: Fraction = Fraction(1)
    """The share of the load that lasts in that trial."""
    sent: int = 0
    """Frames of a stream in that trial."""
    clean: list[tuple[str, ...]] = field(default_factory=list)
    """Port groups, and their streams, that lost nothing, of each that failed."""

    @property
    def decisive(self) -> tuple[int, ...]:
        """Numbers of the trials that the verdict is of."""
        if self.verdict in ("passed", "made"):
            return (self.numbers[-1],)
        return tuple(self.failing or self.numbers)


@dataclass
class _Bisection:
    """The loads tried so far, by step of the grid."""

    situation: Situation
    step: Fraction
    """What a load is known to, frames per second."""
    duration: PositiveDuration
    repeats: int
    hopeless: int | None
    count: int = 0
    tried: dict[int, _Tried] = field(default_factory=dict)

    def attempt(self, load: int) -> Generator[Trial, Outcome, bool | None]:
        """Whether a load passes, by a trial and by repeats while its loss may be an accident; None: unknown.

        None: more frames came than were sent, and no load shows anything.
        """
        tried = self.tried[load] = _Tried(self.step * load)
        for again in range(self.repeats + 1):
            name = f"search {self.count + 1}" if not again else f"verification {self.count + 1}"
            outcome = yield constant(name, FrameRate(tried.fps), self.duration.ns)
            tried.numbers.append(self.count)
            self.count += 1
            bad = sum(max(stream.missing, 0) + stream.duplicates for stream in outcome.streams)
            bad += count_refused(outcome.streams)
            tried.counts.append((bad, sum(stream.offered + stream.refused for stream in outcome.streams)))
            if any(stream.lost < 0 for stream in outcome.streams):
                tried.verdict = "made"
                return None
            why = find_own_shortfall(outcome, self.duration.ns)
            if why is not None:
                # No evidence against the device: the next one may be.
                tried.short = why
                continue
            if bad == 0 and all(stream.offered for stream in outcome.streams):
                tried.verdict = "passed"
                tried.waiting = find_queued(self.situation, outcome)
                tried.lasts = find_lasting_share(outcome)
                tried.sent = count_sent(outcome)
                return True
            tried.verdict = "failed"
            tried.failing.append(tried.numbers[-1])
            tried.clean.append(find_clean_groups(self.situation, outcome))
            if self.hopeless is not None and bad > self.hopeless:
                break
        return False


def bisection(parameters: BisectionParameters, situation: Situation) -> Method:
    """TST 009 section 12.3.3: halve the interval, and believe a loss only after it came again.

    Loads are steps of a grid from nothing to the maximum, no wider than `width`; the maximum is tried first.
    It ends after as many loads as the steps can be halved, and `repeats` more trials at each.
    """
    maximum = situation.fps(parameters.maximum.amount)
    steps = -((-maximum) // situation.fps(parameters.width.amount))
    search = _Bisection(
        situation, maximum / steps, parameters.duration, parameters.repeats, parameters.hopeless
    )
    found = yield from find_bracket(search.attempt, steps)
    upper = found.upper if found.ended_at is None else found.ended_at
    return _result(parameters, situation, search, found.lower, upper)


def _result(
    parameters: BisectionParameters, situation: Situation, search: _Bisection, lower: int, upper: int
) -> Result:
    passed, failed = search.tried.get(lower), search.tried.get(upper)
    number = Fraction(0) if passed is None else passed.fps
    low: Fraction | None = number if passed is None else number * passed.lasts
    high = None if failed is None else failed.fps
    answer: Fraction | None = number
    note: Reason
    if failed is None:
        note = PassedHighest(number)
    elif failed.verdict == "made":
        answer = low = high = None
        note = MoreArrived(failed.fps, 1)
    elif failed.short is not None and failed.verdict == "short":
        high, note = None, TesterBound(failed.short, failed.fps)
        if passed is None:
            answer = low = None
            note = UnknownAtAll(failed.short)
    elif passed is None:
        note = NonePassed(failed.fps)
    else:
        note = Between(number, failed.fps)
    values = []
    for scope in situation.scopes:
        times = situation.share(scope)
        value = Value(
            NDR,
            scope,
            None if answer is None else answer * times,
            low=None if low is None else low * times,
            high=None if high is None else high * times,
            note=note,
            searched=True,
        )
        value = as_lasting(value, 0 if passed is None else passed.sent, Fraction(1, max(lower, 1)))
        others = failed is not None and high is not None and scope in find_common(failed.clean)
        values.append(as_ended_by_others(value, high * times) if others and high is not None else value)
    # The one that passed first: it is the one the number is of.
    resting = (() if passed is None else passed.decisive) + (() if failed is None else failed.decisive)
    return Result(
        METHOD.name,
        tuple(values),
        resting,
        notes=tuple(_notes(search, passed)),
        tables=(_table(search),),
        **deviations(METHOD.name, parameters, situation),
        headlines=(NDR.name,),
    )


def _notes(search: _Bisection, passed: _Tried | None) -> Iterator[Reason]:
    held = None if passed is None else longer_may_lose(passed.waiting, search.situation, search.step, "load")
    if passed is not None and held is not None:
        yield PassedAt(passed.fps, held)
    if passed is not None and len(passed.numbers) > 1:
        bad, sent = passed.counts[0]
        yield LostOnce(passed.fps, bad, sent, len(passed.numbers))
    yield TrialsAtLoads(search.count, len(search.tried))


def _table(search: _Bisection) -> Table:
    words = {
        "passed": "passed",
        "failed": "failed",
        "short": "the tester fell short",
        "made": "more came than was sent",
    }
    rows = []
    for load in sorted(search.tried):
        one = search.tried[load]
        for place, (bad, sent) in enumerate(one.counts):
            last = place == len(one.counts) - 1
            rows.append(
                (
                    Fraction(one.numbers[place] + 1),
                    one.fps,
                    Fraction(sent),
                    Fraction(bad),
                    min(Fraction(bad, sent), Fraction(1)) if sent else None,
                    words[one.verdict] if last else "repeated",
                )
            )
    heading = columns("trial | load: fps | sent: frames | missing: frames | loss: share | outcome")
    figure = Figure("load", ("loss",))
    caption = "Every trial, by load of each sending port; loss verification as TST 009 section 12.3.3 has it."
    return Table("Bisection", heading, tuple(rows), caption, figure)


METHOD = Procedure(
    name="bisection",
    title="Bisection with loss verification",
    doc="The highest load without loss, by halving; a loss is believed only if it comes again.",
    standard="ETSI GS NFV-TST 009 section 12.3.3",
    parameters=BisectionParameters,
    groups=True,
    start=bisection,
    # About ten halvings at the default width of 0.1 %, every other one repeated.
    traffic_seconds=lambda parameters: parameters.duration.amount * (11 + 5 * parameters.repeats),
    values=(NDR,),
    counts_alone=True,
)
