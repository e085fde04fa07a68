"""Knees as they are shown: never above the best rate that came back in the same ramp."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from netdyno.values.finding import Result, Value
from netdyno.values.reason import Codes, Reason, declared


class KneeCapped(Reason, code="knee-capped"):
    """Loss showed only above the best rate received: a queue hid it until then."""

    seen_pps: Fraction
    best_pps: Fraction
    says = "at most the best rate received: a queue hid the loss up to {seen_pps}. Use a longer `ramp`"


def with_capped_knees(result: Result) -> Result:
    """The result, each knee above the best rate of its scope replaced by that rate, with the reason."""
    return replace(result, values=tuple(_capped(value, result) for value in result.values))


def _capped(value: Value, result: Result) -> Value:
    best = result.of_role("best rate", value.scope)
    if value.kind.role != "knee" or value.number is None or best is None or best.number is None:
        return value
    if value.number <= best.number:
        return value
    ends = [one for one in (value.low, best.low) if one is not None]
    note = KneeCapped(value.number, best.number)
    return replace(value, number=best.number, low=min(ends, default=best.number), note=note)


REASONS: Codes = declared(globals())
