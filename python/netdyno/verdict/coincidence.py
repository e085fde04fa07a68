"""Whether frames were lost only when the tester itself was in trouble, and too often so for chance.

A device that loses frames for reasons of its own does not know when a ring of the tester is full, or when the
tester is late. Lossy samples in a row are taken for one event. Were events to begin at random, each would
lie wholly in samples in which the tester was in trouble with the probability of as many places in a row. If
that is at most 1 % for all events together, the tester's trouble lost the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from netdyno.values.outcome import Outcome, StreamResult
from netdyno.verdict.excuses import Timed

CHANCE = Fraction(1, 100)
"""A coincidence less likely than this is none."""

Spans = Iterable[tuple[int, int]]
"""From and until, ns of the traffic."""


def is_coincident(trials: Iterable[Timed], trouble: Callable[[Outcome, StreamResult], Spans]) -> bool:
    """Whether all frames that these trials lost were lost in time of trouble, and not by chance.

    trouble: when frames of a stream departed that the tester may have lost.
    """
    chance = Fraction(1)
    for timed in trials:
        found = _chance(timed, trouble)
        if found is None:
            return False
        chance *= found
    return chance <= CHANCE


def _chance(timed: Timed, trouble: Callable[[Outcome, StreamResult], Spans]) -> Fraction | None:
    """How likely it is that all lossy samples of a trial are troubled ones; None: one of them is not."""
    trial = timed.trial
    sent: set[int] = set()
    lossy: set[int] = set()
    troubled: set[int] = set()
    for stream in trial.streams:
        lost = {number for number, tx, came in _samples(stream) if tx > came}
        if stream.missing > 0 and not lost:
            return None
        marked = set(_numbers(trouble(trial, stream), trial.sample_ns))
        if lost - marked:
            return None
        lossy |= lost
        troubled |= marked
        sent |= {number for number, tx, _ in _samples(stream) if tx}
    if not lossy:
        return Fraction(1)
    if not timed.is_constant:
        # Loss and trouble both grow with the load: only what follows the first loss can tell them apart.
        first = min(lossy)
        sent, lossy = ({number for number in one if number > first} for one in (sent, lossy))
    troubled &= sent
    chance = Fraction(1)
    for length in _runs(lossy):
        places, fitting = _places(sent, length), _places(troubled, length)
        chance *= Fraction(fitting, places)
    return chance


def _runs(numbers: set[int]) -> list[int]:
    """The lengths of runs of numbers that follow each other."""
    lengths: list[int] = []
    before = None
    for number in sorted(numbers):
        if before is not None and number == before + 1:
            lengths[-1] += 1
        else:
            lengths.append(1)
        before = number
    return lengths


def _places(numbers: set[int], length: int) -> int:
    """How many runs of that length lie in them."""
    return sum(max(run - length + 1, 0) for run in _runs(numbers))


def _samples(stream: StreamResult) -> Iterator[tuple[int, int, int]]:
    for number, (tx, came) in enumerate(zip(stream.tx, stream.arrived, strict=False)):
        yield number, tx, came


def _numbers(spans: Spans, sample_ns: int) -> Iterator[int]:
    """The samples that they touch."""
    for begin, end in spans:
        yield from range(max(begin, 0) // sample_ns, max(end, 0) // sample_ns + 1)
