"""The six tests of RFC 2544 section 26, one after the other, at loads that follow from the throughput."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pydantic import Field

from netdyno.errors import Problem
from netdyno.methods import back_to_back as bursts
from netdyno.methods import latency as streams
from netdyno.methods import loss as losses
from netdyno.methods import recovery as overloads
from netdyno.methods import reset as resets
from netdyno.methods.parts.procedure import Allowed, Parameters, Procedure, numbered_from, part, through
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.deviations import LeftOut, ResetByHand
from netdyno.methods.reasons.loss import NotMeasured
from netdyno.methods.throughput import METHOD as THROUGHPUT
from netdyno.methods.throughput import WAIT, Known, ThroughputParameters, throughput
from netdyno.values.finding import Result, Value
from netdyno.values.kind import ValueKind
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.offer import Offer
from netdyno.values.outcome import Outcome
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import PositiveDuration
from netdyno.values.unmeasured import NotMeasuredError

SEARCH_NS = 10 * 10**9
"""Trials while searching are shorter (RFC 2544 section 24 lets them be); the last one is not."""


class SuiteParameters(Parameters):
    """Parameters of the suite: of each test its own, `null` to leave it out."""

    throughput: ThroughputParameters = ThroughputParameters(search=PositiveDuration.of_ns(SEARCH_NS))
    """The search the others rest on (section 26.1)."""
    latency: streams.LatencySettings | None = streams.LatencySettings()
    """At the throughput (section 26.2)."""
    frame_loss: losses.LossParameters | None = Field(default=losses.LossParameters(), alias="frame-loss")
    """At 100 %, 90 %, ... (section 26.3)."""
    back_to_back: bursts.BackToBackSettings | None = Field(
        default=bursts.BackToBackSettings(), alias="back-to-back"
    )
    """Bursts (section 26.4 as RFC 9004 has it)."""
    recovery: overloads.RecoverySettings | None = overloads.RecoverySettings()
    """After an overload (section 26.5)."""
    reset: resets.ResetSettings | None = resets.ResetSettings()
    """After a reset (section 26.6 as RFC 6201 has it)."""

    @property
    def searched(self) -> Mapping[str, Allowed]:
        """That of the throughput."""
        return self.throughput.searched


@dataclass(frozen=True)
class _Part:
    """A test that follows the throughput."""

    title: str
    start: Callable[[Any, Situation, Known], Method]
    kind: ValueKind
    """What it finds."""


def _loss(parameters: losses.LossParameters, situation: Situation, known: Known) -> Method:
    result, _ = yield from part("frame loss", losses.frame_loss(parameters, situation), 0)
    return result


PARTS: Mapping[str, _Part] = {
    "latency": _Part("latency", streams.measure, streams.LATENCY),
    "frame_loss": _Part("frame loss", _loss, losses.LOSS_RATE),
    "back_to_back": _Part("back to back", bursts.measure, bursts.BURST),
    "recovery": _Part("recovery", overloads.measure, overloads.RECOVERY),
    "reset": _Part("reset", resets.measure, resets.RESET),
}
"""By the parameter that has its own, in the order of the standard."""


def suite(parameters: SuiteParameters, situation: Situation) -> Method:
    """All six. The throughput stands for the case; each of the others has a verdict of its own.

    Of the others, which may take hours, one that cannot be measured does not take the rest with it.
    """
    found, number = yield from part("throughput", throughput(parameters.throughput, situation), 0)
    results = [found]
    known = Known.searched(found, situation)
    omitted: dict[str, Reason] = {}
    for name, test in PARTS.items():
        settings = getattr(parameters, name)
        why: Reason | None = LeftOut() if settings is None else None
        if name == "reset" and settings is not None:
            unasked = resets.fits(settings, situation)
            if unasked is not None:
                why = ResetByHand(settings.kind)
        if why is None:
            result, made = yield from _try_test(test.start(settings, situation, known))
            if isinstance(result, NotMeasuredError):
                why = result.reason
                result = _not_measured(test, situation, result)
            results.append(numbered_from(number, result))
            number += made
        if why is not None:
            omitted[test.title] = why
    left = deviations(METHOD.name, omitted, situation)["compliance"]
    required = dict.fromkeys((*(one for result in results for one in result.compliance), *left))
    return replace(
        found,
        method=METHOD.name,
        values=tuple(value for result in results for value in result.values),
        compliance=tuple(required),
        recommended=tuple(one for result in results for one in result.recommended),
        notes=tuple(dict.fromkeys(note for result in results for note in result.notes)),
        tables=tuple(table for result in results for table in result.tables),
        headlines=tuple(name for result in results for name in result.headlines),
        rests={name: result.trials for result in results for name in result.headlines},
    )


def _try_test(test: Method) -> Generator[Trial, Outcome, tuple[Result | NotMeasuredError, int]]:
    """Runs a test: its result, or why it could not be measured, and the number of its trials.

    The trial that could not be measured is one of them.
    """
    made = 0

    def asked(trial: Trial) -> Trial:
        nonlocal made
        made += 1
        return trial

    try:
        result, _ = yield from through(test, asked)
    except NotMeasuredError as error:
        return error, made
    return result, made


def _not_measured(test: _Part, situation: Situation, error: NotMeasuredError) -> Result:
    return Result(
        method=METHOD.name,
        values=tuple(Value(test.kind, scope, None, note=error.reason) for scope in situation.scopes),
        trials=(),
        notes=(About(test.title, NotMeasured(error.reason)),),
        headlines=(test.kind.name,),
    )


def _fits(parameters: SuiteParameters, situation: Situation) -> Problem | None:
    if parameters.back_to_back is not None:
        problem = bursts.fits(parameters.back_to_back, situation)
        if problem is not None:
            return problem.below("back-to-back")
    # A reset that nobody asked for is left out, and that is said; one that the plan names cannot be.
    if parameters.reset is not None and "reset" in parameters.model_fields_set:
        problem = resets.fits(parameters.reset, situation)
        if problem is not None:
            return problem.below("reset")
    return None


def _seconds(parameters: SuiteParameters) -> Fraction:
    tests = (getattr(parameters, name) for name in PARTS)
    search = THROUGHPUT.traffic_seconds(parameters.throughput)
    return sum((test.seconds for test in tests if test is not None), search)


METHOD = Procedure(
    name="rfc2544",
    title="RFC 2544, all six tests",
    doc="Throughput, latency, frame loss rate, back-to-back frames, system recovery and reset.",
    standard="RFC 2544 section 26",
    parameters=SuiteParameters,
    start=suite,
    settle=WAIT,
    conditions="RFC 2544",
    traffic_seconds=_seconds,
    fits=_fits,
    further_needs=frozenset({Offer.LATENCY}),
    # A suite searches its throughput: none is given.
    values=tuple(
        dict.fromkeys(
            kind
            for part in (
                THROUGHPUT,
                streams.METHOD,
                losses.METHOD,
                bursts.METHOD,
                overloads.METHOD,
                resets.METHOD,
            )
            for kind in part.values
            if kind.about != "plan"
        )
    ),
    needs_even=True,
)
