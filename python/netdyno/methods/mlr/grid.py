"""The loads a search may ask for: steps of equal ratio from a lowest to a highest load.

Widths of intervals are shares of their upper end, so on a logarithmic grid they add and halve exactly: the
search counts in whole steps, and only what is sent is a rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

WIDEST = Fraction(999_999, 1_000_000)
"""A width in steps is at most this share of the width asked for, so that rounding never makes it wider."""

NARROWEST = Fraction(99, 100)
"""And at least this share of it: narrower intervals cost trials that nobody asked for."""


class Grid:
    """Loads of each direction by number, 0 the lowest; frames per second."""

    def __init__(self, lowest: Fraction, highest: Fraction, widths: Iterable[Fraction]) -> None:
        """widths: shares of the upper end that intervals are to be narrowed to."""
        assert 0 < lowest < highest
        self.lowest = lowest
        self.highest = highest
        # math.log of a Fraction would go through its parts, and these may be longer than a float's.
        self._span = math.log(float(highest)) - math.log(float(lowest))
        self.steps = _steps(self._span, [-math.log1p(-float(width)) for width in widths])

    def fps(self, step: int) -> Fraction:
        """The load of a step; to a thousandth of a frame per second, the ends exactly as they were given."""
        if step <= 0:
            return self.lowest
        if step >= self.steps:
            return self.highest
        rate = float(self.lowest) * math.exp(self._span * step / self.steps)
        return Fraction(round(rate * 1000), 1000)

    def at_most(self, fps: Fraction) -> int:
        """The highest step whose load is no higher than this; the lowest step if none is."""
        if fps >= self.highest:
            return self.steps
        if fps <= self.lowest:
            return 0
        step = math.floor(math.log(float(fps) / float(self.lowest)) / self._span * self.steps)
        # The logarithm may be off by a little just where a step lies.
        return step + 1 if self.fps(step + 1) <= fps else step

    def width(self, share: Fraction) -> int:
        """The most steps an interval may have and still be no wider than that share of its upper end."""
        return math.floor(-math.log1p(-float(share)) / self._span * self.steps)


def _steps(span: float, widths: list[float]) -> int:
    """The fewest steps in which every width is a whole number of them, within the bounds above."""
    count = 1
    while True:
        tries = []
        for width in widths:
            exact = width / span * count
            whole = math.floor(exact)
            if not NARROWEST * Fraction(exact) <= whole <= WIDEST * Fraction(exact):
                # One step more must fit, with the room that rounding needs.
                tries.append(math.ceil((whole + 1) / float(WIDEST) / exact * count))
        if not tries:
            return count
        count = max(*tries, count + 1)
