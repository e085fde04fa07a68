"""What a path passes, loses and delays, by the tester's own frames, before connections (RFC 6349, 3)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.methods.parts.procedure import constant
from netdyno.methods.reasons.connections import NoConnection, NoFullFrames
from netdyno.stats.path import (
    FULL,
    HALF,
    SEGMENT,
    Path,
    count_heard,
    count_unheard,
    find_smaller,
    is_disturbed,
    read_path,
)
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Percent
from netdyno.values.unmeasured import NotConnected, NotMeasuredError, ProgramHung, TrialInvalid

LENGTH_NS = 2 * 10**9
"""Of each of its two trials: at half of 100 Mbit/s 8,000 full frames, and eight are one in a thousand."""
TRIES = 3
SAMPLE_NS = 10**8
SETTLE_NS, DRAIN_NS = 2 * 10**8, 10**9
"""What is left in a queue after so long is a second's worth of its line: no trial waits for that."""
OPEN_FIREWALL = "let TCP through the device both ways, to port 5201 and above"
FIND_ROUTE = "look for the link, the addresses and the routes between the ports: `ping` from one to the other"
SECONDS = Fraction(2 * LENGTH_NS, 10**9)
"""Of both."""


@dataclass(frozen=True)
class Explored:
    """What own frames showed. paths: of each stream that could be measured. made: how many trials.

    full: those of full size at line rate.
    """

    paths: Mapping[str, Path]
    made: int
    full: Sequence[Outcome]


def explore_path(situation: Situation) -> Generator[Trial, Outcome, Explored]:
    """Sends own frames of full size at line rate, and at half of what passed.

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
        return Explored({}, made, full)
    found = {name: path for name in situation.streams if (path := read_path(full, None, name)) is not None}
    if not found:
        return Explored({}, made, full)
    least = min(path.fps / situation.share(name) for name, path in found.items())
    try:
        half = yield _trial(HALF, FrameRate(least / 2))
    except NotMeasuredError:
        return Explored(found, made + 1, full)
    both = {name: path for name in found if (path := read_path(full, half, name)) is not None}
    return Explored(both, made + 1, full)


def connect(trial: Trial, explored: Explored, situation: Situation) -> Generator[Trial, Outcome, Outcome]:
    """What connections carry in a trial. Raises NotMeasuredError: with what own frames showed, if none opened
    or the path took no frame of full size."""
    try:
        return (yield trial)
    except NotMeasuredError as error:
        causes = error.reason.causes if isinstance(error.reason, TrialInvalid) else ()
        closed = [one for one in causes if isinstance(one, NotConnected)]
        if closed:
            name = closed[0].stream
            heard, unheard = count_heard(explored.full, name), count_unheard(explored.full, name)
            if heard or unheard:
                reason = NoConnection(tuple(one.stream for one in closed), closed[0].said, heard, unheard)
                raise NotMeasuredError(reason, OPEN_FIREWALL if heard else FIND_ROUTE) from error
        hung = [one.stream for one in causes if isinstance(one, ProgramHung)]
        lost = max((count_unheard(explored.full, name) for name in hung), default=0)
        if lost:
            size = int(situation.mean_size)
            hint = f"try `size: {find_smaller(size)}B`"
            raise NotMeasuredError(NoFullFrames(tuple(hung), size, lost), hint) from error
        raise


def _trial(name: str, rate: FrameRate | Percent) -> Trial:
    trial = constant(name, rate, LENGTH_NS, SEGMENT)
    return replace(trial, sample_ns=SAMPLE_NS, settle_ns=SETTLE_NS, drain_ns=DRAIN_NS, stands=True)
