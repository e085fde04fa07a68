"""C3: the highest load that a loopback carries without losing a frame. A generator: it yields loads and is
sent what each trial found."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

STEPS_UP = 4
"""How often a load above the flood's is tried: a flood is in its own way, a paced load may do better."""

UP = Fraction(5, 4)

ATTEMPTS_TO_CONFIRM = 6

BEGINNING = Fraction(9, 10)
"""Of what a flood delivered: where the halving begins."""


@dataclass(frozen=True)
class Ask:
    """A load to try, frames a second of each direction. confirming: for longer, this is the last word."""

    fps: Fraction
    confirming: bool = False


@dataclass(frozen=True)
class Answer:
    """How it went. passed: every frame asked for was sent, and came back once and intact."""

    passed: bool
    sent_fps: Fraction
    """Frames sent a second, the slowest direction."""


Search: TypeAlias = Generator[Ask, Answer, Fraction | None]


def most_without_loss(ceiling: Fraction, resolution: Fraction) -> Search:
    """Asks for loads until the highest that passes is known to a share `resolution`, and confirms it.

    ceiling: the line, or a load nobody can send. Never more is asked for. None: nothing passed.
    """
    flood = yield Ask(ceiling)
    if flood.passed:
        low, high = ceiling, ceiling
    else:
        low, high = yield from _bracket(min(flood.sent_fps, ceiling), ceiling)
        low = yield from _halve(low, high, resolution)
    return (yield from _confirm(low, resolution))


def _bracket(sent: Fraction, ceiling: Fraction) -> Generator[Ask, Answer, tuple[Fraction, Fraction]]:
    """A load that passes and one that does not."""
    low, load = Fraction(0), _whole(sent * BEGINNING)
    high = ceiling
    for _ in range(STEPS_UP):
        if not 0 < load < ceiling or not (yield Ask(load)).passed:
            high = min(high, load) if load > 0 else high
            break
        low, load = load, _whole(load * UP)
    return low, high


def _halve(low: Fraction, high: Fraction, resolution: Fraction) -> Generator[Ask, Answer, Fraction]:
    while high - low > max(resolution * high, Fraction(1)):
        middle = _whole((low + high) / 2)
        if (yield Ask(middle)).passed:
            low = middle
        else:
            high = middle
    return low


def _confirm(load: Fraction, resolution: Fraction) -> Search:
    """The load, for longer; a step less where that fails."""
    for _ in range(ATTEMPTS_TO_CONFIRM):
        if load < 1:
            return None
        if (yield Ask(load, confirming=True)).passed:
            return load
        load = _whole(load * (1 - 2 * resolution))
    return None


def _whole(fps: Fraction) -> Fraction:
    return Fraction(fps.__floor__())
