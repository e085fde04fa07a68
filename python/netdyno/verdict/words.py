"""Rates, shares and losses as sentences of a verdict say them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from netdyno.errors import counted
from netdyno.methods import rounded
from netdyno.values.finding import Result, Value
from netdyno.values.situation import Situation
from netdyno.values.units import decimal
from netdyno.verdict.evidence import Counts, Evidence
from netdyno.verdict.saying import Reached

MOST = 5
"""Of so many streams a sentence tells one by one."""


def listed(reasons: Sequence[str], of: int | None = None) -> str:
    """Reasons one after the other: the first ones, and how many more there are of all (`of`)."""
    further = (len(reasons) if of is None else of) - min(len(reasons), MOST)
    return "; ".join((*reasons[:MOST], *([f"and {further} more"] if further else [])))


def missing(counts: Counts) -> str:
    """What did not come back intact, in words."""
    gone, sent, corrupted = counts.lost, counts.sent, counts.corrupted
    if gone and gone == sent:
        return f"none of {counted(sent, 'frame')} came back"
    if not corrupted:
        return f"{gone} of {sent} frames {'was' if gone == 1 else 'were'} lost"
    if not gone:
        return f"{corrupted} of {sent} frames came corrupted"
    return f"{gone} of {sent} frames were lost and {corrupted} came corrupted"


def rate(value: Value) -> str:
    """The number of a value, or what is known of it."""
    if value.number is None:
        return f"{rounded(value.low)} fps" if value.low else "what was reached"
    if value.only_below is not None:
        return f"less than {rounded(value.only_below, 'at most')} fps"
    return f"{rounded(value.number)} fps"


def at_rate(value: Value) -> Reached:
    """The rate of a value, or what is known of it."""
    if value.number is None:
        return Reached(value.low or None)
    return Reached(
        value.number if value.only_below is None else value.only_below, value.only_below is not None
    )


def reached(value: Value, result: Result, evidence: Evidence) -> Reached:
    """The same, with its share of the line where something enforces the line."""
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
    used = result.value("line utilisation", value.scope)
    return found if used is None or used.number is None else replace(found, filled=used.number)


def share_of_line(value: Value, rate: Fraction, situation: Situation) -> Fraction:
    """A rate of a value's scope as a share of its line's."""
    one = value.scope in situation.streams
    return rate / (situation.port_fps(value.scope) if one else situation.line(value.scope))


def of_line(value: Value, situation: Situation) -> str:
    """A stream's rate beside its line's. Of a mix a share of frames: what came back need not be the mix."""
    assert value.number is not None
    one = value.scope in situation.streams
    part = share(value.number, situation.port_fps(value.scope) if one else situation.line(value.scope))
    return (
        f"{part} of the frames of this mix on a full line"
        if situation.mixed_receivers
        else f"{part} of the line"
    )


def share(part: Fraction, whole: Fraction) -> str:
    """`99.4 %`."""
    return per_cent(part / whole, 2)


def per_cent(ratio: Fraction, places: int) -> str:
    """A share as a sentence has it, with at most so many decimals; all and none are said of these alone."""
    text, least = decimal(ratio * 100, places), Fraction(1, 10**places)
    if ratio > 0 and not Fraction(text):
        return f"< {decimal(least)} %"
    if ratio < 1 and Fraction(text) >= 100:
        text = decimal(100 - least)
    return f"{text} %"


def too_long(count: int) -> str:
    """What is known of frames that came and were longer than any that was sent, a clause."""
    return (
        f"{counted(count, 'frame')} longer than any that was sent came: frames were"
        " joined on their way, and nobody can say which; DPDK's memif does that when frame sizes change in"
        " a connection, a kernel with GRO on: measure one size a run, or restart the device before each"
    )
