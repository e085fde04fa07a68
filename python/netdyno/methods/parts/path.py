"""What a path passes, loses and delays, by the tester's own frames, before connections (RFC 6349, 3)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
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
from netdyno.values.reason import Reason
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

    full: those of full size at line rate. why: there are none; None: there are.
    """

    paths: Mapping[str, Path]
    made: int
    full: Sequence[Outcome]
    why: Reason | None = None


def explore_path(situation: Situation, streams: int | None) -> Generator[Trial, Outcome, Explored]:
    """Sends own frames of full size at line rate, and at half of what passed.

    streams: connections of each direction, of which each has a flow; None: as many as the profile has flows.
    Either is retried if tester or device were held up: most that passed and least that was lost count.
    """
    full, made, why = yield from _until_clean(_trial(FULL, Percent(Fraction(1)), streams), is_disturbed)
    if not full:
        return Explored({}, made, full, why)
    found = {name: path for name in situation.streams if (path := read_path(full, (), name)) is not None}
    if not found:
        return Explored({}, made, full)
    least = min(path.fps / situation.share(name) for name, path in found.items())
    half, more, _ = yield from _until_clean(_trial(HALF, FrameRate(least / 2), streams), _may_burst)
    paths = {name: path for name in found if (path := read_path(full, half, name)) is not None}
    return Explored(paths, made + more, full)


def _may_burst(outcome: Outcome) -> bool:
    """Whether frames were lost that may have been too many at once, behind a pause, for a policer."""
    return is_disturbed(outcome) and any(one.missing for one in outcome.streams)


def _until_clean(
    trial: Trial, is_spoiled: Callable[[Outcome], bool]
) -> Generator[Trial, Outcome, tuple[list[Outcome], int, Reason | None]]:
    """Makes a trial until it is not spoiled, `TRIES` times at most: its outcomes, their number in all, and
    why the last one could not be measured."""
    found: list[Outcome] = []
    for made in range(1, TRIES + 1):
        try:
            found.append((yield trial))
        except NotMeasuredError as error:
            return found, made, error.reason
        if not is_spoiled(found[-1]):
            return found, made, None
    return found, TRIES, None


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


def _trial(name: str, rate: FrameRate | Percent, streams: int | None) -> Trial:
    trial = constant(name, rate, LENGTH_NS, SEGMENT)
    load = replace(trial.frames, flows=streams)
    return replace(trial, load=load, sample_ns=SAMPLE_NS, settle_ns=SETTLE_NS, drain_ns=DRAIN_NS, stands=True)
