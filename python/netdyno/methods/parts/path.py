"""What a path passes, loses and delays, by the tester's own frames, before connections (RFC 6349, 3)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from fractions import Fraction

from netdyno.methods.parts.procedure import constant
from netdyno.stats.path import FULL, HALF, SEGMENT, Path, is_disturbed, read_path
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Percent
from netdyno.values.unmeasured import NotMeasuredError

LENGTH_NS = 2 * 10**9
"""Of each of its two trials: at half of 100 Mbit/s 8,000 full frames, and eight are one in a thousand."""
TRIES = 3
SAMPLE_NS = 10**8
SETTLE_NS, DRAIN_NS = 2 * 10**8, 10**9
"""What is left in a queue after so long is a second's worth of its line: no trial waits for that."""
SECONDS = Fraction(2 * LENGTH_NS, 10**9)
"""Of both."""


def explore_path(situation: Situation) -> Generator[Trial, Outcome, tuple[dict[str, Path], int]]:
    """The path of each stream that could be measured, and how many trials were made.

    The load of a full line is offered again if tester or device were held up, and what passed most counts.
    """
    full: list[Outcome] = []
    made = 0
    while made < TRIES and (not full or is_disturbed(full[-1])):
        made += 1
        try:
            full.append((yield _trial(FULL, Percent(Fraction(1)))))
        except NotMeasuredError:
            break
    if not full:
        return {}, made
    found = {name: path for name in situation.streams if (path := read_path(full, None, name)) is not None}
    if not found:
        return {}, made
    least = min(path.fps / situation.share(name) for name, path in found.items())
    try:
        half = yield _trial(HALF, FrameRate(least / 2))
    except NotMeasuredError:
        return found, made + 1
    return {name: path for name in found if (path := read_path(full, half, name)) is not None}, made + 1


def _trial(name: str, rate: FrameRate | Percent) -> Trial:
    trial = constant(name, rate, LENGTH_NS, SEGMENT)
    return replace(trial, sample_ns=SAMPLE_NS, settle_ns=SETTLE_NS, drain_ns=DRAIN_NS, stands=True)
