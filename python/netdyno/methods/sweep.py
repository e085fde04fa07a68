"""Latency against load: a list or a range of loads, each held, with its loss and latency.

A load may be a share of what a search finds first, `50% of NDR`; `0%` is so little that nothing waits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.loss import LOSS_RATE
from netdyno.methods.ndr import METHOD as NDR
from netdyno.methods.ndr import NdrParameters, check_names, no_room
from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import (
    Allowed,
    Parameters,
    Place,
    Procedure,
    Shape,
    constant,
    find_own_shortfall,
    is_nearly_sent,
    part,
)
from netdyno.methods.parts.queued import find_lasting_share
from netdyno.methods.reasons.common import AtLoad, Taken
from netdyno.methods.reasons.searches import (
    NoLoadHeld,
    NotHeld,
    NotWhole,
    PassedHighest,
    SharesOfBound,
    TesterBound,
)
from netdyno.methods.throughput import of_a_port
from netdyno.values.finding import Cell, Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Load, Percent, PositiveDuration, PositiveLoad, Rate

ACHIEVED = Fraction(2, 10_000)
"""A load that was missed by more than this is not the one asked for, and is flagged."""
LASTING = Fraction(99, 100)
"""A load of which less lasts, as frames were still queued, is no lower bound: what lasts is."""
MOST_LOADS = 1000

LOSS_FREE = ValueKind(
    "loss-free load",
    "fps",
    "the highest of the loads tried at which, and below which, nothing was lost",
    goal="loss-free load >= 50%",
    closer="`loads` closer to each other",
)
MEAN_LATENCY = ValueKind(
    "latency mean", "ns", "the mean one-way latency at the loss-free load, first bit out to last bit in"
)
VALUES = (LOSS_FREE, LOSS_RATE, MEAN_LATENCY)


class Point(Shape):
    """A share of the rate that a goal of the search found, `50% of NDR`."""

    short_form: ClassVar[str] = r"^\S.*% of \S.*$"
    short_examples: ClassVar[tuple[str, ...]] = ("10% of NDR", "90% of PDR")
    misread = "is not a share of a goal's load", "write `50% of NDR`, or `50%` of the line"

    share: Percent
    """How much of it."""
    of: str
    """The goal's name."""

    @classmethod
    def parse_short(cls, text: str) -> Mapping[str, Any] | None:
        share, of, goal = text.partition(" of ")
        return {"share": Percent.parse(share.strip()), "of": goal.strip()} if of and goal.strip() else None

    def __str__(self) -> str:
        return f"{self.share} of {self.of}"


class Range(Shape):
    """Loads from one to another in equal steps, `90% to 100% by 1%`."""

    short_form: ClassVar[str] = r"^\S.* to \S.* by \S.*$"
    short_examples: ClassVar[tuple[str, ...]] = (
        "90% to 100% by 1%",
        "1Mpps to 5Mpps by 500kpps",
        "10% to 100% by 10% of NDR",
    )
    misread = "is not a range of loads", "write `90% to 100% by 1%`, or `[10%, 50%]`"

    first: Load = Field(alias="from")
    last: Load = Field(alias="to")
    step: Load = Field(alias="by")
    of: str | None = None
    """The goal that per cent are of; none: the line."""

    @classmethod
    def parse_short(cls, text: str) -> Mapping[str, Any] | None:
        found = re.fullmatch(r"\s*(.+?)\s+to\s+(.+?)\s+by\s+(.+?)(?:\s+of\s+(.+?))?\s*", text)
        if not found:
            return None
        *ends, of = found.groups()
        loads = {name: Load.parse(text) for name, text in zip(("from", "to", "by"), ends, strict=True)}
        return {**loads, "of": of}

    @model_validator(mode="after")
    def _possible(self) -> Range:
        kinds = {type(load.amount) for load in (self.first, self.last, self.step)}
        if len(kinds) != 1:
            raise Problem(
                "ends and step of a range are in different units",
                "write `90% to 100% by 1%`",
                code="wrong-unit",
            )
        if self.of is not None and kinds != {Percent}:
            raise Problem(
                f"a range of shares of {self.of} is in per cent",
                "write `10% to 90% by 10% of NDR`",
                code="wrong-unit",
            )
        step, span = self.step.amount.amount, self.last.amount.amount - self.first.amount.amount
        if step <= 0 or span < 0:
            raise Problem(
                "a range goes up, by a step above zero", "write `90% to 100% by 1%`", code="out-of-range"
            )
        if span / step >= MOST_LOADS:
            raise Problem(
                f"a range of {int(span / step) + 1} loads, at most {MOST_LOADS}",
                "a larger step",
                code="too-many",
            )
        return self

    def all(self) -> Iterator[Load | Point]:
        """Each load; the last one only if a step meets it."""
        amount = self.first.amount
        count = (self.last.amount.amount - amount.amount) // self.step.amount.amount
        for number in range(int(count) + 1):
            at = amount.amount + number * self.step.amount.amount
            yield Load(type(amount)(at)) if self.of is None else Point(share=Percent(at), of=self.of)


TENTHS: list[Point | Load] = [Load(Percent(Fraction(share, 10))) for share in (1, 5, 9, 10)]


class SweepParameters(Parameters):
    """Parameters of the sweep."""

    sweep: Range | list[Point | Load] = Field(alias="loads", default=TENTHS)
    """Loads: a list, `[0%, 50%, 90% of NDR]`, or a range, `90% to 100% by 1%`."""
    duration: PositiveDuration = PositiveDuration(Fraction(120))
    """How long each load is held."""
    idle: PositiveLoad = PositiveLoad(Percent(Fraction(1, 1000)))
    """What `0%` or `0pps` stands for: a load at which no frame waits for another."""
    search: NdrParameters = NdrParameters()
    """How what loads are shares of is found, if any are."""

    @model_validator(mode="after")
    def _something(self) -> SweepParameters:
        if not self.asked:
            raise Problem("no loads", "give at least one: `[50%]`", at=("loads",), code="empty")
        if len(self.asked) > MOST_LOADS:
            raise Problem(
                f"{len(self.asked)} loads, at most {MOST_LOADS}", "fewer", at=("loads",), code="too-many"
            )
        if "search" in self.model_fields_set and not self.searches:
            raise Problem(
                "`search` has no effect: no load in `loads` is a share of what it finds",
                "write `50% of NDR` in `loads`, or leave `search` out",
                at=("search",),
                code="conflict",
            )
        points = [str(point) for point in self.asked]
        twice = next((number for number, point in enumerate(points) if point in points[:number]), None)
        if twice is not None:
            raise Problem(
                f"{points[twice]} is asked for twice",
                "each load once; the plan's `repeat` runs every case several times",
                at=("loads", twice),
                code="given-twice",
            )
        goals = self.search.goals
        check_names(goals, VALUES, ("search", "goals"))
        for number, point in enumerate(self.asked):
            if isinstance(point, Point) and point.of not in goals:
                at = ("loads",) if isinstance(self.sweep, Range) else ("loads", number)
                names = ", ".join(f"`{name}`" for name in goals)
                raise Problem(
                    f"no goal of the search is called `{point.of}`",
                    f"there is {names}",
                    at=at,
                    code="unknown-name",
                )
        return self

    @property
    def asked(self) -> list[Point | Load]:
        """The loads, in order."""
        return self.sweep if isinstance(self.sweep, list) else list(self.sweep.all())

    @property
    def searches(self) -> bool:
        """Whether a load is a share of the result of a search."""
        return any(isinstance(point, Point) and point.share.amount for point in self.asked)

    @property
    def searched(self) -> Mapping[str, Allowed]:
        """What the loads are shares of, where any are."""
        return self.search.searched if self.searches else {}

    def loads(self) -> Iterator[tuple[Place, Load]]:
        """Every load asked for, and the ends of the search."""
        for load in self.asked:
            if isinstance(load, Load):
                yield ("loads",), load
        yield ("idle",), self.idle
        if self.searches:
            for path, load in self.search.loads():
                yield ("search", *path), load


COLUMNS = columns(
    "frame size: B | stream | load: share | point | asked: fps | offered: fps | sent: frames"
    " | received: frames | loss: share | min: ns | mean: ns | max: ns | remark",
)
TAIL = columns(
    "frame size: B | stream | load: share | point",
    *(column for column in rows.TIMED if column.name not in ("min", "mean", "max")),
)


@dataclass(frozen=True)
class _Held:
    """A load that was held."""

    point: str
    fps: Fraction
    outcome: Outcome
    short: Reason | None
    """Why the tester fell short, if it did."""
    is_nearly_sent: bool
    """Whether it did not, or hardly."""

    def is_clean(self, scope: str, situation: Situation) -> bool:
        """Whether some was sent of a scope's streams, and all of it came back, once.

        Of all together that is so of classes with a rate of their own as well.
        """
        beside = self.outcome.beside if scope == "sum" else ()
        is_whole = rows.is_clean(self.streams(scope, situation))
        return self.short is None and is_whole and not any(one.missing for one in beside)

    def streams(self, scope: str, situation: Situation) -> Sequence[StreamResult]:
        """The counts of a scope's streams."""
        names = {situation.streams[member] for member in situation.members(scope)}
        return [stream for stream in self.outcome.streams if stream.name in names]


def sweep(parameters: SweepParameters, situation: Situation) -> Method:
    """Holds one load after the other; runs the search first if a load is a share of its result.

    `loss-free load` is the highest load below which, and at which, no trial lost a frame: an observation at
    these loads, no search and no throughput. Each stream has its own; that of all is the lowest of them.
    """
    known: Mapping[str, Fraction | None] = {}
    searched, first = None, 0
    if parameters.searches:
        searched, first = yield from part("search", NDR.start(parameters.search, situation), 0)
        known = {name: of_a_port(searched, situation, name) for name in parameters.search.goals}
    duration_ns = parameters.duration.ns
    notes: list[Reason] = [] if searched is None else list(searched.notes)
    least = {} if searched is None else dict(_lower_bounds(parameters, searched, situation))
    notes += [SharesOfBound(name, why) for name, why in least.items()]
    held: list[_Held] = []
    for point in parameters.asked:
        asked = _load(point, parameters, known)
        fps = None if asked is None else situation.fps(asked)
        if asked is None or fps is None or fps > situation.line_fps:
            notes.append(NotHeld(str(point), is_above_line=fps is not None))
            continue
        outcome = yield constant(str(point), asked, duration_ns)
        short, is_nearly = find_own_shortfall(outcome, duration_ns), is_nearly_sent(outcome, duration_ns)
        held.append(_Held(str(point), fps, outcome, short, is_nearly))
    table: list[tuple[Cell, ...]] = []
    tail: list[tuple[Cell, ...]] = []
    for one in held:
        if one.short is not None:
            notes.append(About(one.point, one.short))
        for scope, streams in rows.scopes(one.outcome, situation):
            wanted = one.fps * situation.share(scope)
            rate, sent, received, _, loss = rows.cells_of_counts(streams, duration_ns)
            meant = wanted * duration_ns / 10**9
            # One frame a stream more or less is no other load.
            off = abs(sum(stream.offered for stream in streams) - meant) - len(streams)
            missed = "another load than asked for" if off > ACHIEVED * meant else ""
            bound = next((f"of a lower bound of {n}" for n in least if one.point.endswith(f" of {n}")), "")
            remark = "; ".join(filter(None, (missed, bound)))
            low, mean, *others, most, pdv = rows.cells_of_times(streams)
            where = (situation.mean_size, scope, one.fps / situation.line_fps, one.point)
            table.append((*where, wanted, rate, sent, received, loss, low, mean, most, remark))
            tail.append((*where, *others, pdv))
    by_scope = {
        name: {scope: tuple(first + place for place in places) for scope, places in each.items()}
        for name, each in _find_resting_loads(situation, held).items()
    }
    return Result(
        method=METHOD.name,
        values=(*_values(situation, held), *(() if searched is None else searched.values)),
        trials=_join_trials(by_scope[LOSS_FREE.name]),
        notes=tuple(notes),
        headlines=(LOSS_FREE.name, *(() if searched is None else searched.headlines)),
        rests={
            **{name: _join_trials(each) for name, each in by_scope.items()},
            **({} if searched is None else searched.rests),
        },
        rests_by_scope=by_scope,
        tables=(
            Table(
                "Latency against load",
                COLUMNS,
                tuple(table),
                "One-way latency, first bit out to last bit in (FILO, RFC 8238). The load is a port's, of its"
                " line; a remark says where it was missed by more than 0.02 %, and by more than a frame of"
                " each stream.",
                Figure("load", ("min", "mean", "max"), by="stream"),
            ),
            Table(
                "Latency percentiles against load",
                TAIL,
                tuple(tail),
                "A percentile p of fewer than 10 / (1 - p) frames is not given. PDV: the 99.9th percentile"
                " less the minimum, of one trial (RFC 8219 section 7.3.1 has the median of 20).",
                Figure("load", ("p50", "p99", "p99.9", "PDV"), by="stream"),
            ),
            *(() if searched is None else searched.tables),
        ),
    )


def _load(
    point: Point | Load, parameters: SweepParameters, known: Mapping[str, Fraction | None]
) -> Rate | None:
    """A port's load; None if it is a share of a rate that was not found."""
    if isinstance(point, Load):
        return point.amount if point.amount.amount else parameters.idle.amount
    if not point.share.amount:
        return parameters.idle.amount
    found = known[point.of]
    return FrameRate(found * point.share.amount) if found else None


def _lower_bounds(
    parameters: SweepParameters, searched: Result, situation: Situation
) -> Iterator[tuple[str, Reason | None]]:
    """The goals that loads are shares of and that are known from below alone, and why."""
    used = dict.fromkeys(one.of for one in parameters.asked if isinstance(one, Point) and one.share.amount)
    for name in used:
        value = searched.value(name, situation.streams[0])
        if value is not None and value.number is not None and value.high is None:
            yield name, value.note


def _border(held: list[_Held], scope: str, situation: Situation) -> tuple[int | None, int | None]:
    """The highest load below which none failed in a scope, and the lowest that did; by their place."""
    best = None
    for place in sorted(range(len(held)), key=lambda place: held[place].fps):
        if not held[place].is_clean(scope, situation):
            return best, place
        best = place
    return best, None


def _highest(held: list[_Held]) -> int:
    """The place of the highest load."""
    return max(range(len(held)), key=lambda place: held[place].fps)


def _find_resting_loads(situation: Situation, held: list[_Held]) -> dict[str, dict[str, tuple[int, ...]]]:
    """The places of the loads that each value rests on, by name and scope."""
    borders = {scope: _border(held, scope, situation) for scope in situation.scopes}
    found = {
        LOSS_FREE.name: {
            scope: tuple(place for place in border if place is not None) for scope, border in borders.items()
        }
    }
    if held:
        found[LOSS_RATE.name] = {scope: (_highest(held),) for scope in situation.scopes}
    if clean := _clean(situation, held):
        found[MEAN_LATENCY.name] = {scope: (best,) for scope, best in clean.items()}
    return found


def _clean(situation: Situation, held: list[_Held]) -> dict[str, int]:
    """The place of the load of each scope's mean latency: that at which all is loss-free, for means of parts
    and of the whole are of one load; where nothing is, a stream's own."""
    borders = {scope: _border(held, scope, situation)[0] for scope in situation.scopes}
    together = borders.get("sum")
    found = {scope: own if together is None else together for scope, own in borders.items()}
    return {scope: best for scope, best in found.items() if best is not None}


def _join_trials(each: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The trials of all scopes, each once."""
    return tuple(sorted({number for numbers in each.values() for number in numbers}))


def _values(situation: Situation, held: list[_Held]) -> Iterator[Value]:
    for scope in situation.scopes:
        yield _loss_free(situation, held, scope)
    if held:
        yield from _at_most(situation, held[_highest(held)])
    for scope, best in _clean(situation, held).items():
        if scope == "sum" and len(situation.streams) == 1:
            continue
        times = rows.Times.of(held[best].streams(scope, situation))
        if times is not None:
            yield Value(MEAN_LATENCY, scope, times.mean_ns, note=Taken("loss-free-load"))


def _loss_free(situation: Situation, held: list[_Held], scope: str) -> Value:
    best, worst = _border(held, scope, situation)
    # A load of which nothing was sent is no load that failed.
    sent = worst is not None and any(one.offered for one in held[worst].streams(scope, situation))
    high = held[worst].fps if worst is not None and sent and held[worst].short is None else None
    # Where not even the lowest load came back whole, all that is known is that it is below that.
    low = held[best].fps if best is not None else None if high is None else Fraction(0)
    note: Reason
    short = None if worst is None else held[worst].short
    if not held:
        note = NoLoadHeld()
    elif best is None:
        assert worst is not None  # There is at least one load.
        note = short or NotWhole(held[worst].fps, is_lowest=True)
    elif worst is None:
        note = PassedHighest(held[best].fps)
    elif short is not None:
        note = TesterBound(short, held[worst].fps)
    else:
        note = NotWhole(held[worst].fps, is_lowest=False)
    number, upper = (None if one is None else one * situation.share(scope) for one in (low, high))
    least = number
    if number and best is not None and (lasts := find_lasting_share(held[best].outcome)) < LASTING:
        least = number * lasts
    return Value(LOSS_FREE, scope, number, low=least, high=upper, note=note, searched=True, by_stream=True)


def _at_most(situation: Situation, highest: _Held) -> Iterator[Value]:
    """The loss at the highest load."""
    for scope, streams in rows.scopes(highest.outcome, situation):
        # A tester that did not offer the load has not shown what is lost at it.
        ratio = rows.loss(streams) if highest.is_nearly_sent else None
        sent = sum(one.offered for one in streams)
        bounds = rows.loss_bounds(ratio, sent)
        note = rows.note_loss(AtLoad(highest.point), streams)
        yield Value(LOSS_RATE, scope, ratio, *bounds, note, of_frames=sent)


def _seconds(parameters: SweepParameters) -> Fraction:
    search = NDR.traffic_seconds(parameters.search) if parameters.searches else Fraction(0)
    return search + parameters.duration.amount * len(parameters.asked)


def _fits(parameters: SweepParameters, situation: Situation) -> Problem | None:
    problem = no_room(parameters.search, situation) if parameters.searches else None
    return problem and problem.below("search")


METHOD = Procedure(
    name="sweep",
    title="Latency against load",
    doc="Holds a list or a range of loads, or shares of NDR and PDR, and shows loss and latency at each.",
    standard="",
    like="the latency of RFC 2544 section 26.2 at any load, one stream of each",
    parameters=SweepParameters,
    groups=True,
    start=sweep,
    traffic_seconds=_seconds,
    trials=lambda parameters: None if parameters.searches else len(parameters.asked),
    fits=_fits,
    values=(*VALUES, *NDR.values),
)
