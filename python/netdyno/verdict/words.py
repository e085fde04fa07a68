"""Rates, shares and losses as sentences of a verdict say them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from netdyno.errors import counted
from netdyno.values.finding import Result, Value
from netdyno.values.number import part
from netdyno.values.situation import Situation
from netdyno.verdict.evidence import Evidence
from netdyno.verdict.saying import Reached

FAR = Fraction(11, 10)
"""Bounds of a search further apart than this are both said."""

MOST = 5
"""Of so many streams a sentence tells one by one."""


def at_rate(value: Value) -> Reached:
    """The rate of a value, or its lower bound."""
    if value.number is None:
        return Reached(value.low or None, is_searched=value.searched)
    if value.only_below is not None:
        return Reached(value.only_below, is_below=True, is_refuted=value.is_refuted)
    is_far = value.searched and value.high is not None and value.high > FAR * value.number
    return Reached(
        value.number,
        lasting_pps=None if value.lasting == value.number else value.lasting,
        most_pps=value.high if is_far else None,
        is_searched=value.searched,
    )


def reached(value: Value, result: Result, evidence: Evidence) -> Reached:
    """The rate of a value, with its share of the line where the line rate is enforced."""
    found = at_rate(value)
    if value.number is None or found.rate_pps is None or not evidence.enforced_rate:
        return found
    situation = evidence.situation
    found = replace(
        found,
        share=share_of_line(value, found.rate_pps, situation),
        is_of_mix=bool(situation.mixed_receivers),
    )
    if found.is_below:
        return found
    if value.searched and value.high is not None:
        # What lies between was not tried: the number is a step of the loads, and no more exact than that.
        found = replace(found, failed_share=share_of_line(value, value.high, situation))
    used = result.of_role("line share", value.scope)
    return found if used is None or used.number is None else replace(found, filled=used.number)


def share_of_line(value: Value, rate: Fraction, situation: Situation) -> Fraction:
    """A rate of a value's scope as a share of its line's, less what classes with a rate of their own take."""
    return rate / situation.line(value.scope)


def of_line(value: Value, situation: Situation) -> str:
    """A stream's rate beside its line's. Of a mix a share of frames: what came back need not be the mix."""
    assert value.number is not None
    whole = "of the frames of this mix on a full line" if situation.mixed_receivers else "of line rate"
    return f"{part(share_of_line(value, value.number, situation))} {whole}"


def too_long(count: int) -> str:
    """A clause on received frames that were longer than any that was sent."""
    return (
        f"{counted(count, 'frame')} longer than any sent came: frames were joined on their"
        " way (kernel GRO, or DPDK's memif when sizes change). Measure one size a run, or restart the device"
        " before each"
    )
