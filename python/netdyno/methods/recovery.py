"""System recovery as RFC 2544 section 26.5 has it: how long a device loses frames after an overload."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from fractions import Fraction

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods import rows
from netdyno.methods.procedure import (
    Parameters,
    Procedure,
    starved,
)
from netdyno.methods.throughput import OnThroughput, known_load, searching
from netdyno.trial import (
    Column,
    Method,
    Observe,
    Result,
    Segment,
    Situation,
    Table,
    Trial,
    TrialResult,
    Value,
)
from netdyno.units import Percent, PositiveDuration

OVERLOAD = Fraction(11, 10)
"""RFC 2544 section 26.5: 110 % of the throughput, or the line's rate, whichever is less,"""
OVERLOAD_NS = 60 * 10**9
"""for at least 60 seconds,"""
AFTER = Fraction(1, 2)
"""then half of that rate."""
GAPS = 2

NAME = "recovery time"


class RecoverySettings(Parameters):
    """Parameters of system recovery."""

    overload: PositiveDuration = Field(
        default=PositiveDuration.of_ns(OVERLOAD_NS), description="How long the device is overloaded."
    )
    watch: PositiveDuration = Field(
        default=PositiveDuration.of_ns(OVERLOAD_NS), description="How long the lower load is watched."
    )
    share: Percent = Field(
        default=Percent(OVERLOAD), description="The overload, of the throughput; the line's rate at most."
    )

    @model_validator(mode="after")
    def _possible(self) -> RecoverySettings:
        if self.share.amount <= 1:
            raise Problem(f"{self.share} of the throughput is no overload", "`110%`", at=("share",))
        return self


class RecoveryParameters(RecoverySettings, OnThroughput):
    """The same, and the throughput."""


COLUMNS = (
    Column("frame size", "B"),
    rows.STREAM,
    Column("overload", "fps"),
    Column("then", "fps"),
    Column("lost", "frames"),
    Column("last lost", "at"),
    Column("recovery time", "ns"),
)


def recovery(parameters: RecoveryParameters, situation: Situation) -> Method:
    """RFC 2544 section 26.5: after the throughput, which is searched first unless it is given."""
    load, first = yield from known_load(parameters, situation)
    result, _ = yield from measured(parameters, situation, load, first)
    return result


def measured(
    parameters: RecoverySettings, situation: Situation, known: Fraction | None, first: int
) -> Generator[Trial, TrialResult, tuple[Result, int]]:
    """The overload and what follows, with the throughput known; the result and the next trial's number.

    A is when the load falls, B when the last frame that was lost departed; the recovery time is B - A, and
    nothing if no frame was lost behind A (the RFC's text has the difference reversed).
    """
    if not known:
        note = "no load passed without loss: there is no throughput to overload"
        return _result(parameters, situation, None, note, None, first), first
    high = min(known * parameters.share.amount, situation.line_fps)
    if high <= known:
        note = "not applicable: the throughput is the line's rate, and more cannot be offered"
        return _result(parameters, situation, None, note, None, first), first
    low = high * AFTER
    segments = (
        Segment("overload", parameters.overload.ns, high, high),
        Segment("recovery", parameters.watch.ns, low, low),
    )
    outcome = yield Trial("recovery", segments, observe=Observe(gaps=GAPS))
    short = starved(outcome, parameters.overload.ns + parameters.watch.ns)
    return _result(parameters, situation, outcome, short or "", (high, low), first), first + 1


def _result(
    parameters: RecoverySettings,
    situation: Situation,
    outcome: TrialResult | None,
    note: str,
    loads: tuple[Fraction, Fraction] | None,
    first: int,
) -> Result:
    values, table = [], []
    a_ns = parameters.overload.ns
    for stream in () if outcome is None else outcome.streams:
        last_ns = stream.last_loss_ns
        # A tester that fell short did not overload it as asked, and may have lost its last frames itself.
        time = None if note else Fraction(max((last_ns or 0) - a_ns, 0))
        values.append(Value(NAME, stream.name, time, "ns", note=note))
        assert loads is not None
        high, low = (load * situation.share(stream.name) for load in loads)
        last = None if last_ns is None else Fraction(last_ns)
        lost = Fraction(max(stream.missing, 0))
        table.append((rows.frame_size(situation), stream.name, high, low, lost, last, time))
    if outcome is None:
        values = [Value(NAME, stream, None, "ns", note=note) for stream in situation.streams]
    known = [value.number for value in values if value.number is not None]
    values.append(Value(NAME, "sum", max(known, default=None), "ns", note=note or "the longest of all"))
    return Result(
        method=RECOVERY.name,
        values=tuple(values),
        trials=() if outcome is None else (first,),
        compliance=tuple(_deviations(parameters)),
        notes=(f"system recovery: {note}",) if note else (),
        standard=RECOVERY.standard,
        headlines={NAME: "from the fall of the load to the last frame that was lost"},
        tables=(
            Table(
                "System recovery",
                COLUMNS,
                tuple(table),
                "RFC 2544 section 26.5: from the fall of the load, A, to the departure of the last frame that"
                " was lost, B.",
            ),
        ),
    )


def _deviations(parameters: RecoverySettings) -> Iterator[str]:
    if parameters.overload.ns < OVERLOAD_NS:
        yield f"system recovery: an overload of {parameters.overload}, RFC 2544 section 26.5 asks for 60 s"
    if parameters.share.amount != OVERLOAD:
        yield f"system recovery: an overload of {parameters.share}, RFC 2544 section 26.5 has 110 %"


RECOVERY = Procedure(
    name="recovery",
    title="System recovery",
    doc="How long frames are lost after an overload of 110 % of the throughput has fallen to half of it.",
    standard="RFC 2544 section 26.5",
    parameters=RecoveryParameters,
    start=recovery,
    traffic_seconds=lambda parameters: (
        parameters.overload.amount + parameters.watch.amount + searching(parameters.throughput)
    ),
)
