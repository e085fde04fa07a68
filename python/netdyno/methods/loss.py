"""Frame loss rate as RFC 2544 section 26.3 has it: the loss ratio at each load, from the highest down."""

from __future__ import annotations

from fractions import Fraction

from pydantic import model_validator

from netdyno.errors import Problem
from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import (
    FromMaximum,
    Procedure,
    constant,
    find_own_shortfall,
    is_nearly_sent,
)
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.common import AtLoad
from netdyno.methods.reasons.loss import Copied
from netdyno.methods.reasons.tester import OfOffered
from netdyno.methods.throughput import WAIT
from netdyno.values.finding import Cell, Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Percent, PositiveDuration

COARSEST = Fraction(1, 10)
"""RFC 2544 section 26.3: the steps are 10 % of the maximum rate at most, finer ones are encouraged."""
CLEAN = 2
"""The test ends when so many loads in a row lost nothing (same)."""
MOST_STEPS = 1000

LOSS_RATE = ValueKind(
    "frame loss rate", "ratio", "the share of frames lost at the highest load", goal="loss <= 0.1%"
)


class LossParameters(FromMaximum):
    """Parameters of the frame loss rate."""

    duration: PositiveDuration = PositiveDuration(Fraction(60))
    """Length of each trial."""
    step: Percent = Percent(COARSEST)
    """How much lower each load is, of the maximum: `10%`."""

    @model_validator(mode="after")
    def _possible(self) -> LossParameters:
        if not Fraction(1, MOST_STEPS) <= self.step.amount <= COARSEST:
            raise Problem(
                f"`step` is {self.step}",
                "RFC 2544 has steps of 10 % at most; `0.1%` is the least",
                at=("step",),
                code="out-of-range",
            )
        return self

    @property
    def seconds(self) -> Fraction:
        """The time of traffic, s."""
        return self.duration.amount * -(-1 // self.step.amount)


TABLE = columns("frame size: B | stream | load: share | asked: fps", *rows.COUNTED)
WHOLE = (Fraction(0), Fraction(1))


def frame_loss(parameters: LossParameters, situation: Situation) -> Method:
    """RFC 2544 section 26.3: 100 %, 90 %, 80 %, ... of the maximum until two trials in a row lose nothing.

    A trial in which the tester fell short says nothing of the load asked for: it is shown with what was
    offered, and does not count as one that lost nothing. Nor does one in which frames came more than once:
    that is no loss, but no device that forwards all there is, each frame once, as its throughput has it.
    """
    duration_ns = parameters.duration.ns
    outcomes: list[Outcome] = []
    table: list[tuple[Cell, ...]] = []
    notes: list[Reason] = []
    load, clean = Fraction(1), 0
    while load > 0 and clean < CLEAN:
        rate, name = parameters.maximum.amount * load, f"{float(100 * load):g} %"
        fps = situation.fps(rate)
        outcome = yield constant(f"loss at {name}", rate, duration_ns)
        outcomes.append(outcome)
        short = find_own_shortfall(outcome, duration_ns)
        if short is not None:
            notes.append(About(f"loss at {name}", OfOffered(short)))
        for scope, streams in rows.scopes(outcome, situation):
            asked = fps * situation.share(scope)
            share = fps / situation.line_fps
            table.append(
                (situation.mean_size, scope, share, asked, *rows.cells_of_counts(streams, duration_ns))
            )
        copies = sum(one.duplicates for one in outcome.streams)
        if copies:
            notes.append(About(f"loss at {name}", Copied(copies)))
        clean = clean + 1 if short is None and rows.is_clean(outcome.streams) else 0
        load -= parameters.step.amount
    at = AtLoad(str(parameters.maximum), isinstance(parameters.maximum.amount, Percent))
    values = []
    is_sent = is_nearly_sent(outcomes[0], duration_ns)
    for scope, streams in rows.scopes(outcomes[0], situation):
        # A tester that did not offer the load has not shown what is lost at it.
        number = rows.loss(streams) if is_sent else None
        sent = sum(one.offered for one in streams)
        least, most = rows.loss_bounds(number, sent)
        note = rows.note_loss(at, streams)
        values.append(Value(LOSS_RATE, scope, number, least, most, note, of_frames=sent))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=(0,),
        **deviations(METHOD.name, parameters, situation, outcomes),
        notes=tuple(notes),
        headlines=(LOSS_RATE.name,),
        tables=(
            Table(
                "Frame loss rate",
                TABLE,
                tuple(table),
                "RFC 2544 section 26.3: of what was sent, what did not come back, at each load; the load is a"
                " port's, of its line. Copies are no loss, and make up for none.",
                Figure("load", ("loss",), x_range=WHOLE, y_range=WHOLE, by="stream"),
            ),
        ),
    )


METHOD = Procedure(
    name="frame-loss",
    title="Frame loss rate",
    doc="Loss at 100 %, 90 %, ... of the maximum until two trials in a row lose nothing.",
    standard="RFC 2544 section 26.3",
    parameters=LossParameters,
    groups=True,
    start=frame_loss,
    settle=WAIT,
    conditions="RFC 2544",
    is_meshed=True,
    traffic_seconds=lambda parameters: parameters.seconds,
    values=(LOSS_RATE,),
    counts_alone=True,
)
