"""Whether the trials of a case can show anything: long enough to hold frames, and searches with room."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from netdyno.errors import Problem
from netdyno.methods.parts.procedure import Parameters, Place, Procedure, find_models
from netdyno.plan.matrix import Case
from netdyno.values.situation import Situation
from netdyno.values.units import Duration, Load, PositiveDuration, decimal

LEAST_FRAMES = 10
"""Of a trial: with fewer, one frame more or less at either end is another load by more than a tenth."""

LENGTHS = ("duration", "search", "step", "part", "initial", "performance", "overload", "before", "watch")
"""What parameters call the length of a trial, whatever the method."""


def problems(parameters: Parameters, situation: Situation, case: Case, scale: Fraction) -> Iterator[Problem]:
    """What of a method's trials makes no sense in a case; parameters as scaled."""
    asked = [situation.fps(load.amount) for _, load in parameters.loads()]
    highest = min(max(asked, default=situation.line_fps), situation.line_fps)
    least = LEAST_FRAMES / highest if highest else Fraction(0)
    for place, length in _lengths(parameters):
        if 0 < length.amount < least:
            held = decimal(Fraction(int(highest * length.amount * 100), 100), 2)
            rate = f"{decimal(highest, 3)} frames/s of {case.profile.mix.name}"
            wanted = _rounded_up(least / scale)
            shortened = f", as `scale: {scale}` has it," if scale != 1 else ""
            yield Problem(
                f"a trial of {length}{shortened} holds {held} frames at its highest load, {rate}, in case"
                f" `{case.name}`: too few to measure a load",
                f"at least {LEAST_FRAMES} frames: `{wanted}` or longer",
                place,
                code="trial-too-short",
            )
    for place, width, maximum in _searches(parameters):
        wide, most = (situation.fps(load.amount) for load in (width, maximum))
        # Further apart than the maximum is from nothing: one trial there, which passes or does not. But no
        # bounds are further apart than the line.
        if wide > max(most, situation.line_fps):
            yield Problem(
                f"a search up to {maximum} that stops at bounds {width} apart has nothing to search, in case"
                f" `{case.name}`",
                "a `width` below the `maximum`: `0.1%`, the default, is a thousandth of the line",
                place,
                code="conflict",
            )


def find_longest_ns(method: Procedure[Any], parameters: Parameters) -> int:
    """The length of the longest trial of a case, at most, ns."""
    whole = method.traffic_seconds(parameters)
    count = None if method.trials is None else method.trials(parameters)
    lengths = [length.amount for _, length in _lengths(parameters)]
    # Of phases in one trial, all of them.
    longest = whole / count if count else min(sum(lengths, Fraction(0)) or whole, whole)
    return math.ceil(longest * 10**9)


def short_samples(parameters: Parameters, sample: PositiveDuration) -> Problem | None:
    """A sample, which the plan gives, that is longer than a trial."""
    lengths = [length for _, length in _lengths(parameters) if length.amount]
    shortest = min(lengths, key=lambda length: length.amount, default=None)
    if shortest is None or sample.amount <= shortest.amount:
        return None
    return Problem(
        f"a sample of {sample} is longer than a trial of {shortest}, which then has no series",
        f"`sample: {shortest}` or shorter",
        code="trial-too-short",
    )


def _rounded_up(seconds: Fraction) -> Duration:
    """A length to write down: two digits, and no shorter."""
    ns = math.ceil(seconds * 10**9)
    digit = 10 ** max(len(str(ns)) - 2, 0)
    return Duration.of_ns(-(-ns // digit) * digit)


def _lengths(parameters: Parameters) -> Iterator[tuple[Place, Duration]]:
    """Every length of a trial, or of a ramp's rise; not that of a phase with a load of its own, a warm-up."""
    for place, model in find_models(parameters):
        if not isinstance(model, Parameters) and "load" in type(model).model_fields:
            continue
        for name in LENGTHS:
            length: Any = getattr(model, name, None)
            if isinstance(length, Duration):
                yield (*place, name), length


def _searches(parameters: Parameters) -> Iterator[tuple[Place, Load, Load]]:
    for place, model in find_models(parameters):
        width, maximum = getattr(model, "width", None), getattr(model, "maximum", None)
        if isinstance(width, Load) and isinstance(maximum, Load):
            yield (*place, "width"), width, maximum
