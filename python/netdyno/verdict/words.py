"""Rates, shares and losses as sentences of a verdict say them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netdyno.errors import counted
from netdyno.methods import rounded
from netdyno.trial import Result, Situation, StreamResult, Value
from netdyno.units import decimal
from netdyno.verdict.evidence import Evidence, lost


def missing(streams: Sequence[StreamResult]) -> str:
    """What did not come back intact, in words."""
    gone, sent = lost(streams), sum(stream.offered for stream in streams)
    corrupted = sum(stream.corrupted for stream in streams)
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
    return f"{rounded(value.number)} fps"


def reached(value: Value, result: Result, evidence: Evidence) -> str:
    """The rate in words; a share of the line only where something enforces the line."""
    if value.number is None or not evidence.enforced_rate:
        return f"{rate(value)} were reached"
    text = f"{rate(value)} is {of_line(value, evidence.situation)}"
    filled = {one.scope: one.number for one in result.values if one.name == "line utilisation"}
    used = filled.get(value.scope)
    return text if used is None else f"{text}, which was {decimal(used * 100, 2)} % full at most"


def of_line(value: Value, situation: Situation) -> str:
    """A stream's rate beside its line's. Of a mix a share of frames: what came back need not be the mix."""
    assert value.number is not None
    part = share(value.number, situation.port_fps(value.scope))
    return (
        f"{part} of the frames of this mix on a full line"
        if situation.mixed_receivers
        else f"{part} of the line"
    )


def share(part: Fraction, whole: Fraction) -> str:
    """`99.4 %`."""
    return f"{decimal(part / whole * 100, 2)} %"


def too_long(count: int) -> str:
    """What is known of frames that came and were longer than any that was sent, a clause."""
    return (
        f"{counted(count, 'frame')} longer than any that was sent came: frames were"
        " joined on their way, and nobody can say which; DPDK's memif does that when frame sizes change in"
        " a connection, a kernel with GRO on: measure one size a run, or restart the device before each"
    )
