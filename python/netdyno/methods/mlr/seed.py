"""Where to begin a search: the knee of a short ramp, for any loss ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from statistics import median

from netdyno.methods.mlr.controller import Start
from netdyno.methods.mlr.goals import Target
from netdyno.methods.mlr.grid import Grid
from netdyno.methods.parts.samples import Sample

POINTS = 5
"""Samples beyond the knee through which the line is laid: two suffice, and one or two may be spoiled."""

HIDDEN = 4
"""Samples for which a queue may hide that the knee is passed."""

LOOKS = 3
"""Trials of which more than half tell where a goal stands that allows bad ones."""


def knee(rise: Sequence[Sample], loss: Fraction, sample_ns: int) -> Fraction | None:
    """The load at which a larger share than `loss` begins to be missing, frames per second; None: nowhere.

    Beyond its capacity a device loses what is too much, so frames lost per second are a straight line over
    the load, whatever its queues held back before. Where that line says `loss` is the knee, far more closely
    than one sample is wide. Samples in which the tester was late count for nothing.
    """
    on_time = [one for one in rise if one.tx > 0 and not one.late]
    bad = [one.loses(loss) for one in on_time]
    first = len(on_time)
    while first > 0 and bad[first - 1]:
        first -= 1
    if first == len(on_time):
        return None
    # The device was passed in the first bad sample: only those after it are lossy from end to end.
    beyond = on_time[first + 1 : first + 1 + POINTS]
    loads = [_fps(one.intended, sample_ns) for one in on_time]
    # A queue hides loss for some samples, and no line that leads further down than that is believed.
    low, high = loads[first - HIDDEN] if first >= HIDDEN else Fraction(0), on_time[first].peak
    found = _find_crossing([(_fps(one.intended, sample_ns), one.lost, one.tx) for one in beyond], loss)
    return min(max(loads[first] if found is None else found, low), high)


def _find_crossing(points: Sequence[tuple[Fraction, int, int]], loss: Fraction) -> Fraction | None:
    """Where the line through (load, lost, sent) says that loss; by medians, for one may be spoiled.

    Through points at one load it rises as the load does: what a device forwards stays what it is.
    """
    lost = [(load, load * missing / sent) for load, missing, sent in points]
    apart = [(a, b) for a, b in combinations(lost, 2) if 100 * abs(b[0] - a[0]) > a[0]]
    slope = median((b[1] - a[1]) / (b[0] - a[0]) for a, b in apart) if apart else Fraction(1)
    if not lost or slope <= loss:
        return None
    return -median(one - slope * load for load, one in lost) / (slope - loss)


def starts(
    grid: Grid, targets: Sequence[Target], knees: Sequence[Fraction | None], initial_ns: Sequence[int]
) -> list[Start]:
    """For each goal two loads a width apart around its knee; where those of two goals all but meet, one."""
    found: dict[int, Start] = {}
    taken: list[int] = []
    for place in sorted(range(len(targets)), key=lambda place: targets[place].loss):
        target, at = targets[place], knees[place]
        if at is None:
            lower = upper = grid.steps
        else:
            lower = min(max(grid.at_most(at) - target.width // 2, 0), max(grid.steps - target.width, 0))
            near = [load for load in taken if 2 * abs(load - lower) < target.width]
            lower = min(near, key=lambda load: abs(load - lower), default=lower)
            upper = min(lower + target.width, grid.steps)
            taken.append(upper)
        found[place] = _start(target, lower, upper, min(initial_ns[place], target.trial_ns))
    return [found[place] for place in range(len(targets))]


def _start(target: Target, lower: int, upper: int, initial_ns: int) -> Start:
    """The start of a goal between these loads: short trials first, to go down if that load does not pass.

    Where bad trials are allowed, the look is two of three. Trials of the full length count in the proof, so
    the look takes them on both sides. Short ones do not show what a queue can hide: there the knee, which
    no queue moves, is trusted for the upper bound, and proven in trials that grow longer until one is bad.
    """
    full = initial_ns >= target.trial_ns
    look = Target(
        target.loss, target.exceed, target.width, initial_ns, initial_ns * (LOOKS if target.exceed else 1)
    )
    ladder = () if full else (initial_ns, math.isqrt(initial_ns * target.trial_ns))
    return Start((look, target), lower, upper, ladder, only_down=not full)


def _fps(frames: Fraction, ns: int) -> Fraction:
    return frames * 10**9 / ns
