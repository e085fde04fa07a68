"""The search for a limit on a grid of steps: which step to ask for next, and between which two it lies."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

Y = TypeVar("Y")
S = TypeVar("S")

Answer: TypeAlias = Generator[Y, S, bool | None]
"""Asks whatever shows whether a step passes. None: it shows nothing, and the search ends."""


@dataclass(frozen=True)
class Bracket:
    """The highest step that passed and the lowest that did not.

    lower: one below the lowest step if none passed. upper: one above the highest if none failed.
    ended_at: the step that showed nothing and ended the search; None: none did.
    """

    lower: int
    upper: int
    ended_at: int | None = None


def find_bracket(
    passes: Callable[[int], Answer[Y, S]],
    top: int,
    *,
    start: int | None = None,
    apart: int = 1,
) -> Generator[Y, S, Bracket]:
    """The bracket of the limit on the steps from 1 to `top`: ends when it is no wider than `apart`.

    Without `start` the top is tried first, then the bracket is halved. With it the search goes away from
    there, in strides that double, until one step passed and one failed, and then halves.
    """
    lower, upper = 0, top + 1
    step, stride = top if start is None else start, 1
    while True:
        passed = yield from passes(step)
        if passed is None:
            return Bracket(lower, upper, step)
        lower, upper = (step, upper) if passed else (lower, step)
        if upper - lower <= apart:
            return Bracket(lower, upper)
        open_end = upper > top if passed else lower == 0
        if start is not None and open_end:
            step = min(step + stride, top) if passed else max(step - stride, 1)
            stride *= 2
        else:
            step = (lower + upper) // 2
