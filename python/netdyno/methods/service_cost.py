"""What a service of a device costs: the rate with it and without it in turns, and the time of a frame.

In turns, and each pair in the other order (without, with, with, without, ...): what drifts evenly meets both
alike. Each rate is a search of its own.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from pydantic import Field

from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import (
    Parameters,
    Procedure,
    constant,
    find_own_shortfall,
    find_spoiling_pause,
)
from netdyno.methods.parts.search import find_bracket
from netdyno.methods.reasons.searches import TesterBound, UnknownAtAll
from netdyno.methods.reasons.services import CoreTooBusy, NoCost, NoFrameTime, NotTimed, PairsLeftOut
from netdyno.stats.intervals import Interval, summarize
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import (
    CORE_SETTING,
    NO_SERVICE,
    SERVICE_SETTING,
    TESTERS_CORE,
    Frames,
    Trial,
)
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Percent, PositiveDuration, PositiveLoad
from netdyno.values.unmeasured import NotMeasuredError, TrialInvalid

RATE = ValueKind(
    "rate with the service",
    "fps",
    "the highest load of which no more than `loss` was lost, with the service; the mean of all pairs",
    goal="rate with the service >= 300kpps",
)
BASELINE = ValueKind(
    "rate without", "fps", "the same without the service, found in turns with it", role="baseline"
)
COST = ValueKind(
    "cost of the service",
    "share",
    "by how much less the device forwards with the service, of the rate without; means of all pairs",
    goal="cost of the service <= 25%",
    role="cost",
)
TIME = ValueKind(
    "time of the service",
    "ns",
    "how much longer a core works for a frame with the service, of known flows",
    role="frame time",
)
NEW = ValueKind(
    "time of the service, new flows",
    "ns",
    "the same where each frame is the first one of its flow",
    role="new frame time",
)
LOST = ValueKind(
    "loss at the rate",
    "share",
    "what was lost at the highest load that passed, with the service; the mean of all pairs",
    role="loss at the rate",
    good="less",
)

TABLE = columns(
    "pair | rate without: fps | rate with: fps | cost: share | a frame without: ns | a frame with: ns",
    "a new flow without: ns | a new flow with: ns",
)

LEAST_SHARE_PPM = 900_000
"""Of its core that the tester must have had: with less a frame takes as long as others empty the cache."""
LEAST_PAIRS = 3
"""Pairs that a number rests on. Others show nothing: the tester did not send as it was asked to."""
TRIES = 3
"""Of a load that a pause of the machine kept the tester from: it ends no search."""
SPAN = 1000
"""The lowest load of a search is so many times lower than the highest."""
NEW_FLOWS, NEW_NS = 131_072, 100_000_000
"""Half of the connections that Linux tracks by default, and a time in which no core forwards as many."""
TIMES, NEW_TIMES = 3, 2
"""Pairs of known and of new flows for each pair of searches: they are short, and single ones scatter."""
DISTINCT = 16
"""Flows that there must be for each of those: drawn at random, three in a hundred then come twice."""
LITTLE = Fraction(1, 100)
"""Of the frames, that may be lost where their time is measured: a frame that is dropped costs less."""
DRAIN_NS = 5_000_000
"""Behind trials in which the core that sends forwards: nothing waits anywhere."""


class CostParameters(Parameters):
    """Parameters of the cost of a service."""

    pairs: int = Field(default=8, ge=2, le=100)
    """How often both rates are found, one after the other."""
    duration: PositiveDuration = PositiveDuration(Fraction(1))
    """Length of each trial."""
    loss: Percent = Percent(Fraction(0))
    """The share of frames that may be lost of a load that passes: `0%`, `0.1%`."""
    width: Percent = Percent(Fraction(1, 100))
    """A search ends when its bounds are this close, of the load: `1%`."""
    maximum: PositiveLoad = PositiveLoad(Percent(Fraction(1)))
    """The highest load: `100%`."""


@dataclass(frozen=True)
class Found:
    """A search: its bounds, frames per second, and the trials they rest on. upper: None: there is none."""

    lower: Fraction
    upper: Fraction | None
    trials: tuple[int, ...]
    note: Reason | None = None
    lost: Fraction = Fraction(0)
    """The share of frames lost at the lower bound."""

    @property
    def is_closed(self) -> bool:
        """Whether it is between a load that passed and one that the device did not pass."""
        return bool(self.lower) and self.upper is not None

    @property
    def middle(self) -> Fraction:
        """The best guess."""
        return self.lower if self.upper is None else (self.lower + self.upper) / 2


@dataclass
class Searches:
    """The searches of a case, all on one grid of loads."""

    parameters: CostParameters
    situation: Situation
    made: int = 0
    """Trials so far."""
    grid: Sequence[Fraction] = field(init=False)

    def __post_init__(self) -> None:
        maximum = self.situation.fps(self.parameters.maximum.amount)
        each = 1 + float(self.parameters.width.amount)
        steps = math.ceil(math.log(SPAN) / math.log(each))
        loads = (Fraction(round(float(maximum) / each**step)) for step in range(steps, 0, -1))
        self.grid = (*(load for load in loads if load > 0), maximum)

    def find(
        self, name: str, settings: Mapping[str, str], near: Found | None
    ) -> Generator[Trial, Outcome, Found]:
        """The highest load that passes with these settings. near: a search that found about the same."""
        ended: dict[int, tuple[tuple[int, ...], Reason | None]] = {}
        lost: dict[int, Fraction] = {0: Fraction(0)}
        tries = count(1)

        def passes(step: int) -> Generator[Trial, Outcome, bool]:
            fps, duration_ns = self.grid[step - 1], self.parameters.duration.ns
            for _ in range(TRIES):
                trial = constant(f"{name}, load {next(tries)}", FrameRate(fps), duration_ns)
                number, self.made = self.made, self.made + 1
                try:
                    outcome = yield replace(trial, settings=settings)
                except NotMeasuredError as error:
                    ended[step] = (), _invalid(error)
                    return False
                short = find_own_shortfall(outcome, duration_ns)
                ended[step] = (number,), short
                if short is None or find_spoiling_pause(trial, outcome) is None:
                    break
            lost[step] = _lost(outcome)
            return short is None and self._is_passed(outcome)

        top = len(self.grid)
        start = None if near is None else max(sum(load <= near.lower for load in self.grid), 1)
        bracket = yield from find_bracket(passes, top, start=start)
        ends = (ended[step][0] for step in (bracket.lower, bracket.upper) if step in ended)
        trials = tuple(number for numbers in ends for number in numbers)
        lower = self.grid[bracket.lower - 1] if bracket.lower else Fraction(0)
        if bracket.upper > top:
            return Found(lower, None, trials, lost=lost[bracket.lower])
        upper = self.grid[bracket.upper - 1]
        short = ended[bracket.upper][1]
        if short is None:
            return Found(lower, upper, trials, lost=lost[bracket.lower])
        note = TesterBound(short, upper) if lower else UnknownAtAll(short)
        return Found(lower, None, trials, note, lost[bracket.lower])

    def warm(self, name: str, near: Found) -> Generator[Trial, Outcome, None]:
        """A trial that does not count: the flows become known to a service that was just put in place."""
        self.made += 1
        fps = max(near.lower, self.grid[0])
        try:
            yield constant(f"{name}: flows become known", FrameRate(fps), self.parameters.duration.ns)
        except NotMeasuredError as error:
            _invalid(error)

    def _is_passed(self, outcome: Outcome) -> bool:
        """Whether no more was lost than may be; without that every frame came back once, and intact."""
        allowed = self.parameters.loss.amount
        return _lost(outcome) <= allowed and (bool(allowed) or rows.is_clean(outcome.streams))


def _lost(outcome: Outcome) -> Fraction:
    """The share of frames that were lost; 0 of none."""
    offered = sum(one.offered for one in outcome.streams)
    return Fraction(sum(max(one.missing, 0) for one in outcome.streams), offered or 1)


def _invalid(error: NotMeasuredError) -> TrialInvalid:
    """Why no attempt at a trial counts: the tester did not keep the load. Raises what is of another kind."""
    if not isinstance(error.reason, TrialInvalid):
        raise error
    return error.reason


@dataclass(frozen=True)
class Timed:
    """Two trials: which pair of searches they are behind, what a core worked for a frame in each, ns, and the
    least share of it that the tester had."""

    pair: int
    without_ns: Fraction
    with_ns: Fraction
    core_share_ppm: int

    @property
    def is_good(self) -> bool:
        """Whether the tester had its core."""
        return self.core_share_ppm >= LEAST_SHARE_PPM


def service_cost(parameters: CostParameters, situation: Situation) -> Method:
    """Pairs of searches, without the service and with it; then pairs of trials that time a frame."""
    has_service = SERVICE_SETTING in situation.switched
    searches = Searches(parameters, situation)
    without: list[Found] = []
    having: list[Found] = []
    off = {SERVICE_SETTING: NO_SERVICE} if has_service else {}
    # It begins at the top, and one stray loss on its way down would end it far too low: it only says where.
    first = yield from searches.find("first search", off, None)
    for pair in range(1, parameters.pairs + 1):
        ways = (False, True) if pair % 2 else (True, False)
        for is_on in ways if has_service else (False,):
            if is_on:
                near = _highest(having or without)
                yield from searches.warm(f"pair {pair}, before", near)
                having.append((yield from searches.find(f"pair {pair}, with", {}, near)))
            else:
                near = _highest(without or [first])
                without.append((yield from searches.find(f"pair {pair}, without", off, near)))
    timed: dict[str, list[Timed]] = {}
    if has_service and CORE_SETTING in situation.switched:
        timed = yield from _time(parameters, situation, off)
    return _result(parameters, situation, without, having, timed)


def _highest(found: Sequence[Found]) -> Found:
    """Where the next search begins: a stray loss ends one too low, nothing too high."""
    return max(found, key=lambda one: one.lower)


def _time(
    parameters: CostParameters, situation: Situation, off: Mapping[str, str]
) -> Generator[Trial, Outcome, dict[str, list[Timed]]]:
    """Pairs of trials in which the core that sends does the device's work, too, as fast as it can.

    So nothing is lost, and a frame takes the time of both: what it takes longer with the service is the
    service's.
    """
    core = {CORE_SETTING: TESTERS_CORE}
    # Where there are answers each flow is opened before traffic, and none is new.
    has_new = situation.distinct_flows >= DISTINCT * NEW_FLOWS and len(situation.streams) == 1
    found: dict[str, list[Timed]] = {kind.name: [] for kind in ((TIME, NEW) if has_new else (TIME,))}
    known = [(TIME, None, parameters.duration.ns)] * TIMES
    new = [(NEW, NEW_FLOWS, min(NEW_NS, parameters.duration.ns))] * NEW_TIMES if has_new else []
    for pair in range(1, parameters.pairs + 1):
        for number, (kind, flows, length_ns) in enumerate((*known, *new), 1):
            load = replace(Frames.steady(parameters.maximum.amount, length_ns), flows=flows)
            trial = Trial("", load, drain_ns=DRAIN_NS, stands=True)
            both: dict[bool, Outcome] = {}
            # Known flows: a trial with the service comes before, and does not count. Else each frame of the
            # first ones would be a new one.
            ways = ((False, "without"), (True, "before"), (True, "with"))
            for is_on, name in ways if flows is None else (ways[0], ways[2]):
                named = replace(trial, name=f"{kind.name} {pair}.{number}, {name}")
                try:
                    outcome = yield replace(named, settings=core if is_on else {**core, **off})
                except NotMeasuredError as error:
                    _invalid(error)
                else:
                    if name != "before":
                        both[is_on] = outcome
            if timed := _timed(pair, both, flows):
                found[kind.name].append(timed)
    return found


def _timed(pair: int, both: Mapping[bool, Outcome], flows: int | None) -> Timed | None:
    """None where it shows nothing: frames were lost, the core had time to spare, or a flow came twice."""
    if len(both) < 2:
        return None
    times = []
    for is_on in (False, True):
        outcome = both[is_on]
        offered = sum(stream.offered for stream in outcome.streams)
        is_busy = offered < sum(stream.intended for stream in outcome.streams)
        is_whole = sum(stream.received for stream in outcome.streams) >= (1 - LITTLE) * offered
        is_new = flows is None or all(stream.offered <= flows for stream in outcome.streams)
        if not (offered and is_busy and is_whole and is_new):
            return None
        times.append(_frame_ns(outcome, offered))
    if not all(times):
        return None
    share = min(outcome.health.core_share_ppm or 0 for outcome in both.values())
    return Timed(pair, times[0], times[1], share)


def _frame_ns(outcome: Outcome, offered: int) -> Fraction:
    """How long the tester's threads worked for a frame: the time of their rounds, less others' part of it."""
    workers = outcome.health.workers
    busy_ns = sum(one.busy_ns * (one.core_share_ppm or 1_000_000) for one in workers)
    return Fraction(busy_ns, 1_000_000 * offered)


def _result(
    parameters: CostParameters,
    situation: Situation,
    without: Sequence[Found],
    having: Sequence[Found],
    timed: Mapping[str, Sequence[Timed]],
) -> Result:
    pairs = list(zip(without, having, strict=True)) if having else [(one, one) for one in without]
    used = _usable(pairs)
    firsts, seconds = ([pair[place] for pair in used] for place in (0, 1))
    values = list(_rates(RATE, seconds, situation))
    if having:
        values += [*_rates(BASELINE, firsts, situation), _cost(parameters, used)]
        values += [_time_value(kind, timed[kind.name]) for kind in (TIME, NEW) if kind.name in timed]
        if not timed:
            values.append(Value(TIME, "sum", None, note=NoFrameTime()))
    if parameters.loss.amount:
        values.append(Value(LOST, "sum", _mean([one.lost for one in seconds])))
    notes = () if len(used) == len(pairs) else (PairsLeftOut(len(pairs) - len(used), len(pairs)),)
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=_trials(seconds),
        notes=notes,
        headlines=(RATE.name,),
        rests={BASELINE.name: _trials(firsts)} if having else {},
        tables=(
            Table(
                "Pairs",
                TABLE,
                tuple(_rows(without, having, timed)),
                "Rates are found in turns: first without the service in odd pairs, with it in even ones."
                " Times: medians of the row.",
            ),
        ),
    )


def _usable(pairs: Sequence[tuple[Found, Found]]) -> Sequence[tuple[Found, Found]]:
    """The pairs that say something of the service: both rates are the device's, or it did more alone than was
    found. One in which the tester fell short of what others show says nothing. All, where too few do."""
    closed = [pair for pair in pairs if all(one.is_closed for one in pair)]
    usual = summarize([alone.middle for alone, _ in closed]).median if closed else Fraction(0)
    used = [
        (alone, having)
        for alone, having in pairs
        if having.is_closed and (alone.is_closed or alone.lower >= usual)
    ]
    return used if len(used) >= min(LEAST_PAIRS, len(pairs)) else pairs


def _trials(found: Sequence[Found]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(number for one in found for number in one.trials))


def _rates(kind: ValueKind, found: Sequence[Found], situation: Situation) -> Iterator[Value]:
    """The mean of searches, with the means of their bounds, of each stream and of all."""
    low = _mean([one.lower for one in found])
    uppers = [one.upper for one in found if one.upper is not None]
    high = _mean(uppers) if len(uppers) == len(found) else None
    note = next((one.note for one in found if one.note is not None), None)
    for scope in situation.scopes:
        share = situation.share(scope)
        number = None if isinstance(note, UnknownAtAll) else low * share
        above = None if high is None else high * share
        yield Value(kind, scope, number, low=low * share, high=above, note=note, searched=True)


def _mean(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)


def _cost(parameters: CostParameters, pairs: Sequence[tuple[Found, Found]]) -> Value:
    """By how much less the mean of all pairs is with the service. Its interval: Student's t, wider by what
    the width leaves open."""
    bound = next((one.note for pair in pairs for one in pair if one.note is not None), None)
    least = [1 - b.upper / a.lower for a, b in pairs if b.lower and b.upper is not None and a.lower]
    if not all(a.is_closed for a, _ in pairs) and len(least) == len(pairs):
        # The router alone does more than was found, so the service costs more.
        interval = summarize(least).mean_interval
        low = min(least) if interval is None else interval.low
        if low > 0:
            return Value(COST, "sum", low, low=low, note=bound)
        return Value(COST, "sum", None, note=bound or NoCost())
    if bound is not None or not all(one.is_closed for pair in pairs for one in pair):
        return Value(COST, "sum", None, note=bound or NoCost())
    # A ratio of means: that of the rates beside it, of which one low search is one of many. Its scatter is
    # that of the deviations from it (Cochran, Sampling Techniques, section 2.11).
    alone = _mean([a.middle for a, _ in pairs])
    ratio = _mean([b.middle for _, b in pairs]) / alone
    found = summarize([1 - ratio - (b.middle - ratio * a.middle) / alone for a, b in pairs])
    assert found.mean_interval is not None
    open_by = (1 - found.mean) * parameters.width.amount
    low, high = found.mean_interval.low - open_by, found.mean_interval.high + open_by
    return Value(COST, "sum", found.mean, low=low, high=high)


def _time_value(kind: ValueKind, timed: Sequence[Timed]) -> Value:
    if not timed:
        return Value(kind, "sum", None, note=NotTimed())
    good = [one for one in timed if one.is_good]
    if len(good) < LEAST_PAIRS:
        share = max(one.core_share_ppm for one in timed)
        return Value(kind, "sum", None, note=CoreTooBusy(Fraction(share, 1_000_000), len(good), len(timed)))
    # The median: a pair that an interrupt falls on is off by far, and always one way.
    found = summarize([one.with_ns - one.without_ns for one in good])
    interval = found.median_interval or Interval(found.median, found.median)
    return Value(kind, "sum", found.median, low=interval.low, high=interval.high)


def _rows(
    without: Sequence[Found], having: Sequence[Found], timed: Mapping[str, Sequence[Timed]]
) -> Iterator[tuple[Cell, ...]]:
    for pair, alone in enumerate(without):
        beside = having[pair] if having else None
        is_known = beside is not None and alone.is_closed and beside.is_closed
        cost = 1 - beside.middle / alone.middle if beside is not None and is_known else None
        yield (
            Fraction(pair + 1),
            alone.lower,
            None if beside is None else beside.lower,
            cost,
            *_pair_ns(timed.get(TIME.name, ()), pair),
            *_pair_ns(timed.get(NEW.name, ()), pair),
        )


def _pair_ns(timed: Sequence[Timed], pair: int) -> tuple[Cell, Cell]:
    """The medians of those behind a pair of searches, from 0, that count."""
    own = [one for one in timed if one.pair == pair + 1 and one.is_good]
    if not own:
        return None, None
    return (
        summarize([one.without_ns for one in own]).median,
        summarize([one.with_ns for one in own]).median,
    )


def _seconds(parameters: CostParameters) -> Fraction:
    first = 2 * round(math.log2(math.log(SPAN) / float(parameters.width.amount)))
    return parameters.duration.amount * (first + (9 + 3 * TIMES + 2 * NEW_TIMES) * parameters.pairs)


METHOD = Procedure(
    name="service-cost",
    title="Cost of a service",
    doc="What a service of the device costs: rates with and without it, in turns, and ns a frame.",
    standard="",
    like="RFC 2544 section 11.4 for filters and RFC 9693 for translation have the terms",
    parameters=CostParameters,
    start=service_cost,
    traffic_seconds=_seconds,
    values=(RATE, BASELINE, COST, TIME, NEW, LOST),
)
