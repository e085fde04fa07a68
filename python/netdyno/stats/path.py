"""What frames of full size show of a path that connections take: how many pass, what it loses and delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median

from netdyno.stats.histogram import percentiles
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.served import read_served

FULL, HALF = "path at line rate", "path at half of what passed"
"""Names of its trials."""
SEGMENT = "path"
"""And of their load, by which no device is judged."""
ALL = Fraction(995, 1000)
"""A path that passed so much of what was sent may pass more."""
TOGETHER = 5
"""Samples of which a mean is taken: one alone may have a frame more or less."""
GAP_NS = 5 * 10**6
"""Of the tester: 40 full frames of 100 Mbit/s."""
LATE = 50
"""A served device that was late for one part in so many of a trial."""
QUARTER = Fraction(1, 4)
"""Of the frames, the quickest: pauses of the tester make the others slower."""
TCP_HEADERS = 52
"""Bytes of IPv4 and TCP with timestamps, which Linux sends: 20, 20, 12."""
OWN = Fraction(1, 1000)
"""A trial in which the tester itself dropped more of the frames shows nothing of the path."""


@dataclass(frozen=True)
class Path:
    """The path of one stream, one way.

    fps: frames a second of full size that it passed when offered as many as its line carries. is_least: it
    passed all that was sent. beyond: the share it did not pass. lost, of: frames at half of that. low_ns:
    the least one-way latency at half. middle_ns, full_ns: the lower quartile of latency, at half and at full.
    """

    fps: Fraction
    is_least: bool
    beyond: Fraction = Fraction(0)
    lost: int = 0
    of: int = 0
    low_ns: int | None = None
    middle_ns: int | None = None
    full_ns: int | None = None

    @property
    def queue_ns(self) -> int | None:
        """How much longer frames took where more came than pass; None: not known."""
        if self.middle_ns is None or self.full_ns is None:
            return None
        return self.full_ns - self.middle_ns


def is_disturbed(outcome: Outcome) -> bool:
    """Whether the tester, or a device that this machine serves, was held up."""
    served = read_served(outcome)
    gaps_ns = (outcome.health.longest_gap_ns, 0 if served is None else served.longest_gap_ns)
    return max(gaps_ns) > GAP_NS


def _is_late(outcome: Outcome) -> bool:
    """Whether a device that this machine serves had too little of a core to pass what it would."""
    served = read_served(outcome)
    took_ns = sum(phase.duration_ns for phase in outcome.phases)
    return served is not None and served.late_ns * LATE > took_ns


def read_path(full: Sequence[Outcome], half: Sequence[Outcome], name: str) -> Path | None:
    """The path of a stream, by the trial at full load in which most passed and the one at half in which least
    was lost; None: the tester dropped frames itself in each, or none came."""
    every = [path for outcome in full if (path := _read_full(outcome, name)) is not None]
    if not every:
        return None
    found, *others = sorted(every, key=lambda path: path.fps, reverse=True)
    if found.beyond > 1 - ALL and any(other.fps >= ALL * found.fps for other in others):
        # What held up two trials did not hold both up alike.
        found = replace(found, is_least=False)
    below = [path for outcome in half if (path := _with_half(found, outcome, name)) is not None]
    return min(below, key=lambda path: Fraction(path.lost, max(path.of, 1)), default=found)


def _with_half(found: Path, half: Outcome, name: str) -> Path | None:
    stream = _of(half, name)
    if stream is None or half.dropped:
        return None
    latency = stream.latency
    served = read_served(half)
    # What was lost on the way into and out of a device that this machine serves was not lost by it.
    missed = 0 if served is None else served.spilled + served.unheard
    return replace(
        found,
        lost=max(stream.missing - missed, 0),
        of=stream.offered,
        low_ns=latency.min_ns if latency is not None and latency.count else None,
        middle_ns=_lower_quartile(stream),
    )


def _read_full(full: Outcome, name: str) -> Path | None:
    stream = _of(full, name)
    if stream is None or full.dropped > OWN * sum(one.offered for one in full.streams):
        return None
    # What a queue or a bucket holds at first is no rate.
    last = sum(phase.duration_ns for phase in full.phases if phase.name == SEGMENT) // full.sample_ns - 1
    steady = slice(max(last // 4, 1), max(last, 0))
    received, sent = _middle(stream.rx[steady]), _middle(stream.tx[steady])
    if not received:
        return None
    is_least = received >= ALL * sent or _is_late(full)
    beyond = max(1 - received / sent, Fraction(0)) if sent else Fraction(0)
    return Path(received * 10**9 / full.sample_ns, is_least, beyond, full_ns=_lower_quartile(stream))


def count_heard(full: Sequence[Outcome], name: str) -> int:
    """How many frames of full size came of a stream, over all trials."""
    return sum(stream.received for one in full if (stream := _of(one, name)) is not None)


def count_unheard(full: Sequence[Outcome], name: str) -> int:
    """How many frames of full size were sent of a stream of which none came; 0: some came, or the tester
    dropped frames itself."""
    if count_heard(full, name):
        return 0
    found = ((one, stream) for one in full if (stream := _of(one, name)) is not None)
    return sum(
        max(stream.offered - one.not_sent, 0) for one, stream in found if one.dropped <= OWN * stream.offered
    )


def find_smaller(size: int) -> int:
    """A frame size that passes where larger ones do not: of an MTU of IPv6, else of the least of IPv4."""
    return 1280 + 18 if size > 1280 + 18 else 576 + 18


def _of(outcome: Outcome, name: str) -> StreamResult | None:
    return next((one for one in outcome.streams if one.name == name), None)


def _middle(samples: Sequence[int]) -> Fraction:
    """The middle one of the means of neighbours: a pause of the tester, or of a device in software, makes
    some lower and the next ones higher."""
    means = [
        Fraction(sum(samples[first : first + TOGETHER]), TOGETHER)
        for first in range(len(samples) - TOGETHER + 1)
    ]
    return median(means) if means else Fraction(0)


def _lower_quartile(stream: StreamResult) -> int | None:
    latency = stream.latency
    return percentiles(latency, [QUARTER])[0] if latency is not None and latency.count else None
