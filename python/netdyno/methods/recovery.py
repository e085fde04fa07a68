"""System recovery as RFC 2544 section 26.5 has it: how long a device loses frames after an overload."""

from __future__ import annotations

from fractions import Fraction

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import Parameters, Procedure, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.common import LineRateForwarded, NotApplicable
from netdyno.methods.reasons.outages import NoOverload
from netdyno.methods.throughput import KNOWN, WAIT, Known, OnThroughput, at_the_throughput
from netdyno.values.finding import Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Observe, Segment, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Percent, PositiveDuration

OVERLOAD = Fraction(11, 10)
"""RFC 2544 section 26.5: 110 % of the throughput, or the line's rate, whichever is less,"""
OVERLOAD_NS = 60 * 10**9
"""for at least 60 seconds,"""
AFTER = Fraction(1, 2)
"""then half of that rate;"""
REPEATS = 3
"""and that should be repeated "a number of times"."""
GAPS = 2

RECOVERY = ValueKind(
    "recovery time",
    "ns",
    "from the fall of the load to the last frame that was lost, the mean",
    on_throughput=True,
    hinges_on="last loss",
)


class RecoverySettings(Parameters):
    """Parameters of system recovery."""

    overload: PositiveDuration = PositiveDuration.of_ns(OVERLOAD_NS)
    """How long the device is overloaded."""
    watch: PositiveDuration = PositiveDuration.of_ns(OVERLOAD_NS)
    """How long the lower load is watched."""
    share: Percent = Percent(OVERLOAD)
    """The overload, of the throughput; the line's rate at most."""

    repeats: int = Field(default=REPEATS, ge=1, le=1000)
    """Overloads; the mean of their times is the result."""

    @model_validator(mode="after")
    def _possible(self) -> RecoverySettings:
        if self.share.amount <= 1:
            raise Problem(
                f"{self.share} of the throughput is no overload", "`110%`", at=("share",), code="out-of-range"
            )
        return self

    @property
    def seconds(self) -> Fraction:
        """The time of traffic, s."""
        return self.repeats * (self.overload.amount + self.watch.amount)


class RecoveryParameters(RecoverySettings, OnThroughput):
    """The same, and the throughput."""


COLUMNS = columns(
    "frame size: B | stream | overload: fps * | then: fps * | overloads | lost: frames | last lost: at",
    RECOVERY,
    "least: ns | most: ns",
)


def measure(parameters: RecoverySettings, situation: Situation, known: Known) -> Method:
    """Runs the overloads and the watch after each; returns the result and the next trial's number.

    A is when the load falls, B when the last frame that was lost departed; the recovery time is B - A, and
    nothing if no frame was lost behind A (the RFC's text has the difference reversed).
    """
    fps = known.fps
    if not fps:
        return _result(parameters, situation, [], [known.is_missing], None)
    high = min(fps * parameters.share.amount, situation.line_fps)
    if high <= fps:
        note = NotApplicable(LineRateForwarded("overload"))
        return _result(parameters, situation, [], [note], None)
    low = high * AFTER
    segments = (
        Segment("overload", parameters.overload.ns, FrameRate(high), FrameRate(high)),
        Segment("recovery", parameters.watch.ns, FrameRate(low), FrameRate(low)),
    )
    outcomes: list[Outcome] = []
    notes: list[Reason] = []
    for number in range(1, parameters.repeats + 1):
        outcome = yield Trial(f"recovery {number}", Frames(segments), observe=Observe(gaps=GAPS))
        short = find_shortfall(outcome, parameters.overload.ns + parameters.watch.ns)
        # A tester that fell short did not overload it as asked, and may have lost its last frames itself; and
        # from what was no overload nothing recovers.
        if short is not None:
            notes.append(About(f"overload {number}", short))
        elif not rows.count_lost(outcome.streams):
            notes.append(NotApplicable(NoOverload(high, parameters.share.amount)))
        outcomes.append(outcome)
    notes = list(dict.fromkeys(notes))
    return _result(parameters, situation, outcomes, notes, (high, low))


def _result(
    parameters: RecoverySettings,
    situation: Situation,
    outcomes: list[Outcome],
    notes: list[Reason],
    loads: tuple[Fraction, Fraction] | None,
) -> Result:
    values, table = [], []
    a_ns, end_ns = parameters.overload.ns, parameters.overload.ns + parameters.watch.ns
    # One result of all overloads, or none: some that the tester spoiled are not left out.
    note = notes[0] if notes else None
    for place, name in enumerate(situation.streams):
        streams = [outcome.streams[place] for outcome in outcomes]
        times = [] if notes else [Fraction(max((one.last_loss_ns or 0) - a_ns, 0)) for one in streams]
        mean = sum(times, Fraction(0)) / len(times) if times else None
        ends = (min(times, default=None), max(times, default=None))
        if times and any(rows.is_still_losing(one, a_ns, end_ns)[place] for one in outcomes):
            # The time seen is a lower bound; how much longer it took is unknown.
            values.append(Value(RECOVERY, name, None, mean, None, rows.STILL))
            mean, ends = None, (ends[0], None)
        else:
            values.append(Value(RECOVERY, name, mean, *ends, note))
        if loads is None:
            continue
        high, low = (load * situation.share(name) for load in loads)
        last = max((one.last_loss_ns for one in streams if one.last_loss_ns is not None), default=None)
        lost = Fraction(sum(max(one.missing, 0) for one in streams))
        table.append(
            (
                situation.mean_size,
                name,
                high,
                low,
                Fraction(len(streams)),
                lost,
                None if last is None else Fraction(last),
                mean,
                *ends,
            )
        )
    values.append(rows.longest(values, RECOVERY))
    if values[-1].note == rows.STILL:
        notes = [*notes, rows.STILL]
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=tuple(range(len(outcomes))),
        **deviations(METHOD.name, parameters, situation, outcomes),
        notes=tuple(About("system recovery", one) for one in notes),
        headlines=(RECOVERY.name,),
        tables=(
            Table(
                "System recovery",
                COLUMNS,
                tuple(table),
                "RFC 2544 section 26.5: from the fall of the load, A, to the departure of the last frame that"
                " was lost, B; mean, least and most are of the overloads, `last lost` is the latest B.",
            ),
        ),
    )


METHOD = Procedure(
    name="recovery",
    title="System recovery",
    doc="How long frames are lost after an overload of 110 % of the throughput has fallen to half of it.",
    standard="RFC 2544 section 26.5",
    parameters=RecoveryParameters,
    start=at_the_throughput(measure),
    settle=WAIT,
    conditions="RFC 2544",
    traffic_seconds=lambda parameters: parameters.seconds + parameters.search_seconds,
    values=(RECOVERY, *KNOWN),
    needs_even=True,
)
