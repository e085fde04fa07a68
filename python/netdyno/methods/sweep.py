"""Latency against load: a list or a range of loads, each held, with what came back of it and how late."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods import rows
from netdyno.methods.procedure import Parameters, Procedure, Shape, constant, frames_per_second, starved
from netdyno.trial import Cell, Column, Figure, Method, Result, Situation, Table, TrialResult, Value
from netdyno.units import Load, Percent, PositiveDuration, UnitError

ACHIEVED = Fraction(2, 10_000)
"""A load that was missed by more than this is not the one asked for, and is flagged."""
MOST_LOADS = 1000
RFC_STREAM_NS = 120 * 10**9
"""RFC 2544 section 26.2: a stream for latency lasts at least 120 seconds."""

LOSS_FREE = "loss-free load"


class Range(Shape):
    """Loads from one to another in equal steps, `90% to 100% by 1%`."""

    short_form: ClassVar[str] = r"^\S.* to \S.* by \S.*$"
    short_examples: ClassVar[tuple[str, ...]] = ("90% to 100% by 1%", "1Mpps to 5Mpps by 500kpps")

    first: Load = Field(alias="from")
    last: Load = Field(alias="to")
    step: Load = Field(alias="by")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = re.fullmatch(r"\s*(.+?)\s+to\s+(.+?)\s+by\s+(.+?)\s*", value)
        if not found:
            raise UnitError(value, "is not a range of loads", "write `90% to 100% by 1%`, or `[10%, 50%]`")
        ends = zip(("from", "to", "by"), found.groups(), strict=True)
        return {name: Load.parse(text) for name, text in ends}

    @model_validator(mode="after")
    def _possible(self) -> Range:
        kinds = {type(load.amount) for load in (self.first, self.last, self.step)}
        if len(kinds) != 1:
            raise Problem("ends and step of a range are in different units", "write `90% to 100% by 1%`")
        step, span = self.step.amount.amount, self.last.amount.amount - self.first.amount.amount
        if step <= 0 or span < 0:
            raise Problem("a range goes up, by a step above zero", "write `90% to 100% by 1%`")
        if span / step >= MOST_LOADS:
            raise Problem(f"a range of {int(span / step) + 1} loads, at most {MOST_LOADS}", "a larger step")
        return self

    def all(self) -> Iterator[Load]:
        """Each load; the last one only if a step meets it."""
        amount = self.first.amount
        count = (self.last.amount.amount - amount.amount) // self.step.amount.amount
        for number in range(int(count) + 1):
            yield Load(type(amount)(amount.amount + number * self.step.amount.amount))


class SweepParameters(Parameters):
    """Parameters of the sweep."""

    sweep: Range | list[Load] = Field(
        alias="loads",
        default=[Load(Percent(Fraction(share, 100))) for share in (10, 50, 90, 100)],
        description="Loads: a list, `[10%, 50%, 90%]`, or a range, `90% to 100% by 1%`.",
    )
    duration: PositiveDuration = Field(
        default=PositiveDuration(Fraction(120)), description="How long each load is held."
    )

    @model_validator(mode="after")
    def _something(self) -> SweepParameters:
        if not self.asked:
            raise Problem("no loads", "give at least one: `[50%]`", at=("loads",))
        if len(self.asked) > MOST_LOADS:
            raise Problem(f"{len(self.asked)} loads, at most {MOST_LOADS}", "fewer", at=("loads",))
        for number, load in enumerate(self.asked):
            if load.amount.amount == 0:
                raise Problem("a load of nothing", "one above zero: `1%`, `1kpps`", at=("loads", number))
        return self

    @property
    def asked(self) -> list[Load]:
        """The loads, in order."""
        return self.sweep if isinstance(self.sweep, list) else list(self.sweep.all())

    def loads(self) -> Iterator[tuple[tuple[str, ...], Load]]:
        """Every load asked for."""
        for load in self.asked:
            yield ("loads",), load


COLUMNS = (
    Column("frame size", "B"),
    rows.STREAM,
    Column("load", "share"),
    Column("asked", "fps"),
    Column("offered", "fps"),
    Column("sent", "frames"),
    Column("received", "frames"),
    Column("loss", "share"),
    Column("min", "ns"),
    Column("mean", "ns"),
    Column("max", "ns"),
    Column("remark"),
)
TAIL = (
    Column("frame size", "B"),
    rows.STREAM,
    Column("load", "share"),
    *(column for column in rows.TIMED if column.name not in ("min", "mean", "max")),
)


def sweep(parameters: SweepParameters, situation: Situation) -> Method:
    """Holds one load after the other, as asked; none follows from another.

    `loss-free load` is the highest load below which, and at which, no trial lost a frame: an observation at
    these loads, no search and no throughput.
    """
    duration_ns = parameters.duration.ns
    outcomes: list[TrialResult] = []
    shorts: list[str | None] = []
    loads = [frames_per_second(load, situation) for load in parameters.asked]
    for load, fps in zip(parameters.asked, loads, strict=True):
        outcome = yield constant(str(load), fps, duration_ns)
        outcomes.append(outcome)
        shorts.append(starved(outcome, duration_ns))
    table: list[tuple[Cell, ...]] = []
    tail: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for asked, fps, outcome, short in zip(parameters.asked, loads, outcomes, shorts, strict=True):
        if short is not None:
            notes.append(f"at {asked} {short}")
        for scope, streams in rows.scopes(outcome):
            wanted = fps * situation.share(scope)
            rate, sent, received, _, loss = rows.counted(streams, duration_ns)
            meant = wanted * duration_ns / 10**9
            # One frame a stream more or less is no other load.
            off = abs(sum(one.offered for one in streams) - meant) - len(streams)
            remark = "another load than asked for" if off > ACHIEVED * meant else ""
            least, mean, *others, most, pdv = rows.timed(streams)
            where = (rows.frame_size(situation), scope, fps / situation.line_fps)
            table.append((*where, wanted, rate, sent, received, loss, least, mean, most, remark))
            tail.append((*where, *others, pdv))
    return Result(
        method=SWEEP.name,
        values=tuple(_values(situation, loads, outcomes, shorts)),
        trials=_rests_on(loads, outcomes, shorts),
        compliance=tuple(_deviations(parameters)),
        notes=tuple(notes),
        standard=SWEEP.standard,
        headlines={LOSS_FREE: "the highest of the loads tried at which, and below which, nothing was lost"},
        tables=(
            Table(
                "Latency against load",
                COLUMNS,
                tuple(table),
                "One-way latency, first bit out to last bit in (FILO, RFC 8238). The load is a port's, of its"
                " line; a remark says where it was missed by more than 0.02 %.",
                Figure("load", ("min", "mean", "max"), by="stream"),
            ),
            Table(
                "Latency percentiles against load",
                TAIL,
                tuple(tail),
                "A percentile p of fewer than 10 / (1 - p) frames is not given. PDV: the 99.9th percentile"
                " less the minimum (RFC 8219 section 7.3.1).",
                Figure("load", ("p50", "p99", "p99.9", "PDV"), by="stream"),
            ),
        ),
    )


def _clean(outcome: TrialResult, short: str | None) -> bool:
    return short is None and all(stream.missing == 0 and stream.duplicates == 0 for stream in outcome.streams)


def _border(
    loads: list[Fraction], outcomes: list[TrialResult], shorts: list[str | None]
) -> tuple[int | None, int | None]:
    """The highest load below which none failed, and the lowest that did; by their place."""
    order = sorted(range(len(loads)), key=loads.__getitem__)
    best = None
    for place in order:
        if not _clean(outcomes[place], shorts[place]):
            return best, place
        best = place
    return best, None


def _rests_on(
    loads: list[Fraction], outcomes: list[TrialResult], shorts: list[str | None]
) -> tuple[int, ...]:
    return tuple(place for place in _border(loads, outcomes, shorts) if place is not None)


def _values(
    situation: Situation, loads: list[Fraction], outcomes: list[TrialResult], shorts: list[str | None]
) -> Iterator[Value]:
    best, worst = _border(loads, outcomes, shorts)
    if best is None:
        assert worst is not None  # There is at least one load.
        note = shorts[worst] or "not every frame came back once at the lowest load"
    elif worst is None:
        note = "nothing was lost at any load"
    elif shorts[worst] is not None:
        note = f"a lower bound: above it {shorts[worst]}"
    else:
        note = f"not every frame came back once at {float(loads[worst]):.0f} fps"
    for scope in (*situation.streams, "sum"):
        times = situation.share(scope)
        yield Value(
            LOSS_FREE,
            scope,
            None if best is None else loads[best] * times,
            "fps",
            low=None if best is None else loads[best] * times,
            high=None if worst is None or shorts[worst] is not None else loads[worst] * times,
            note=note,
        )
    if best is None:
        return
    for scope, streams in rows.scopes(outcomes[best]):
        times_ = rows.Times.of(streams)
        if times_ is not None:
            yield Value("latency mean", scope, times_.mean_ns, "ns", note="at the loss-free load")


def _deviations(parameters: SweepParameters) -> Iterator[str]:
    if parameters.duration.ns < RFC_STREAM_NS:
        yield f"each load was held for {parameters.duration}, RFC 2544 section 26.2 asks for at least 120 s"


SWEEP = Procedure(
    name="sweep",
    title="Latency against load",
    doc="Holds a list or a range of loads and shows loss and latency at each.",
    standard="RFC 2544 section 26.2, at any load; RFC 8219 section 7.3",
    parameters=SweepParameters,
    start=sweep,
    traffic_seconds=lambda parameters: parameters.duration.amount * len(parameters.asked),
)
