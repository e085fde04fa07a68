"""The six tests of RFC 2544 section 26, one after the other, with what follows from the throughput."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from pydantic import Field

from netdyno.errors import Problem
from netdyno.methods import back_to_back as bursts
from netdyno.methods import latency as streams
from netdyno.methods import recovery as overloads
from netdyno.methods import reset as resets
from netdyno.methods.loss import LOSS, LossParameters, frame_loss
from netdyno.methods.procedure import Parameters, Procedure, part
from netdyno.methods.throughput import THROUGHPUT, WAIT, ThroughputParameters, of_a_port, throughput
from netdyno.trial import Method, Situation
from netdyno.units import Load, PositiveDuration

SEARCH_NS = 10 * 10**9
"""Trials while searching are shorter (RFC 2544 section 24 lets them be); the last one is not."""

PARTS = ("latency", "frame_loss", "back_to_back", "recovery", "reset")


class SuiteParameters(Parameters):
    """Parameters of the suite: of each test its own, `null` to leave it out."""

    throughput: ThroughputParameters = Field(
        default=ThroughputParameters(search=PositiveDuration.of_ns(SEARCH_NS)),
        description="The search the others rest on (section 26.1).",
    )
    latency: streams.LatencySettings | None = Field(
        default=streams.LatencySettings(), description="At the throughput (section 26.2)."
    )
    frame_loss: LossParameters | None = Field(
        default=LossParameters(), alias="frame-loss", description="At 100 %, 90 %, ... (section 26.3)."
    )
    back_to_back: bursts.BackToBackSettings | None = Field(
        default=bursts.BackToBackSettings(),
        alias="back-to-back",
        description="Bursts (section 26.4 as RFC 9004 has it).",
    )
    recovery: overloads.RecoverySettings | None = Field(
        default=overloads.RecoverySettings(), description="After an overload (section 26.5)."
    )
    reset: resets.ResetSettings | None = Field(
        default=resets.ResetSettings(), description="After a reset (section 26.6 as RFC 6201 has it)."
    )

    def loads(self) -> Iterator[tuple[tuple[str, ...], Load]]:
        """Those of the search and of the loss curve."""
        for path, load in self.throughput.loads():
            yield ("throughput", *path), load
        if self.frame_loss is not None:
            for path, load in self.frame_loss.loads():
                yield ("frame-loss", *path), load


def suite(parameters: SuiteParameters, situation: Situation) -> Method:
    """All six. The throughput stands for the case; each of the others has a verdict of its own."""
    found, number = yield from part("throughput", throughput(parameters.throughput, situation), 0)
    results = [found]
    known = of_a_port(found, situation)
    if parameters.latency is not None:
        result, number = yield from streams.measured(parameters.latency, situation, known, number)
        results.append(result)
    if parameters.frame_loss is not None:
        result, number = yield from part("frame loss", frame_loss(parameters.frame_loss, situation), number)
        results.append(result)
    if parameters.back_to_back is not None:
        result, number = yield from bursts.measured(parameters.back_to_back, situation, known, number)
        results.append(result)
    if parameters.recovery is not None:
        result, number = yield from overloads.measured(parameters.recovery, situation, known, number)
        results.append(result)
    unasked = None if parameters.reset is None else resets.fits(parameters.reset, situation)
    if parameters.reset is not None and unasked is None:
        result, number = yield from resets.measured(parameters.reset, situation, known, number)
        results.append(result)
    left = {name.replace("_", " "): "left out" for name in PARTS if getattr(parameters, name) is None}
    if unasked is not None:
        left["reset"] = f"left out, for {unasked.message} (`reset: {{kind: by-hand}}`)"
    omitted = tuple(f"{name}: {why}, RFC 2544 section 26 has it" for name, why in left.items())
    return replace(
        found,
        method=SUITE.name,
        values=tuple(value for result in results for value in result.values),
        compliance=(*(text for result in results for text in result.compliance), *omitted),
        recommended=tuple(text for result in results for text in result.recommended),
        notes=tuple(dict.fromkeys(text for result in results for text in result.notes)),
        tables=tuple(table for result in results for table in result.tables),
        standard=SUITE.standard,
        headlines={name: what for result in results for name, what in result.headlines.items()},
        rests={name: result.trials for result in results for name in result.headlines},
    )


def _fits(parameters: SuiteParameters, situation: Situation) -> Problem | None:
    if parameters.back_to_back is not None:
        problem = bursts.fits(parameters.back_to_back, situation)
        if problem is not None:
            return Problem(problem.message, problem.hint, at=("back-to-back", *problem.at))
    # A reset that nobody asked for is left out, and that is said; one that the plan names cannot be.
    if parameters.reset is not None and "reset" in parameters.model_fields_set:
        problem = resets.fits(parameters.reset, situation)
        if problem is not None:
            return Problem(problem.message, problem.hint, at=("reset", *problem.at))
    return None


def _seconds(parameters: SuiteParameters) -> Fraction:
    total = THROUGHPUT.traffic_seconds(parameters.throughput)
    if parameters.frame_loss is not None:
        total += LOSS.traffic_seconds(parameters.frame_loss)
    if parameters.latency is not None:
        total += parameters.latency.repeats * parameters.latency.duration.amount
    if parameters.back_to_back is not None:
        total += bursts.seconds(parameters.back_to_back)
    if parameters.recovery is not None:
        total += overloads.seconds(parameters.recovery)
    if parameters.reset is not None:
        each = parameters.reset.before.amount + parameters.reset.watch.amount
        total += parameters.reset.repeats * each
    return total


SUITE = Procedure(
    name="rfc2544",
    title="RFC 2544, all six tests",
    doc="Throughput, latency, frame loss rate, back-to-back frames, system recovery and reset.",
    standard="RFC 2544 section 26",
    parameters=SuiteParameters,
    start=suite,
    settle=WAIT,
    traffic_seconds=_seconds,
    fits=_fits,
)

__all__ = ["SUITE", "SuiteParameters"]
