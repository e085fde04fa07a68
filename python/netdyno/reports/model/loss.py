"""A loss ratio as reports print it: a loss of none is the bound that a finite number of frames shows."""

from __future__ import annotations

from fractions import Fraction

from netdyno.stats.intervals import loss_bound
from netdyno.values import number as printed


def loss(lost: int, offered: int) -> str:
    """A loss ratio. No loss is the bound it is: at most 3/N with 95 % confidence (rule of three)."""
    if offered == 0:
        return "n/a"
    if lost == 0:
        return f"0 (≤ {printed.scientific(loss_bound(offered), 'at most')} at 95 %)"
    if lost < 0:
        return f"{lost} frames (more received than sent)"
    return printed.percent(Fraction(lost, offered), 3)


def none_lost(frames: int) -> str:
    """The loss ratio of so many frames of which none was lost, `0 (≤ 3.4e-9)`."""
    return printed.at_most(loss_bound(frames))
